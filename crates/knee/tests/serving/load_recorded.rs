//! `knee load --record`: a load as a run, which is shown, compared and pushed like any other.

use crate::common::{Knee, wait_until};
use crate::load::Server;
use archive::{Archive, SqliteArchive};
use model::{Outcome, Run, RunState, WorkloadRole};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, listen, socket_with};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn load(knee: &Knee, server: &Server, words: &str) -> Value {
    let url = server.url();
    let words: Vec<&str> = ["load", &url].into_iter().chain(words.split(' ')).collect();
    let came = knee.run(&words);
    assert_eq!(came.code, Some(0), "{came:?}");
    serde_json::from_str(&came.out).unwrap_or(Value::Null)
}

/// The operations of a metric in all cells together.
fn operations(run: &Run, name: &str) -> u64 {
    let metrics = run.cells.iter().flat_map(|cell| &cell.metrics);
    metrics.filter(|metric| metric.name == name).map(|metric| metric.operations).sum()
}

#[test]
fn each_interval_is_a_round_of_a_run_that_has_the_whole_distribution() {
    let (knee, server) = (Knee::new(), Server::start());
    load(&knee, &server, "--rate 500 --duration 250ms --interval 50ms");
    assert!(!knee.record().exists(), "nothing is recorded unless --record says so");
    let rate = "--rate 500 --duration 250ms --interval 50ms --record --label commit=1 --json";
    let message = load(&knee, &server, rate);
    let run = knee.last_run();
    assert!(run.is_load() && run.plan.workloads[0].role == WorkloadRole::Load);
    assert_eq!(run.summary.labels["commit"], "1");
    let rounds: Vec<u32> = run.cells.iter().map(|cell| cell.key.round).collect();
    assert_eq!(rounds, [0, 1, 2, 3, 4]);
    let key = &run.cells[0].key;
    assert_eq!(key.subject, server.url().strip_prefix("http://").unwrap());
    assert_eq!(key.point, 10);
    assert_eq!(key.parameters["rate"], "500");
    assert_eq!(key.parameters["interval_ms"].number(), Some(50));
    let due = ["requests", "unsent"].map(|key| message[key].as_u64().unwrap());
    assert_eq!(operations(&run, "latency"), due.iter().sum::<u64>());
    assert_eq!(operations(&run, "p99"), 0, "25 requests of an interval have no 99th percentile");
    assert_eq!(operations(&run, "whole p99"), due.iter().sum::<u64>());
    let shown = knee.run(&["show", "last", "--all"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    // The distribution of all intervals together.
    assert!(shown.out.contains("p99.9") && shown.out.contains("operations"), "{}", shown.out);
    let words: Vec<&str> = shown.out.split_whitespace().collect();
    let whole = "the maximum of all requests · of the whole load";
    assert!(words.join(" ").contains(whole), "{}", shown.out);
}

#[test]
fn loads_of_servers_of_one_name_are_compared() {
    let knee = Knee::new();
    for file in ["a.db", "b.db"] {
        let server = Server::start();
        let words = "--rate 500 --duration 250ms --interval 50ms --name shop --record";
        let file = knee.directory.path().join(file);
        load(&knee, &server, &format!("{words} {}", file.display()));
    }
    let path = |name| format!("{}/{name}", knee.directory.path().display());
    let came = knee.run(&["compare", &path("a.db"), &path("b.db"), "--json"]);
    let comparison: Value = serde_json::from_str(&came.out).unwrap_or_else(|_| panic!("{came:?}"));
    let tables = comparison["tables"].as_array().unwrap();
    assert!(!tables.is_empty() && tables[0]["workload"] == "load", "{comparison:#}");
    let text = knee.run(&["compare", &path("a.db"), &path("b.db")]);
    assert!(!text.out.contains("knee ab") && !text.out.contains("--rounds"), "{}", text.out);
}

/// Answers requests with a key, and refuses the others.
fn admit(mut stream: TcpStream) {
    let mut bytes = [0; 4096];
    while let Ok(length @ 1..) = stream.read(&mut bytes) {
        let has_key = String::from_utf8_lossy(&bytes[..length]).contains("\r\nX-Key: SECRET\r\n");
        let status = if has_key { "200 OK" } else { "401 Unauthorized" };
        let reply = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n");
        if stream.write_all(reply.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn a_header_is_sent_and_its_value_is_recorded_nowhere() {
    let knee = Knee::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || admit(stream));
        }
    });
    let requests = ["load", &url, "--requests", "20", "--record", "--json"];
    let came = knee.run(&[&requests[..], &["-H", "X-Key: SECRET"]].concat());
    let message: Value = serde_json::from_str(&came.out).unwrap_or_else(|_| panic!("{came:?}"));
    assert_eq!(
        (&message["replies"], &message["plan"]["headers"][0]),
        (&20.into(), &"X-Key".into())
    );
    let run = knee.last_run();
    assert_eq!(run.cells[0].key.parameters["headers"], "X-Key");
    assert!(run.summary.command.iter().any(|word| word == "X-Key:***"), "{:?}", run.summary);
    assert!(!came.out.contains("SECRET") && !came.err.contains("SECRET"), "{came:?}");
    for entry in std::fs::read_dir(knee.record().parent().unwrap()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
        assert!(!bytes.windows(6).any(|word| word == b"SECRET"));
    }
    let refused = knee.run(&["load", &url, "--header", "SECRET"]);
    assert_eq!((refused.code, refused.err.contains("SECRET")), (Some(2), false), "{refused:?}");
}

/// A server that answers nothing but a client's first request: all the others are given up.
#[test]
fn requests_without_a_reply_count_with_the_time_that_they_waited() {
    let knee = Knee::new();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let words = "--rate 100 --duration 400ms --interval 100ms --timeout 100ms --record";
    let words: Vec<&str> = ["load", &url].into_iter().chain(words.split(' ')).collect();
    let came = knee.run(&words);
    assert_eq!(came.code, Some(1), "no reply came: {came:?}");
    let run = knee.last_run();
    assert_eq!(operations(&run, "latency"), 40);
    assert_eq!(operations(&run, "replies"), 0);
    let metrics = run.cells.iter().flat_map(|cell| &cell.metrics);
    let max_ns = metrics.filter(|metric| metric.name == "max").map(|metric| metric.samples[0]);
    assert!(max_ns.fold(0.0, f64::max) >= 1e8);
    assert!(run.warnings.iter().any(|warning| warning.what.contains("lower bounds")));
}

#[test]
fn dead_connections_are_the_axis() {
    let (knee, server) = (Knee::new(), Server::start());
    load(&knee, &server, "--dead 0,5 --requests 200 --record");
    let run = knee.last_run();
    let points: Vec<u64> = run.cells.iter().map(|cell| cell.key.point).collect();
    assert!(points.starts_with(&[0]) && points.ends_with(&[5]), "{points:?}");
    assert_eq!(run.plan.workloads[0].axis_parameter, "dead");
    assert_eq!(operations(&run, "latency"), 400);
}

#[test]
fn a_signal_keeps_what_was_measured() {
    let (knee, server) = (Knee::new(), Server::start());
    let words = ["load", &server.url(), "--duration", "10m", "--interval", "200ms", "--record"];
    let child = knee.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("it is under way", || server.requests.load(Ordering::SeqCst) > 100);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let run = knee.last_run();
    assert!(operations(&run, "latency") > 100);
    assert_eq!(run.summary.state, RunState::Interrupted);
    assert_eq!(run.plan.cells.len(), 3_000, "ten minutes of 200 ms each");
    let came = knee.run(&["run", "--resume"]);
    assert!(came.code != Some(0) && came.err.lines().count() == 1, "{came:?}");
    let interrupted = run.warnings.iter().any(|warning| warning.what.contains("interrupted after"));
    assert!(interrupted, "{:?}", run.warnings);
}

/// Answers the requests of a connection, each after this pause, until it ends.
fn answer(mut stream: TcpStream, pause: Duration) {
    let mut bytes = [0; 4096];
    while let Ok(1..) = stream.read(&mut bytes) {
        std::thread::sleep(pause);
        if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").is_err() {
            return;
        }
    }
}

