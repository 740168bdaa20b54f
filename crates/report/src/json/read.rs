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

/// Refuses a text where this is not right.
fn ensure(is_right: bool, wrong: impl FnOnce() -> String) -> Result<(), Unreadable> {
    if is_right { Ok(()) } else { Err(Unreadable::new(wrong())) }
}

fn within_limits(bytes: &[u8]) -> Result<(), Unreadable> {
    let (mib, million) = (BYTES_MAX >> 20, VALUES_MAX / 1_000_000);
    ensure(bytes.len() <= BYTES_MAX, || format!("it is larger than {mib} MiB"))?;
    // What stands between commas: about as many as there are values, and found in no time.
    let values = bytes.split(|&byte| byte == b',').count();
    ensure(values <= VALUES_MAX, || format!("it has more than {million} million values"))
}

/// Whether it is a run of the schema that this knee writes.
fn known_schema(bytes: &[u8]) -> Result<(), Unreadable> {
    let head: Head =
        serde_json::from_slice(bytes).map_err(|error| Unreadable::from_parser(&error))?;
    let (Some(schema), Some(_)) = (head.schema, head.summary) else {
        let wrong = "it is JSON, but no run that knee wrote: `schema` or `summary` is missing";
        return Err(Unreadable::new(wrong));
    };
    ensure(schema.as_u64() == Some(u64::from(SCHEMA)), || {
        format!("it is of schema {schema}, and this knee reads schema {SCHEMA}")
    })
}

fn check_summary(run: &Run) -> Result<(), Unreadable> {
    let RunSummary { id, started, ended, cells_ended, cells_planned, .. } = &run.summary;
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    ensure(id.len() == ID_DIGITS && id.bytes().all(is_digit), || {
        "summary.id is not made of 16 digits from 0 to f".to_owned()
    })?;
    for (key, moment) in [("started", Some(started)), ("ended", ended.as_ref())] {
        ensure(moment.is_none_or(|moment| moment.parse::<Timestamp>().is_ok()), || {
            format!("summary.{key} is no moment such as 2026-11-21T13:51:34+00:00")
        })?;
    }
    let (cells, planned) = (run.cells.len() as u64, run.plan.cells.len() as u64);
    ensure(*cells_ended == cells, || {
        format!("summary.cells_ended is {cells_ended}, and there are {cells} cells")
    })?;
    ensure(*cells_planned == planned, || {
        format!("summary.cells_planned is {cells_planned}, and plan.cells has {planned}")
    })
}

fn check_state(run: &Run) -> Result<(), Unreadable> {
    let RunSummary { state, ended, .. } = &run.summary;
    let ends = [ended.is_some(), run.host_after.is_some()];
    ensure(ends == [*state != RunState::Open; 2], || {
        let state = state.name();
        format!("summary.state is {state}, which summary.ended and host_after contradict")
    })?;
    // A budget ends a run before every cell that there may be.
    let (cells, planned) = (run.cells.len(), run.plan.cells.len());
    let may_lack = *state != RunState::Complete || run.plan.budget.is_some();
    ensure(may_lack || cells >= planned, || {
        format!("summary.state is complete, and {cells} of {planned} cells are there")
    })
}

fn check_cells(run: &Run) -> Result<(), Unreadable> {
    let mut sequences = HashSet::new();
    for (index, Cell { sequence, key, metrics, .. }) in run.cells.iter().enumerate() {
        ensure(sequences.insert(sequence), || {
            format!("cells.{index}: cell {sequence} is there twice")
        })?;
        let planned = usize::try_from(*sequence).ok().and_then(|n| run.plan.cells.get(n));
        ensure(planned == Some(key), || {
            format!("cells.{index}.key is not what plan.cells.{sequence} says")
        })?;
        for (number, metric) in metrics.iter().enumerate() {
            let (samples, positions) = (metric.samples.len(), metric.positions.len());
            ensure(positions == 0 || positions == samples, || {
                let key = format!("cells.{index}.metrics.{number}.positions");
                format!("{key}: {positions} positions of {samples} samples")
            })?;
        }
    }
    Ok(())
}

fn check_profile(run: &Run) -> Result<(), Unreadable> {
    run.profile.check().map_err(Unreadable::new)?;
    let planned = run.plan.cells.iter().map(CellKey::in_first_round);
    let planned: HashSet<CellKey> = planned.collect();
    run.profile.cells.iter().enumerate().try_for_each(|(index, cell)| {
        ensure(planned.contains(&cell.key), || {
            format!("profile.cells.{index}.key is not of a cell in plan.cells")
        })
    })
}
