//! What the second of two rivals costs and saves beside the first, where threads share CPUs: at one thread
//! for each and at the most.

use crate::findings::words;
use crate::{Estimate, Row, Standing, Table};

/// The metric that says what CPU time an operation takes.
const CPU: &str = "cpu";

/// A pair of rivals, with both ends.
struct Trade<'a> {
    tables: &'a [Table],
    table: &'a Table,
    first: &'a Row,
    second: &'a Row,
    ends: [u64; 2],
}

/// `ticket-block beside ticket: ×0.97 at 1 thread per CPU (95 % 0.95 to 0.99), ×480 at 16 (95 % 200 to
/// 900); CPU per acquisition ×1.02 and ÷350.` `None` where they have no two points in common, or there are
/// no multiples.
pub(crate) fn sentence(
    tables: &[Table],
    table: &Table,
    (first, second): (&str, &str),
    qualifiers: &str,
) -> Option<String> {
    let shares = table.shares.as_ref()?;
    let one = table.points[shares.one_each(&table.axis_parameter)?];
    let (first, second) = (table.row(first)?, table.row(second)?);
    let common: Vec<u64> = table
        .points
        .iter()
        .copied()
        .filter(|&point| point >= one && first.at(point).is_some() && second.at(point).is_some())
        .collect();
    let ends = [*common.first()?, *common.last()?];
    if ends[0] == ends[1] {
        return None;
    }
    let trade = Trade { tables, table, first, second, ends };
    let [near, far] = ends.map(|point| trade.rate_at(point));
    let (near, far) = (near?, far?);
    let times = words::multiple(table.multiple_at(ends[1])?);
    let cpu = trade.cpu().map(|cpu| format!("; CPU per {} {cpu}", table.one_counted()));
    Some(format!(
        "{} beside {}{qualifiers}: {} at {}{}, {} at {times}{}{}.",
        second.label,
        first.label,
        factor(near.value),
        table.place(ends[0]),
        interval(near),
        factor(far.value),
        interval(far),
        cpu.unwrap_or_default()
    ))
}

/// Whether the sentence on who overtakes whom says less than this one: it knows no place, or none at which
/// they change.
pub(crate) fn replaces(standing: &Standing) -> bool {
    matches!(
        standing,
        Standing::Throughout { .. } | Standing::Unknown { .. } | Standing::Unsettled { .. }
    )
}

impl Trade<'_> {
    /// How many times the rate of the first the second has.
    fn rate_at(&self, point: u64) -> Option<Estimate> {
        let ratio = self.second.at(point)?.median.over(self.first.at(point)?.median);
        ratio.value.is_finite().then_some(ratio)
    }

    /// What CPU time an operation takes the second, of what it takes the first, at both ends.
    fn cpu(&self) -> Option<String> {
        let table = self.table.beside(self.tables, CPU)?;
        let [near, far] = self.ends.map(|point| {
            let of = |row: &Row| Some(table.row(&row.subject)?.at(point)?.median.value);
            let ratio = of(self.second)? / of(self.first)?;
            (ratio.is_finite() && ratio > 0.0).then_some(ratio)
        });
        Some(format!("{} and {}", factor(near?), factor(far?)))
    }
}

/// Less than this share of something is told as what it is divided by.
const LITTLE: f64 = 0.5;

/// `×1.02`, or below half as what it is divided by: `÷350`.
fn factor(factor: f64) -> String {
    if factor < LITTLE { words::divided(factor) } else { words::factor(factor) }
}

fn interval(of: Estimate) -> String {
    if of.low.is_nan() || of.low >= of.high || !of.high.is_finite() {
        return String::new();
    }
    if of.value < LITTLE {
        let [low, high] = [1.0 / of.high, 1.0 / of.low].map(words::significant);
        return format!(" (95 % {low} to {high})");
    }
    format!(" (95 % {} to {})", words::significant(of.low), words::significant(of.high))
}
