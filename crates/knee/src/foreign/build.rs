//! A run of the rows of a table: what it would have been, had it been measured here.

use super::columns::Columns;
use super::numbers::{Figure, Point};
use super::rows::{Row, Taken};
use super::source::{Source, hashed};
use super::unit::{Unit, spaced};
use super::{NO_ROW, listed};
use crate::args::{Analyse, Better};
use crate::exit::Trouble;
use jiff::{Timestamp, Unit as TimeUnit};
use record::{
    Cell, CellKey, Clock, Conditions, Host, Metric, MetricInfo, Outcome, Plan, Ratio, Run,
    RunState, RunSummary, SubjectInfo, Unavailable, Usage, Warning, WorkloadInfo,
};
use std::collections::{BTreeMap, HashSet};

/// The run.
pub fn run(
    ask: &Analyse,
    words: Vec<String>,
    source: &Source,
    columns: &Columns,
    rows: Taken,
) -> Result<Run, Trouble> {
    let unit = Unit::of(columns.name(columns.y), ask.unit.as_deref());
    let axis = Axis::of(&rows.rows, source, columns)?;
    let workload = workload(ask, source, columns, &rows, &unit, &axis);
    let warnings = warnings(ask, columns, &rows, &unit);
    let unavailable = unavailable(&workload.name, &rows);
    let cells = cells(&workload, columns, &rows, &unit, &axis);
    drop(rows);
    let content = source.fingerprint();
    let plan = Plan {
        // The same table gives the same intervals, whatever else is asked.
        seed: content & 0xffff_ffff,
        rounds: cells.iter().map(|cell| cell.key.round + 1).max().unwrap_or(0),
        workloads: vec![workload],
        unavailable,
        cells: cells.iter().map(|cell| cell.key.clone()).collect(),
        ..Plan::default()
    };
    let started = started(source);
    Ok(Run {
        summary: summary(words, content, &started, cells.len() as u64),
        plan,
        clock: Clock::default(),
        // No facts: that is how reports know figures from elsewhere.
        host_before: Host { taken: started, facts: BTreeMap::new() },
        host_after: None,
        warnings,
        cells,
    })
}

fn summary(command: Vec<String>, content: u64, started: &str, cells: u64) -> RunSummary {
    // Without the program's own name, which differs from place to place.
    let id =
        command.iter().skip(1).fold(content, |id, word| hashed(hashed(id, word.as_bytes()), &[0]));
    RunSummary {
        number: 0,
        id: format!("{id:016x}"),
        started: started.to_owned(),
        ended: None,
        state: RunState::Complete,
        command,
        version: env!("CARGO_PKG_VERSION").into(),
        cells_ended: cells,
        cells_planned: cells,
    }
}

/// When the figures were last touched: the nearest thing to when they were measured that is known.
fn started(source: &Source) -> String {
    let modified = source.modified.and_then(|modified| Timestamp::try_from(modified).ok());
    let moment = modified.unwrap_or_else(Timestamp::now);
    moment.round(TimeUnit::Second).unwrap_or(moment).to_string()
}

/// Points as whole numbers: where some have decimals, all are multiplied by a power of ten.
struct Axis {
    decimals: u32,
    name: String,
}

/// What a point counts when it was multiplied, and when it was a percentage besides.
const PARTS: [[&str; 2]; 10] = [
    ["", "%"],
    ["tenths", "tenths of %"],
    ["hundredths", "hundredths of %"],
    ["thousandths", "thousandths of %"],
    ["ten-thousandths", "ten-thousandths of %"],
    ["hundred-thousandths", "hundred-thousandths of %"],
    ["millionths", "millionths of %"],
    ["ten-millionths", "ten-millionths of %"],
    ["hundred-millionths", "hundred-millionths of %"],
    ["billionths", "billionths of %"],
];
/// The largest point that keeps its last digit in a page's script.
const POINT_MAX: u64 = 1 << 53;

impl Axis {
    fn of(rows: &[Row], source: &Source, columns: &Columns) -> Result<Axis, Trouble> {
        let decimals = rows.iter().map(|row| row.point.decimals).max().unwrap_or(0);
        let percent = rows.iter().any(|row| row.point.percent);
        let x = columns.name(columns.x);
        let parts = PARTS[decimals as usize][usize::from(percent)];
        let name = spaced(x);
        let name = if parts.is_empty() { name } else { format!("{name} ({parts})") };
        let axis = Axis { decimals, name };
        if rows.iter().any(|row| axis.point(row.point).is_none_or(|point| point > POINT_MAX)) {
            let file = &source.name;
            return Err(Trouble::usage(format!(
                "--x: {file} has values in {x} that are too large or too fine; round them"
            )));
        }
        Ok(axis)
    }

    fn point(&self, point: Point) -> Option<u64> {
        point.digits.checked_mul(10_u64.pow(self.decimals - point.decimals))
    }
}