/// A server of which the second load takes half a minute.
#[test]
fn a_load_that_is_killed_keeps_each_interval_that_ended() {
    let knee = Knee::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            let pause = Duration::from_millis(if number == 0 { 0 } else { 300 });
            std::thread::spawn(move || answer(stream, pause));
        }
    });
    let words = "--dead 0,1 --connections 1 --requests 100 --interval 500ms --record";
    let words: Vec<&str> = ["load", &url].into_iter().chain(words.split(' ')).collect();
    let mut child = knee.start(&words);
    let recorded = || {
        let archive = SqliteArchive::open_read_only(knee.record()).ok()?;
        archive.load(1).ok()
    };
    let cells = |point| {
        let of_point = |run: &Run| run.cells.iter().filter(|cell| cell.key.point == point).count();
        recorded().as_ref().map_or(0, of_point)
    };
    wait_until("an interval of the second load is recorded", || cells(1) > 0);
    child.kill().unwrap();
    child.wait().unwrap();

    let run = recorded().unwrap();
    assert_eq!((run.summary.state, cells(0)), (RunState::Open, 1));
    assert!(run.summary.cells_planned > run.summary.cells_ended, "{:?}", run.summary);
    let first = run.cells[0].metrics.iter().find(|metric| metric.name == "latency").unwrap();
    assert_eq!(first.operations, 100);
    let shown = knee.run(&["show", "last"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    assert!(shown.out.contains("The run has not ended"), "{}", shown.out);
    let archive = knee.at("archive.db");
    let pushed = knee.done(&["record", "push", &archive]);
    assert!(pushed.contains("interrupted: its process was killed"), "{pushed}");
    let there = SqliteArchive::open_read_only(&archive).unwrap().load(1).unwrap();
    assert_eq!((there.summary.state, there.cells.len()), (RunState::Interrupted, run.cells.len()));
    let resumed = knee.run(&["run", "--resume"]);
    assert!(resumed.code != Some(0) && resumed.err.lines().count() == 1, "{resumed:?}");
    knee.assert_no_process_left();
}

/// A load of 100 requests with each of these `numbers` of dead connections, on a server that ends with its first connection.
fn load_that_fails_at_the_second(knee: &Knee, numbers: &str) -> (Value, Run) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || answer(listener.accept().unwrap().0, Duration::ZERO));
    let words = format!("--dead {numbers} --connections 1 --requests 100 --record --json");
    let words: Vec<&str> = ["load", &url].into_iter().chain(words.split(' ')).collect();
    let came = knee.run(&words);
    assert_eq!(came.code, Some(1), "{came:?}");
    (serde_json::from_str(&came.out).unwrap(), knee.last_run())
}

