//! Requests per second of a load generator's CPU time, each against the same nginx.

use super::super::limit::Limit;
use super::super::table::{Figures, Row};
use super::super::{RUN_MAX, in_turn};
use super::{Arena, Comparison, GENERATOR_CPU, SERVER_CPU, not_here};
use crate::setup;
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

/// The file that is asked for, its size, its time since 1970, and what asks whether it is newer.
pub const FILE: &str = "file.txt";
pub const BYTES: u64 = 128;
pub const NOT_MODIFIED: &str = "If-Modified-Since: Fri, 13 Feb 2009 23:31:30 GMT";
const MODIFIED: Duration = Duration::from_secs(1_234_567_890);
/// Connections of the closed loop.
pub const CONNECTIONS: &str = "100";
/// Sessions a second of the open loop, and requests in each: 5,000 requests a second, which both can
/// send and nginx can answer with time to spare.
const SESSIONS_PER_S: u64 = 100;
const CALLS: u64 = 50;

/// How two generators are asked for the same, and what they then say.
struct Game {
    ours: &'static str,
    rival: &'static str,
    /// What both ask.
    server: &'static str,
    setting: String,
    our_words: Vec<String>,
    their_words: Vec<String>,
    /// Whole replies, of what the rival printed.
    their_count: fn(&str) -> Option<u64>,
}

/// Closed loop against wrk, open loop against httperf, TLS handshakes against `openssl s_time`.
pub fn comparisons(arena: &Arena, tally: &mut Tally) -> Result<Vec<Comparison>> {
    let mut comparisons = Vec::new();
    let time_ms = arena.options.time_ms;
    for game in [closed(time_ms), open(time_ms), handshakes(time_ms)] {
        let Game { ours, rival, setting, .. } = &game;
        let step = format!("bench http: {ours} and {rival}, {setting}");
        let missing = ["nginx", *rival].into_iter().find(|name| setup::program(name).is_none());
        if let Some(missing) = missing {
            tally.skip(&step, &not_here(missing));
            continue;
        }
        let pairs = pairs(arena, &game)?;
        let row =
            Row { mechanism: (*ours).to_owned(), setting: vec![], limit: Limit::Least(1.0), pairs };
        println!("{ours} and {rival}, {setting}: {}", row.in_words());
        comparisons.push(Comparison { rival, setting: setting.clone(), row, is_bounded: true });
    }
    Ok(comparisons)
}

fn closed(time_ms: u64) -> Game {
    let (url, time) = (format!("http://{{host}}:{{port}}/{FILE}"), time_ms.div_ceil(1_000));
    Game {
        ours: "closed loop",
        rival: "wrk",
        server: "nginx",
        setting: format!("{CONNECTIONS} connections, {BYTES} bytes"),
        our_words: words(&format!(
            "load {url} --connections {CONNECTIONS} --threads 1 --duration {time}s --json"
        )),
        their_words: wrk_words(time_ms, &[]),
        their_count: wrk_count,
    }
}

fn open(time_ms: u64) -> Game {
    let time = time_ms.div_ceil(1_000);
    let sessions = SESSIONS_PER_S * time;
    Game {
        ours: "open loop",
        rival: "httperf",
        server: "nginx",
        setting: format!("{SESSIONS_PER_S} sessions/s of {CALLS} calls, {BYTES} bytes"),
        our_words: words(&format!(
            "load http://{{host}}:{{port}}/{FILE} --connection-rate {SESSIONS_PER_S} --calls {CALLS} \
             --requests {} --threads 1 --json",
            sessions * CALLS
        )),
        their_words: words(&format!(
            "--hog --server {{host}} --port {{port}} --uri /{FILE} --rate {SESSIONS_PER_S} \
             --num-conns {sessions} --num-calls {CALLS}"
        )),
        their_count: httperf_count,
    }
}

fn handshakes(time_ms: u64) -> Game {
    let time = time_ms.div_ceil(1_000);
    Game {
        ours: "TLS handshakes",
        rival: "openssl",
        server: "nginx+tls",
        setting: format!("full, verified, one request of {BYTES} bytes each"),
        our_words: words(&format!(
            "load https://localhost:{{port}}/{FILE} --ca {{ca}} --no-keep-alive --no-resume --connections 1 \
             --threads 1 --duration {time}s --json"
        )),
        their_words: words(&format!(
            "s_time -connect {{host}}:{{port}} -CAfile {{ca}} -verify 3 -new -time {time} -www /{FILE}"
        )),
        their_count: s_time_count,
    }
}

/// Of wrk with these header lines besides its own.
pub fn wrk_words(time_ms: u64, lines: &[&str]) -> Vec<String> {
    let time = time_ms.div_ceil(1_000);
    let usual = format!("-t 1 -c {CONNECTIONS} -d {time}s http://{{host}}:{{port}}/{FILE}");
    let lines = lines.iter().flat_map(|line| ["-H", line]).map(str::to_owned);
    words(&usual).into_iter().chain(lines).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Runs both in turn.
fn pairs(arena: &Arena, game: &Game) -> Result<Vec<(Figures, Figures)>> {
    let mut pairs = Vec::new();
    let theirs = || {
        let program = setup::program(game.rival).context("it was here a moment ago")?;
        measure(arena, game.server, (&program, &game.their_words), game.their_count)
    };
    let ours = || {
        let knee = arena.knee.to_str().context("a target directory whose name is no text")?;
        measure(arena, game.server, (knee, &game.our_words), our_count)
    };
    for pair in 0..arena.options.pairs {
        pairs.push(in_turn(pair, theirs, ours)?);
    }
    Ok(pairs)
}

/// Makes the directory that is served, with the file: as old as requests that ask whether it is newer say.
pub fn make_site(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)?;
    let path = directory.join(FILE);
    fs::write(&path, vec![b'k'; BYTES as usize])?;
    File::options().write(true).open(path)?.set_modified(UNIX_EPOCH + MODIFIED)?;
    Ok(())
}

