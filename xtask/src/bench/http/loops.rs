//! Our server and our load generator next to bare loops in C, which read nothing of what they receive.

use super::super::limit::Limit;
use super::super::table::{Figures, Row};
use super::super::{RUN_MAX, c_compiler, in_turn};
use super::generators::{BYTES, CONNECTIONS, FILE, our_count, wrk_count};
use super::{Arena, Comparison, GENERATOR_CPU, SERVER_CPU, not_here};
use crate::setup;
use crate::shell;
use crate::tally::Tally;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Replies per second of our server's CPU time, over the loop's: 1.05 times its CPU time.
const SERVER: Limit = Limit::Least(1.0 / 1.05);
/// The same of our generator, in a closed loop and in an open one: 1.1 times the CPU time.
const GENERATOR: Limit = Limit::Least(1.0 / 1.1);
/// Of our open loop at half the rate of our closed one: 1.5 times the CPU time of that.
const OPEN: Limit = Limit::Least(1.0 / 1.5);
const MECHANISMS: [&str; 2] = ["epoll-level", "io_uring-completion"];

/// The loops.
struct Loops<'a> {
    arena: &'a Arena,
    server: PathBuf,
    client: PathBuf,
}

/// Our servers and the C loop, loaded by wrk and by knee.
pub fn servers(arena: &Arena, tally: &mut Tally) -> Result<Vec<Comparison>> {
    let loops = Loops::new(arena)?;
    let mut comparisons = Vec::new();
    for generator in ["wrk", "knee load"] {
        if generator == "wrk" && setup::program("wrk").is_none() {
            tally.skip("bench http: servers and the C loop, by wrk", &not_here("wrk"));
            continue;
        }
        for ours in MECHANISMS {
            let theirs = || loops.replies_per_cpu_s(None, generator);
            let pairs = rates(arena, theirs, || loops.replies_per_cpu_s(Some(ours), generator))?;
            let setting = format!("{BYTES} bytes, by {generator}");
            comparisons.push(comparison(ours, "C loop", setting, SERVER, pairs));
        }
    }
    Ok(comparisons)
}

/// Our generator and the C loop, closed, and open at half of our closed loop's rate; and our open loop and our closed one.
pub fn generators(arena: &Arena) -> Result<Vec<Comparison>> {
    let loops = Loops::new(arena)?;
    let server = loops.start(Some(MECHANISMS[0]))?;
    let port = server.port;
    let closed_per_s = loops.ours(port, None)?.0;
    let half = (closed_per_s / 2.0).round();
    let closed = || Ok(loops.ours(port, None)?.1);
    let open = || Ok(loops.ours(port, Some(half))?.1);
    let setting = || format!("{CONNECTIONS} connections, {BYTES} bytes");
    let at_half = || format!("{half:.0} requests/s, {}", setting());
    let pairs = rates(arena, || loops.plain(port, None), closed)?;
    let mut comparisons = vec![comparison("closed loop", "C loop", setting(), GENERATOR, pairs)];
    let pairs = rates(arena, || loops.plain(port, Some(half)), open)?;
    comparisons.push(comparison("open loop", "C loop", at_half(), GENERATOR, pairs));
    let pairs = rates(arena, closed, open)?;
    comparisons.push(comparison("open loop", "our closed loop", at_half(), OPEN, pairs));
    Ok(comparisons)
}

fn comparison(
    ours: &str,
    rival: &'static str,
    setting: String,
    limit: Limit,
    pairs: Vec<(Figures, Figures)>,
) -> Comparison {
    let row = Row { mechanism: ours.to_owned(), setting: vec![], limit, pairs };
    println!("{ours} and {rival}, {setting}: {}", row.in_words());
    Comparison { rival, setting, row, is_bounded: true }
}

/// Runs both in turn, for their rates.
fn rates(
    arena: &Arena,
    theirs: impl Fn() -> Result<f64>,
    ours: impl Fn() -> Result<f64>,
) -> Result<Vec<(Figures, Figures)>> {
    let mut pairs = Vec::new();
    for pair in 0..arena.options.pairs {
        let (theirs, ours) = in_turn(pair, &theirs, &ours)?;
        pairs.push((Figures::single(theirs), Figures::single(ours)));
    }
    Ok(pairs)
}

