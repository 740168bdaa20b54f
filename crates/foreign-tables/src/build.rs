//! The run that a table's rows make: as if knee had measured them.

use super::axis::Axis as Values;
use super::columns::Columns;
use super::figures::Figure;
use super::numbers::{POINT_MAX, Point};
use super::rows::{TableRow, Taken};
use super::source::Source;
use super::unit::spaced;
use super::{Foreign, TableRequest, listed};
use crate::Error;
use findings::reasons::NO_ROW;
use indexmap::IndexMap;
use jiff::{Timestamp, Unit as TimeUnit};
use model::{
    Cell, CellKey, Clock, FailureReason, Host, Metric, MetricInfo, MetricRole, Outcome, Parameters,
    Plan, Ratio, Run, RunState, RunSummary, SubjectInfo, Unavailable, Warning, WorkloadInfo,
};
use quantities::Better;
use std::collections::HashSet;

/// The run, and the names of its points where x is words.
pub fn foreign(
    request: &TableRequest,
    words: Vec<String>,
    source: &Source,
    columns: &Columns,
    rows: Taken,
    assumed: Vec<Warning>,
) -> Result<Foreign, Error> {
    let axis = Axis::new(&rows, source, columns)?;
    let workload = workload(request, source, columns, &rows, &axis);
    let warnings = [assumed, warnings(request, source, columns, &rows)].concat();
    let unavailable = unavailable(&workload.name, &rows);
    let cells = cells(&workload, columns, &rows, (&axis, request.n));
    let named_points = rows.axis.is_words().then(|| rows.axis.words());
    drop(rows);
    let content = source.fingerprint();
    let plan = Plan {
        // The same table gives the same intervals, whatever else is asked.
        seed: content & 0xffff_ffff,
        rounds: cells.iter().map(|cell| cell.key.round + 1).max().unwrap_or(0),
        workloads: vec![workload],
        unavailable,
        cells: cells.iter().map(|cell| cell.key.clone()).collect(),
        table: Some(source.name.clone()),
        ..Plan::default()
    };
    let started = request.started.clone().unwrap_or_else(|| started(source));
    // No facts: reports recognise figures from elsewhere by that.
    let host = Host { taken: started, ..Host::default() };
    let identity = request.identity(content, &plan.workloads[0].name);
    let run = Run {
        summary: summary(words, identity, &host.taken, request, cells.len() as u64),
        plan,
        clock: Clock::default(),
        host_before: host.clone(),
        host_after: Some(host),
        warnings,
        cells,
        profile: model::Profile::default(),
    };
    Ok(Foreign { run, named_points })
}

fn summary(
    command: Vec<String>,
    id: u64,
    moment: &str,
    request: &TableRequest,
    cells: u64,
) -> RunSummary {
    RunSummary {
        id: format!("{id:016x}"),
        started: moment.to_owned(),
        ended: Some(moment.to_owned()),
        state: RunState::Complete,
        command,
        version: env!("CARGO_PKG_VERSION").into(),
        cells_ended: cells,
        cells_planned: cells,
        labels: request.labels.clone(),
        ..RunSummary::default()
    }
}

/// When the file was last modified: nothing closer to the time of measuring is known.
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

/// What a point counts after it was multiplied: of a number, and of a percentage.
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

impl Axis {
    fn new(taken: &Taken, source: &Source, columns: &Columns) -> Result<Axis, Error> {
        if taken.axis.is_words() {
            return Ok(Axis { decimals: 0, name: legend(columns.name(columns.x), &taken.axis) });
        }
        let rows = &taken.rows;
        let decimals = rows.iter().map(|row| row.point.decimals).max().unwrap_or(0);
        let percent = rows.iter().any(|row| row.point.percent);
        let x = taken.axis.key.as_deref().unwrap_or(columns.name(columns.x));
        let parts = PARTS[decimals as usize][usize::from(percent)];
        let name = spaced(x);
        let name = if parts.is_empty() { name } else { format!("{name} ({parts})") };
        let axis = Axis { decimals, name };
        if rows.iter().any(|row| axis.point(row.point).is_none_or(|point| point > POINT_MAX)) {
            let file = &source.name;
            return Err(Error::Refused(format!(
                "--x: {file} has values in {x} that are too large or too fine; round them"
            )));
        }
        Ok(axis)
    }