/// Requests per second of a generator's CPU time in one run.
fn measure(
    arena: &Arena,
    server: &str,
    generator: (&str, &[String]),
    count: fn(&str) -> Option<u64>,
) -> Result<Figures> {
    let run = run(arena, server, generator, count)?;
    Ok(Figures::single(run.replies as f64 / run.generator_cpu_ns * 1e9))
}

/// What one run came to.
pub struct GeneratorRun {
    pub replies: u64,
    generator_cpu_ns: f64,
    pub server_cpu_ns: f64,
}

/// One run: a server of its own, and the generator against it.
pub fn run(
    arena: &Arena,
    server: &str,
    (program, words): (&str, &[String]),
    count: fn(&str) -> Option<u64>,
) -> Result<GeneratorRun> {
    let mut command = Command::new(&arena.against);
    let scratch = arena.scratch.path();
    command.arg(server).arg(&arena.knee).arg(arena.site()).arg(scratch).arg(SERVER_CPU);
    command.args(["taskset", "--cpu-list", GENERATOR_CPU, program]).args(words);
    let done = shell::bounded(&mut command, RUN_MAX)?;
    if !done.status.success() {
        bail!("{} failed ({}): {}", shell::display(&command), done.status, done.stderr.trim());
    }
    let came: Value = serde_json::from_str(&done.stdout).context("the example `against`")?;
    let output = came["output"].as_str().unwrap_or_default();
    let replies = count(output)
        .with_context(|| format!("{program} reported no replies, or errors: {output}"))?;
    let cpu_ns = |key: &str| came[key].as_f64().context("against reported no CPU time");
    let (generator_cpu_ns, server_cpu_ns) = (cpu_ns("cpu_ns")?, cpu_ns("server_cpu_ns")?);
    Ok(GeneratorRun { replies, generator_cpu_ns, server_cpu_ns })
}

/// Whole replies of `knee load --json`; none where there were errors.
pub fn our_count(output: &str) -> Option<u64> {
    let output: Value = serde_json::from_str(output).ok()?;
    let errors = output["errors"].as_object()?;
    let clean = errors.values().all(|count| count.as_u64() == Some(0));
    output["replies"].as_u64().filter(|_| clean)
}

/// `12345 requests in 1.00s, 4.56MB read`; none where there were errors.
pub fn wrk_count(output: &str) -> Option<u64> {
    if output.contains("Socket errors") || output.contains("Non-2xx") {
        return None;
    }
    let line = output.lines().find(|line| line.contains(" requests in "))?;
    line.split_whitespace().next()?.parse().ok()
}

/// `4120 connections in 1.75s; 2354.29 connections/user sec, bytes read 1087680`; none where any failed.
fn s_time_count(output: &str) -> Option<u64> {
    let line = output.lines().find(|line| line.contains(" connections in "))?;
    line.split_whitespace().next()?.parse().ok()
}

/// `Total: connections 10 requests 50 replies 50 test-duration 1.0 s`; none where there were errors.
fn httperf_count(output: &str) -> Option<u64> {
    let clean = output.lines().any(|line| line.starts_with("Errors: total 0 "));
    let total = output.lines().find(|line| line.starts_with("Total: ")).filter(|_| clean)?;
    total.split_whitespace().skip_while(|word| *word != "replies").nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_replies_are_read_from_what_each_prints() {
        let wrk = "Running 1s test @ http://x/\n  1 threads and 100 connections\n  \
                   54321 requests in 1.00s, 17.10MB read\nRequests/sec:  54321.00\n";
        assert_eq!(wrk_count(wrk), Some(54_321));
        assert_eq!(wrk_count(&format!("{wrk}  Socket errors: connect 1, read 0\n")), None);
        let httperf = "Total: connections 100 requests 5000 replies 4999 test-duration 1.0 s\n\n\
                       Errors: total 0 client-timo 0 socket-timo 0\n";
        assert_eq!(httperf_count(httperf), Some(4_999));
        assert_eq!(httperf_count(&httperf.replace("total 0", "total 1")), None);
        assert_eq!(our_count(r#"{"replies": 7, "errors": {"reset": 0}}"#), Some(7));
        assert_eq!(our_count(r#"{"replies": 7, "errors": {"reset": 1}}"#), None);
        assert_eq!(our_count("nothing"), None);
        let s_time = "Collecting connection statistics for 1 seconds\n\n\n\
                      2212 connections in 1.73s; 1278.61 connections/user sec, bytes read 583968\n";
        assert_eq!((s_time_count(s_time), s_time_count("ERROR")), (Some(2_212), None));
    }

    #[test]
    fn both_are_asked_for_as_much() {
        let open = open(2_000);
        assert_eq!(open.our_words.join(" ").matches("10000").count(), 1, "{:?}", open.our_words);
        assert_eq!(open.their_words.join(" ").matches("--num-conns 200 --num-calls 50").count(), 1);
        let closed = closed(1_500);
        assert!(closed.our_words.contains(&"2s".to_owned()), "{:?}", closed.our_words);
        assert!(closed.their_words.contains(&"2s".to_owned()));
    }
}
