//! A run from the JSON that was written of it: the very same run, or one line that says why not.
//!
//! What is concluded (tables, findings) is passed over: it is concluded anew from the run. Everything
//! else has to be there, whole and without contradictions, so that whoever keeps the run is not
//! surprised half-way.

use super::{SCHEMA, plain};
use jiff::Timestamp;
use model::{Cell, CellKey, Run, RunState, RunSummary};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::HashSet;
use std::fmt;

/// A longer text is refused. The largest run that knee measures, every sample of `--full`, takes less.
pub const BYTES_MAX: usize = 256 << 20;
/// A text with more values than this is refused: each may take more room than it is written in. With
/// both limits, reading needs no more than some 2 GiB, whatever the text.
pub const VALUES_MAX: usize = 16_000_000;

/// Digits of a run's id.
const ID_DIGITS: usize = 16;
/// Keys that are no part of the run.
const CONCLUDED: [&str; 8] =
    ["schema", "profiles", "tables", "means", "maps", "findings", "caveats", "answer"];

/// Why a text is no run: what is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Line and column, where the text is no JSON of the expected form.
    position: Option<(usize, usize)>,
    message: String,
}

impl Unreadable {
    /// The message may quote the text: escape sequences are taken out.
    fn new(message: impl AsRef<str>) -> Self {
        Self { position: None, message: printable::replace_unprintable(message.as_ref()) }
    }

    fn from_parser(error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let text = error.to_string();
        let message = text.strip_suffix(&format!(" at line {line} column {column}"));
        Self { position: Some((line, column)), ..Self::new(message.unwrap_or(&text)) }
    }

    /// The error after the name of its file: `run.json, line 3, column 7: …`.
    pub fn in_file(&self, name: &str) -> String {
        let separator = if self.position.is_some() { ", " } else { ": " };
        format!("{name}{separator}{self}")
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.position {
            write!(out, "line {line}, column {column}: ")?;
        }
        write!(out, "{}", self.message)
    }
}

impl std::error::Error for Unreadable {}

/// What tells whether it is a run at all, and of which schema.
#[derive(Deserialize)]
struct Head {
    schema: Option<serde_json::Number>,
    summary: Option<IgnoredAny>,
}

/// The run that [`super::run`] wrote with all its samples.
///
/// Of what is read here, nothing is trusted: any bytes give a run or an error, within the memory that
/// [`BYTES_MAX`] and [`VALUES_MAX`] allow.
pub fn read(bytes: &[u8]) -> Result<Run, Unreadable> {
    within_limits(bytes)?;
    known_schema(bytes)?;
    plain::check(bytes).map_err(|error| Unreadable::from_parser(&error))?;
    let mut unknown = None;
    let mut parser = serde_json::Deserializer::from_slice(bytes);
    let run: Run = serde_ignored::deserialize(&mut parser, |path| {
        let path = path.to_string();
        if unknown.is_none() && !CONCLUDED.contains(&path.as_str()) {
            unknown = Some(path);
        }
    })
    .map_err(|error| Unreadable::from_parser(&error))?;
    if let Some(path) = unknown {
        return Err(Unreadable::new(format!("{path} is a key that this knee does not know")));
    }
    check_summary(&run)?;
    check_state(&run)?;
    check_cells(&run)?;
    check_profile(&run)?;
    Ok(run)
}

fn within_limits(bytes: &[u8]) -> Result<(), Unreadable> {
    if bytes.len() > BYTES_MAX {
        let max = BYTES_MAX >> 20;
        return Err(Unreadable::new(format!("it is larger than {max} MiB")));
    }
    // What stands between commas: about as many as there are values, and found in no time.
    if bytes.split(|&byte| byte == b',').count() > VALUES_MAX {
        let max = VALUES_MAX / 1_000_000;
        return Err(Unreadable::new(format!("it has more than {max} million values")));
    }
    Ok(())
}

