//! Who is fast at the expense of some: a rate says nothing of how it is shared.
//!
//! Jain's index of N shares is 1 where all have the same, and 1/N where one has all. A series among the
//! fastest at some point whose index is clearly low there is told, at the point where it is lowest.

use crate::findings::words;
use crate::{Estimate, Row, Table};

/// The metric that says how evenly a rate is shared: Jain's index.
const FAIRNESS: &str = "fairness";
/// The metric that says how long the longest wait was.
const LONGEST: &str = "longest";
/// Below this index a rate is unfairly shared: of ten that want it, two have none.
const FAIR: f64 = 0.8;
/// What is within this factor of the best rate is fast.
const FAST: f64 = 2.0;
/// What is left of less than this share of its own best is not fast, whatever the others do.
const FALLEN: f64 = 0.1;
/// A wait that is not longer than this is no evidence of anything.
const LONG_NS: f64 = 1e6;

/// `byte is fast and unfair at 16 threads per CPU: ×0.51 of the best rate, Jain's index 0.31 (95 % 0.22 to
/// 0.40); one wait lasted 1.20 s.`
pub(crate) fn sentence(
    tables: &[Table],
    table: &Table,
    row: &Row,
    subject: &str,
) -> Option<String> {
    let fairness = table.beside(tables, FAIRNESS).filter(|of| !of.metric.lower_is_better)?;
    let shares = fairness.row(&row.subject)?;
    let unfair = shares.cells.iter().flatten().filter(|cell| cell.median.high < FAIR);
    let fast = unfair.filter_map(|cell| Some((cell, of_best(table, row, cell.point)?)));
    let (worst, of_best) = fast
        .filter(|(_, of_best)| of_best * FAST >= 1.0)
        .min_by(|a, b| a.0.median.value.total_cmp(&b.0.median.value))?;
    let Estimate { value, low, high } = worst.median;
    let [value, low, high] = [value, low, high].map(words::ratio);
    let known = if low == high { String::new() } else { format!(" (95 % {low} to {high})") };
    let speed = if of_best < 1.0 {
        format!("×{} of the best rate", words::ratio(of_best))
    } else {
        "the best rate".to_owned()
    };
    let waits = table.beside(tables, LONGEST).and_then(|waits| longest(waits, row, worst.point));
    let at = table.place(worst.point);
    let waits = waits.map(|wait| format!("; one wait lasted {wait}")).unwrap_or_default();
    Some(format!(
        "{subject} is fast and unfair at {at}: {speed}, Jain's index {value}{known}{waits}."
    ))
}

/// What the rate of `row` at `point` is of the best there.
fn of_best(table: &Table, row: &Row, point: u64) -> Option<f64> {
    let all = table.rows.iter().filter_map(|row| Some(row.at(point)?.median.value));
    let best = all.fold(0.0, f64::max);
    let own = row.at(point)?.median.value;
    let peak = row.cells.iter().flatten().map(|cell| cell.median.value).fold(0.0, f64::max);
    (best > 0.0 && own >= FALLEN * peak).then_some(own / best)
}

fn longest(table: &Table, row: &Row, point: u64) -> Option<String> {
    let longest = table.row(&row.subject)?.at(point)?.max;
    (longest >= LONG_NS).then_some(())?;
    Some(words::Unit::for_table(&table.metric.unit, &[longest]).with_symbol(longest))
}
