//! The workloads over servers: every server is measured, what is counted adds up, and where a server
//! or a dead connection is missing there are no figures.

use crate::common::{Came, Knee, came, in_a_network, wait_until};
use model::command_facts::{CALLS_OF, SYSTEM_CALLS};
use model::{Cell, Change, LimitCause, Outcome, Run};
use rustix::process::{Pid, Signal, kill_process};
use std::process::Stdio;

/// A run of which every cell is measured, and all servers that there are.
fn measured(words: &[&str]) -> Run {
    let knee = Knee::new();
    let came = knee.run(words);
    assert_eq!(came.code, Some(0), "{came:?}");
    knee.assert_no_process_left();
    let run = knee.last_run();
    for cell in &run.cells {
        assert_eq!(cell.outcome, Outcome::Measured, "{:?}", cell.key);
    }
    for lacking in &run.plan.unavailable {
        eprintln!("SKIPPED in part: {}: {}", lacking.subject, lacking.reason);
    }
    run
}

fn samples<'a>(cell: &'a Cell, metric: &str) -> &'a [f64] {
    let recorded = cell.metrics.iter().find(|candidate| candidate.name == metric);
    &recorded.unwrap_or_else(|| panic!("{metric} of {:?}", cell.key)).samples
}

fn servers_available() -> usize {
    workloads::drivers::all().iter().filter(|server| server.available().is_ok()).count()
}

#[test]
fn each_server_is_connected_to_and_asked() {
    let run = measured(&["run", "connect", "request", "--points", "25", "--rounds", "1"]);
    assert_eq!(run.cells.len(), 2 * servers_available());
    let (each, looks): (Vec<u64>, [u64; 15]) =
        ((1..=25).collect(), [10, 10, 10, 10, 10, 20, 20, 20, 20, 20, 25, 25, 25, 25, 25]);
    for cell in &run.cells {
        let metric_named =
            |metric: &str| cell.metrics.iter().find(|candidate| candidate.name == metric).unwrap();
        let uncounted = cell.facts.get(SYSTEM_CALLS);
        if let Some(why) = uncounted {
            eprintln!("SKIPPED in part: {why:?}");
        } else {
            // Each operation is read and replied to, and the first one's connection accepted, or not.
            let [calls] = samples(cell, SYSTEM_CALLS) else { panic!("one figure: {cell:?}") };
            assert!((2.0..100.0).contains(calls), "{cell:?}");
        }
        if cell.key.workload == "request" {
            if uncounted.is_none() && cell.key.subject == "epoll-level" {
                for call in ["recvfrom", "sendto"] {
                    assert_eq!(samples(cell, &format!("{CALLS_OF}{call}")), [1.0], "{call}");
                }
                // On a busy machine a worker's wait may end by its time, too.
                let [waits] = samples(cell, &format!("{CALLS_OF}epoll_wait")) else { panic!() };
                assert!((1.0..2.0).contains(waits), "{waits} waits");
            }
            assert_eq!(metric_named("request").positions, looks, "{:?}", cell.key);
            continue;
        }
        assert_eq!(metric_named("served").positions, each, "{:?}", cell.key);
        for n in 0..25 {
            let parts = metric_named("connect").samples[n] + metric_named("answer").samples[n];
            assert!((metric_named("served").samples[n] - parts).abs() < 1.0, "{:?}", cell.key);
            assert!(
                metric_named("connect").samples[n] > 0.0 && metric_named("answer").samples[n] > 0.0
            );
        }
    }
}

#[test]
fn each_server_replies_with_dead_connections() {
    let words = ["run", "dead", "--points", "40", "--alive", "10", "--rounds", "1"];
    let run = measured(&[&words[..], &["--time", "10ms", "--workers", "1"]].concat());
    assert_eq!(run.cells.len(), servers_available());
    for cell in &run.cells {
        for metric in ["replies", "cpu", "latency", "p99"] {
            let figures = samples(cell, metric);
            // On a busy machine the server may get no turn for a whole interval.
            assert!(figures.iter().any(|&figure| figure > 0.0), "{metric}: {cell:?}");
            assert!(figures.iter().all(|&figure| figure >= 0.0), "{metric}: {cell:?}");
        }
        assert!(samples(cell, "received")[0] > 128.0, "a body and its head: {cell:?}");
        if !cell.facts.contains_key(SYSTEM_CALLS) {
            // One wait may serve several connections.
            assert!(samples(cell, SYSTEM_CALLS)[0] > 0.0, "{cell:?}");
        }
        let none = cell.metrics.iter().any(|metric| metric.name.contains("memory"));
        assert!(!none, "40 connections are too few to tell what they take");
    }
}

