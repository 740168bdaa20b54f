//! The workload `baseline`: every row measures something here, and leaves nothing behind.

use crate::common::Knee;
use model::{Cell, Outcome, Run};

/// A short run of these rows.
fn measured(knee: &Knee, words: &[&str]) -> Run {
    let short = ["run", "baseline", "--rounds", "1", "--time", "2ms"];
    let came = knee.run(&[&short, words].concat());
    knee.assert_no_process_left();
    assert_eq!(came.code, Some(0), "{came:?}");
    knee.last_run()
}

/// The median of the only metric of a cell, in its unit.
fn median(cell: &Cell) -> f64 {
    let [metric] = &cell.metrics[..] else { panic!("one metric: {cell:?}") };
    let mut samples = metric.samples.clone();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn cell<'a>(run: &'a Run, subject: &str) -> &'a Cell {
    run.cells.iter().find(|cell| cell.key.subject == subject).unwrap()
}

#[test]
fn every_row_is_measured() {
    let knee = Knee::new();
    let run = measured(&knee, &[]);
    let subjects = &run.plan.workloads[0].subjects;
    assert_eq!((run.cells.len(), subjects.len()), (46, 46));
    for cell in &run.cells {
        assert_eq!(cell.outcome, Outcome::Measured, "{}", cell.key.subject);
        let info = subjects.iter().find(|info| info.name == cell.key.subject).unwrap();
        let [metric] = &cell.metrics[..] else { panic!("one metric: {cell:?}") };
        assert_eq!(metric.name, if info.headline.is_empty() { "latency" } else { &info.headline });
        assert!(metric.samples.len() >= 5 && metric.operations >= 5, "{cell:?}");
        // From a load to a shell, and from a byte a microsecond to what no memory does.
        let bounds = if metric.name == "bandwidth" { 1e6..1e13 } else { 0.05..1e9 };
        assert!(metric.samples.iter().all(|sample| bounds.contains(sample)), "{cell:?}");
    }
    // Orders that hold on any machine, however busy: by factors of hundreds.
    for (less, more) in [
        ("add", "null-call"),
        ("null-call", "fork-exit"),
        ("latency-l1", "fork-sh"),
        ("stat", "fork-sh"),
    ] {
        assert!(median(cell(&run, less)) < median(cell(&run, more)), "{less} and {more}");
    }
    // What is taken off is stated.
    for subject in ["signal-catch", "protection-fault", "switch-2p-0k", "page-fault"] {
        let facts = &cell(&run, subject).facts;
        assert!(facts.keys().any(|fact| fact.starts_with("without ")), "{subject}: {facts:?}");
    }
}

#[test]
fn copies_go_on_meanwhile() {
    let knee = Knee::new();
    let rows = ["--subjects", "null-call,pipe,create-0k,fork-exec,copy-libc"];
    let run = measured(&knee, &[&rows[..], &["--points", "1,3"]].concat());
    assert_eq!(run.cells.len(), 10);
    assert!(run.cells.iter().all(|cell| cell.outcome == Outcome::Measured), "{:?}", run.cells);
}

#[test]
fn a_directory_where_no_program_may_run_fails_with_the_call() {
    let knee = Knee::new();
    let directory = knee.directory.path().join("noexec");
    std::fs::create_dir(&directory).unwrap();
    let script = format!(
        "unshare -m sh -c 'mount -t tmpfs -o noexec none {0} && TMPDIR={0} exec \"$KNEE\" run baseline \
         --subjects fork-exec,fork-sh,null-call --rounds 1 --time 2ms'",
        directory.display()
    );
    let output = knee.shell(&script).output().unwrap();
    if !knee.record().exists() {
        eprintln!("SKIPPED: no file system can be mounted here: {output:?}");
        return;
    }
    let run = knee.last_run();
    let outcome = |subject: &str| match &cell(&run, subject).outcome {
        Outcome::Failed { reason, .. } => reason.to_string(),
        Outcome::Measured => "measured".to_owned(),
    };
    assert_eq!(outcome("null-call"), "measured");
    let reason = outcome("fork-exec");
    assert!(reason.contains("execve of the program hello"), "{reason}");
    assert!(reason.contains("Permission denied"), "{reason}");
    assert_eq!(outcome("fork-sh"), "/bin/sh could not run the program hello");
}