    fn point(&self, point: Point) -> Option<u64> {
        point.digits.checked_mul(10_u64.pow(self.decimals - point.decimals))
    }
}

/// What the points of an axis of words stand for: `load: 1 half (-j 3), 2 optimal (-j 16)`.
fn legend(x: &str, axis: &Values) -> String {
    let each = axis.words().into_iter().zip(1..).map(|(word, point)| format!("{point} {word}"));
    format!("{}: {}", spaced(x), each.collect::<Vec<String>>().join(", "))
}

fn workload(
    request: &TableRequest,
    source: &Source,
    columns: &Columns,
    rows: &Taken,
    axis: &Axis,
) -> WorkloadInfo {
    let unit = &rows.unit;
    let (x, y) = (columns.name(columns.x), columns.name(columns.y));
    let points: HashSet<Point> = rows.rows.iter().map(|row| row.point).collect();
    let by: Vec<&str> = columns.by.iter().map(|&column| columns.name(column)).collect();
    let compared_pairs = match rows.subjects.as_slice() {
        [first, second] => vec![(first.clone(), second.clone())],
        _ => Vec::new(),
    };
    WorkloadInfo {
        name: request.name.clone().unwrap_or_else(|| source.stem.clone()),
        question: format!("What does the table in {} say?", source.name),
        operation: match by.as_slice() {
            [] => format!("A row of the table: {y} at {x}."),
            by => format!("A row of the table: {y} at {x}, for each {}.", listed(by)),
        },
        not_measured: vec![format!(
            "anything by knee itself: the figures stand in {}",
            source.name
        )],
        axis: axis.name.clone(),
        axis_parameter: x.to_owned(),
        axis_decimals: axis.decimals,
        ratio: columns.whole.map(|whole| Ratio {
            part: x.to_owned(),
            whole: columns.name(whole).to_owned(),
            word: format!("of {}", spaced(columns.name(whole))),
            ..Ratio::default()
        }),
        points_down: points.len() > rows.subjects.len(),
        compared_pairs,
        metrics: vec![MetricInfo {
            name: y.to_owned(),
            about: unit.about.clone(),
            unit: unit.symbol.clone(),
            lower_is_better: request.better.or(unit.better) != Some(Better::Higher),
            direction_assumed: request.better.or(unit.better).is_none(),
            role: MetricRole::Plain,
        }],
        subjects: rows.subjects.iter().map(|name| SubjectInfo::named(name)).collect(),
        ..WorkloadInfo::default()
    }
}

/// What was assumed, each with the flag that says otherwise.
fn warnings(
    request: &TableRequest,
    source: &Source,
    columns: &Columns,
    rows: &Taken,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    warnings.extend(columns.format.map(|format| format.warning(request)));
    warnings.extend(read_otherwise(source, rows));
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
    let unit = &rows.unit;
    if request.better.is_none() && unit.better == Some(Better::Higher) {
        warnings.push(Warning {
            what: if unit.is_unknown() {
                format!("More {} was taken as better", unit.about)
            } else {
                format!("More was taken as better, since {} is a rate", unit.symbol)
            },
            remedy: "--better lower if less is".into(),
        });
    }
    warnings
}

