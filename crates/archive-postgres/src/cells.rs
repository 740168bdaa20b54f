//! Cells as rows, and rows as cells.

use crate::client::{Client, CopyIn};
use crate::columns::{
    Column, Json, copy_into, count, get, get_count, get_json, get_json_if_any, names, text,
};
use crate::fault::{At, damaged};
use record::keeping::check_metric;
use record::{Cell, CellKey, Error, Metric, Outcome, Usage};
use std::collections::HashMap;
use std::path::Path;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

/// The columns of `knee.cell`, in the order in which [`write_cell`] writes them.
static CELL: [Column; 21] = [
    ("run", Type::INT8),
    ("sequence", Type::INT8),
    ("ordinal", Type::INT8),
    ("workload", Type::TEXT),
    ("subject", Type::TEXT),
    ("parameters", Type::JSONB),
    ("point", Type::INT8),
    ("round", Type::INT8),
    ("outcome", Type::TEXT),
    ("reason", Type::TEXT),
    ("failure", Type::JSON),
    ("detail", Type::TEXT),
    ("short", Type::JSON),
    ("elapsed_ns", Type::INT8),
    ("user_ns", Type::INT8),
    ("system_ns", Type::INT8),
    ("switches_voluntary", Type::INT8),
    ("switches_involuntary", Type::INT8),
    ("faults_minor", Type::INT8),
    ("faults_major", Type::INT8),
    ("facts", Type::JSON),
];
/// The columns of `knee.metric`, in the order in which [`write_metric`] writes them.
static METRIC: [Column; 16] = [
    ("run", Type::INT8),
    ("sequence", Type::INT8),
    ("ordinal", Type::INT8),
    ("name", Type::TEXT),
    ("samples", Type::FLOAT8_ARRAY),
    ("positions", Type::INT8_ARRAY),
    ("position_first", Type::INT8),
    ("position_step", Type::INT8),
    ("operations", Type::INT8),
    ("user_ns", Type::INT8),
    ("system_ns", Type::INT8),
    ("switches_voluntary", Type::INT8),
    ("switches_involuntary", Type::INT8),
    ("faults_minor", Type::INT8),
    ("faults_major", Type::INT8),
    ("histogram", Type::TEXT),
];
const MEASURED: &str = "measured";
const FAILED: &str = "failed";

/// Writes cells, the first of which is the run's n-th.
pub(crate) fn insert(
    client: &mut Client,
    run: i64,
    first: i64,
    cells: &[Cell],
    path: &Path,
) -> Result<(), Error> {
    let mut writer = copy_into(client, "knee.cell", &CELL, path)?;
    for (ordinal, cell) in (first..).zip(cells) {
        write_cell(&mut writer, run, ordinal, cell, path)?;
    }
    writer.finish().at(path)?;
    let mut writer = copy_into(client, "knee.metric", &METRIC, path)?;
    for cell in cells {
        for (ordinal, metric) in (0_i64..).zip(&cell.metrics) {
            write_metric(&mut writer, (run, ordinal), cell.sequence, metric, path)?;
        }
    }
    writer.finish().at(path)?;
    Ok(())
}

fn write_cell(
    writer: &mut CopyIn<'_>,
    run: i64,
    ordinal: i64,
    cell: &Cell,
    path: &Path,
) -> Result<(), Error> {
    let (outcome, reason, detail) = match &cell.outcome {
        Outcome::Measured => (MEASURED, None, None),
        Outcome::Failed { reason, detail } => (FAILED, Some(reason), Some(text(detail))),
    };
    let count =
        |value, name: &str| count(value, &format!("{name} in cell {}", cell.sequence), path);
    let failure = reason.map(|reason| Json::new(reason, path)).transpose()?;
    let reason = reason.map(|reason| text(&reason.to_string()));
    let short = cell.short.as_ref().map(|short| Json::new(short, path)).transpose()?;
    let usage = usage_columns(&cell.usage, count)?;
    let (sequence, point) =
        (count(cell.sequence, "the place")?, count(cell.key.point, "the point")?);
    let (workload, subject) = (text(&cell.key.workload), text(&cell.key.subject));
    let parameters = Json::new(&cell.key.parameters, path)?;
    let round = i64::from(cell.key.round);
    let elapsed = count(cell.elapsed_ns, "the elapsed time")?;
    let facts = Json::new(&cell.facts, path)?;
    let [user, system, voluntary, involuntary, minor, major] = &usage;
    let row: [&(dyn ToSql + Sync); CELL.len()] = [
        &run,
        &sequence,
        &ordinal,
        &workload,
        &subject,
        &parameters,
        &point,
        &round,
        &outcome,
        &reason,
        &failure,
        &detail,
        &short,
        &elapsed,
        user,
        system,
        voluntary,
        involuntary,
        minor,
        major,
        &facts,
    ];
    writer.write(&row).at(path)
}

