//! What a worker was doing when its time was up stands in the reason of its failed cell, and all of it in
//! the detail.

use crate::common::Knee;
use archive::{Archive, SqliteArchive};
use model::Outcome;

/// The reason and the detail of the one cell of `subject`, and what was printed.
fn stuck(subject: &str) -> (String, String, String) {
    let knee = Knee::new();
    let words = ["run", "fault", "--subjects", subject, "--rounds", "1", "--deadline", "1s"];
    let came = knee.run(&words);
    assert_eq!(came.code, Some(1), "nothing was measured: {came:?}");
    knee.assert_no_process_left();
    let archive = SqliteArchive::open_read_only(knee.record()).unwrap();
    let run = archive.load(archive.resolve("last").unwrap()).unwrap();
    match &run.cells[..] {
        [cell] => match &cell.outcome {
            Outcome::Failed { reason, detail } => (reason.to_string(), detail.clone(), came.err),
            Outcome::Measured => panic!("{subject} was measured"),
        },
        cells => panic!("{} cells", cells.len()),
    }
}

#[test]
fn one_that_spins_is_named_by_its_function() {
    let (reason, detail, output) = stuck("spins");
    if detail.contains("could not be sampled") {
        eprintln!("SKIPPED: perf events are refused here: {detail}");
        return;
    }
    assert!(reason.starts_with("did not finish within 1 s: "), "{reason}");
    assert!(reason.contains(" samples in workloads::controls::fault::spin"), "{reason}");
    assert!(output.contains(&reason), "reported at once: {output}");
    assert!(detail.contains("\nknee worker, "), "{detail}");
    assert!(detail.contains(" in workloads::controls::fault::spin"), "{detail}");
}

#[test]
fn one_that_hangs_is_named_by_its_system_call() {
    let (reason, detail, _) = stuck("hangs");
    assert_eq!(reason, "did not finish within 1 s: it waits in futex");
    assert!(detail.contains(": waits in futex at "), "{detail}");
}

#[test]
fn who_only_serves_the_worker_is_in_the_detail_alone() {
    let (reason, detail, _) = stuck("hangs-parked");
    assert_eq!(reason, "did not finish within 1 s: it waits in futex");
    assert!(detail.contains("\nknee park, "), "{detail}");
}
