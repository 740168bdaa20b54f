//! Which tables and rows a report shows, and in which order.

use analysis::{Analysis, Row, Table};

/// The tables of medians: a workload with averages has a table of averages instead.
pub(crate) fn shown(analysis: &Analysis) -> impl Iterator<Item = &Table> {
    let has_averages =
        |name: &str| analysis.averages.iter().any(|averages| averages.workload == name);
    analysis.tables.iter().filter(move |table| !has_averages(&table.workload))
}

/// The rows of a table: those with figures first, each group in the workload's order.
pub(crate) fn rows(table: &Table) -> impl Iterator<Item = &Row> {
    let available = table.rows.iter().filter(|row| row.unavailable.is_none());
    available.chain(table.rows.iter().filter(|row| row.unavailable.is_some()))
}

/// Whether any row of a table has a verdict.
pub(crate) fn has_verdicts(table: &Table) -> bool {
    table.rows.iter().any(|row| row.growth.is_some() || row.rate.is_some())
}
