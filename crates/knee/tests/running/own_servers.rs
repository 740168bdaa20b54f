//! Servers of the user's own: started, measured and ended like those of knee, and refused in one line.

use crate::common::{Came, Knee};
use model::{Cell, Outcome, Run};
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

const QUICK: [&str; 4] = ["--rounds", "1", "--time", "20ms"];

/// `knee httpd`, as somebody's own server.
fn own(words: &str) -> String {
    format!("own='{}' httpd {words}", env!("CARGO_BIN_EXE_knee"))
}

fn run(knee: &Knee, words: &[&str]) -> (Came, Run) {
    let came = knee.run(&[&["run"], words, &QUICK].concat());
    knee.assert_no_process_left();
    let run = knee.last_run();
    (came, run)
}

fn reason(cell: &Cell) -> String {
    match &cell.outcome {
        Outcome::Failed { reason, .. } => reason.to_string(),
        Outcome::Measured => "measured".to_owned(),
    }
}

#[test]
fn a_server_of_ones_own_is_measured_alone_or_with_those_of_knee() {
    let knee = Knee::new();
    let server = own("{root} --port {port} --workers {workers} --connections {max}");
    let words =
        ["dead", "connect", "request", "--points", "20", "--alive", "4", "--server", &server];
    let (came, alone) = run(&knee, &[&words[..], &["--set", "max=100", "--workers", "1"]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    assert_eq!(alone.cells.len(), 3, "{came:?}");
    for cell in &alone.cells {
        assert_eq!(cell.outcome, Outcome::Measured, "{:?}", cell.key);
        assert_eq!((&*cell.key.subject, &*cell.key.parameters["max"].text()), ("own", "100"));
    }
    let dead = alone.cells.iter().find(|cell| cell.key.workload == "dead").unwrap();
    for metric in ["replies", "cpu", "latency"] {
        assert!(dead.metrics.iter().any(|recorded| recorded.name == metric), "{metric}: {dead:?}");
    }
    assert_eq!(dead.facts[model::server_facts::DEAD], 20.into());
    let both = ["--subjects", "own,epoll-level", "--workers", "1"];
    let server = own("{root} --port {port}");
    let words = ["dead", "--points", "0", "--alive", "4", "--server", &server];
    let (came, run) = run(&knee, &[&words[..], &both].concat());
    assert_eq!((came.code, run.cells.len()), (Some(0), 2), "{came:?}");
}

#[test]
fn a_file_is_downloaded_from_a_server_of_ones_own() {
    let knee = Knee::new();
    let server = own("{root} --port {port}");
    let plain = ["--second-client", "nothing", "--laid", "contiguous", "--cache", "hot"];
    let words = [&["download", "--points", "2", "--server", &server][..], &plain].concat();
    let (came, measured) = run(&knee, &words);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert_eq!(measured.cells[0].outcome, Outcome::Measured, "{came:?}");
    if std::process::Command::new("python3").arg("--version").output().is_ok() {
        // HTTP/1.0.
        let both = [&["--second-client", "nothing,slow"], &plain[2..]].concat();
        let python = "x=python3 -m http.server {port} --bind 127.0.0.1 --directory {root}";
        let words = [&["download", "--points", "2", "--server", python][..], &both].concat();
        let (came, measured) = run(&knee, &words);
        assert_eq!(measured.cells.len(), 2, "{came:?}");
        for cell in &measured.cells {
            assert_eq!(reason(cell), "measured", "{came:?}");
        }
    }
    let help = knee.run(&["run", "download", "--help"]).out;
    assert!(help.contains("--server <") && help.contains("--url <"), "{help}");
    let elsewhere = own("/ --port {port}");
    let came = knee.run(&["run", "download", "--server", &elsewhere]);
    assert_eq!(came.code, Some(2), "{came:?}");
    assert!(came.err.contains("--root {root}"), "{came:?}");
}

/// `knee httpd`, running, which serves the directory of `knee`; and its address.
pub(crate) fn running_httpd(knee: &Knee) -> (Child, String) {
    let directory = knee.directory.path().display().to_string();
    let mut httpd = std::process::Command::new(env!("CARGO_BIN_EXE_knee"))
        .args(["httpd", &directory, "--port", "0", "--bind", "127.0.0.1", "--json"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(httpd.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ready: serde_json::Value = serde_json::from_str(&line).unwrap();
    let address = ready["address"].as_str().unwrap().to_owned();
    (httpd, address)
}

#[test]
fn what_a_url_serves_is_downloaded() {
    let knee = Knee::new();
    std::fs::write(knee.directory.path().join("big"), vec![7; 2_500_000]).unwrap();
    let (mut httpd, address) = running_httpd(&knee);
    let url = format!("mine=http://{address}/big");
    let words = ["download", "--points", "2", "--second-client", "nothing,slow", "--url", &url];
    let (came, measured) = run(&knee, &words);
    assert_eq!((came.code, measured.cells.len()), (Some(0), 2), "{came:?}");
    for cell in &measured.cells {
        assert_eq!(reason(cell), "measured", "{came:?}");
        assert!(cell.metrics.iter().any(|metric| metric.name == "cpu"), "{cell:?}");
    }
    let (came, measured) = run(&knee, &["download", "--points", "9", "--url", &url]);
    assert_eq!(came.code, Some(1), "{came:?}");
    assert_eq!(reason(&measured.cells[0]), "the server sends 2 MB: --points 2");
    let came = knee.run(&["run", "download", "--cache", "cold", "--url", &url]);
    assert_eq!(came.code, Some(2), "where the file lies is not in knee's hands: {came:?}");
    httpd.kill().unwrap();
    httpd.wait().unwrap();
}

#[test]
fn a_server_that_runs_already_is_measured_with_its_processes() {
    let knee = Knee::new();
    std::fs::write(knee.directory.path().join("x"), "hello").unwrap();
    let (mut httpd, address) = running_httpd(&knee);
    let url = format!("mine=http://{address}/x");
    let words = ["dead", "--points", "0,30", "--alive", "4", "--workers", "1", "--url", &url];
    let (came, run) = run(&knee, &words);
    assert_eq!((came.code, run.cells.len()), (Some(0), 2), "{came:?}");
    for cell in &run.cells {
        assert_eq!(cell.outcome, Outcome::Measured, "{:?}", cell.key);
        assert!(cell.metrics.iter().any(|metric| metric.name == "cpu"), "{cell:?}");
    }
    httpd.kill().unwrap();
    httpd.wait().unwrap();
    let far = "x=http://203.0.113.1/";
    let came = knee.run(&["run", "dead", "--url", far]);
    assert_eq!(came.code, Some(2), "{came:?}");
    assert!(came.err.contains("--yes-i-own-this-host"), "{came:?}");
}

#[test]
fn a_template_that_can_not_work_is_refused_in_one_line() {
    let knee = Knee::new();
    for (words, part) in [
        (&["run", "dead", "--server", "x=./x 80"][..], "has no {port}"),
        (&["run", "dead", "--server", "x=./x {prot}"], "did you mean {port}"),
        (&["run", "dead", "--server", "nginx=./x {port}"], "called nginx already"),
        (&["run", "dead", "--server", "x=./x {port}", "--set", "a=1"], "no server or URL has {a}"),
        (&["run", "dead", "--server", "x=./x {port}", "--set", "root=1"], "values of its own"),
        (&["run", "dead", "--url", "x=http://127.0.0.1/", "--insecure"], "https://"),
        (&["run", "dead", "--url", "x=https://127.0.0.1/", "--ca", "/nonexistent"], "--ca /none"),
        (
            &["run", "dead", "--server", "x=./x {port}", "--url", "x=http://127.0.0.1/"],
            "two are called x",
        ),
        (
            &["run", "download", "--server", "mmap=./x {port} {root}"],
            "of knee's is called mmap already",
        ),
        (&["run", "poll", "--server", "x=./x {port}"], "no commands or servers"),
    ] {
        let came = knee.run(words);
        assert_eq!(came.code, Some(2), "{words:?}: {came:?}");
        assert_eq!(came.err.trim_end().lines().count(), 1, "{words:?}: {came:?}");
        assert!(came.err.contains(part), "{words:?}: {came:?}");
    }
}

#[test]
fn a_server_that_does_not_serve_fails_its_cell_with_the_reason() {
    let knee = Knee::new();
    for (server, part) in [
        (&*own("/ --port 0 --bind 127.0.0.1 # {port}"), "own listens at another port, "),
        (&own("/ --port {port} & exit 0"), "own left the foreground: "),
        ("x=true # {port}", "`x` exited with 0"),
        ("x=echo what is wrong >&2; exit 3 # {port}", "`x` exited with 3: what is wrong"),
        ("x=printf '\\377\\nwrong\\n'; exit 3 # {port}", "`x` exited with 3: wrong"),
        ("x=kill -SEGV $$ # {port}", "`x` was killed by signal 11"),
        ("x=no-such-program {port}", "`x` exited with 127: sh: "),
        (&own("/ --port {port} # {root}"), "status 404"),
    ] {
        let words = ["dead", "--points", "0", "--alive", "2", "--workers", "1", "--server", server];
        let (_, run) = run(&knee, &words);
        let reason = reason(&run.cells[0]);
        assert!(reason.contains(part), "{server}: {reason}");
    }
}

#[test]
fn a_server_that_is_late_is_waited_for_as_long_as_its_cell_may_take() {
    let knee = Knee::new();
    let words = ["dead", "--points", "0", "--alive", "2", "--workers", "1", "--server"];
    let never = ["x=exec sleep 1000 # {port}", "--deadline", "8s"];
    let (_, never) = run(&knee, &[&words[..], &never].concat());
    let reason_never = reason(&never.cells[0]);
    assert!(reason_never.starts_with("x does not listen on port"), "{reason_never}");
    // How much of the deadline is left for it depends on how long the worker's start takes.
    assert!(reason_never.ends_with(" s → the same with a longer --deadline"), "{reason_never}");
    let httpd = format!("'{}' httpd", env!("CARGO_BIN_EXE_knee"));
    let serve = format!("exec {httpd} {{root}} --port {{port}}");
    for before in [
        "sleep 1; ",
        // Lines of any length.
        "head -c 5000000 /dev/zero | tr '\\0' x; ",
        // A port of its own that opens first.
        &format!("{httpd} {{root}} --port 0 & "),
    ] {
        let server = format!("x={before}{serve}");
        let (came, run) = run(&knee, &[&words[..], &[&server]].concat());
        assert_eq!(reason(&run.cells[0]), "measured", "{before}: {came:?}");
    }
}

#[test]
fn a_server_that_lets_go_of_connections_fails_the_cells_that_need_them() {
    let knee = Knee::new();
    let closes = own("{root} --port {port} --idle-timeout 1s");
    let words = ["dead", "--points", "20", "--alive", "2", "--workers", "1", "--server", &closes];
    let came = knee.run(&[&["run"], &words[..], &["--rounds", "1", "--time", "600ms"]].concat());
    let reason = reason(&knee.last_run().cells[0]);
    assert!(reason.contains("closes idle connections after"), "{reason}: {came:?}");
    assert!(reason.contains("dead connections can't be held"), "{reason}");
}

#[test]
fn pythons_server_has_figures_without_dead_connections_only() {
    let knee = Knee::new();
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: python3 is not installed");
        return;
    }
    let server = "python=python3 -m http.server {port} --bind 127.0.0.1 --directory {root}";
    let words = ["dead", "--points", "0,5", "--alive", "2", "--workers", "1", "--server", server];
    let (came, run) = run(&knee, &words);
    let cells = |point| run.cells.iter().find(|cell| cell.key.point == point).unwrap();
    assert_eq!(reason(cells(0)), "measured", "{came:?}");
    let wanted = "closes each connection after its reply (HTTP/1.0): connections can't be held";
    assert!(reason(cells(5)).contains(wanted), "{}", reason(cells(5)));
}
