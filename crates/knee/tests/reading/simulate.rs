//! `knee simulate`: what it prints, what it keeps, and that it is never taken for a measured run.

use crate::common::{Came, Knee};
use archive::{Archive, SqliteArchive};
use model::Run;
use serde_json::Value;

/// Little of everything: this is about words and marks.
const LITTLE: &[&str] =
    &["simulate", "lock", "--cpus", "2", "--threads", "1,2,8", "--rounds", "2", "--time", "10ms"];

fn simulate(knee: &Knee, more: &[&str]) -> Came {
    knee.run(&[LITTLE, more].concat())
}

fn json(came: &Came) -> Value {
    assert_eq!(came.code, Some(0), "{came:?}");
    serde_json::from_str(&came.out).unwrap()
}

fn load(file: &std::path::Path) -> Run {
    let archive = SqliteArchive::open_read_only(file).unwrap();
    archive.load(archive.resolve("last").unwrap()).unwrap()
}

#[test]
fn it_says_who_collapses_and_that_nothing_was_measured() {
    let knee = Knee::new();
    let came = simulate(&knee, &["--algorithm", "ticket,futex"]);
    assert_eq!((came.code, came.err.as_str()), (Some(0), ""), "{came:?}");
    assert!(came.out.starts_with("Simulated, not measured: "), "{}", came.out);
    let plain = came.out.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(plain.contains("ticket collapses"), "{plain}");
    assert!(!plain.contains("futex collapses"), "{plain}");
    assert!(plain.contains("Nothing here was measured: a model of 2 equal CPUs"), "{plain}");
    // Nothing is kept that was not asked to be.
    assert!(!knee.record().exists());
}

#[test]
fn left_out_cells_are_reported_with_the_reason() {
    let knee = Knee::new();
    let came = simulate(&knee, &[]);
    let plain = came.out.split_whitespace().collect::<Vec<&str>>().join(" ");
    for (name, reason) in simulate::LEFT_OUT {
        assert!(plain.contains(&format!("not simulated: {reason}")), "{name}: {plain}");
    }
    // Who names locks has not asked for the others.
    let came = simulate(&knee, &["--algorithm", "byte"]);
    assert!(!came.out.contains("not simulated"), "{}", came.out);
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    let knee = Knee::new();
    let cells = |seed| {
        let words = ["--algorithm", "byte,mcs", "--json", "--seed", seed];
        json(&simulate(&knee, &words))["cells"].clone()
    };
    let first = cells("7");
    assert_eq!(first.as_array().unwrap().len(), 2 * 3 * 2);
    assert_eq!(first, cells("7"));
    assert_ne!(first, cells("8"));
}

