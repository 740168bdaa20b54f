//! Servers with one quirk each: `knee load` and `knee run` name it, and nothing else. The servers are `quirks.py`.

use crate::common::{Came, Knee};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

fn script() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/serving/quirks.py")
}

/// A server with a quirk, and all that it started.
struct Quirky {
    child: Child,
    port: u16,
}

impl Quirky {
    fn start(quirk: &str) -> Quirky {
        let (mode, arguments) = quirk.split_once(' ').unwrap_or((quirk, ""));
        let mut words = Command::new("python3");
        words.arg(script()).args([mode, "0"]).args(arguments.split_whitespace());
        words.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut child = words.spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Quirky { child, port: port.trim().parse().unwrap() }
    }

    fn load(&self, flags: &str) -> Came {
        let url = format!("http://127.0.0.1:{}/", self.port);
        let words = ["load", &url, "--wait", "60s", "--connections", "20"];
        Knee::new().run(&words.into_iter().chain(flags.split_whitespace()).collect::<Vec<_>>())
    }
}

impl Drop for Quirky {
    fn drop(&mut self) {
        let group = Pid::from_raw(self.child.id().cast_signed()).unwrap();
        kill_process_group(group, Signal::KILL).unwrap();
        self.child.wait().unwrap();
    }
}

/// The quirk, the flags of the load, and the expected finding.
const LOADS: &[(&str, &str, &str)] = &[
    ("close-silent", "", "closes each connection after its reply (not announced)"),
    ("idle 0.5", "--rate 100 --duration 1500ms --dead 10", "closes idle connections after"),
    ("one-per-recv", "--pipeline 4", "it does not pipeline → --pipeline 1"),
    ("pool 4", "", "serves 4 of 20 active connections"),
    (
        "emfile 20",
        "",
        "active connections: the others never got a reply, and it has no descriptor left",
    ),
    ("status 404", "", "(4xx "),
    ("status 429", "", "(4xx "),
    ("status 500", "", "(5xx "),
    ("status 503", "", "(5xx "),
    ("status 301", "", "redirects to /elsewhere → ask for that"),
    ("status 302", "", "redirects to /elsewhere"),
    ("flip 60", "", "failures are in no rate and no latency"),
    ("limit 5", "", "failures are in no rate and no latency"),
    ("mss", "--duration 400ms", "its replies wait for delayed acknowledgements"),
    ("backlog 2 20", "--duration 2500ms", "had a full accept queue"),
    ("h2c", "", "speaks HTTP/2 on this port"),
    ("tlsonly", "", "speaks TLS on this port → use https://"),
    ("banner", "--duration 1s", "speaks no HTTP on this port: it sends \"SSH-2.0-Quirky\""),
    ("surplus", "", "sends more than its replies announce: \"xxxxxxxxxx\""),
    ("short", "--timeout 500ms --duration 1s", "announces 600 bytes in a reply, and sends 6"),
    (
        "cut 50",
        "--requests 500 --duration 60s",
        "ends 10 of 500 replies before they are whole → the server's log",
    ),
    ("endless", "--timeout 500ms --duration 1s", "does not end its replies: "),
    ("crash 500", "--duration 2s", "ended while it was asked"),
    ("freeze 500", "--timeout 500ms --duration 2s", "gave no reply for"),
];

/// What only grows threads, which all of these do.
const NOTHING_ODD: &[&str] = &["ok", "chunked", "chunk0", "hints", "status 204", "status 304"];

#[test]
fn a_load_names_the_quirk_of_its_server() {
    for (quirk, flags, expected) in LOADS {
        let usual = if flags.contains("--duration") { "" } else { "--duration 200ms" };
        let came = Quirky::start(quirk).load(&format!("{usual} {flags}"));
        let all = came.out.clone() + &came.err;
        assert!(all.contains(expected), "{quirk}: {came:?}");
    }
    for quirk in NOTHING_ODD {
        let came = Quirky::start(quirk).load("--duration 200ms");
        let lines = came.out.lines().skip_while(|line| *line != "The server").skip(1);
        let lines: Vec<&str> = lines.take_while(|line| line.starts_with("  ")).collect();
        let is_usual = |line: &&str| line.contains("grows a thread for each connection");
        assert!(came.code == Some(0) && lines.iter().all(is_usual), "{quirk}: {came:?}");
    }
}

