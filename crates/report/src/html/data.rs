//! What the plot draws, packed into the page: medians as JSON, samples as a few bits each.
//!
//! A sample travels as its logarithm to the base 2 in steps of 1/2048 (0.017 % at most from the
//! recorded value: finer than a pixel, and the exact values stand in the record). Within a cell the
//! samples are sorted, so that each costs about one byte as the difference from the one before.
//! Those of a trajectory are sorted by their places: neighbours are alike, so that each costs two
//! bytes at most, and places at equal distances cost nothing.

use super::table::{metric_name, short};
use super::view::{Analysed, View, subjects};
use super::{marked, marks, over_time};
use crate::text;
use analysis::{Estimate, PointSummary, Row, Table};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use model::{Cell, Metric, Run, WorkloadInfo};
use serde_json::{Map, Value, json};

/// Steps to a doubling.
const STEPS: f64 = 2048.0;
/// A series without samples, as they are packed.
pub(super) const NO_SAMPLES: &str = "AA==";
/// Lifts the smallest size that differs from zero, 2⁻³², above zero.
const LIFT: f64 = 32.0 * STEPS;

/// The data of one workload's plot, safe to stand inside a `script` element.
pub(super) fn json(runs: &[Analysed], info: &WorkloadInfo, views: &[View]) -> String {
    let is_over_time = over_time::is_drawn(info, views);
    // Those of whole loads are the last ones: the others keep their numbers.
    let plotted = views.iter().filter(|view| !is_over_time || !view.is_of_whole());
    let plotted: Vec<&View> = plotted.collect();
    let subjects = if is_over_time { over_time::labels(&plotted) } else { subjects(views) };
    let rounds = runs.iter().map(|(run, _)| run.plan.rounds).max().unwrap_or_default();
    let view = |view: &&View| {
        let mut data = view_data(runs, view);
        if is_over_time {
            data["series"] = over_time::series(runs, &plotted, view).into();
            data["marks"] = json!([]);
        }
        data
    };
    let own = json!({
        "workload": info.name,
        "axis": if is_over_time { over_time::AXIS } else { &info.axis },
        "choosers": ["Metric", "Parameters"],
        "trajectory": info.trajectory,
        "over_time": is_over_time,
        "rounds": rounds,
        "views": plotted.iter().map(view).collect::<Vec<_>>(),
    });
    with_looks(runs, own, &subjects)
}

/// The data of a plot of these `subjects` with what its runs are called, and how all look.
pub(super) fn with_looks(runs: &[Analysed], mut data: Value, subjects: &[String]) -> String {
    data["lines"] = super::runs::lines(runs).into();
    data["kernels"] = kernels(runs).into();
    data["subjects"] = json!(subjects);
    data["looks"] = (0..subjects.len()).map(|index| json!(marks::look(index))).collect();
    with_runs(runs, data)
}

/// The data of a plot with what its runs are called, safe to stand inside a `script` element.
pub(super) fn with_runs(runs: &[Analysed], mut data: Value) -> String {
    let all = || runs.iter().map(|(run, _)| run);
    data["runs"] = all().map(|run| super::runs::name(runs, run)).collect();
    data["brief"] = all().map(|run| super::runs::brief(runs, run)).collect();
    data.to_string().replace('<', "\\u003c")
}

/// The kernels of runs, where they differ: a model has none, and the names of runs have their machines.
fn kernels(runs: &[Analysed]) -> Vec<&str> {
    let all =
        runs.iter().map(|(run, _)| run.host_before.fact("kernel.release").unwrap_or_default());
    let kernels: Vec<&str> = all.collect();
    let is_predicted = runs.iter().any(|(run, _)| analysis::is_predicted(run));
    let is_shown = !is_predicted && kernels.iter().any(|kernel| *kernel != kernels[0]);
    if is_shown { kernels } else { Vec::new() }
}

fn view_data(runs: &[Analysed], view: &View) -> Value {
    let table = view.tables[0].1;
    let series = view.tables.iter().flat_map(|(index, table)| {
        let measured = table.rows.iter().filter(|row| row.cells.iter().any(Option::is_some));
        measured.map(|row| row_data(&runs[*index].0, *index, table, row))
    });
    let marks = view
        .tables
        .iter()
        .flat_map(|(index, table)| marked::table_marks(*index, &runs[*index].1, table));
    let run = &runs[view.tables[0].0].0;
    json!({
        "metric": metric_name(table),
        "unit": table.metric.unit,
        "upwards": upwards(table),
        "parameters": text::parameters::with_axis(run, &table.workload, &table.parameters),
        "multiples": multiples(view),
        "one": unit_mark(table),
        "series": series.collect::<Vec<_>>(),
        "marks": marks.collect::<Vec<_>>(),
    })
}

/// The points as multiples, by point: `2 per CPU`; empty in tables without multiples.
fn multiples(view: &View) -> Value {
    let tables = view.tables.iter().map(|(_, table)| table);
    let points = tables.flat_map(|table| {
        let label = |&point: &u64| Some((point, text::parameters::multiple_at(table, point)?));
        table.points.iter().filter_map(label).collect::<Vec<_>>()
    });
    points.map(|(point, label)| (point.to_string(), label.into())).collect::<Map<_, _>>().into()
}

/// The position on the axis with a ratio of 1, and its label: a rule in the plot. There is one only where the
/// part grows and the whole is fixed.
fn unit_mark(table: &Table) -> Option<Value> {
    let shares = table.shares.as_ref().filter(|shares| shares.multiple)?;
    if table.axis_parameter != shares.part {
        return None;
    }
    let at = *table.points.first()? as f64 / *shares.values.first()?;
    at.is_finite().then(|| json!({ "at": at, "text": format!("1 {}", shares.word) }))
}

