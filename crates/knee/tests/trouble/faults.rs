//! A workload that misbehaves fails its own cell and nothing else, and leaves nothing behind.

use crate::common::Knee;
use model::{Cell, Outcome, Run, RunState};

fn reason(run: &Run, subject: &str) -> String {
    let cells: Vec<&Cell> = run.cells.iter().filter(|cell| cell.key.subject == subject).collect();
    assert!(!cells.is_empty(), "no cell of {subject}");
    match &cells[0].outcome {
        Outcome::Failed { reason, .. } => reason.to_string(),
        Outcome::Measured => panic!("{subject} was measured"),
    }
}

#[test]
fn every_fault_that_ends_by_itself_fails_with_its_reason() {
    let knee = Knee::new();
    let faults = [
        ("fails", "a failure, as it was asked for"),
        ("panics", "it panicked: a panic, as it was asked for"),
        ("is-killed", "it was killed by SIGKILL"),
        ("segfaults", "it was killed by SIGSEGV"),
        ("exits", "it exited with 7; it ended without a reply"),
        ("leaks-descriptors", "it leaked 3 descriptors"),
        ("prints-garbage", "its output is no reply: \"debug: x = 3"),
        ("floods", "it wrote more than any reply can hold"),
        ("leaves-processes", "it left 1 process behind, now ended"),
        ("leaves-orphans", "it left 1 process behind, now ended"),
        ("measures-nothing", "it measured no batch"),
    ];
    let names: Vec<&str> = faults.iter().map(|(name, _)| *name).collect();
    let subjects = format!("well-behaved,{}", names.join(","));
    let came =
        knee.run(&["run", "fault", "--subjects", &subjects, "--rounds", "2", "--time", "1ms"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    knee.assert_no_process_left();

    let run = knee.last_run();
    assert_eq!(run.summary.state, RunState::Complete);
    assert_eq!(run.cells.len(), 2 * (faults.len() + 1), "the run went on after each");
    for (subject, wanted) in faults {
        let reason = reason(&run, subject);
        assert!(reason.starts_with(wanted), "{subject}: {reason}");
        assert!(came.err.contains(wanted), "reported at once: {}", came.err);
        assert!(came.out.contains(subject), "and in the report: {}", came.out);
    }
    let good = run.cells.iter().filter(|cell| cell.key.subject == "well-behaved");
    assert!(good.clone().all(|cell| cell.outcome == Outcome::Measured));
    assert!(good.clone().all(|cell| !cell.metrics[0].samples.is_empty()));
}

#[test]
fn what_never_ends_fails_at_its_deadline() {
    let knee = Knee::new();
    let subjects = "hangs,spins,hangs-parked";
    let words = ["run", "fault", "--subjects", subjects, "--rounds", "1", "--deadline", "1s"];
    let came = knee.run(&words);
    assert_eq!(came.code, Some(1), "nothing was measured: {came:?}");
    assert!(came.err.contains("every cell failed"), "{came:?}");
    knee.assert_no_process_left();
    let run = knee.last_run();
    for subject in subjects.split(',') {
        let reason = reason(&run, subject);
        assert!(reason.starts_with("did not finish within 1 s: "), "{reason}");
        let cell = run.cells.iter().find(|cell| cell.key.subject == subject).unwrap();
        let Outcome::Failed { detail, .. } = &cell.outcome else { unreachable!() };
        assert!(detail.contains("\nknee worker, "), "what it did: {detail}");
    }
}
