//! Seals: a checksum of what was kept, so that nothing else is taken for it.
//!
//! SQLite notices a page that is broken, but neither a changed figure nor a page of another moment, such
//! as a copy has that was made while the record was written. A seal guards against accidents, not against
//! intent: who means to change a figure can make a new one.

use crate::error::At;
use crate::{CellKey, Error};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, RowIndex};
use std::path::Path;

/// What the seal of a run is over, in this order for all time.
const RUN: [&str; 16] = [
    "number",
    "id",
    "started",
    "ended",
    "state",
    "version",
    "cells_planned",
    "command",
    "plan",
    "clock",
    "host_before",
    "host_after",
    "warnings",
    "labels",
    "origin",
    "cells_kept",
];
/// A column of schema 7, which is NULL in what has no profile: then no seal is over it.
const RUN_SINCE_7: &str = "profiled_kept";
/// What the seal of a cell is over, and after it each of its metrics.
const CELL: [&str; 20] = [
    "number",
    "run",
    "sequence",
    "workload",
    "subject",
    "parameters",
    "point",
    "round",
    "outcome",
    "reason",
    "detail",
    "short",
    "elapsed_ns",
    "user_ns",
    "system_ns",
    "switches_voluntary",
    "switches_involuntary",
    "faults_minor",
    "faults_major",
    "facts",
];
/// A column of schema 6, which is NULL in what an older knee sealed: then no seal is over it.
const CELL_SINCE_6: &str = "failure";
const METRIC: [&str; 13] = [
    "cell",
    "place",
    "name",
    "samples",
    "positions",
    "operations",
    "user_ns",
    "system_ns",
    "switches_voluntary",
    "switches_involuntary",
    "faults_minor",
    "faults_major",
    "histogram",
];
/// What the seal of a profiled cell is over. After it come its regions, and the frames, stacks and code that
/// came with it.
const PROFILED: [&str; 14] = [
    "number",
    "run",
    "workload",
    "subject",
    "parameters",
    "point",
    "outcome",
    "failure",
    "detail",
    "elapsed_ns",
    "event",
    "sample_ns",
    "samples_outside",
    "limits",
];
pub(crate) const REGION: [&str; 8] =
    ["cell", "place", "metric", "position", "operations", "elapsed_ns", "samples", "instructions"];
pub(crate) const FRAME: [&str; 5] = ["run", "place", "function", "module", "kind"];
pub(crate) const STACK: [&str; 4] = ["run", "place", "caller", "frame"];
pub(crate) const CODE: [&str; 4] = ["run", "place", "frame", "code"];

/// Selects rows of cells for [`Seal::cell`]: what the seal is over comes first and in its order.
pub(crate) fn select_cell(rest: &str) -> String {
    format!("SELECT {}, {CELL_SINCE_6}, seal FROM cell {rest}", CELL.join(", "))
}

/// Selects rows of metrics for [`Seal::metric`].
pub(crate) fn select_metric(rest: &str) -> String {
    format!("SELECT metric.{} FROM metric {rest}", METRIC.join(", metric."))
}

/// A seal while it is made.
pub(crate) struct Seal(crc32fast::Hasher);

impl Seal {
    fn run(row: &Row<'_>) -> rusqlite::Result<Seal> {
        let mut seal = Seal(crc32fast::Hasher::new());
        seal.add(row, RUN)?;
        seal.add_unless_null(row, RUN_SINCE_7)?;
        Ok(seal)
    }

    /// Begins with the row of a cell, of [`select_cell`]; its metrics follow in their order.
    pub(crate) fn cell(row: &Row<'_>) -> rusqlite::Result<Seal> {
        let mut seal = Seal(crc32fast::Hasher::new());
        seal.add(row, 0..CELL.len())?;
        seal.add_unless_null(row, CELL.len())?;
        Ok(seal)
    }

    /// Begins with the row of a profiled cell.
    pub(crate) fn profiled(row: &Row<'_>) -> rusqlite::Result<Seal> {
        let mut seal = Seal(crc32fast::Hasher::new());
        seal.add(row, PROFILED)?;
        Ok(seal)
    }

    /// The row of a metric, of [`select_metric`].
    pub(crate) fn metric(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        self.add(row, 0..METRIC.len())
    }

    fn add_unless_null(&mut self, row: &Row<'_>, column: impl RowIndex) -> rusqlite::Result<()> {
        if row.get_ref(column)? == ValueRef::Null { Ok(()) } else { self.add(row, [column]) }
    }