impl<'a> Loops<'a> {
    /// Compiles the loops.
    fn new(arena: &'a Arena) -> Result<Loops<'a>> {
        let into = shell::target_dir()?.join("bench-c/http");
        fs::create_dir_all(&into)?;
        let compiled = |name: &str| {
            let source = shell::root().join("benches/c/http").join(name).with_extension("c");
            let mut command = c_compiler();
            command.args(["-O2", "-Wall", "-Wextra", "-o"]).arg(into.join(name));
            shell::output(command.arg(source)).map(|_| into.join(name))
        };
        let (server, client) = (compiled("server")?, compiled("client")?);
        Ok(Loops { arena, server, client })
    }

    /// Our server with a mechanism, or the loop.
    fn start(&self, mechanism: Option<&str>) -> Result<Server> {
        let mut command = pinned(SERVER_CPU);
        match mechanism {
            None => command.arg(&self.server),
            Some(mechanism) => command
                .arg(&self.arena.knee)
                .arg("httpd")
                .arg(self.arena.site())
                .args(["--port", "0", "--mechanism", mechanism]),
        };
        Server::start(command)
    }

    /// Of a server's CPU time.
    fn replies_per_cpu_s(&self, mechanism: Option<&str>, generator: &str) -> Result<f64> {
        let server = self.start(mechanism)?;
        let before_ns = server.cpu_ns()?;
        let replies = if generator == "wrk" {
            let wrk = setup::program("wrk").context("it was here a moment ago")?;
            let mut command = pinned(GENERATOR_CPU);
            command.arg(wrk).args(["-t", "1", "-c", CONNECTIONS, "-d"]);
            command.arg(format!("{}s", self.seconds())).arg(url(server.port));
            wrk_count(&printed(&mut command)?).context("wrk reported errors")?
        } else {
            our_count(&self.load(server.port, None)?).context("knee load reported errors")?
        };
        Ok(replies as f64 / (server.cpu_ns()? - before_ns) as f64 * 1e9)
    }

    /// Our generator, closed or at a rate: replies a second, and per second of its threads' CPU time.
    fn ours(&self, port: u16, rate: Option<f64>) -> Result<(f64, f64)> {
        let output = self.load(port, rate)?;
        let replies = our_count(&output).context("knee load reported errors")? as f64;
        let output: Value = serde_json::from_str(&output)?;
        let figure = |key: &str| output[key].as_f64().with_context(|| format!("no {key}"));
        let cpu_ns = figure("user_ns")? + figure("system_ns")?;
        Ok((replies / figure("elapsed_s")?, replies / cpu_ns * 1e9))
    }

    fn load(&self, port: u16, rate: Option<f64>) -> Result<String> {
        let mut command = pinned(GENERATOR_CPU);
        command.arg(&self.arena.knee).arg("load").arg(url(port)).args(["--threads", "1"]);
        command.args(["--connections", CONNECTIONS, "--json", "--duration"]);
        command.arg(format!("{}s", self.seconds()));
        if let Some(rate) = rate {
            command.args(["--rate", &rate.to_string()]);
        }
        printed(&mut command)
    }

    /// The loop in C, closed or at a rate: replies per second of its CPU time.
    fn plain(&self, port: u16, rate: Option<f64>) -> Result<f64> {
        let mut command = pinned(GENERATOR_CPU);
        command.arg(&self.client).arg(port.to_string()).arg(format!("/{FILE}"));
        command.args([CONNECTIONS, &self.seconds().to_string()]);
        command.args(rate.map(|rate| rate.to_string()));
        let printed = printed(&mut command)?;
        let mut figures = printed.split_whitespace().map(str::parse::<f64>);
        let (Some(Ok(replies)), Some(Ok(cpu_ns))) = (figures.next(), figures.next()) else {
            bail!("the C loop printed {printed:?}");
        };
        Ok(replies / cpu_ns * 1e9)
    }

    fn seconds(&self) -> u64 {
        self.arena.options.time_ms.div_ceil(1_000)
    }
}

fn pinned(cpu: &str) -> Command {
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", cpu]);
    command
}

fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/{FILE}")
}

fn printed(command: &mut Command) -> Result<String> {
    let done = shell::bounded(command, RUN_MAX)?;
    if !done.status.success() {
        bail!("{} failed ({}): {}", shell::display(command), done.status, done.stderr.trim());
    }
    Ok(done.stdout)
}

/// A server that has printed where it is, until it is dropped.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start(mut command: Command) -> Result<Server> {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let mut server = Server { process, port: 0 };
        server.port = port_of(&line).with_context(|| format!("a server printed {line:?}"))?;
        Ok(server)
    }

    /// The CPU time of its threads until now.
    fn cpu_ns(&self) -> Result<u64> {
        let tasks = Path::new("/proc").join(self.process.id().to_string()).join("task");
        let mut sum_ns = 0;
        for task in fs::read_dir(tasks)? {
            let text = fs::read_to_string(task?.path().join("schedstat"))?;
            sum_ns += text.split_whitespace().next().context("no schedstat")?.parse::<u64>()?;
        }
        Ok(sum_ns)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that has ended already is only waited for.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The port in a line with a URL: `… http://[::]:8080/ …`.
fn port_of(line: &str) -> Option<u16> {
    let (_, url) = line.split_once("http://")?;
    let (host, _) = url.split_once('/')?;
    host.rsplit(':').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_read_from_what_a_server_prints() {
        let ours =
            "/tmp/site is served at http://[::]:9141/ by epoll-level, 1 worker; Ctrl-C ends it\n";
        assert_eq!(port_of(ours), Some(9141));
        assert_eq!(port_of("http://127.0.0.1:80/\n"), Some(80));
        assert_eq!(port_of("can't listen\n"), None);
    }
}