/// What stands at the upper end of the axis that goes up: the unit that its ticks leave out, and
/// which way is better where that is not down, as with times.
fn upwards(table: &Table) -> String {
    let metric = &table.metric;
    let unit = Some(metric.unit.as_str()).filter(|unit| !["", "ns", "B"].contains(unit));
    let better = (!metric.lower_is_better).then_some("more is better");
    unit.into_iter().chain(better).collect::<Vec<_>>().join(", ")
}

fn row_data(run: &Run, index: usize, table: &Table, row: &Row) -> Value {
    let cells = table.cells(run, &row.subject);
    json!({
        "run": index,
        "label": row.label,
        "points": row.cells.iter().flatten().map(|at| point_data(table, row, at)).collect::<Vec<_>>(),
        "samples": STANDARD.encode(packed(cells, &table.metric.name)),
    })
}

/// Point, rounds, samples; median with its interval; minimum, percentiles, maximum; its rank, if any.
fn point_data(table: &Table, row: &Row, at: &PointSummary) -> Value {
    let mut figures = vec![json!(at.point), json!(at.rounds), json!(at.samples)];
    let Estimate { value, low, high } = at.median;
    let spread = [at.min, at.p10, at.p25, at.p75, at.p90, at.p99, at.max];
    figures.extend([value, low, high].into_iter().chain(spread).map(short));
    if let Some((rank, _)) = text::distributions::rank(table, at.point, &row.subject) {
        figures.push(rank.into());
    }
    Value::Array(figures)
}

/// The samples of one series as bytes, in variable-length integers: the number of all samples, then
/// each cell by itself.
fn packed<'a>(cells: impl Iterator<Item = &'a Cell>, metric: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut all = 0;
    for cell in cells {
        for metric in cell.metrics.iter().filter(|entry| entry.name == metric) {
            push(&mut bytes, cell.key.point);
            push(&mut bytes, u64::from(cell.key.round));
            all += pack(&mut bytes, metric);
        }
    }
    let mut whole = Vec::with_capacity(bytes.len() + 4);
    push(&mut whole, all);
    whole.append(&mut bytes);
    whole
}

/// The number of samples times two (plus one for a trajectory), for a trajectory its places, then
/// the samples as differences. Returns how many there are.
fn pack(bytes: &mut Vec<u8>, metric: &Metric) -> u64 {
    let trajectory = metric.positions.len() == metric.samples.len() && !metric.samples.is_empty();
    let mut samples: Vec<(u64, i64)> = metric
        .samples
        .iter()
        .enumerate()
        .filter(|(_, sample)| sample.is_finite())
        .map(|(index, sample)| (metric.positions.get(index).copied().unwrap_or(0), step(*sample)))
        .collect();
    let count = samples.len() as u64;
    push(bytes, count * 2 + u64::from(trajectory));
    if trajectory {
        samples.sort_by_key(|(position, _)| *position);
        pack_positions(bytes, &samples);
    } else {
        samples.sort_unstable_by_key(|(_, step)| *step);
    }
    let mut before = 0;
    for (_, step) in samples {
        push(bytes, folded(step - before));
        before = step;
    }
    count
}

/// The places of a trajectory, which ascend: the first one and the distance between neighbours where
/// that is always the same and not zero; else a zero and every distance.
fn pack_positions(bytes: &mut Vec<u8>, samples: &[(u64, i64)]) {
    let Some((first, _)) = samples.first() else { return };
    let mut distances = samples.windows(2).map(|pair| pair[1].0 - pair[0].0);
    let even = distances.clone().next().unwrap_or(1);
    push(bytes, *first);
    if even > 0 && distances.all(|distance| distance == even) {
        push(bytes, even);
        return;
    }
    push(bytes, 0);
    for pair in samples.windows(2) {
        push(bytes, pair[1].0 - pair[0].0);
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
    fn no_samples_are_packed_as_none() {
        assert_eq!(STANDARD.encode(packed(std::iter::empty(), "loop")), NO_SAMPLES);
    }

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

    /// A call that costs some 2 µs, in two modes that are far from each other.
    fn trajectory(positions: Vec<u64>) -> Metric {
        let unit_mark = |position: &u64| {
            let mode = if position * 7 % 5 < 2 { 1.8 } else { 1.0 };
            2_000.0 * mode * (1.0 + (position * 37 % 100) as f64 / 1_000.0)
        };
        Metric {
            samples: positions.iter().map(unit_mark).collect(),
            positions,
            ..Metric::default()
        }
    }

    #[test]
    fn a_sample_of_a_trajectory_costs_two_bytes_at_most_and_its_place_nothing() {
        for positions in [(1..=10_000).collect(), (1..=10_000).rev().collect()] {
            let mut bytes = Vec::new();
            assert_eq!(pack(&mut bytes, &trajectory(positions)), 10_000);
            assert!(bytes.len() < 20_010, "{} bytes", bytes.len());
        }
    }

    #[test]
    fn uneven_positions_are_each_written() {
        let cases: [(&[u64], &[u8]); 5] = [
            (&[], &[]),
            (&[7], &[7, 1]),
            (&[2, 4, 6], &[2, 2]),
            (&[1, 2, 4], &[1, 0, 1, 2]),
            (&[3, 3, 3], &[3, 0, 0, 0]),
        ];
        for (positions, wanted) in cases {
            let samples: Vec<(u64, i64)> =
                positions.iter().map(|position| (*position, 0)).collect();
            let mut bytes = Vec::new();
            pack_positions(&mut bytes, &samples);
            assert_eq!(bytes, wanted, "{positions:?}");
        }
    }
}