/// The quirk, the dead connections, and the reason of the cell, or what is found.
const CELLS: &[(&str, &str, &str)] = &[
    ("close-silent", "20", "closes each connection after its reply (not announced)"),
    // Before the next request or behind it: of errors, or in words.
    ("close-silent", "0", "announce"),
    ("idle 0.3", "20", "closes idle connections after"),
    ("pool 4", "20", "holds 4 of the 20 dead connections asked for"),
    ("pool 4", "0", "served 4 of 20 active connections: the others never got a reply"),
    ("emfile 20", "20", "it has no descriptor left"),
    ("status 404", "0", "replied with status 404"),
    ("status 503", "0", "replied with status 503"),
    ("status 301", "0", "replied with status 301"),
    ("flip 60", "0", "status"),
    ("limit 5", "20", "dead connections asked for (status "),
    ("mss", "0", "its replies wait for delayed acknowledgements"),
    ("h2c", "0", "speaks HTTP/2 on this port"),
    ("tlsonly", "0", "speaks TLS on this port"),
    ("banner", "0", "speaks no HTTP on this port: it sends \"SSH-2.0-Quirky\""),
    ("surplus", "0", "sends more than its replies announce: \"xxxxxxxxxx\""),
    ("short", "0", "announces 600 bytes in a reply, and sends 6"),
    ("crash 500", "0", "exited with 3"),
    ("wrongport", "0", "listens at another port"),
    ("daemon", "0", "left the foreground"),
];

/// What is measured without a remark.
const MEASURED: &[&str] = &["ok", "chunked", "chunk0", "hints", "late 1", "noisy"];

fn run(quirk: &str, dead: &str) -> Came {
    let (mode, arguments) = quirk.split_once(' ').unwrap_or((quirk, ""));
    let server = format!("quirky=python3 {} {mode} {{port}} {arguments}", script().display());
    let flags = ["--alive", "20", "--rounds", "1", "--time", "50ms", "--points", dead];
    Knee::new().run(&[&["run", "dead", "--server", &server], &flags[..]].concat())
}

#[test]
fn a_run_names_the_quirk_of_its_server() {
    for (quirk, dead, expected) in CELLS {
        let is_named = |came: &Came| (came.out.clone() + &came.err).contains(expected);
        let mut came = run(quirk, dead);
        // Where CPUs are busy, a reply may take longer than the kernel's delay alone.
        for _ in 0..if *quirk == "mss" { 9 } else { 0 } {
            if is_named(&came) {
                break;
            }
            came = run(quirk, dead);
        }
        assert!(is_named(&came), "{quirk} at {dead}: {came:?}");
    }
    for quirk in MEASURED {
        let came = run(quirk, "0");
        assert_eq!(came.code, Some(0), "{quirk}: {came:?}");
    }
}

/// The CPU time of the workers in ticks of the kernel's clock, the least first.
fn ticks(master: &Child) -> Vec<u64> {
    let children = format!("/proc/{0}/task/{0}/children", master.id());
    let children = std::fs::read_to_string(children).unwrap();
    let of_worker = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
        fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum()
    };
    let mut all: Vec<u64> = children.split_whitespace().map(of_worker).collect();
    all.sort_unstable();
    all
}

#[test]
fn a_load_says_where_one_worker_does_the_work() {
    let server = Quirky::start("prefork 3");
    let came = server.load("--duration 1s");
    let ticks = ticks(&server.child);
    let (busiest, all) = (ticks[2], ticks.iter().sum::<u64>());
    let is_named = came.out.contains("of its CPU time in one of 3 processes");
    // How the kernel wakes them is not in the test's hands: it may be in between.
    if all >= 40 && 4 * busiest > 3 * all {
        assert!(is_named, "{ticks:?}: {came:?}");
    }
    if 2 * busiest < all {
        assert!(!is_named, "{ticks:?}: {came:?}");
    }
}