fn workload(
    ask: &Analyse,
    source: &Source,
    columns: &Columns,
    rows: &Taken,
    unit: &Unit,
    axis: &Axis,
) -> WorkloadInfo {
    let (x, y) = (columns.name(columns.x), columns.name(columns.y));
    let points: HashSet<Point> = rows.rows.iter().map(|row| row.point).collect();
    let by: Vec<&str> = columns.by.iter().map(|&column| columns.name(column)).collect();
    let rivals = match rows.subjects.as_slice() {
        [one, other] => vec![(one.clone(), other.clone())],
        _ => Vec::new(),
    };
    WorkloadInfo {
        name: source.stem.clone(),
        question: format!("What does the table in {} say?", source.name),
        operation: format!("A row of the table: {y} at {x}, for each {}.", listed(&by)),
        not_measured: vec![format!(
            "anything by knee itself: the figures stand in {}",
            source.name
        )],
        axis: axis.name.clone(),
        axis_condition: x.to_owned(),
        ratio: columns.of.map(|of| Ratio {
            part: x.to_owned(),
            whole: columns.name(of).to_owned(),
            word: format!("of {}", spaced(columns.name(of))),
        }),
        points_down: points.len() > rows.subjects.len(),
        rivals,
        metrics: vec![MetricInfo {
            name: y.to_owned(),
            about: unit.about.clone(),
            unit: unit.symbol.clone(),
            lower_is_better: ask.better.map_or(!unit.rate, |better| better == Better::Lower),
        }],
        subjects: rows.subjects.iter().map(|name| subject(name)).collect(),
        ..WorkloadInfo::default()
    }
}

fn subject(name: &str) -> SubjectInfo {
    SubjectInfo { name: name.to_owned(), label: name.to_owned(), note: String::new() }
}

/// What was taken for granted, each with the flag that says otherwise.
fn warnings(ask: &Analyse, columns: &Columns, rows: &Taken, unit: &Unit) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if !rows.pooled.is_empty() {
        let names: Vec<&str> = rows.pooled.iter().map(|&column| columns.name(column)).collect();
        warnings.push(Warning {
            what: format!(
                "Rows that differ in {} were taken as repetitions of one figure",
                listed(&names)
            ),
            remedy: format!("--per {}, or --where {}=…", names.join(","), names[0]),
        });
    }
    if ask.better.is_none() && unit.rate {
        warnings.push(Warning {
            what: format!("More was taken as better, since {} is a rate", unit.symbol),
            remedy: "--better lower if less is".into(),
        });
    }
    if ask.better.is_none() && unit.is_unknown() {
        warnings.push(Warning {
            what: format!("Less {} was taken as better, since nothing says otherwise", unit.about),
            remedy: "--better higher if more is; --unit names what is counted".into(),
        });
    }
    warnings
}

/// Subjects that have no row in some table. Reports say so only where that is the case.
fn unavailable(workload: &str, rows: &Taken) -> Vec<Unavailable> {
    let places: HashSet<(usize, usize)> =
        rows.rows.iter().map(|row| (row.table, row.subject)).collect();
    let everywhere =
        |subject: usize| (0..rows.tables.len()).all(|table| places.contains(&(table, subject)));
    let absent = rows.subjects.iter().enumerate().filter(|(subject, _)| !everywhere(*subject));
    absent
        .map(|(_, subject)| Unavailable {
            workload: workload.to_owned(),
            subject: subject.clone(),
            reason: NO_ROW.into(),
        })
        .collect()
}

fn cells(
    workload: &WorkloadInfo,
    columns: &Columns,
    rows: &Taken,
    unit: &Unit,
    axis: &Axis,
) -> Vec<Cell> {
    let names = columns.conditions.iter().map(|&column| columns.name(column).to_owned());
    let names: Vec<String> = names.collect();
    let conditions: Vec<Conditions> = rows
        .tables
        .iter()
        .map(|values| names.iter().cloned().zip(values.iter().cloned()).collect())
        .collect();
    let cell = |(sequence, row): (usize, &Row)| {
        let (outcome, metrics) = outcome(workload, unit, &row.figure);
        Cell {
            key: CellKey {
                workload: workload.name.clone(),
                subject: rows.subjects[row.subject].clone(),
                conditions: conditions[row.table].clone(),
                // Every point was found to fit when the axis was made.
                point: axis.point(row.point).unwrap_or(POINT_MAX),
                round: row.round,
            },
            sequence: sequence as u64,
            outcome,
            elapsed_ns: 0,
            short: None,
            usage: Usage::default(),
            metrics,
            facts: BTreeMap::new(),
        }
    };
    rows.rows.iter().enumerate().map(cell).collect()
}

/// A figure, or why there is none.
fn outcome(workload: &WorkloadInfo, unit: &Unit, figure: &Figure) -> (Outcome, Vec<Metric>) {
    let void = |reason: &str| Outcome::Void { reason: reason.to_owned(), detail: String::new() };
    match figure {
        Figure::Of(value) => {
            let name = workload.metrics[0].name.clone();
            let samples = vec![value * unit.factor];
            (Outcome::Measured, vec![Metric { name, samples, operations: 1, ..Metric::default() }])
        }
        Figure::None => (void("the table has no figure there"), Vec::new()),
        Figure::Words(words) => (void(words), Vec::new()),
    }
}
