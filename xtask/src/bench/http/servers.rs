//! Replies per second of a server's CPU time: the workload `dead`, one subject at a time.

use super::super::limit::Limit;
use super::super::table::{Figures, Row};
use super::super::{NOT_POSSIBLE, RUN_MAX, failure_text, samples_of};
use super::generators::{self, BYTES};
use super::{Arena, Comparison, not_here};
use crate::setup;
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::BTreeMap;
use std::process::Command;

/// Ours, and each rival with the ratio that ours has to reach.
const OURS: [&str; 3] = ["epoll-level", "epoll-edge", "io_uring-completion"];
const RIVALS: [(&str, f64); 2] = [("nginx", 2.0), ("lighttpd", 1.1)];
/// The ratio of requests with header lines of their own.
const ASKED_MIN: f64 = 1.0;

/// Runs what follows with as many descriptors as may be had: lighttpd holds half as many connections.
const MANY_DESCRIPTORS: &str =
    "ulimit -n 65536 2>/dev/null || ulimit -n \"$(ulimit -Hn)\"; exec \"$@\"";

/// The header lines of a browser's request for a page, without its host.
const BROWSER: [&str; 19] = [
    "Cache-Control: max-age=0",
    "sec-ch-ua: \"Chromium\";v=\"142\", \"Not_A Brand\";v=\"99\"",
    "sec-ch-ua-mobile: ?0",
    "sec-ch-ua-platform: \"Linux\"",
    "DNT: 1",
    "Upgrade-Insecure-Requests: 1",
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8",
    "Sec-GPC: 1",
    "Sec-Fetch-Site: same-origin",
    "Sec-Fetch-Mode: navigate",
    "Sec-Fetch-User: ?1",
    "Sec-Fetch-Dest: document",
    "Referer: http://127.0.0.1/index.html",
    "Accept-Encoding: gzip, deflate, br, zstd",
    "Accept-Language: en-GB,en-US;q=0.9,en;q=0.8,de;q=0.7",
    "Cookie: session=8f14e45fceea167a5a36dedd4bea2543; theme=dark",
    "Priority: u=0, i",
    "Pragma: no-cache",
];

/// What is asked for, with how many dead connections.
struct Setting {
    bytes: u64,
    dead: u64,
    /// Header lines of the requests, which wrk sends then; without any, the workload `dead` asks.
    lines: Vec<&'static str>,
    words: String,
    /// The limits speak of small replies. A large one is the kernel's copying, which all pay alike.
    is_bounded: bool,
}

/// Rates of each server, a figure a run; or why there are none.
type Rates = BTreeMap<&'static str, Result<Vec<Figures>, String>>;

/// Each of ours with each rival, in every setting.
pub fn comparisons(arena: &Arena, tally: &mut Tally) -> Result<Vec<Comparison>> {
    let mut comparisons = Vec::new();
    for setting in settings(&arena.options.dead) {
        let rates = rates(arena, &setting)?;
        for (rival, min) in RIVALS {
            for ours in OURS {
                match pairs(&rates, rival, ours) {
                    Ok(pairs) => {
                        let limit =
                            Limit::Least(if setting.lines.is_empty() { min } else { ASKED_MIN });
                        let row = Row { mechanism: ours.to_owned(), setting: vec![], limit, pairs };
                        let (words, is_bounded) = (setting.words.clone(), setting.is_bounded);
                        println!("{ours} and {rival}, {words}: {}", row.in_words());
                        comparisons.push(Comparison { rival, setting: words, row, is_bounded });
                    }
                    Err(why) => {
                        let step = format!("bench http: {ours} and {rival}, {}", setting.words);
                        tally.skip(&step, &why);
                    }
                }
            }
        }
    }
    Ok(comparisons)
}

fn settings(dead: &[u64]) -> Vec<Setting> {
    let setting = |bytes, dead, words: String| {
        let (lines, is_bounded) = (Vec::new(), bytes == BYTES);
        Setting { bytes, dead, lines, words, is_bounded }
    };
    let small =
        dead.iter().map(|&dead| setting(BYTES, dead, format!("{BYTES} bytes, {dead} dead")));
    let large = [(65_536, "64 KiB"), (1_000_000, "1 MB")]
        .map(|(bytes, size)| setting(bytes, 0, format!("{size}, 0 dead")));
    let asked = [
        (BROWSER.to_vec(), "a browser's header"),
        (vec!["Range: bytes=32-95"], "a range"),
        (vec![generators::NOT_MODIFIED], "not modified"),
    ];
    let asked = asked.map(|(lines, words)| {
        let words = format!("{BYTES} bytes, {words}, by wrk");
        Setting { lines, ..setting(BYTES, 0, words) }
    });
    small.chain(large).chain(asked).collect()
}

