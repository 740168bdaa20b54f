//! The tables of the page: the same medians that the plot draws, for eyes, ears and paper.

use super::{Analysed, data::View, run_name, tag};
use crate::figures::{NONE, Unit, factor, whole};
use crate::words;
use analysis::words::exponent_with_interval;
use analysis::{Basis, Growth, PointSummary, Row, Table};
use maud::{Markup, html};
use record::Run;

/// The tables of one metric under one set of conditions: one per run.
pub(super) fn of_view(runs: &[Analysed], view: &View, id: &str, number: usize) -> Markup {
    html! {
        div.view data-view=(number) {
            @for (index, table) in &view.tables {
                @let name = (runs.len() > 1).then(|| run_name(&runs[*index].0));
                (of_run(&runs[*index].0, table, &format!("{id}-{index}"), name.as_deref()))
            }
        }
    }
}

fn of_run(run: &Run, table: &Table, id: &str, name: Option<&str>) -> Markup {
    let unit = words::unit(table);
    let best = words::best(table);
    html! {
        div.scroll tabindex="0" role="region" aria-labelledby=(id) {
            table.figures {
                caption id=(id) {
                    div {
                        strong { (words::measure(table, &unit)) }
                        " · " (words::conditions(&table.conditions, &table.axis))
                        " · " (words::rounds(run)) ", with its 95 % interval"
                        @if let Some(name) = name { " · " (name) }
                    }
                }
                thead { tr {
                    th scope="col" { "subject" }
                    @for point in &table.points { th.number scope="col" { (whole(*point)) } }
                    th scope="col" { "growth" }
                } }
                tbody {
                    @for (index, row) in words::rows(table).enumerate() {
                        (line(table, row, &unit, &best, index))
                    }
                }
            }
        }
        (notes(table))
    }
}

fn line(table: &Table, row: &Row, unit: &Unit, best: &[Option<usize>], index: usize) -> Markup {
    html! {
        tr.unavailable[row.unavailable.is_some()] {
            th scope="row" { (row.label) }
            @if let Some(reason) = &row.unavailable {
                td.reason colspan=(table.points.len() + 1) { "unavailable: " (reason) }
            } @else {
                @for (column, cell) in row.cells.iter().enumerate() {
                    td.number.best[best[column] == Some(index)] {
                        (median(row, table.points[column], cell.as_ref(), unit))
                    }
                }
                td.growth { @if let Some(growth) = &row.growth { (grown(growth)) } }
            }
        }
    }
}

fn median(row: &Row, point: u64, cell: Option<&PointSummary>, unit: &Unit) -> Markup {
    let Some(cell) = cell else {
        let reason = row.missing.iter().find(|(missing, _)| *missing == point);
        let reason = reason.map_or("no figure", |(_, reason)| reason.as_str());
        return html! { span title=(reason) { (NONE) } };
    };
    html! {
        (unit.figure(cell.median.value))
        span.interval { (unit.figure(cell.median.low)) "–" (unit.figure(cell.median.high)) }
    }
}

fn grown(growth: &Growth) -> Markup {
    html! {
        (tag(growth.class)) " " span.factor { (factor(growth.factor)) }
        @if growth.basis == Basis::FastestTenth {
            span.interval title=(growth.because) { "by the fastest tenth of its samples" }
        }
        @if let Some(exponent) = growth.exponent {
            span.interval { (exponent_with_interval(exponent)) }
        }
    }
}

/// What has to be known of single rows.
fn notes(table: &Table) -> Markup {
    let rows: Vec<(&str, Vec<String>)> = words::rows(table)
        .filter(|row| row.unavailable.is_none())
        .map(|row| (row.label.as_str(), known(row)))
        .filter(|(_, notes)| !notes.is_empty())
        .collect();
    html! {
        @if !rows.is_empty() {
            ul.notes {
                @for (label, notes) in rows { li { strong { (label) } " " (notes.join("; ")) } }
            }
        }
    }
}

/// The notes of a row; where the fastest samples had to be asked, why the medians were not enough.
fn known(row: &Row) -> Vec<String> {
    let mut notes = words::notes(row);
    if let Some(growth) = row.growth.as_ref().filter(|of| of.basis == Basis::FastestTenth) {
        notes.push(format!("its medians leave it undecided: {}", growth.because));
    }
    notes
}

/// A figure of the plot's data: six significant digits are finer than any screen.
pub(super) fn short(value: f64) -> serde_json::Value {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    if rounded.abs() >= 1e15 || rounded.fract() != 0.0 || !rounded.is_finite() {
        return serde_json::json!(rounded);
    }
    serde_json::json!(rounded as i64)
}

/// What one view is called where it is chosen: `loop: write + wait + dispatch`.
pub(super) fn metric_name(table: &Table) -> String {
    let metric = &table.metric;
    if metric.about.is_empty() || metric.about == metric.name {
        metric.name.clone()
    } else {
        format!("{}: {}", metric.name, metric.about)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_figures_keep_six_digits_and_drop_empty_decimals() {
        assert_eq!(short(1_234.567_89).to_string(), "1234.57");
        assert_eq!(short(123_456_789.0).to_string(), "123457000");
        assert_eq!(short(f64::NAN), serde_json::Value::Null);
    }
}
