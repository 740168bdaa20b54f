//! What a record has to be whatever happened while it was written.

use model::{Cell, Outcome, Run};
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

/// A cell as knee tells of it.
pub fn name(cell: &Cell) -> String {
    let key = &cell.key;
    format!("{} {} at {}, round {}", key.workload, key.subject, key.point, key.round + 1)
}

/// Each cell once, as planned and whole.
pub fn assert_sound(run: &Run) {
    let distinct: HashSet<u64> = run.cells.iter().map(|cell| cell.sequence).collect();
    assert_eq!(distinct.len(), run.cells.len(), "a cell is there twice");
    for cell in &run.cells {
        assert_eq!(cell.key, run.plan.cells[cell.sequence as usize]);
        let failed = cell.key.subject == "fails";
        assert_eq!(cell.outcome != Outcome::Measured, failed, "{cell:?}");
        let full = cell.metrics.iter().all(|metric| !metric.samples.is_empty());
        assert!(full && cell.metrics.is_empty() == failed, "half a cell: {cell:?}");
    }
}

/// What SQLite says of a record; `ok` where its program is not here.
pub fn integrity(record: &Path) -> String {
    let output = Command::new("sqlite3").arg(record).arg("PRAGMA integrity_check").output();
    let Ok(output) = output else { return "ok".into() };
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