/// Whether it is a run of the schema that this knee writes.
fn known_schema(bytes: &[u8]) -> Result<(), Unreadable> {
    let head: Head =
        serde_json::from_slice(bytes).map_err(|error| Unreadable::from_parser(&error))?;
    match (head.schema, head.summary) {
        (Some(schema), Some(_)) if schema.as_u64() == Some(u64::from(SCHEMA)) => Ok(()),
        (Some(schema), Some(_)) => Err(Unreadable::new(format!(
            "it is of schema {schema}, and this knee reads schema {SCHEMA}"
        ))),
        _ => Err(Unreadable::new(
            "it is JSON, but no run that knee wrote: `schema` or `summary` is missing",
        )),
    }
}

fn check_summary(run: &Run) -> Result<(), Unreadable> {
    let RunSummary { id, started, ended, cells_ended, cells_planned, .. } = &run.summary;
    let digits = |id: &str| id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if id.len() != ID_DIGITS || !digits(id) {
        return Err(Unreadable::new("summary.id is not made of 16 digits from 0 to f"));
    }
    for (key, moment) in [("started", Some(started)), ("ended", ended.as_ref())] {
        if moment.is_some_and(|moment| moment.parse::<Timestamp>().is_err()) {
            return Err(Unreadable::new(format!(
                "summary.{key} is no moment such as 2026-11-21T13:51:34+00:00"
            )));
        }
    }
    let (cells, planned) = (run.cells.len() as u64, run.plan.cells.len() as u64);
    let wrong = if *cells_ended != cells {
        format!("summary.cells_ended is {cells_ended}, and there are {cells} cells")
    } else if *cells_planned != planned {
        format!("summary.cells_planned is {cells_planned}, and plan.cells has {planned}")
    } else {
        return Ok(());
    };
    Err(Unreadable::new(wrong))
}

fn check_state(run: &Run) -> Result<(), Unreadable> {
    let RunSummary { state, ended, .. } = &run.summary;
    let has_ended = ended.is_some() && run.host_after.is_some();
    let wrong = match state {
        RunState::Open => ended.is_some() || run.host_after.is_some(),
        RunState::Complete | RunState::Interrupted => !has_ended,
    };
    if wrong {
        return Err(Unreadable::new(format!(
            "summary.state is {}, which summary.ended and host_after contradict",
            state.name()
        )));
    }
    // A budget ends a run before every cell that there may be.
    let (cells, planned) = (run.cells.len(), run.plan.cells.len());
    if *state == RunState::Complete && run.plan.budget.is_none() && cells < planned {
        return Err(Unreadable::new(format!(
            "summary.state is complete, and {cells} of {planned} cells are there"
        )));
    }
    Ok(())
}

fn check_cells(run: &Run) -> Result<(), Unreadable> {
    let mut sequences = HashSet::new();
    for (index, cell) in run.cells.iter().enumerate() {
        let sequence = cell.sequence;
        if !sequences.insert(sequence) {
            return Err(Unreadable::new(format!("cells.{index}: cell {sequence} is there twice")));
        }
        let planned = usize::try_from(sequence).ok().and_then(|n| run.plan.cells.get(n));
        if planned != Some(&cell.key) {
            return Err(Unreadable::new(format!(
                "cells.{index}.key is not what plan.cells.{sequence} says"
            )));
        }
        check_cell(cell, index)?;
    }
    Ok(())
}

fn check_profile(run: &Run) -> Result<(), Unreadable> {
    run.profile.check().map_err(Unreadable::new)?;
    let planned = run.plan.cells.iter().map(|key| CellKey { round: 0, ..key.clone() });
    let planned: HashSet<CellKey> = planned.collect();
    for (index, cell) in run.profile.cells.iter().enumerate() {
        if !planned.contains(&cell.key) {
            return Err(Unreadable::new(format!(
                "profile.cells.{index}.key is not of a cell in plan.cells"
            )));
        }
    }
    Ok(())
}

fn check_cell(cell: &Cell, index: usize) -> Result<(), Unreadable> {
    for (number, metric) in cell.metrics.iter().enumerate() {
        let (samples, positions) = (metric.samples.len(), metric.positions.len());
        if positions != 0 && positions != samples {
            return Err(Unreadable::new(format!(
                "cells.{index}.metrics.{number}.positions: {positions} positions of {samples} samples"
            )));
        }
    }
    Ok(())
}
