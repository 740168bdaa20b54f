//! Distributions of waits: their points, their quantiles, and the rank of a subject.

use crate::text::{metrics::quantity, parameters::multiple_suffix};
use analysis::{Distribution, Table};
use findings::format::{count, counted, factor, list};
use model::MetricInfo;
use std::collections::BTreeSet;

/// The heads of a table of distributions; [`quantiles`] are its figures.
pub(crate) const QUANTILES: [&str; 6] = ["p50", "p90", "p99", "p99.9", "max", "operations"];

/// The points of a table's distributions with their labels: `4 threads (2 per CPU)`.
pub(crate) fn points(table: &Table) -> Vec<(u64, String)> {
    let points: BTreeSet<u64> = table.distributions.iter().map(|entry| entry.point).collect();
    let label = |point: u64| {
        let multiple = multiple_suffix(table, point);
        (point, format!("{}{multiple}", counted(&count(point), &table.axis)))
    };
    points.into_iter().map(label).collect()
}

/// The subjects of a table's distributions at a point, with their labels and figures.
pub(crate) fn rows(table: &Table, point: u64) -> impl Iterator<Item = (&str, &str, [String; 6])> {
    let of_point = table.distributions.iter().filter(move |entry| entry.point == point);
    of_point.map(|entry| {
        (entry.subject.as_str(), entry.label.as_str(), quantiles(&table.metric, entry))
    })
}

/// See [`QUANTILES`].
fn quantiles(metric: &MetricInfo, distribution: &Distribution) -> [String; 6] {
    let Distribution { p50, p90, p99, p99_9, max, .. } = *distribution;
    let [p50, p90, p99, p99_9, max] =
        [p50, p90, p99, p99_9, max].map(|figure| quantity(metric, figure));
    [p50, p90, p99, p99_9, max, count(distribution.count)]
}

/// The rank of a subject at a point with a ranking, and its distance: `3 of 14`, `×7.1 behind
/// byte-block`.
pub(crate) fn rank(table: &Table, point: u64, subject: &str) -> Option<(String, String)> {
    let ranking = table.rankings.iter().find(|ranking| ranking.point == point)?;
    let placed = ranking.subjects.iter().find(|placed| placed.subject == subject)?;
    let total = ranking.subjects.len() + ranking.unfinished.len();
    let label = |subject: &String| {
        let row = table.rows.iter().find(|row| row.subject == *subject);
        row.map_or(subject, |row| &row.label).clone()
    };
    let first = ranking.subjects.first().filter(|first| first.subject != subject);
    let behind = first
        .map(|first| format!("{} behind {}", factor(placed.behind.value), label(&first.subject)));
    let tied: Vec<String> = placed.tied.iter().map(label).collect();
    let close = match tied.len() {
        0 => None,
        1..=3 => Some(format!("too close to call with {}", list(&tied))),
        number => Some(format!("too close to call with {number} subjects")),
    };
    let distance: Vec<String> = behind.into_iter().chain(close).collect();
    Some((format!("{} of {total}", placed.rank), distance.join(", ")))
}