fn write_metric(
    writer: &mut CopyIn<'_>,
    (run, ordinal): (i64, i64),
    cell: u64,
    metric: &Metric,
    path: &Path,
) -> Result<(), Error> {
    check_metric(metric, cell, path)?;
    let count = |value, name: &str| {
        count(value, &format!("{name} of {} in cell {cell}", metric.name), path)
    };
    let sequence = count(cell, "the place")?;
    let positions = Positions::new(&metric.positions);
    let (each, first, step) = match &positions {
        None => (None, None, None),
        Some(Positions::Even { first, step }) => (None, Some(first), Some(step)),
        Some(Positions::Each(each)) => (Some(each), None, None),
    };
    let operations = count(metric.operations, "operations")?;
    let usage = usage_columns(&metric.usage, count)?;
    let name = text(&metric.name);
    let [user, system, voluntary, involuntary, minor, major] = &usage;
    let row: [&(dyn ToSql + Sync); METRIC.len()] = [
        &run,
        &sequence,
        &ordinal,
        &name,
        &metric.samples,
        &each,
        &first,
        &step,
        &operations,
        user,
        system,
        voluntary,
        involuntary,
        minor,
        major,
        &metric.histogram,
    ];
    writer.write(&row).at(path)
}

fn usage_columns(
    usage: &Usage,
    count: impl Fn(u64, &str) -> Result<i64, Error>,
) -> Result<[i64; 6], Error> {
    Ok([
        count(usage.user_ns, "user time")?,
        count(usage.system_ns, "system time")?,
        count(usage.switches_voluntary, "context switches")?,
        count(usage.switches_involuntary, "context switches")?,
        count(usage.faults_minor, "page faults")?,
        count(usage.faults_major, "page faults")?,
    ])
}

/// Positions of samples on the axis as columns keep them: a trajectory of 25,000 calls needs no 25,000 numbers.
/// Columns are signed: they keep the bits.
#[derive(Debug, PartialEq, Eq)]
enum Positions {
    Even { first: i64, step: i64 },
    Each(Vec<i64>),
}

impl Positions {
    fn new(positions: &[u64]) -> Option<Positions> {
        let each: Vec<i64> = positions.iter().map(|position| position.cast_signed()).collect();
        let step = |pair: &[i64]| pair[1].wrapping_sub(pair[0]);
        match each[..] {
            [] => None,
            [first, second, ..]
                if each.windows(2).all(|pair| step(pair) == step(&[first, second])) =>
            {
                Some(Positions::Even { first, step: step(&[first, second]) })
            }
            _ => Some(Positions::Each(each)),
        }
    }

    fn values(self, samples: usize) -> Vec<u64> {
        match self {
            Positions::Each(each) => each.into_iter().map(i64::cast_unsigned).collect(),
            Positions::Even { first, step } => {
                let next = |position: &i64| Some(position.wrapping_add(step));
                let positions = std::iter::successors(Some(first), next);
                positions.take(samples).map(i64::cast_unsigned).collect()
            }
        }
    }
}