/// Runs all in turn, and backwards in every other pair, so that a drift of the machine hits all alike.
fn rates(arena: &Arena, setting: &Setting) -> Result<Rates> {
    let mut names: Vec<&'static str> =
        RIVALS.map(|(name, _)| name).into_iter().chain(OURS).collect();
    let mut rates = Rates::new();
    for _ in 0..arena.options.pairs {
        for &name in &names {
            let so_far = rates.entry(name).or_insert_with(|| Ok(Vec::new()));
            let Ok(list) = so_far else { continue };
            let figures = match setting.lines.as_slice() {
                [] => measure(arena, setting, name)?,
                lines => by_wrk(arena, lines, name)?,
            };
            match figures {
                Ok(figures) => list.push(figures),
                Err(why) => *so_far = Err(format!("{name}: {why}")),
            }
        }
        names.reverse();
    }
    Ok(rates)
}

/// One run of one server. The inner error says why there is no figure.
fn measure(arena: &Arena, setting: &Setting, name: &str) -> Result<Result<Figures, String>> {
    let mut command = Command::new("sh");
    command.args(["-c", MANY_DESCRIPTORS, "sh"]).arg(&arena.knee).args([
        "run",
        "dead",
        "--subjects",
        name,
        "--rounds",
        "1",
        "--workers",
        "1",
    ]);
    command.args(["--points", &setting.dead.to_string(), "--bytes", &setting.bytes.to_string()]);
    command.args(["--time", &format!("{}ms", arena.options.time_ms), "--json", "--record"]);
    command.arg(arena.scratch.path().join("bench.db"));
    let done = shell::bounded(&mut command, RUN_MAX)?;
    let why = done.stderr.trim();
    match done.status.code() {
        Some(0) => {}
        Some(NOT_POSSIBLE) => return Ok(Err(why.trim_start_matches("knee: ").to_owned())),
        _ => bail!("{} failed ({}): {why}", shell::display(&command), done.status),
    }
    let run: Value = serde_json::from_str(&done.stdout).context("knee run --json")?;
    let rates: Option<Vec<f64>> = samples_of(&run, name, "cpu")
        .map(|samples_ns| samples_ns.into_iter().map(|cpu_ns| 1e9 / cpu_ns).collect());
    Ok(rates
        .and_then(|rates| Figures::new(rates, Limit::Least(1.0)))
        .ok_or_else(|| format!("knee measured no cpu: {}", failure_text(&run))))
}

/// The same of requests with these header lines.
fn by_wrk(arena: &Arena, lines: &[&str], name: &str) -> Result<Result<Figures, String>> {
    if let Some(missing) = ["wrk", name].into_iter().find(|name| is_missing(name)) {
        return Ok(Err(not_here(missing)));
    }
    let wrk = setup::program("wrk").context("it was here a moment ago")?;
    let words = generators::wrk_words(arena.options.time_ms, lines);
    let run = match generators::run(arena, name, (&wrk, &words), generators::wrk_count) {
        Ok(run) => run,
        Err(error) => return Ok(Err(format!("{error:#}"))),
    };
    Ok(Ok(Figures::single(run.replies as f64 / run.server_cpu_ns * 1e9)))
}

/// Whether it is another's program, and not here.
fn is_missing(name: &str) -> bool {
    !OURS.contains(&name) && setup::program(name).is_none()
}

/// The runs of two, side by side.
fn pairs(rates: &Rates, rival: &str, ours: &str) -> Result<Vec<(Figures, Figures)>, String> {
    let figures_of = |name: &str| match rates.get(name) {
        Some(Ok(list)) => Ok(list.clone()),
        Some(Err(why)) => Err(why.clone()),
        None => Err(format!("{name} was not measured")),
    };
    Ok(figures_of(rival)?.into_iter().zip(figures_of(ours)?).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_replies_are_held_and_large_ones_shown() {
        let settings = settings(&[0, 10_000]);
        let words = |is_bounded: bool| {
            let some = settings.iter().filter(move |setting| setting.is_bounded == is_bounded);
            some.map(|setting| setting.words.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(words(false), ["64 KiB, 0 dead", "1 MB, 0 dead"]);
        let bounded = words(true);
        assert_eq!(bounded[..2], ["128 bytes, 0 dead", "128 bytes, 10000 dead"]);
        assert_eq!(bounded[2..].iter().filter(|words| words.ends_with(", by wrk")).count(), 3);
    }

    #[test]
    fn a_server_that_is_not_here_has_no_pairs_and_says_why() {
        let measure = Figures::new(vec![1.0], Limit::Least(1.0)).unwrap();
        let rates: Rates = [
            ("nginx", Err("nginx: not installed".to_owned())),
            ("epoll-edge", Ok(vec![measure; 3])),
        ]
        .into();
        assert_eq!(pairs(&rates, "nginx", "epoll-edge").unwrap_err(), "nginx: not installed");
        assert_eq!(pairs(&rates, "epoll-edge", "epoll-edge").unwrap().len(), 3);
    }
}
