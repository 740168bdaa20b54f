//! The functions that an operation's CPU time goes to, as tables: what each takes at both ends of the axis, how it
//! grows, and its share of what was added.

use super::super::findings::tag;
use super::super::head;
use super::super::runs as run_names;
use super::super::view::Analysed;
use super::data::Group;
use super::hot;
use crate::text::NO_FIGURE;
use ::findings::VerdictWord;
use ::findings::format::{count, exponent_of, factor, function_name, percent, time};
use analysis::{AddedTime, Class, Estimate, Growth, ProfileRow, ProfileTable, ProfiledFunction};
use maud::{Markup, html};

/// Functions that a table lists at most.
const LISTED: usize = 8;
/// Half widths of its 95 % CI from which a change is listed: 3.5 standard errors, as for a function that a
/// sentence names ([`analysis::thresholds::FUNCTION_ERRORS`]).
const CLEAR_HALF_WIDTHS: f64 = analysis::thresholds::FUNCTION_ERRORS / 1.96;

/// One table for each subject, view and run that has profiles; of these the script shows the one that is chosen.
pub(super) fn section(runs: &[Analysed], groups: &[Group], index: usize) -> Markup {
    let grows = |group: &Group| {
        row(runs, group)
            .and_then(|(table, row)| ends(table, row))
            .is_some_and(|(from, to)| from < to)
    };
    html! {
        h4 { @if groups.iter().any(grows) { "What grew" } @else { "By function" } }
        @for (number, group) in groups.iter().enumerate() {
            @if let Some((table, row)) = row(runs, group) {
                @let points = ends(table, row).map(|(from, to)| [table.points[from], table.points[to]]);
                div.what-grew data-grew=(group.key()) data-from=[points.map(|[from, _]| from)] data-to=[points.map(|[_, to]| to)] {
                    @if table.headline || is_attributed(row) {
                        @let id = format!("grew-{index}-{number}");
                        @let suffix = run_names::suffix(runs, &runs[group.run].0);
                        (function_table(table, row, (&id, &suffix)))
                        @if table.headline { (hot::section(&runs[group.run].0, table, row, &id)) }
                    } @else {
                        p.note { strong { (row.label) } " · " (table.metric.name) ": no change is attributed to functions." }
                    }
                }
            }
        }
    }
}

fn row<'a>(runs: &'a [Analysed], group: &Group) -> Option<(&'a ProfileTable, &'a ProfileRow)> {
    let tables = &runs[group.run].1.analysis.profiles;
    let table = tables.iter().find(|table| group.is_in(table))?;
    Some((table, table.rows.iter().find(|row| row.subject == group.subject_name)?))
}

/// Whether the profile says which functions a change along the axis is in.
fn is_attributed(row: &ProfileRow) -> bool {
    row.change.as_ref().is_some_and(|change| change.difference.is_attributed())
}

/// The ends of a row: its first and last point with a profile, by their columns.
fn ends(table: &ProfileTable, row: &ProfileRow) -> Option<(usize, usize)> {
    let first = row.cells.iter().position(Option::is_some)?;
    let last = row.cells.iter().rposition(Option::is_some)?;
    let column = |point: u64| table.points.iter().position(|candidate| *candidate == point);
    let change =
        row.change.as_ref().and_then(|change| Some((column(change.from)?, column(change.to)?)));
    Some(change.unwrap_or((first, last)))
}

/// What a table has columns for.
#[derive(Clone, Copy)]
struct Columns {
    from: usize,
    to: usize,
    /// Whether there are two points.
    grows: bool,
    /// Whether the profile attributes what is added.
    is_attributed: bool,
}