#[test]
fn memory_is_measured_where_there_are_enough_dead_connections() {
    let points = "1k,5k";
    let words =
        ["run", "dead", "--points", points, "--alive", "5", "--rounds", "1", "--time", "10ms"];
    let run = measured(&[&words[..], &["--subjects", "epoll-level,nginx"]].concat());
    for (metric, dead_min, bytes) in [("memory", 1_000, 1.0), ("kernel memory", 5_000, 1_000.0)] {
        let figures: Vec<(u64, f64)> = run
            .cells
            .iter()
            .filter(|cell| cell.metrics.iter().any(|candidate| candidate.name == metric))
            .map(|cell| (cell.key.point, samples(cell, metric)[0]))
            .collect();
        assert!(figures.iter().all(|(point, _)| *point >= dead_min), "{metric}: {figures:?}");
        assert!(figures.iter().all(|(_, each)| *each < 100_000.0), "{metric}: {figures:?}");
        // It is left out where something else gave back more meanwhile: not in every cell. The two sockets
        // of a connection alone are more than 1,000 bytes.
        assert!(figures.iter().any(|(_, each)| *each > bytes), "{metric}: {figures:?}");
    }
}

#[test]
fn parameters_of_the_load_are_kept() {
    let words = ["run", "dead", "--points", "5", "--rounds", "1"];
    // A rate is kept over a while, in which a busy machine comes round to it.
    let ways: [(&str, &[&str]); 3] = [
        ("100ms", &["--rate", "500"]),
        ("20ms", &["--calls", "7", "--bytes", "20000"]),
        ("20ms", &["--workers", "2"]),
    ];
    for (time, more) in ways {
        let subjects = ["--subjects", "epoll-level", "--alive", "8", "--time", time];
        let run = measured(&[&words[..], &subjects, more].concat());
        let rates = samples(&run.cells[0], "replies");
        if more[0] == "--rate" {
            // The plan is kept in the mean, however its intervals fall.
            let mean = rates.iter().sum::<f64>() / rates.len() as f64;
            assert!((250.0..1_000.0).contains(&mean), "{rates:?}");
        }
    }
}

#[test]
fn a_download_is_timed_by_the_mb() {
    let words =
        ["run", "download", "--points", "3", "--rounds", "1", "--second-client", "nothing,slow"];
    let run = measured(&[&words[..], &["--laid", "contiguous,fragmented"]].concat());
    assert!(!run.cells.is_empty());
    for cell in &run.cells {
        let metric = cell.metrics.iter().find(|metric| metric.name == "throughput").unwrap();
        assert_eq!(metric.positions, [1, 2, 3], "{:?}", cell.key);
        assert!(metric.samples.iter().all(|&rate| rate > 0.0));
        if cell.key.parameters["laid"] == "fragmented" {
            let pieces = cell.facts["pieces of the file"].number().unwrap();
            assert!(pieces >= 10.0, "{pieces}");
        }
    }
}

