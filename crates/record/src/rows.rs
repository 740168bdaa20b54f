//! Cells as rows, and rows as cells. What no query asks for by itself is kept as JSON.

use crate::error::At;
use crate::keeping::{changed, clean, invalid, json_with};
use crate::seal::{self, Seal};
use crate::{
    Cell, CellKey, Clock, Error, FailureReason, Metric, Outcome, RunState, Short, Usage, old,
};
use rusqlite::{Connection, Row, named_params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The word of the column `outcome` for a failed cell. Schema 1 chose it, and seals cover it; the view
/// `v_cell` shows `failed`.
const FAILED: &str = "void";

/// Writes the rows of one cell.
pub(crate) fn insert_cell(
    connection: &Connection,
    run: i64,
    cell: &Cell,
    path: &Path,
) -> Result<(), Error> {
    let (outcome, reason, detail) = match &cell.outcome {
        Outcome::Measured => ("measured", None, None),
        Outcome::Failed { reason, detail } => (FAILED, Some(reason), Some(detail)),
    };
    let count =
        |value, name: &str| count(value, || format!("{name} in cell {}", cell.sequence), path);
    let mut insert = connection
        .prepare_cached(
            "INSERT INTO cell (run, sequence, workload, subject, parameters, point, round, outcome, \
             reason, failure, detail, short, elapsed_ns, user_ns, system_ns, switches_voluntary, \
             switches_involuntary, faults_minor, faults_major, facts) \
             VALUES (:run, :sequence, :workload, :subject, :parameters, :point, :round, :outcome, \
             :reason, :failure, :detail, :short, :elapsed_ns, :user_ns, :system_ns, :switches_voluntary, \
             :switches_involuntary, :faults_minor, :faults_major, :facts)",
        )
        .at(path)?;
    insert
        .execute(named_params! {
            ":run": run,
            ":sequence": count(cell.sequence, "the place")?,
            ":workload": clean(&cell.key.workload),
            ":subject": clean(&cell.key.subject),
            ":parameters": json(&cell.key.parameters, path)?,
            ":point": count(cell.key.point, "the point")?,
            ":round": cell.key.round,
            ":outcome": outcome,
            ":reason": reason.map(|reason| sentence(reason, path)).transpose()?,
            ":failure": reason.map(|reason| json(reason, path)).transpose()?,
            ":detail": detail.map(|detail| clean(detail)),
            ":short": cell.short.as_ref().map(|short| json(short, path)).transpose()?,
            ":elapsed_ns": count(cell.elapsed_ns, "the elapsed time")?,
            ":user_ns": count(cell.usage.user_ns, "user time")?,
            ":system_ns": count(cell.usage.system_ns, "system time")?,
            ":switches_voluntary": count(cell.usage.switches_voluntary, "context switches")?,
            ":switches_involuntary": count(cell.usage.switches_involuntary, "context switches")?,
            ":faults_minor": count(cell.usage.faults_minor, "page faults")?,
            ":faults_major": count(cell.usage.faults_major, "page faults")?,
            ":facts": json(&cell.facts, path)?,
        })
        .at(path)?;
    let number = connection.last_insert_rowid();
    for (index, metric) in cell.metrics.iter().enumerate() {
        insert_metric(connection, number, index, metric, cell.sequence, path)?;
    }
    seal::seal_cell(connection, number).at(path)
}

/// The sentence of a reason, made of what is kept of it.
fn sentence(reason: &FailureReason, path: &Path) -> Result<String, Error> {
    let kept: Option<FailureReason> =
        changed(reason, &clean).map_err(|error| invalid(&error, path))?;
    Ok(kept.as_ref().unwrap_or(reason).to_string())
}

fn insert_metric(
    connection: &Connection,
    cell: i64,
    index: usize,
    metric: &Metric,
    sequence: u64,
    path: &Path,
) -> Result<(), Error> {
    check_metric(metric, sequence, path)?;
    let count = |value, name: &str| {
        count(value, || format!("{name} of {} in cell {sequence}", metric.name), path)
    };
    let mut insert = connection
        .prepare_cached(
            "INSERT INTO metric (cell, place, name, samples, positions, operations, user_ns, \
             system_ns, switches_voluntary, switches_involuntary, faults_minor, faults_major, \
             histogram) VALUES (:cell, :place, :name, :samples, :positions, :operations, :user_ns, \
             :system_ns, :switches_voluntary, :switches_involuntary, :faults_minor, :faults_major, \
             :histogram)",
        )
        .at(path)?;
    insert
        .execute(named_params! {
            ":cell": cell,
            ":place": index,
            ":name": clean(&metric.name),
            ":samples": json(&metric.samples, path)?,
            ":positions": json(&Positions::new(&metric.positions), path)?,
            ":operations": count(metric.operations, "operations")?,
            ":user_ns": count(metric.usage.user_ns, "user time")?,
            ":system_ns": count(metric.usage.system_ns, "system time")?,
            ":switches_voluntary": count(metric.usage.switches_voluntary, "context switches")?,
            ":switches_involuntary": count(metric.usage.switches_involuntary, "context switches")?,
            ":faults_minor": count(metric.usage.faults_minor, "page faults")?,
            ":faults_major": count(metric.usage.faults_major, "page faults")?,
            ":histogram": metric.histogram,
        })
        .at(path)?;
    Ok(())
}

/// Refuses what is not finite: JSON would turn it into null, silently. And positions that are not those of the
/// samples.
///
/// # Errors
/// [`Error::Invalid`].
pub fn check_metric(metric: &Metric, sequence: u64, path: &Path) -> Result<(), Error> {
    let name = &metric.name;
    if let Some((n, value)) =
        metric.samples.iter().enumerate().find(|(_, value)| !value.is_finite())
    {
        let what = format!("sample {n} of {name} in cell {sequence}, which is {value}");
        return Err(Error::Invalid { path: path.into(), what });
    }
    let (samples, positions) = (metric.samples.len(), metric.positions.len());
    if positions != 0 && positions != samples {
        let what =
            format!("{positions} positions for {samples} samples of {name} in cell {sequence}");
        return Err(Error::Invalid { path: path.into(), what });
    }
    Ok(())
}

/// Refuses a clock whose figures are not finite.
///
/// # Errors
/// [`Error::Invalid`].
pub fn check_clock(clock: &Clock, path: &Path) -> Result<(), Error> {
    for (value, name) in [(clock.resolution_ns, "resolution"), (clock.overhead_ns, "overhead")] {
        if !value.is_finite() {
            let what = format!("the clock's {name}, which is {value}");
            return Err(Error::Invalid { path: path.into(), what });
        }
    }
    Ok(())
}

/// Reads the cells of a run, in the order in which they ended. Those of a `sealed` run have seals of
/// their own.
pub(crate) fn select_cells(
    connection: &Connection,
    run: i64,
    sealed: bool,
    path: &Path,
) -> Result<Vec<Cell>, Error> {
    let mut kept = Kept::default();
    let mut select =
        connection.prepare_cached(&seal::select_cell("WHERE run = ?1 ORDER BY number")).at(path)?;
    let mut rows = select.query([run]).at(path)?;
    while let Some(row) = rows.next().at(path)? {
        kept.add(row, sealed, path)?;
    }
    let mut select = connection
        .prepare_cached(&seal::select_metric(
            "JOIN cell ON metric.cell = cell.number \
             WHERE cell.run = ?1 ORDER BY metric.cell, metric.place",
        ))
        .at(path)?;
    let mut rows = select.query([run]).at(path)?;
    while let Some(row) = rows.next().at(path)? {
        let number: i64 = row.get("cell").at(path)?;
        if let Some(&index) = kept.index_of.get(&number) {
            kept.cells[index].metrics.push(read_metric(row, path)?);
            kept.seals[index].0.metric(row).at(path)?;
        }
    }
    for (cell, (seal, sealed)) in kept.cells.iter().zip(kept.seals) {
        seal.check_cell(sealed, cell.sequence, path)?;
    }
    Ok(kept.cells)
}

/// Cells while they are read.
#[derive(Default)]
struct Kept {
    cells: Vec<Cell>,
    /// What each comes to, and what it was sealed with.
    seals: Vec<(Seal, Option<i64>)>,
    /// By their numbers in the record.
    index_of: HashMap<i64, usize>,
    sequences: HashSet<u64>,
}

impl Kept {
    fn add(&mut self, row: &Row<'_>, run_is_sealed: bool, path: &Path) -> Result<(), Error> {
        let cell = read_cell(row, path)?;
        let sequence = cell.sequence;
        let seal: Option<i64> = row.get("seal").at(path)?;
        if run_is_sealed && seal.is_none() {
            return Err(seal::damaged(path, format!("cell {sequence} has lost its seal")));
        }
        if !self.sequences.insert(sequence) {
            return Err(seal::damaged(path, format!("cell {sequence} is there twice")));
        }
        self.index_of.insert(row.get("number").at(path)?, self.cells.len());
        self.seals.push((Seal::cell(row).at(path)?, seal));
        self.cells.push(cell);
        Ok(())
    }
}

fn read_cell(row: &Row<'_>, path: &Path) -> Result<Cell, Error> {
    let outcome = match row.get_ref("outcome").at(path)?.as_str() {
        Ok("measured") => Outcome::Measured,
        _ => Outcome::Failed {
            reason: failure_reason(row, path)?,
            detail: row.get("detail").at(path)?,
        },
    };
    Ok(Cell {
        key: CellKey {
            workload: row.get("workload").at(path)?,
            subject: row.get("subject").at(path)?,
            parameters: from_json(row, "parameters", path)?,
            point: row.get("point").at(path)?,
            round: row.get("round").at(path)?,
        },
        sequence: row.get("sequence").at(path)?,
        outcome,
        elapsed_ns: row.get("elapsed_ns").at(path)?,
        short: short(row, path)?,
        usage: read_usage(row).at(path)?,
        metrics: Vec::new(),
        facts: from_json(row, "facts", path)?,
    })
}

/// A cell of an older knee has only the sentence.
fn failure_reason(row: &Row<'_>, path: &Path) -> Result<FailureReason, Error> {
    let typed: Option<String> = row.get("failure").at(path)?;
    match typed {
        Some(_) => from_json(row, "failure", path),
        None => Ok(old::failure_reason(&row.get::<_, String>("reason").at(path)?)),
    }
}

fn short(row: &Row<'_>, path: &Path) -> Result<Option<Short>, Error> {
    let there: Option<String> = row.get("short").at(path)?;
    there.is_some().then(|| from_json(row, "short", path)).transpose()
}

/// The places of samples as a column keeps them.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Positions {
    /// Each as far from the one before: a trajectory of 25,000 calls needs no 25,000 numbers.
    Even {
        from: u64,
        step: i64,
    },
    Each(Vec<u64>),
}