    /// Adds columns by their names, which are looked up in each row, or by their places.
    pub(crate) fn add(
        &mut self,
        row: &Row<'_>,
        columns: impl IntoIterator<Item = impl RowIndex>,
    ) -> rusqlite::Result<()> {
        for column in columns {
            let value = row.get_ref(column)?;
            let (kind, number) = match value {
                ValueRef::Null => (0, 0),
                ValueRef::Integer(number) => (1, number.cast_unsigned()),
                ValueRef::Real(number) => (2, number.to_bits()),
                ValueRef::Text(bytes) => (3, bytes.len() as u64),
                ValueRef::Blob(bytes) => (4, bytes.len() as u64),
            };
            self.0.update(&[kind]);
            self.0.update(&number.to_le_bytes());
            if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = value {
                self.0.update(bytes);
            }
        }
        Ok(())
    }

    fn number(self) -> i64 {
        i64::from(self.0.finalize())
    }

    /// Refuses a cell that is not as it was sealed. `sealed` says what the record holds: nothing, where
    /// an older knee began the run.
    pub(crate) fn check_cell(
        self,
        sealed: Option<i64>,
        sequence: u64,
        path: &Path,
    ) -> Result<(), Error> {
        if sealed.is_none_or(|sealed| sealed == self.number()) {
            return Ok(());
        }
        Err(damaged(path, format!("cell {sequence} is not as it was kept")))
    }

    /// Refuses a profiled cell that is not as it was sealed. Every one has a seal.
    pub(crate) fn check_profiled(
        self,
        sealed: Option<i64>,
        key: &CellKey,
        path: &Path,
    ) -> Result<(), Error> {
        if sealed == Some(self.number()) {
            return Ok(());
        }
        let CellKey { subject, point, .. } = key;
        Err(damaged(path, format!("the profile of {subject} at {point} is not as it was kept")))
    }
}

/// Seals a cell of which all rows are there.
pub(crate) fn seal_cell(connection: &Connection, number: i64) -> rusqlite::Result<()> {
    let mut cell = connection.prepare_cached(&select_cell("WHERE number = ?1"))?;
    let mut seal = cell.query_row([number], Seal::cell)?;
    let mut metrics =
        connection.prepare_cached(&select_metric("WHERE cell = ?1 ORDER BY place"))?;
    let mut rows = metrics.query([number])?;
    while let Some(row) = rows.next()? {
        seal.metric(row)?;
    }
    let mut update = connection.prepare_cached("UPDATE cell SET seal = ?2 WHERE number = ?1")?;
    update.execute((number, seal.number())).map(drop)
}

/// Seals a profiled cell of which all rows are there.
pub(crate) fn seal_profiled(connection: &Connection, number: i64) -> rusqlite::Result<()> {
    let mut cell = connection.prepare_cached("SELECT * FROM profile_cell WHERE number = ?1")?;
    let mut seal = cell.query_row([number], Seal::profiled)?;
    let parts: [(&str, &[&str]); 4] = [
        ("profile_region", &REGION),
        ("profile_frame", &FRAME),
        ("profile_stack", &STACK),
        ("profile_code", &CODE),
    ];
    for (table, columns) in parts {
        let sql = format!("SELECT * FROM {table} WHERE cell = ?1 ORDER BY place");
        let mut select = connection.prepare_cached(&sql)?;
        let mut rows = select.query([number])?;
        while let Some(row) = rows.next()? {
            seal.add(row, columns.iter().copied())?;
        }
    }
    let mut update =
        connection.prepare_cached("UPDATE profile_cell SET seal = ?2 WHERE number = ?1")?;
    update.execute((number, seal.number())).map(drop)
}

/// Seals a run that begins.
pub(crate) fn seal_run(connection: &Connection, number: i64) -> rusqlite::Result<()> {
    let mut run = connection.prepare_cached("SELECT * FROM run WHERE number = ?1")?;
    let seal = run.query_row([number], Seal::run)?.number();
    let mut update = connection.prepare_cached("UPDATE run SET seal = ?2 WHERE number = ?1")?;
    update.execute((number, seal)).map(drop)
}

/// Refuses a run whose row is not as it was sealed, if it was, and says whether it was.
pub(crate) fn check_run(connection: &Connection, number: i64, path: &Path) -> Result<bool, Error> {
    let mut run = connection.prepare_cached("SELECT * FROM run WHERE number = ?1").at(path)?;
    let seals = run
        .query_row([number], |row| {
            Ok((row.get::<_, Option<i64>>("seal")?, Seal::run(row)?.number()))
        })
        .optional()
        .at(path)?;
    match seals {
        Some((Some(sealed), seal)) if sealed == seal => Ok(true),
        Some((Some(_), _)) => Err(damaged(path, format!("run {number} is not as it was kept"))),
        Some((None, _)) | None => Ok(false),
    }
}

pub(crate) fn damaged(path: &Path, detail: String) -> Error {
    Error::Damaged { path: path.into(), detail }
}
