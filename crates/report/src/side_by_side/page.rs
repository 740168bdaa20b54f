//! Several runs as a page: a run in each row, the figures across, a table for each heading; the best marked where that is
//! significant. Every tint has a sign and a word, and nothing here needs a script.

use super::compared::{margin, ranked};
use super::machines::{by_group, by_scope};
use super::{SideBySide, SideCell, SideTable, confidence, legend, range};
use crate::comparison::{headline, ratio, with_remedy, word};
use crate::history::sentences::difference;
use crate::html::{Front, head, page_with};
use crate::side_by_side::guests;
use crate::text;
use crate::text::NO_FIGURE;
use analysis::Table;
use analysis::compare::thresholds::MARGIN;
use analysis::compare::{Terms, Verdict, compare_several};
use findings::Conclusions;
use findings::answer::is_single;
use findings::format::{Unit, count, counted};
use findings::left_out;
use maud::{Markup, html};
use model::Run;

pub(crate) const STYLE: &str =
    concat!(include_str!("../../assets/comparison.css"), include_str!("../../assets/side.css"));

/// The page of all runs, with their comparison first.
pub fn page(side: &SideBySide<'_>) -> String {
    let names = side.names();
    let run_names = names.iter().enumerate().map(|(run, name)| match run {
        0 if side.fleet.is_none() => format!("Base: {name}"),
        _ => name.clone(),
    });
    let sentence = side.fleet.and_then(|fleet| fleet.sentences.first().cloned());
    let title = match (sentence, ranked(side).first()) {
        (Some(sentence), _) => sentence.trim_end_matches('.').to_owned(),
        (None, Some((run, worst))) => format!("{}: {}", names[*run], headline(worst)),
        (None, None) => format!("{} runs side by side", names.len()),
    };
    let front = Front {
        title,
        style: STYLE,
        run_names: run_names.collect(),
        answer: answer(side, &names),
        section: html! {
            (section(side, true))
            @if let Some(guests) = guests::of_runs(side.runs) { (guests::section(&guests)) }
        },
    };
    page_with(side.runs, Some(&front))
}

/// What changed in each run, the worst first.
fn answer(side: &SideBySide<'_>, names: &[String]) -> Markup {
    let base = names.first().map_or("", String::as_str);
    html! {
        @if let Some(fleet) = side.fleet {
            p { (fleet.title) }
            @for sentence in &fleet.sentences { p { (sentence) } }
        }
        dl.answer-rest {
            @for (run, comparison) in ranked(side) {
                (head::line(&names[run], &html! { (headline(comparison)) }))
            }
            @for refusal in side.refusals() { (head::line("Not compared", &html! { (refusal) })) }
            (head::line("Compared with", &html! { (base) }))
        }
    }
}

/// The section of a page of `runs` that lie over each other: the figures that are no series, side by side; nothing
/// where fewer than two runs have any.
pub(crate) fn lists(runs: &[(Run, Conclusions)]) -> Markup {
    let has_list = |(run, conclusions): &&(Run, Conclusions)| {
        conclusions.analysis.tables.iter().any(|table| is_listed(run, table))
    };
    if runs.iter().filter(has_list).count() < 2 {
        return html! {};
    }
    let narrowed: Vec<(Run, Conclusions)> = runs.iter().map(narrowed).collect();
    let terms = Terms { margin: MARGIN, fail_above: None, across: true, all: false };
    let compared: Vec<&Run> = narrowed.iter().map(|(run, _)| run).collect();
    let several = compare_several(&compared, &terms);
    section(&SideBySide { runs: &narrowed, several: &several, words: &[], fleet: None }, false)
}

fn is_listed(run: &Run, table: &Table) -> bool {
    let mut workloads = run.plan.workloads.iter();
    workloads.any(|info| info.name == table.workload && is_single(info, table))
}

/// Of a run only the workloads whose figures are listed.
fn narrowed((run, conclusions): &(Run, Conclusions)) -> (Run, Conclusions) {
    let (mut run, mut conclusions) = (run.clone(), conclusions.clone());
    conclusions.analysis.tables.retain(|table| is_listed(&run, table));
    let names: Vec<&String> =
        conclusions.analysis.tables.iter().map(|table| &table.workload).collect();
    run.plan.workloads.retain(|info| names.contains(&&info.name));
    run.cells.retain(|cell| names.contains(&&cell.key.workload));
    (run, conclusions)
}