#[test]
fn a_cold_download_is_cold_or_left_out_with_the_reason() {
    let knee = Knee::new();
    let words = ["run", "download", "--points", "3", "--rounds", "1", "--subjects", "sendfile"];
    let plain = ["--second-client", "nothing", "--laid", "contiguous"];
    let came = knee.run(&[&words[..], &plain, &["--cache", "hot,cold"]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    let left_out = run.plan.changes.iter().any(|change| {
        matches!(&change.change, Change::LeftOut { what, .. } if what == "A download of a cold file")
    });
    assert_eq!(run.cells.len(), if left_out { 1 } else { 2 });
    assert!(run.cells.iter().all(|cell| cell.outcome == Outcome::Measured), "{came:?}");
}

/// Ends the first process of a run over servers that `wanted` finds, by SIGKILL, and returns why its
/// cell failed.
fn failure_reason(knee: &Knee, words: &[&str], wanted: &str) -> String {
    let child = knee.command(words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let find = || {
        let all = knee.processes();
        let line = all.iter().find(|line| line.contains(wanted) && !line.contains("__guard"))?;
        Pid::from_raw(line.split(':').next()?.parse().ok()?)
    };
    wait_until("there is a process to end", || find().is_some());
    kill_process(find().unwrap(), Signal::KILL).unwrap();
    let output = child.wait_with_output().unwrap();
    knee.assert_no_process_left();
    let run = knee.last_run();
    match &run.cells[0].outcome {
        Outcome::Failed { reason, .. } => reason.to_string(),
        Outcome::Measured => panic!("{}", String::from_utf8_lossy(&output.stderr)),
    }
}

#[test]
fn a_server_that_is_killed_voids_its_cell() {
    let words = ["run", "dead", "--subjects", "epoll-level", "--points", "10", "--rounds", "1"];
    let words = [&words[..], &["--time", "2s"]].concat();
    let reason = failure_reason(&Knee::new(), &words, " httpd ");
    assert!(reason.contains("epoll-level ended") || reason.contains("ended before"), "{reason}");
}

#[test]
fn lost_dead_connections_fail_their_cell() {
    let words = ["run", "dead", "--subjects", "epoll-level", "--points", "10", "--rounds", "1"];
    let words = [&words[..], &["--time", "500ms"]].concat();
    let reason = failure_reason(&Knee::new(), &words, "__dead");
    assert!(reason.contains("dead connections"), "{reason}");
}

/// What `words` came to with at most so many descriptors.
fn with_descriptors(knee: &Knee, descriptors_max: u32, words: &str) -> Came {
    came(&mut knee.shell(&format!("ulimit -n {descriptors_max} && exec \"$KNEE\" {words}")))
}

#[test]
fn more_connections_than_descriptors_are_clamped_with_the_limit() {
    let knee = Knee::new();
    let words =
        "run dead connect --points 900 --rounds 1 --time 5ms --subjects epoll-level --workers 1";
    let came = with_descriptors(&knee, 400, words);
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    let clamped = |parameter: &str| {
        run.plan.changes.iter().any(|change| match &change.change {
            Change::Clamped(limit) => {
                limit.parameter == parameter && limit.cause == LimitCause::Descriptors { max: 400 }
            }
            _ => false,
        })
    };
    assert!(clamped("dead") && clamped("connections"), "{:?}", run.plan.changes);
    assert!(run.cells.iter().all(|cell| cell.outcome == Outcome::Measured), "{came:?}");
    assert!(run.cells.iter().all(|cell| cell.key.point < 400));
}

#[test]
fn ports_that_run_out_are_named() {
    let knee = Knee::new();
    let few = "echo 40000 40099 > /proc/sys/net/ipv4/ip_local_port_range";
    let words = "run connect --points 500 --rounds 1 --subjects epoll-level";
    let Some(came) = in_a_network(&knee, few, words) else { return };
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    let short = run.cells[0].short.as_ref().unwrap();
    assert!((50..100).contains(&short.reached), "{short:?}");
    assert!(short.reason.cause().contains("100 ports"), "{short:?}");
}

#[test]
fn reply_rates_are_printed_as_httperf_did() {
    let knee = Knee::new();
    let words =
        ["run", "--like", "httperf", "--points", "0,10", "--subjects", "poll", "--alive", "5"];
    let came = knee.run(&[&words[..], &["--rounds", "1", "--time", "10ms"]].concat());
    assert_eq!(came.code, Some(0), "{came:?}");
    for point in ["poll dead 0: Reply rate [replies/s]: min ", "poll dead 10: Reply rate"] {
        assert!(came.out.contains(point), "{}", came.out);
    }
    assert!(came.out.contains("Hidden: "), "{}", came.out);
}