impl Positions {
    fn new(positions: &[u64]) -> Positions {
        let step = |pair: &[u64]| i64::try_from(i128::from(pair[1]) - i128::from(pair[0])).ok();
        let each = || Positions::Each(positions.to_vec());
        let &[from, second, ..] = positions else { return each() };
        let Some(first) = step(&[from, second]) else { return each() };
        let even = positions.windows(2).all(|pair| step(pair) == Some(first));
        if even { Positions::Even { from, step: first } } else { each() }
    }

    /// One for each of `samples` samples, or no place at all; none where there are more or fewer, or they
    /// leave the numbers that there are.
    fn values(self, samples: usize) -> Option<Vec<u64>> {
        match self {
            Positions::Each(values) => {
                (values.is_empty() || values.len() == samples).then_some(values)
            }
            Positions::Even { from, step } => (0..samples)
                .map(|n| from.checked_add_signed(i64::try_from(n).ok()?.checked_mul(step)?))
                .collect(),
        }
    }
}

fn read_metric(row: &Row<'_>, path: &Path) -> Result<Metric, Error> {
    let samples: Vec<f64> = from_json(row, "samples", path)?;
    let values = from_json::<Positions>(row, "positions", path)?.values(samples.len());
    let damaged = || {
        let detail = "column positions: they are not those of the samples".into();
        Error::Damaged { path: path.into(), detail }
    };
    Ok(Metric {
        name: row.get("name").at(path)?,
        positions: values.ok_or_else(damaged)?,
        samples,
        operations: row.get("operations").at(path)?,
        usage: read_usage(row).at(path)?,
        histogram: row.get("histogram").at(path)?,
    })
}

