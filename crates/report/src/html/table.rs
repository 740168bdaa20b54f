//! The tables of the page: the same medians that the plot draws, for eyes, ears and paper.

use super::findings::tag;
use super::{
    head, runs,
    view::{Analysed, View},
};
use crate::text::{self, NO_FIGURE, leads::Mark, notes::StatedFact};
use ::findings::answer::listed as listed_in;
use ::findings::format::exponent_of;
use ::findings::{FindingKind, Names, VerdictWord};
use analysis::{Growth, PointSummary, Row, Table};
use findings::format::{Unit, ci, count, list, proportion, significant};
use findings::grouping::grouped;
use maud::{Markup, html};
use model::{Run, WorkloadInfo};

/// Stands behind the best figure at a point.
fn sign(mark: Mark) -> char {
    match mark {
        Mark::Best => '★',
        Mark::Shared => '≈',
    }
}

/// The tables of one metric under one set of parameters: one per run.
pub(super) fn section(runs: &[Analysed], view: &View, id: &str, number: usize) -> Markup {
    html! {
        div.view data-view=(number) {
            @for (index, table) in &view.tables {
                @let run = &runs[*index].0;
                (of_run(run, table, &format!("{id}-{index}"), &runs::suffix(runs, run)))
            }
        }
    }
}

fn of_run(run: &Run, table: &Table, id: &str, suffix: &str) -> Markup {
    let unit = text::metrics::unit(table);
    let info = listed_in(run, table);
    let body = match info {
        Some(info) => listed(table, info),
        None if table.points_down => down(table, &unit),
        None => across(table, &unit),
    };
    let down = if table.points_down { " down" } else { "" };
    let list = if info.is_some() { " listed" } else { "" };
    let mut cells = table.rows.iter().flat_map(|row| &row.cells).flatten();
    let has_intervals = cells.any(|cell| cell.median.ci().is_some());
    let caption = html! {
        @if info.is_some() { strong { (text::metrics::about(&table.metric)) } }
        @else { strong { (text::metrics::measure(&table.metric, &unit)) } }
        " · " (text::parameters::with_axis(run, &table.workload, &table.parameters))
        " · " (text::metrics::medians(run, table))
        @if has_intervals { ", with its 95 % CI" } (suffix)
    };
    html! {
        (head::table((id, &format!("figures{down}{list}")), &caption, &body))
        @if let Some(legend) = text::leads::legend(table, sign) { p.legend-line { (legend) "." } }
        (notes(table))
        (facts(table))
    }
}

/// What the workload stated of the table's cells, folded away.
fn facts(table: &Table) -> Markup {
    html! {
        @for StatedFact { name, by, lines } in text::notes::facts(table) {
            details.stated {
                summary { (name) ", by " (by) }
                @let rows = lines.iter().map(|(at, value)| vec![html! { (at) }, html! { (value) }]);
                (head::listing((&format!("{name}, by {by}"), "facts"), &[&by, &name], rows))
            }
        }
    }
}

/// Figures down below the headings of the workload, each in a unit of its own.
fn listed(table: &Table, info: &WorkloadInfo) -> Markup {
    let rows = text::tables::rows(table).map(|row| (info.group(&row.subject), row));
    html! {
        thead { tr { th scope="col" { "subject" } th.number scope="col" { (table.metric.name) } } }
        @for (group, rows) in grouped(rows) {
            tbody {
                @if !group.is_empty() { tr { th.group colspan="2" scope="rowgroup" { (group) } } }
                @for row in rows {
                    tr.unavailable[row.unavailable.is_some()] {
                        th scope="row" { (row.label) }
                        @match (&row.unavailable, row.cells.first().and_then(Option::as_ref)) {
                            (Some(reason), _) => td.reason { "unavailable: " (reason) },
                            (None, Some(cell)) => td.number { (figure_and_interval(table, cell)) },
                            (None, None) => td.number { (median(row, table.points[0], None, (&text::metrics::unit(table), None))) },
                        }
                    }
                }
            }
        }
    }
}

/// `71.2 ns` with its CI.
fn figure_and_interval(table: &Table, cell: &PointSummary) -> Markup {
    let unit = Unit::for_table(&table.metric.unit, &[cell.median.value]);
    let interval = head::interval(cell.median, |end| unit.figure(end));
    html! { (unit.with_symbol(cell.median.value)) (interval) }
}

/// Subjects down, points across.
fn across(table: &Table, unit: &Unit) -> Markup {
    let grows = text::tables::has_verdicts(table);
    html! {
        thead { tr {
            th scope="col" { "subject" }
            @for point in &table.points {
                th.number scope="col" {
                    (count(*point))
                    @if let Some(multiple) = text::parameters::multiple_at(table, *point) {
                        span.interval { (multiple) }
                    }
                }
            }
            @if grows { th scope="col" { "growth" } }
        } }
        tbody {
            @for row in text::tables::rows(table) { (line(table, row, grows, unit)) }
        }
    }
}