#[test]
fn a_load_that_fails_with_its_last_number_of_dead_connections_is_not_complete() {
    let (_, run) = load_that_fails_at_the_second(&Knee::new(), "0,7");
    assert_eq!((run.cells.len(), run.plan.cells.len()), (2, 2));
    assert_eq!(run.summary.state, RunState::Interrupted);
}

#[test]
fn a_number_of_dead_connections_that_fails_is_in_the_plan_and_has_its_reason() {
    let (message, run) = load_that_fails_at_the_second(&Knee::new(), "0,7,9");
    assert_eq!(run.summary.state, RunState::Interrupted);
    assert_eq!(operations(&run, "latency"), 100);
    let failed = &run.cells[1];
    assert!(failed.key.point == 7 && failed.outcome != Outcome::Measured, "{failed:?}");
    let planned: Vec<u64> = run.plan.cells.iter().map(|key| key.point).collect();
    assert_eq!(planned, [0, 7, 9]);
    let reason = "1 of 3 numbers of dead connections were measured";
    assert!(run.warnings.iter().any(|warning| warning.what.starts_with(reason)), "{message}");
    assert_eq!(message["warnings"].as_array().map(Vec::len), Some(1), "{message}");
}

/// A socket that listens and takes no further connection: one waits to be accepted, and the kernel drops the first packet
/// of any other.
fn full_listener() -> (OwnedFd, SocketAddr, TcpStream) {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
    bind(&socket, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listen(&socket, 0).unwrap();
    let address = SocketAddr::try_from(getsockname(&socket).unwrap()).unwrap();
    let waiting = TcpStream::connect(address).unwrap();
    (socket, address, waiting)
}

/// A server that takes no connection, and ends when the first interval is recorded: then one is refused before any
/// was made.
#[test]
fn a_load_that_fails_keeps_the_intervals_before() {
    let knee = Knee::new();
    let (listener, address, _waiting) = full_listener();
    let url = format!("http://{address}/");
    let words =
        "--connection-rate 2 --connections 100 --duration 10m --timeout 10m --interval 100ms";
    let words = ["load", &url].into_iter().chain(words.split(' ')).chain(["--record"]);
    let words: Vec<&str> = words.collect();
    let child = knee.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("an interval is recorded", || {
        let archive = SqliteArchive::open_read_only(knee.record());
        archive.and_then(|archive| archive.load(1)).is_ok_and(|run| !run.cells.is_empty())
    });
    drop(listener);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let run = knee.last_run();
    assert_eq!(run.summary.state, RunState::Interrupted);
    let (last, intervals) = run.cells.split_last().unwrap();
    assert!(!intervals.is_empty() && matches!(last.outcome, Outcome::Failed { .. }), "{last:?}");
    assert!(intervals.iter().all(|cell| cell.outcome == Outcome::Measured), "{output:?}");
    let planned: Vec<u32> = run.plan.cells.iter().map(|key| key.round).collect();
    assert_eq!(
        planned,
        (0..6_000).collect::<Vec<u32>>(),
        "its cells are part of those of the plan"
    );
    let no_figures = "No figures of the load as a whole: ";
    assert!(run.warnings.iter().any(|warning| warning.what.starts_with(no_figures)), "{output:?}");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("refuses connections") && errors.contains("(run 1)"), "{errors}");
    let shown = knee.run(&["show", "last"]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
}

#[test]
fn a_load_that_measures_nothing_leaves_no_run() {
    let knee = Knee::new();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let came = knee.run(&["load", &format!("http://{address}/"), "--record"]);
    assert_eq!((came.code, came.err.lines().count()), (Some(1), 1), "{came:?}");
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    assert!(archive.runs().unwrap().is_empty());
}

#[test]
fn what_can_not_be_recorded_is_refused_before_the_load() {
    let (knee, server) = (Knee::new(), Server::start());
    let url = server.url();
    let not_a_record = knee.directory.path().join("notes.txt");
    std::fs::write(&not_a_record, "nothing that is a record, and longer than its first page")
        .unwrap();
    let file = not_a_record.to_str().unwrap();
    for words in [
        &["load", "--record", &url][..],
        &["load", &url, "--record", file],
        &["load", &url, "--name", "shop"],
        &["load", &url, "--record", "--label", "a=1", "--label", "a=2"],
        &["load", &url, "--record", "postgres://me@localhost/perf"],
    ] {
        let came = knee.run(words);
        assert_eq!((came.code, came.err.lines().count()), (Some(2), 1), "{words:?}: {came:?}");
    }
    assert_eq!(server.requests.load(Ordering::SeqCst), 0);
}

#[test]
fn a_recorded_load_is_pushed() {
    let (knee, server) = (Knee::new(), Server::start());
    let archive = knee.directory.path().join("archive.db").display().to_string();
    load(&knee, &server, &format!("--requests 100 --push {archive}"));
    let own = knee.last_run();
    let pushed = SqliteArchive::open_read_only(&archive).unwrap().runs().unwrap();
    assert_eq!(pushed[0].id, own.summary.id);
}
