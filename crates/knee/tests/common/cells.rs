//! What a record has to be whatever happened while it was written.

use archive::{Archive, SqliteArchive};
use fixtures::needed_program;
use model::{Cell, Outcome, Run, RunSummary};
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

/// The runs of a record that are wanted; none before the first one has begun.
pub fn runs_of(record: &Path, is_wanted: impl Fn(&RunSummary) -> bool) -> Vec<Run> {
    let archive = match SqliteArchive::open_read_only(record) {
        Ok(archive) => archive,
        Err(archive::Error::NoRecord { .. } | archive::Error::EmptyRecord { .. }) => return vec![],
        Err(error) => panic!("the record does not open: {error}"),
    };
    let runs = archive.runs().unwrap().into_iter().filter(is_wanted);
    runs.map(|run| archive.load(run.number).unwrap()).collect()
}

/// The seed by which a test knows a run.
pub fn seed_of(run: &RunSummary) -> Option<u64> {
    let words = &run.command;
    let at = words.iter().position(|word| word == "--seed")?;
    words.get(at + 1)?.parse().ok()
}

/// A cell as knee names it.
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
    let Some(sqlite3) = needed_program("sqlite3") else { return "ok".into() };
    let output = Command::new(sqlite3).arg(record).arg("PRAGMA integrity_check").output().unwrap();
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