/// Reads the cells of a run, in the order in which they ended.
pub(crate) fn select(client: &mut Client, run: i64, path: &Path) -> Result<Vec<Cell>, Error> {
    let sql = "SELECT sequence, workload, subject, parameters::text, point, round, outcome, \
         failure::text, detail, short::text, elapsed_ns, user_ns, system_ns, switches_voluntary, \
         switches_involuntary, faults_minor, faults_major, facts::text \
         FROM knee.cell WHERE run = $1 ORDER BY ordinal";
    let rows = client.query(sql, &[&run]).at(path)?;
    let mut cells: Vec<Cell> =
        rows.iter().map(|row| read_cell(row, path)).collect::<Result<_, _>>()?;
    let index_of: HashMap<u64, usize> =
        cells.iter().enumerate().map(|(index, cell)| (cell.sequence, index)).collect();
    let sql = format!(
        "SELECT {} FROM knee.metric WHERE run = $1 ORDER BY run, sequence, ordinal",
        names(&METRIC)
    );
    for row in client.query(&sql, &[&run]).at(path)? {
        let sequence = get_count(&row, "sequence", path)?;
        let Some(&index) = index_of.get(&sequence) else {
            return Err(damaged(path, format!("there is no cell {sequence} for a metric")));
        };
        cells[index].metrics.push(read_metric(&row, path)?);
    }
    Ok(cells)
}

fn read_cell(row: &Row, path: &Path) -> Result<Cell, Error> {
    let outcome = match get::<&str>(row, "outcome", path)? {
        MEASURED => Outcome::Measured,
        _ => Outcome::Failed {
            reason: get_json(row, "failure", path)?,
            detail: get(row, "detail", path)?,
        },
    };
    let round: i64 = get(row, "round", path)?;
    Ok(Cell {
        key: CellKey {
            workload: get(row, "workload", path)?,
            subject: get(row, "subject", path)?,
            parameters: get_json(row, "parameters", path)?,
            point: get_count(row, "point", path)?,
            round: u32::try_from(round).map_err(|_| damaged(path, format!("round {round}")))?,
        },
        sequence: get_count(row, "sequence", path)?,
        outcome,
        elapsed_ns: get_count(row, "elapsed_ns", path)?,
        short: get_json_if_any(row, "short", path)?,
        usage: read_usage(row, path)?,
        metrics: Vec::new(),
        facts: get_json(row, "facts", path)?,
    })
}

fn read_metric(row: &Row, path: &Path) -> Result<Metric, Error> {
    let samples: Vec<f64> = get(row, "samples", path)?;
    let each: Option<Vec<i64>> = get(row, "positions", path)?;
    let (first, step): (Option<i64>, Option<i64>) =
        (get(row, "position_first", path)?, get(row, "position_step", path)?);
    let positions = match (each, first, step) {
        (Some(each), ..) => Some(Positions::Each(each)),
        (None, Some(first), Some(step)) => Some(Positions::Even { first, step }),
        _ => None,
    };
    let positions = positions.map_or_else(Vec::new, |positions| positions.values(samples.len()));
    if !positions.is_empty() && positions.len() != samples.len() {
        return Err(damaged(path, "column positions: they are not those of the samples"));
    }
    Ok(Metric {
        name: get(row, "name", path)?,
        positions,
        samples,
        operations: get_count(row, "operations", path)?,
        usage: read_usage(row, path)?,
        histogram: get(row, "histogram", path)?,
    })
}

fn read_usage(row: &Row, path: &Path) -> Result<Usage, Error> {
    Ok(Usage {
        user_ns: get_count(row, "user_ns", path)?,
        system_ns: get_count(row, "system_ns", path)?,
        switches_voluntary: get_count(row, "switches_voluntary", path)?,
        switches_involuntary: get_count(row, "switches_involuntary", path)?,
        faults_minor: get_count(row, "faults_minor", path)?,
        faults_major: get_count(row, "faults_major", path)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_come_back_as_they_were() {
        let there_and_back = |positions: &[u64]| {
            let columns = Positions::new(positions);
            columns.map_or_else(Vec::new, |columns| columns.values(positions.len()))
        };
        let all: [&[u64]; 6] =
            [&[], &[7], &[1, 2, 3], &[30, 20, 10], &[1, 2, 4], &[u64::MAX, 0, 1, u64::MAX]];
        for positions in all {
            assert_eq!(there_and_back(positions), positions);
        }
        assert_eq!(Positions::new(&[10, 20, 30]), Some(Positions::Even { first: 10, step: 10 }));
    }
}
