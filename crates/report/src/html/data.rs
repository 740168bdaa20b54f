//! What the plot draws, packed into the page: medians as JSON, samples as a few bits each.
//!
//! A sample travels as its logarithm to the base 2 in steps of 1/2048 (0.017 % at most beside the
//! recorded value: finer than a pixel, and the exact values stand in the record). Within a cell the
//! samples are sorted, so that each costs about one byte as the difference from the one before.

use super::table::{metric_name, short};
use super::{Analysed, findings, marks};
use crate::figures::{percent, place, whole};
use crate::words;
use analysis::{Analysis, Crossover, Estimate, PointSummary, Row, Standing, Table};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use record::{Cell, Conditions, Metric, Run, WorkloadInfo};
use serde_json::{Value, json};

/// Steps to a doubling.
const STEPS: f64 = 2048.0;
/// Lifts the smallest size that is told from zero, 2⁻³², above zero.
const LIFT: f64 = 32.0 * STEPS;

/// One metric under one set of conditions: what the plot shows at a time.
pub(super) struct View<'a> {
    /// One table per run that measured it, with the run's place.
    pub tables: Vec<(usize, &'a Table)>,
}

/// The views of one workload over all runs, headline first.
pub(super) fn views<'a>(runs: &'a [Analysed], info: &WorkloadInfo) -> Vec<View<'a>> {
    let mut views: Vec<View<'a>> = Vec::new();
    for (index, (_, analysis)) in runs.iter().enumerate() {
        for table in analysis.tables.iter().filter(|table| table.workload == info.name) {
            let same = |view: &&mut View| {
                let known = view.tables[0].1;
                known.metric.name == table.metric.name && known.conditions == table.conditions
            };
            match views.iter_mut().find(same) {
                Some(view) => view.tables.push((index, table)),
                None => views.push(View { tables: vec![(index, table)] }),
            }
        }
    }
    views.sort_by_key(|view| !view.tables[0].1.headline);
    views
}

/// The data of one workload's plot, safe to stand inside a `script` element.
pub(super) fn json(runs: &[Analysed], info: &WorkloadInfo, views: &[View]) -> String {
    let names: Vec<String> = runs.iter().map(|(run, _)| super::run_name(run)).collect();
    let subjects = subjects(views);
    let looks: Vec<Value> = (0..subjects.len())
        .map(marks::look)
        .map(|look| json!({ "colour": look.colour, "shape": look.shape }))
        .collect();
    let value = json!({
        "workload": info.name,
        "axis": info.axis,
        "runs": names,
        "subjects": subjects,
        "looks": looks,
        "views": views.iter().map(|view| of_view(runs, view)).collect::<Vec<_>>(),
    });
    value.to_string().replace('<', "\\u003c")
}

/// The labels of all subjects with figures, each once, in table order: colours follow it.
pub(super) fn subjects(views: &[View]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for (_, table) in views.iter().flat_map(|view| &view.tables) {
        for row in table.rows.iter().filter(|row| row.cells.iter().any(Option::is_some)) {
            if !labels.contains(&row.label) {
                labels.push(row.label.clone());
            }
        }
    }
    labels
}

fn of_view(runs: &[Analysed], view: &View) -> Value {
    let table = view.tables[0].1;
    let series = view.tables.iter().flat_map(|(index, table)| {
        let measured = table.rows.iter().filter(|row| row.cells.iter().any(Option::is_some));
        measured.map(|row| of_row(&runs[*index].0, *index, table, row))
    });
    let crossings = view.tables.iter().flat_map(|(index, table)| {
        let crossovers = told(&runs[*index].1, table);
        crossovers.map(|crossover| of_crossover(*index, table, crossover))
    });
    let run = &runs[view.tables[0].0].0;
    json!({
        "metric": metric_name(table),
        "unit": table.metric.unit,
        "upwards": upwards(table),
        "conditions": words::conditions(run, &table.workload, &table.conditions),
        "series": series.collect::<Vec<_>>(),
        "crossings": crossings.collect::<Vec<_>>(),
    })
}

/// What stands at the upper end of the axis that goes up: the unit that its ticks leave out, and
/// which way is better where that is not down, as with times.
fn upwards(table: &Table) -> String {
    let metric = &table.metric;
    let unit = Some(metric.unit.as_str()).filter(|unit| !["", "ns"].contains(unit));
    let better = (!metric.lower_is_better).then_some("more is better");
    unit.into_iter().chain(better).collect::<Vec<_>>().join(", ")
}

/// The crossovers of a table that some finding tells: those of all pairs would bury the plot.
fn told<'a>(analysis: &'a Analysis, table: &'a Table) -> impl Iterator<Item = &'a Crossover> {
    let contests =
        table.contests.iter().filter(|contest| findings::tells(analysis, table, contest));
    contests.flat_map(|contest| match &contest.standing {
        Standing::Crosses { crossovers } => crossovers.as_slice(),
        _ => &[],
    })
}