#[test]
fn every_figure_of_the_workload_is_there_with_its_histogram() {
    let knee = Knee::new();
    let run = json(&simulate(&knee, &["--algorithm", "byte", "--json", "--held", "250ns"]));
    let workload = &run["plan"]["workloads"][0];
    let wanted: Vec<&str> = workload["metrics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| m["name"].as_str().unwrap())
        .collect();
    let cells = run["cells"].as_array().unwrap();
    let crowded = cells.iter().find(|cell| cell["key"]["point"] == 8).unwrap();
    let metrics = crowded["metrics"].as_array().unwrap();
    for name in wanted {
        let metric = metrics.iter().find(|metric| metric["name"] == name);
        assert!(metric.is_some(), "{name}: {crowded}");
    }
    assert_eq!(crowded["key"]["parameters"]["held"], "250");
    assert_eq!(run["host_before"]["facts"]["simulated"], "yes");
}

#[test]
fn a_multiple_of_the_cpus_is_a_number_of_threads() {
    let knee = Knee::new();
    let words = ["--algorithm", "clh", "--json", "--cpus", "6"];
    let words = [&["simulate", "lock", "--threads", "1/2x,2x,7", "--rounds", "1"], &words[..]];
    let run = json(&knee.run(&words.concat()));
    let points = run["cells"].as_array().unwrap().iter().map(|cell| cell["key"]["point"].as_u64());
    assert_eq!(points.collect::<Option<Vec<u64>>>().unwrap(), [3, 7, 12]);
}

#[test]
fn what_is_kept_is_marked_and_neither_advised_from_nor_resumed() {
    let knee = Knee::new();
    let file = knee.directory.path().join("kept.db");
    let name = file.to_str().unwrap();
    let came = simulate(&knee, &["--algorithm", "byte", "--record", name]);
    assert_eq!(came.code, Some(0), "{came:?}");
    assert!(came.out.ends_with(&format!("Record: {name} (run 1)\n")), "{}", came.out);
    let run = load(&file);
    assert_eq!(run.host_before.fact("simulated"), Some("yes"));
    assert!(!run.host_before.facts.contains_key("kernel.release"));
    assert_eq!(run.clock.source, "simulated");
    assert_eq!(run.summary.command[1..3], ["simulate", "lock"]);
    let shown = knee.run(&["show", "last", "--record", name]);
    assert!(shown.out.contains("Nothing here was measured"), "{}", shown.out);
    let advice = knee.run(&["advise", "--total", "8", "--active", "2", "--record", name]);
    assert_eq!(advice.code, Some(5), "{advice:?}");
    let resumed = knee.run(&["run", "--resume", "--record", name]);
    assert_eq!(resumed.code, Some(1), "{resumed:?}");
}

#[test]
fn a_page_says_that_it_is_a_model() {
    let knee = Knee::new();
    let page = knee.directory.path().join("model.html");
    let came = simulate(&knee, &["--algorithm", "byte", "-o", page.to_str().unwrap()]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("Nothing here was measured"));
}

#[test]
fn a_lock_that_is_never_released_fails_its_cell() {
    let knee = Knee::new();
    // Whoever has it works for a second, of which it gets ten milliseconds in ten seconds.
    let words =
        ["--algorithm", "byte", "--slice", "10ms", "--threads", "1000", "--held", "1s", "--json"];
    let words = [&["simulate", "lock", "--cpus", "1", "--rounds", "1"], &words[..]].concat();
    let run = json(&knee.run(&words));
    let outcome = &run["cells"][0]["outcome"];
    assert_eq!(outcome["reason"]["kind"], "lock-stalled", "{outcome}");
    assert_eq!(outcome["reason"]["waited_ms"], 3000, "{outcome}");
}

#[test]
fn what_can_not_be_is_refused_in_one_line() {
    let knee = Knee::new();
    let refused: &[(&[&str], &str)] = &[
        (&["--algorithm", "nonesuch"], "--algorithm"),
        (&["--algorithm", "broken"], "broken can't be simulated"),
        (&["--cpus", "0"], "--cpus is at least 1"),
        (&["--cpus", "100k"], "CPUs can't be simulated"),
        (&["--threads", "0"], "--threads is at least 1"),
        (&["--threads", "4y"], "--threads"),
        (&["--threads", "9M"], "threads can't be simulated"),
        (&["--slice", "soon"], "not a length of time"),
        (&["--slice", "10ns"], "of a slice can't be simulated"),
        (&["--held", "-1ns"], "not a length of time"),
        (&["--time", "0ms"], "shorter than a millisecond"),
        (&["--rounds", "0"], "whole number from 1 to"),
        (&["--spins", "x"], "--spins"),
        (&["--switch", "2ms"], "of a switch can't be simulated"),
        (&["--transfer", "0"], "of a transfer can't be simulated"),
    ];
    for (words, message) in refused {
        let came = knee.run(&[&["simulate", "lock"], *words].concat());
        assert_eq!(came.code, Some(2), "{words:?}: {came:?}");
        assert_eq!(came.err.lines().count(), 1, "{words:?}: {came:?}");
        assert!(
            came.err.starts_with("knee: ") && came.err.contains(message),
            "{words:?}: {came:?}"
        );
        assert_eq!(came.out, "", "{words:?}");
    }
}

#[test]
fn a_file_that_is_no_record_or_no_page_is_left_alone() {
    let knee = Knee::new();
    let file = knee.directory.path().join("letter.txt");
    std::fs::write(&file, "Dear Aunt").unwrap();
    for flag in ["--record", "--output"] {
        let came = simulate(&knee, &["--algorithm", "byte", flag, file.to_str().unwrap()]);
        assert_ne!(came.code, Some(0), "{flag}: {came:?}");
        assert_eq!((came.out.as_str(), came.err.lines().count()), ("", 1), "{flag}: {came:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "Dear Aunt", "{flag}");
    }
}
