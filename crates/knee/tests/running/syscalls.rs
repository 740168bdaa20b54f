//! The workload `syscalls`: each operation by threads and by processes, and what becomes of a process that ends.

use crate::common::Knee;
use model::{Cell, Outcome};

/// The only sample of a metric.
fn figure(cell: &Cell, metric: &str) -> f64 {
    let recorded = cell.metrics.iter().find(|candidate| candidate.name == metric);
    let recorded = recorded.unwrap_or_else(|| panic!("{metric}: {cell:?}"));
    assert_eq!(recorded.samples.len(), 1, "{metric} of {:?}", cell.key);
    recorded.samples[0]
}

#[test]
fn each_operation_is_measured_by_threads_and_by_processes() {
    let knee = Knee::new();
    // As many rounds as there have to be, and no time to spare: this measures nothing.
    let words = ["run", "syscalls", "--rounds", "1", "--time", "20ms", "--points", "1,2,3"];
    let came = knee.run(&words);
    assert_eq!(came.code, Some(0), "{came:?}");
    knee.assert_no_process_left();
    let run = knee.last_run();
    let operations = run.plan.workloads[0].subjects.len();
    // A yield is measured up to one worker for each CPU.
    let cpus = std::thread::available_parallelism().unwrap().get();
    let yields = cpus.min(3);
    assert_eq!(run.cells.len(), 2 * (3 * (operations - 1) + yields));
    for cell in &run.cells {
        assert_eq!(cell.outcome, Outcome::Measured, "{:?}", cell.key);
        let workers = cell.key.point as f64;
        let (all, each) = (figure(cell, "operations"), figure(cell, "each"));
        assert!(all > 0.0 && (all / each - workers).abs() < 1e-6, "{cell:?}");
    }
    // The kernel adds the time of a process that runs on at its ticks, which a loaded machine may have late.
    let without_time = run.cells.iter().filter(|cell| figure(cell, "cpu") <= 0.0);
    assert!(without_time.count() * 20 <= run.cells.len(), "{:?}", run.cells);
}