fn read_usage(row: &Row<'_>) -> rusqlite::Result<Usage> {
    Ok(Usage {
        user_ns: row.get("user_ns")?,
        system_ns: row.get("system_ns")?,
        switches_voluntary: row.get("switches_voluntary")?,
        switches_involuntary: row.get("switches_involuntary")?,
        faults_minor: row.get("faults_minor")?,
        faults_major: row.get("faults_major")?,
    })
}

/// A count as databases keep it: signed.
///
/// # Errors
/// [`Error::Invalid`] above 2⁶³ − 1.
pub fn count(value: u64, name: impl FnOnce() -> String, path: &Path) -> Result<i64, Error> {
    i64::try_from(value).map_err(|_| Error::Invalid {
        path: path.into(),
        what: format!("{}, which is {value}", name()),
    })
}

/// A count of the run itself as SQLite keeps it.
pub(crate) fn run_count(value: u64, name: &str, path: &Path) -> Result<i64, Error> {
    count(value, || name.into(), path)
}

/// A value as the JSON of a column.
///
/// # Errors
/// [`Error::Invalid`] for what JSON can't hold.
pub fn json<T: Serialize>(value: &T, path: &Path) -> Result<String, Error> {
    json_with(value, &clean, path)
}

/// The value of a column that holds JSON.
pub(crate) fn from_json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: &str,
    path: &Path,
) -> Result<T, Error> {
    let text: String = row.get(column).at(path)?;
    serde_json::from_str(&text).map_err(|error| Error::Damaged {
        path: path.into(),
        detail: format!("column {column}: {error}"),
    })
}

/// The state of a run from its word.
pub(crate) fn state(row: &Row<'_>, path: &Path) -> Result<RunState, Error> {
    let word: String = row.get("state").at(path)?;
    [RunState::Open, RunState::Complete, RunState::Interrupted]
        .into_iter()
        .find(|state| state.name() == word)
        .ok_or_else(|| Error::Damaged { path: path.into(), detail: format!("state {word:?}") })
}