fn line(table: &Table, row: &Row, grows: bool, unit: &Unit) -> Markup {
    html! {
        tr.unavailable[row.unavailable.is_some()] {
            th scope="row" { (row.label) }
            @if let Some(reason) = &row.unavailable {
                td.reason colspan=(table.points.len() + usize::from(grows)) { "unavailable: " (reason) }
            } @else {
                @for column in 0..table.points.len() { (cell(table, row, column, unit)) }
                @if grows { td.growth { (verdict_cell(table, row)) } }
            }
        }
    }
}

/// Points down, subjects across; the verdicts at the foot, if there are any.
fn down(table: &Table, unit: &Unit) -> Markup {
    let rows: Vec<&Row> = table.rows.iter().filter(|row| row.unavailable.is_none()).collect();
    html! {
        thead { tr {
            th.number scope="col" { (table.axis) }
            @if let Some(shares) = &table.shares { th.number scope="col" { (shares.word) } }
            @for row in &rows { th.number.subject scope="col" { (row.label) } }
        } }
        tbody {
            @for (column, point) in table.points.iter().enumerate() {
                tr {
                    th.number scope="row" { (count(*point)) }
                    @if let Some(shares) = &table.shares {
                        td.number.share { (proportion(shares.values[column], shares.multiple)) }
                    }
                    @for row in &rows { (cell(table, row, column, unit)) }
                }
            }
        }
        @if text::tables::has_verdicts(table) {
            tfoot { tr {
                th scope="row" colspan=(1 + usize::from(table.shares.is_some())) { "growth" }
                @for row in &rows {
                    td.growth.number { (verdict_cell(table, row)) }
                }
            } }
        }
    }
}

/// One figure; the best at its point has a mark for eyes, and a word for ears.
fn cell(table: &Table, row: &Row, column: usize, unit: &Unit) -> Markup {
    let mark = text::leads::mark(table, column, &row.subject);
    let figure = row.cells[column].as_ref();
    let rank = text::distributions::rank(table, table.points[column], &row.subject);
    let rank = rank.map(|(rank, more)| match more.as_str() {
        "" => format!("rank {rank}"),
        more => format!("rank {rank}: {more}"),
    });
    html! {
        td.number.best[mark == Some(Mark::Best)] title=[rank] {
            (median(row, table.points[column], figure, (unit, mark)))
            @if let Some(mark) = mark {
                span.unseen {
                    @if mark == Mark::Shared { " among the " } @else { " " }
                    (text::metrics::superlative(&table.metric))
                }
            }
        }
    }
}

fn median(
    row: &Row,
    point: u64,
    cell: Option<&PointSummary>,
    (unit, mark): (&Unit, Option<Mark>),
) -> Markup {
    let Some(cell) = cell else {
        let reason = text::notes::gap(row, point).unwrap_or_else(|| "no figure".to_owned());
        return html! { span title=(reason) { (NO_FIGURE) } };
    };
    html! {
        (unit.figure(cell.median.value))
        @if let Some(mark) = mark { span.star aria-hidden="true" { (sign(mark)) } }
        (head::interval(cell.median, |end| unit.figure(end)))
    }
}

/// How a row grows, or where its rate goes.
fn verdict_cell(table: &Table, row: &Row) -> Markup {
    let Some(verdict) = VerdictWord::new(row) else { return html! {} };
    let names = Names::of_table(std::slice::from_ref(&row.subject), table, String::new());
    html! {
        (tag(verdict.tag)) " " span.factor { (verdict.by) }
        @if let Some(growth) = &row.growth { (evidence(growth)) }
        @else if let Some(rate) = row.rate.as_ref().filter(|_| row.speedup.is_none()) {
            @let detail = rate.detail(&names);
            @if !detail.is_empty() { span.interval { (detail) } }
        }
    }
}

fn evidence(growth: &Growth) -> Markup {
    html! {
        @if let Some([low, high]) = growth.factor.ci() {
            span.interval { (ci(&significant(low), &significant(high))) }
        }
        @if let Some(exponent) = exponent_of(growth) { span.interval { (exponent) } }
    }
}

/// What has to be known of single rows; with the points down, also who is not among the columns.
fn notes(table: &Table) -> Markup {
    let rows: Vec<(&str, Vec<String>)> = text::tables::rows(table)
        .filter(|row| row.unavailable.is_none())
        .map(|row| (row.label.as_str(), text::notes::notes(row)))
        .filter(|(_, notes)| !notes.is_empty())
        .collect();
    let absent = if table.points_down { text::notes::unavailable(table) } else { Vec::new() };
    html! {
        @if !rows.is_empty() || !absent.is_empty() {
            ul.notes {
                @for (label, notes) in rows { li { strong { (label) } " " (notes.join("; ")) } }
                @for (reason, labels) in absent {
                    li { strong { (list(&labels)) } " unavailable: " (reason) }
                }
            }
        }
    }
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