/// The tables; with the `facts` in which the runs differ from the first.
pub(crate) fn section(side: &SideBySide<'_>, facts: bool) -> Markup {
    let names = side.names();
    let tables = side.tables(false);
    html! {
        section #side-by-side aria-labelledby="side-by-side-head" {
            h2 #side-by-side-head { "Side by side" }
            @for (number, tables) in by_scope(&tables).into_iter().enumerate() {
                (scope(&names, &tables, number))
            }
            p.legend-line { (legend(side, margin(side), "★")) ". " (confidence(side)) "." }
            @if facts { (facts_of_runs(side, &names)) }
        }
    }
}

/// The figures of a workload under one set of parameters.
fn scope(names: &[String], tables: &[&SideTable<'_>], number: usize) -> Markup {
    let Some((run, first)) = tables.first().map(|table| table.first) else { return html! {} };
    let is_single = tables.iter().all(|table| table.is_single());
    html! {
        @if is_single {
            h3 {
                (text::parameters::scope(run, &first.workload, &first.parameters)) " · "
                (counted(&count(first.points[0]), &first.axis))
            }
            div.side-tables {
                @for (group, (name, figures)) in by_group(tables).into_iter().enumerate() {
                    @let columns: Vec<Column<'_>> = figures.iter().map(|(table, row)| Column {
                        head: row.label.to_owned(),
                        unit: table.unit_of(std::iter::once(*row)),
                        cells: &row.points[0],
                    }).collect();
                    @let name = if name.is_empty() { &first.workload } else { name };
                    (table(names, name, &columns, &format!("side-{number}-{group}")))
                }
            }
        } @else {
            @for (at, of_metric) in tables.iter().enumerate() {
                h3 { (of_metric.title()) }
                @let unit = of_metric.unit();
                div.side-tables {
                    @for (index, row) in of_metric.rows.iter().enumerate() {
                        @let columns: Vec<Column<'_>> =
                            of_metric.points.iter().zip(&row.points).map(|(point, cells)| Column {
                                head: count(*point),
                                unit: unit.clone(),
                                cells,
                            }).collect();
                        (table(names, row.label, &columns, &format!("side-{number}-{at}-{index}")))
                    }
                }
            }
        }
    }
}

/// A column: what it has of each run.
struct Column<'c> {
    head: String,
    unit: Unit,
    cells: &'c [SideCell<'c>],
}

/// Runs down, figures across.
fn table(names: &[String], name: &str, columns: &[Column<'_>], id: &str) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-labelledby=(id) {
            table.figures.compared.side {
                caption id=(id) { div { strong { (name) } } }
                thead { tr {
                    th scope="col" { "run" }
                    @for column in columns {
                        th.number scope="col" {
                            (column.head) span.interval { (column.unit.symbol) }
                        }
                    }
                } }
                tbody {
                    @for (run, name) in names.iter().enumerate() {
                        tr {
                            th scope="row" { (name) }
                            @for column in columns { (cell(&column.cells[run], &column.unit)) }
                        }
                    }
                }
            }
        }
    }
}

/// A figure; below it its ratio to the first run, with the CI.
fn cell(cell: &SideCell<'_>, unit: &Unit) -> Markup {
    let class = match cell.ratio.map(|judged| judged.verdict) {
        Some(Verdict::Slower) => "number slower",
        Some(Verdict::Faster) => "number faster",
        Some(Verdict::Undecided) => "number undecided",
        Some(Verdict::Same) | None => "number",
    };
    let Some(median) = cell.median else {
        return html! { td.number { span title=[cell.missing.as_ref()] { (NO_FIGURE) } } };
    };
    html! {
        td class=(class) {
            (unit.figure(median.value))
            @if cell.is_best {
                span.star aria-hidden="true" { "★" } span.unseen { " better than each other run" }
            }
            @if let Some(judged) = cell.ratio {
                span.interval { (ratio(judged)) span.unseen { " " (word(judged.verdict)) } }
                @if let Some(range) = range(judged) { span.interval { (range) } }
            }
        }
    }
}

/// The facts in which each run differs from the first, and what is left out of its comparison.
fn facts_of_runs(side: &SideBySide<'_>, names: &[String]) -> Markup {
    html! {
        h3 #facts { "Facts that differ" }
        @for (run, result) in side.comparisons() {
            @if let Ok(comparison) = result {
                details {
                    summary { (names[run]) ": " (comparison.differences.len()) }
                    ul { @for fact in &comparison.differences { li { (difference(fact)) } } }
                    @for part in &comparison.left_out {
                        p.note { (with_remedy(&left_out::of_comparison(part))) }
                    }
                }
            }
        }
    }
}