/// What was passed over or read otherwise than it is written.
fn read_otherwise(source: &Source, rows: &Taken) -> Vec<Warning> {
    let line = source.header_line;
    let preamble = source.preamble.as_ref().map(|first| Warning {
        what: format!(
            "The names of the columns are in line {line}; what is above was passed over (`{first}`)"
        ),
        remedy: String::new(),
    });
    let windows_1252 = source.windows_1252.map(|line| Warning {
        what: format!("Line {line} is not UTF-8, and was read as Windows-1252"),
        remedy: "save the file as UTF-8 if names look wrong".into(),
    });
    let headers = (rows.headers > 0).then(|| Warning {
        what: format!(
            "{} passed over that {} the names of the columns",
            if rows.headers == 1 {
                "1 line was".to_owned()
            } else {
                format!("{} lines were", rows.headers)
            },
            if rows.headers == 1 { "repeats" } else { "repeat" },
        ),
        remedy: String::new(),
    });
    [preamble, windows_1252, headers].into_iter().flatten().collect()
}

/// The subjects that have no row in some table.
fn unavailable(workload: &str, rows: &Taken) -> Vec<Unavailable> {
    let present: HashSet<(usize, usize)> =
        rows.rows.iter().map(|row| (row.table, row.subject)).collect();
    let everywhere =
        |subject: usize| (0..rows.tables.len()).all(|table| present.contains(&(table, subject)));
    let absent = rows.subjects.iter().enumerate().filter(|(subject, _)| !everywhere(*subject));
    absent
        .map(|(_, subject)| Unavailable {
            workload: workload.to_owned(),
            subject: subject.clone(),
            reason: NO_ROW.into(),
        })
        .collect()
}

/// Each figure is a mean of `count` where deviations are known.
fn cells(
    workload: &WorkloadInfo,
    columns: &Columns,
    rows: &Taken,
    (axis, count): (&Axis, Option<u64>),
) -> Vec<Cell> {
    let parameters: Vec<Parameters> =
        rows.tables.iter().map(|texts| columns.named_parameters(texts)).collect();
    let cell = |(sequence, taken): (usize, Vec<&TableRow>)| {
        let (row, figures) = (taken[0], taken.iter().map(|row| &row.figure));
        let (outcome, mut metrics) = outcome(workload, figures);
        if let (Some(metric), Some(count)) = (metrics.first_mut(), count) {
            (metric.operations, metric.deviation) = (count, row.deviation);
        }
        Cell {
            key: CellKey {
                workload: workload.name.clone(),
                subject: rows.subjects[row.subject].clone(),
                parameters: parameters[row.table].clone(),
                // Every point was found to fit when the axis was made.
                point: axis.point(row.point).unwrap_or(POINT_MAX),
                round: row.round,
            },
            sequence: sequence as u64,
            outcome,
            metrics,
            ..Cell::default()
        }
    };
    rounds(&rows.rows).into_iter().enumerate().map(cell).collect()
}

/// The rows of each round of each table, subject and point, in order of appearance.
fn rounds(rows: &[TableRow]) -> Vec<Vec<&TableRow>> {
    let mut rounds: IndexMap<_, Vec<&TableRow>> = IndexMap::new();
    for row in rows {
        let key = (row.table, row.subject, row.point, row.round);
        rounds.entry(key).or_default().push(row);
    }
    rounds.into_values().collect()
}

/// Figures; or why a row has none, which fails its round: those of the other rows are of what went well alone.
fn outcome<'a>(
    workload: &WorkloadInfo,
    figures: impl Iterator<Item = &'a Figure>,
) -> (Outcome, Vec<Metric>) {
    let sample = |figure: &Figure| match figure {
        Figure::Value(value) => Ok(*value),
        Figure::None | Figure::Two(_) => Err(FailureReason::NoFigure),
        Figure::Words(words) => Err(FailureReason::Reported { message: words.clone() }),
    };
    let samples: Vec<f64> = match figures.map(sample).collect() {
        Ok(samples) => samples,
        Err(reason) => return (Outcome::Failed { reason, detail: String::new() }, Vec::new()),
    };
    let name = workload.metrics[0].name.clone();
    let operations = samples.len() as u64;
    (Outcome::Measured, vec![Metric { name, samples, operations, ..Metric::default() }])
}