fn of_crossover(run: usize, table: &Table, crossover: &Crossover) -> Value {
    let label = |subject: &str| {
        let row = table.rows.iter().find(|row| row.subject == subject);
        row.map_or(subject, |row| row.label.as_str()).to_owned()
    };
    let (overtakes, overtaken) = (label(&crossover.overtakes), label(&crossover.overtaken));
    let Estimate { value, low, high } = crossover.at;
    let said = format!("{overtakes} overtakes {overtaken} at {} {}", place(value), table.axis);
    let mut pairs = Vec::new();
    if low < high {
        pairs.push(("95 % interval".to_owned(), format!("{} to {}", place(low), place(high))));
    }
    if let (Some(share), Some(shares)) = (crossover.share, &table.shares) {
        let mut said = format!("{} {}", percent(share.value), shares.word);
        if share.low < share.high {
            said = format!("{said} ({} to {})", percent(share.low), percent(share.high));
        }
        pairs.push(("ratio".to_owned(), said));
    }
    let brief: Vec<String> = pairs.iter().map(|(what, value)| format!("{what} {value}")).collect();
    pairs.push((format!("{overtaken} leads"), format!("up to {}", whole(crossover.after))));
    pairs.push((format!("{overtakes} leads"), format!("from {}", whole(crossover.before))));
    json!({
        "run": run,
        "overtakes": overtakes,
        "overtaken": overtaken,
        "at": short(value),
        "low": short(low),
        "high": short(high),
        "said": said,
        "brief": brief.join(" · "),
        "pairs": pairs,
    })
}

fn of_row(run: &Run, index: usize, table: &Table, row: &Row) -> Value {
    let cells = run.cells.iter().filter(|cell| {
        cell.key.workload == table.workload
            && cell.key.subject == row.subject
            && within(&table.conditions, &cell.key.conditions)
    });
    json!({
        "run": index,
        "label": row.label,
        "points": row.cells.iter().flatten().map(of_point).collect::<Vec<_>>(),
        "samples": STANDARD.encode(packed(cells, &table.metric.name)),
    })
}

/// Whether a cell's conditions are the table's; a cell may have more than the table tells apart.
fn within(table: &Conditions, cell: &Conditions) -> bool {
    table.iter().all(|(name, value)| cell.get(name) == Some(value))
}

/// Point, rounds, samples; median with its interval; minimum, percentiles, maximum.
fn of_point(at: &PointSummary) -> Value {
    let mut figures = vec![json!(at.point), json!(at.rounds), json!(at.samples)];
    let Estimates { median, low, high } =
        Estimates { median: at.median.value, low: at.median.low, high: at.median.high };
    let spread = [at.min, at.p10, at.p25, at.p75, at.p90, at.p99, at.max];
    figures.extend([median, low, high].into_iter().chain(spread).map(short));
    Value::Array(figures)
}

struct Estimates {
    median: f64,
    low: f64,
    high: f64,
}

/// The samples of one series as bytes: for each cell its point, its round, the number of samples
/// times two (plus one for a trajectory), then the samples; all as variable-length integers.
fn packed<'a>(cells: impl Iterator<Item = &'a Cell>, metric: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for cell in cells {
        for metric in cell.metrics.iter().filter(|of| of.name == metric) {
            push(&mut bytes, cell.key.point);
            push(&mut bytes, u64::from(cell.key.round));
            pack(&mut bytes, metric);
        }
    }
    bytes
}

fn pack(bytes: &mut Vec<u8>, metric: &Metric) {
    let trajectory = metric.positions.len() == metric.samples.len() && !metric.samples.is_empty();
    let mut places: Vec<(i64, u64)> = metric
        .samples
        .iter()
        .enumerate()
        .filter(|(_, sample)| sample.is_finite())
        .map(|(index, sample)| (step(*sample), metric.positions.get(index).copied().unwrap_or(0)))
        .collect();
    push(bytes, places.len() as u64 * 2 + u64::from(trajectory));
    places.sort_unstable();
    let mut before = 0;
    for (step, position) in places {
        push(bytes, folded(step - before));
        if trajectory {
            push(bytes, position);
        }
        before = step;
    }
}

/// A sample as a whole number of steps that keeps the order of samples, negative ones included.
fn step(sample: f64) -> i64 {
    let size = sample.abs();
    if size == 0.0 {
        return 0;
    }
    let steps = (size.log2() * STEPS + LIFT).round().max(1.0) as i64;
    if sample < 0.0 { -steps } else { steps }
}

/// Negative numbers among the positive ones: 0, -1, 1, -2, …
fn folded(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

/// Seven bits a byte, the lowest first; the eighth says that more follow.
fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_packed_seven_bits_a_byte() {
        let mut bytes = Vec::new();
        for number in [0, 127, 128, 300] {
            push(&mut bytes, number);
        }
        assert_eq!(bytes, [0, 0x7f, 0x80, 1, 0xac, 2]);
        assert_eq!([0, -1, 1, -2].map(folded), [0, 1, 2, 3]);
    }

    #[test]
    fn steps_keep_the_order_and_nearly_the_value() {
        let samples = [-5.0, -1e-3, 0.0, 1e-12, 0.4, 1.0, 1.001, 1e12];
        let steps = samples.map(step);
        assert!(steps.is_sorted() && steps[2] == 0, "{steps:?}");
        let back = ((steps[7] as f64 - LIFT) / STEPS).exp2();
        assert!((back / 1e12 - 1.0).abs() < 2e-4, "{back}");
    }

    #[test]
    fn a_realistic_sample_costs_little_more_than_a_byte() {
        let samples: Vec<f64> = (0..100).map(|i| 1_800.0 + f64::from(i * 37 % 100) * 3.0).collect();
        let mut bytes = Vec::new();
        pack(&mut bytes, &Metric { samples, ..Metric::default() });
        assert!(bytes.len() < 110, "{} bytes", bytes.len());
    }
}
