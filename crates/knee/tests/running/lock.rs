//! The workload `lock`: each lock is measured, its figures belong together, one that doesn't lock is
//! caught, and one that can't end fails with what its threads were doing.

use crate::common::Knee;
use locks::TABLE;
use model::{Cell, Outcome};

fn run(words: &[&str]) -> (Knee, crate::common::Came) {
    let knee = Knee::new();
    // As many rounds as there have to be, and no time to spare: this measures nothing.
    let came = knee.run(&[&["run", "lock", "--rounds", "1", "--time", "5ms"], words].concat());
    knee.assert_no_process_left();
    (knee, came)
}

/// The only sample of a metric, if it has one.
fn figure(cell: &Cell, metric: &str) -> Option<f64> {
    let recorded = cell.metrics.iter().find(|candidate| candidate.name == metric)?;
    assert_eq!(recorded.samples.len(), 1, "{metric} of {:?}", cell.key);
    recorded.samples.first().copied()
}

fn reason(cell: &Cell) -> String {
    match &cell.outcome {
        Outcome::Failed { reason, .. } => reason.to_string(),
        Outcome::Measured => panic!("{:?} was measured", cell.key),
    }
}

/// Every lock that there is and that locks.
fn real() -> Vec<&'static str> {
    let rows = TABLE.iter().filter(|row| !row.control && (row.available)().is_ok());
    rows.map(|row| row.name).collect()
}

#[test]
fn each_lock_is_measured_and_its_figures_belong_together() {
    let (knee, came) = run(&["--points", "1,2", "--subjects", &real().join(",")]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    assert_eq!(run.cells.len(), 2 * real().len());
    for cell in &run.cells {
        assert_eq!(cell.outcome, Outcome::Measured, "{:?}", cell.key);
        let value = |metric| figure(cell, metric).unwrap_or_else(|| panic!("{metric}: {cell:?}"));
        assert!(value("acquisitions") > 0.0);
        // In a short time there are too few ticks to split it.
        let split = figure(cell, "user").zip(figure(cell, "system"));
        let of_both = split.map_or(value("cpu"), |(user, system)| user + system);
        assert!((value("cpu") - of_both).abs() < 0.01, "{cell:?}");
        let threads = cell.key.point as f64;
        // On a busy machine there may be too few acquisitions to tell.
        let fairness = figure(cell, "fairness").unwrap_or(1.0);
        assert!((1.0 / threads..=1.0 + 1e-9).contains(&fairness), "{cell:?}");
        assert!(value("waiting") <= value("p99") && value("p99") <= value("longest"), "{cell:?}");
        assert!(value("held") > 0.0 && value("outside") > 0.0);
        let histogram = |name: &str| {
            let metric = cell.metrics.iter().find(|metric| metric.name == name);
            metric.is_some_and(|metric| metric.histogram.starts_with("HISTF"))
        };
        assert!(histogram("waiting"), "{cell:?}");
        if cell.key.point == 1 {
            assert_eq!(figure(cell, "hand-over"), None, "one alone hands nothing over");
        }
    }
}

#[test]
fn a_lock_that_does_not_lock_is_caught_where_there_are_most_threads() {
    let (knee, came) = run(&["--points", "1,2,8", "--subjects", "broken,std", "--work", "20k"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let run = knee.last_run();
    let broken: Vec<&Cell> = run.cells.iter().filter(|c| c.key.subject == "broken").collect();
    assert_eq!(broken.iter().map(|cell| cell.key.point).collect::<Vec<u64>>(), [8]);
    let reason = reason(broken[0]);
    assert!(reason.contains("inside at once"), "{reason}");
    assert!(run.cells.iter().all(|c| c.key.subject == "broken" || c.outcome == Outcome::Measured));
    assert!(came.out.contains("broken"), "{}", came.out);
}

#[test]
fn a_number_of_acquisitions_is_what_each_thread_makes() {
    let (knee, came) = run(&["--points", "1,2", "--subjects", "futex", "--work", "500"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    for cell in &knee.last_run().cells {
        assert_eq!(cell.outcome, Outcome::Measured, "{cell:?}");
        let metric_named =
            |name: &str| cell.metrics.iter().find(|metric| metric.name == name).unwrap();
        assert_eq!(metric_named("acquisitions").operations, 500 * cell.key.point);
        // The second pass is half as long.
        assert_eq!(metric_named("waiting").operations, 250 * cell.key.point);
    }
}

#[test]
fn a_cell_that_can_not_end_fails_with_its_stack_sample() {
    // A thousand million acquisitions of each thread are not made in two seconds by any lock.
    let words = ["--points", "4x", "--subjects", "ticket", "--work", "1000M", "--deadline", "2s"];
    let (knee, came) = run(&words);
    let run = knee.last_run();
    let Outcome::Failed { reason, detail } = &run.cells[0].outcome else { panic!("{came:?}") };
    assert_eq!(reason.event(), "did not finish within 2 s");
    if stacks::Profiler::check().is_ok() {
        assert!(format!("{reason} {detail}").contains("ticket"), "{reason}: {detail}");
    } else {
        eprintln!("SKIPPED in part: the symbols: perf events are not allowed here");
    }
}

#[test]
fn a_lock_may_have_no_cpu_to_spare() {
    let (knee, came) = run(&["--cpus", "1", "--points", "1x,2x", "--subjects", "byte-block,std"]);
    assert_eq!(came.code, Some(0), "{came:?}");
    let points: Vec<u64> = knee.last_run().cells.iter().map(|cell| cell.key.point).collect();
    assert_eq!(points.iter().filter(|point| **point == 1).count(), 2, "1x of one CPU: {points:?}");
    assert_eq!(points.iter().filter(|point| **point == 2).count(), 2, "{points:?}");
}

#[test]
fn other_parameters_grow_as_well() {
    for (axis, points) in [("held", "10,1k"), ("outside", "10,1k"), ("spins", "1,64")] {
        let words = ["--axis", axis, "--points", points, "--subjects", "ticket-block"];
        let (knee, came) = run(&[&words[..], &["--threads", "2"]].concat());
        assert_eq!(came.code, Some(0), "{axis}: {came:?}");
        assert_eq!(knee.last_run().cells.len(), 2, "{axis}");
    }
}

#[test]
fn more_cpus_than_there_are_and_odd_multiples_are_reported() {
    let (_, came) = run(&["--cpus", "100000"]);
    assert_eq!(came.code, Some(5), "{came:?}");
    assert!(came.err.contains("--cpus: 100000 CPUs, and this run has"), "{}", came.err);
    let (_, came) = run(&["--points", "1/0x"]);
    assert_eq!(came.code, Some(2), "{came:?}");
    assert!(came.err.contains("`1/0x` is no multiple of cpus (such as 4x"), "{}", came.err);
}