fn function_table(table: &ProfileTable, row: &ProfileRow, (id, suffix): (&str, &str)) -> Markup {
    let Some((from, to)) = ends(table, row) else { return html! {} };
    let functions = listed(row, to);
    let is_attributed = functions.iter().any(|function| share_of(function).is_some());
    let columns = Columns { from, to, grows: from < to, is_attributed };
    let caption = html! {
        strong { (row.label) } " · CPU time an operation, in each function itself, with its 95 % CI"
        (suffix)
    };
    let [first, last] = [from, to].map(|column| format!("at {}", count(table.points[column])));
    let heads = [
        Some(("function", false)),
        Some(("module", false)),
        columns.grows.then_some((first.as_str(), true)),
        Some((last.as_str(), true)),
        columns.grows.then_some(("growth", false)),
        is_attributed.then_some(("share of the difference", true)),
    ];
    let heads: Vec<(&str, bool)> = heads.into_iter().flatten().collect();
    let body = html! {
        (head::heads(&heads))
        tbody { @for function in functions { (line(function, columns)) } }
        tfoot { (total(row, columns)) }
    };
    let class = if columns.grows { "figures" } else { "figures down" };
    head::table((id, class), &caption, &body)
}

fn share_of(function: &ProfiledFunction) -> Option<Estimate> {
    function.added.and_then(|added| added.share)
}

/// Those that change beyond the noise of sampling, which are in order, or else those that take most.
fn listed(row: &ProfileRow, to: usize) -> Vec<&ProfiledFunction> {
    let is_clear = |function: &&ProfiledFunction| {
        function.added.is_some_and(|AddedTime { ns, .. }| {
            ns.value.abs() > CLEAR_HALF_WIDTHS * (ns.high - ns.low) / 2.0
        })
    };
    let (mut listed, mut unclear): (Vec<_>, Vec<_>) = row.functions.iter().partition(is_clear);
    if listed.is_empty() {
        let time = |function: &ProfiledFunction| function.itself[to].map_or(0.0, |at| at.ns.value);
        unclear.retain(|function| time(function) > 0.0);
        unclear.sort_by(|a, b| time(b).total_cmp(&time(a)));
        listed = unclear;
    }
    listed.truncate(LISTED);
    listed
}

fn line(function: &ProfiledFunction, columns: Columns) -> Markup {
    let ends = [columns.from, columns.to].map(|at| function.itself[at].map(|time| time.ns));
    html! {
        tr {
            th scope="row" title=(function.frame.function) { (function_name(&function.frame)) }
            td.module { (function.frame.module) }
            @if columns.grows { (time_cell(ends[0])) }
            (time_cell(ends[1]))
            @if columns.grows { (growth_cell(function.growth.as_ref(), ends)) }
            @if columns.is_attributed { td.number { (share_cell(share_of(function))) } }
        }
    }
}

/// All functions together.
fn total(row: &ProfileRow, columns: Columns) -> Markup {
    let ends =
        [columns.from, columns.to].map(|column| row.cells[column].as_ref().map(|cell| cell.cpu_ns));
    html! {
        tr {
            th scope="row" { "all functions" }
            td {}
            @if columns.grows { (time_cell(ends[0])) }
            (time_cell(ends[1]))
            @if columns.grows { (growth_cell(row.growth.as_ref(), ends)) }
            @if columns.is_attributed { td {} }
        }
    }
}

fn time_cell(time: Option<Estimate>) -> Markup {
    html! {
        td.number { @match time { Some(time) => (estimate(time)), None => (NO_FIGURE) } }
    }
}

/// A time with its interval; without any sample only what it is at most is known.
fn estimate(ns: Estimate) -> Markup {
    html! {
        @if ns.value > 0.0 {
            (time(ns.value)) (head::interval(ns, time))
        } @else if ns.high > 0.0 {
            "< " (time(ns.high))
        } @else {
            (NO_FIGURE)
        }
    }
}

/// An order of growth with the factor between the two times shown; an open one without evidence.
fn growth_cell(growth: Option<&Growth>, [from, to]: [Option<Estimate>; 2]) -> Markup {
    let Some(growth) = growth else { return html! { td.growth {} } };
    let by = from.zip(to).filter(|(from, to)| from.value > 0.0 && to.value > 0.0);
    let exponent = exponent_of(growth).filter(|_| growth.class != Class::Undecided);
    html! {
        td.growth {
            (tag(VerdictWord::from(growth).tag))
            @if let Some((from, to)) = by { " " span.factor { (factor(to.value / from.value)) } }
            @if let Some(exponent) = exponent { span.interval { (exponent) } }
        }
    }
}

fn share_cell(share: Option<Estimate>) -> Markup {
    let Some(share) = share else { return html! { (NO_FIGURE) } };
    html! { (percent(share.value)) (head::interval(share, percent)) }
}
