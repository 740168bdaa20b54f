//! One self-contained page: the answer first, then each workload with its plot, tables and findings.
//!
//! The page loads nothing: style, script, icon and samples are inside it, and its own
//! content security policy forbids the rest. Without a script the findings and every table are
//! there; only the plot is missing, and the page says so.
//!
//! The plot is our own (`assets/plot.js`). What there was to choose from did not fit: charting
//! crates either load a script from a network, or embed megabytes of it in each page, or draw a
//! still image; none can be used from a keyboard, and none draws 100,000 samples behind medians
//! without thinning them out.

mod answer;
mod averages;
mod data;
mod findings;
pub(crate) mod head;
mod heatmap;
pub(crate) mod machine;
mod marked;
mod marks;
mod over_time;
mod profile;
mod runs;
pub(crate) mod spark;
mod table;
mod view;
mod waits;

use crate::matrix::html as matrix;
use crate::text;
use ::findings::format::{capitalized, count, list};
use ::findings::grouping::grouped;
use ::findings::{Answer, Conclusions};
use analysis::compare::is_median;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::{Outcome, Run, Warning, WorkloadInfo};
use view::Analysed;

const STYLE: &str = concat!(
    include_str!("../assets/page.css"),
    include_str!("../assets/plot.css"),
    include_str!("../assets/answer.css"),
    include_str!("../assets/map.css"),
    include_str!("../assets/matrix.css"),
    include_str!("../assets/print.css")
);
/// In order of use; they share one scope.
const SCRIPTS: [&str; 8] = [
    include_str!("../assets/figures.js"),
    include_str!("../assets/scale.js"),
    include_str!("../assets/cloud.js"),
    include_str!("../assets/draw.js"),
    include_str!("../assets/svg.js"),
    include_str!("../assets/plot.js"),
    include_str!("../assets/gestures.js"),
    include_str!("../assets/page.js"),
];
/// A curve with a knee.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' \
    viewBox='0 0 16 16'%3E%3Cpath d='M1 12.5h7.5L14.5 2' fill='none' stroke='%232b5f9e' \
    stroke-width='2.5' stroke-linecap='round' stroke-linejoin='round'/%3E%3C/svg%3E";
/// Nothing from anywhere: only what stands in the page itself.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
    img-src data:; base-uri 'none'; form-action 'none'";

/// What a page that is about more than its runs has in place of their answers.
pub(crate) struct Front {
    /// The title of the page.
    pub(crate) title: String,
    /// What each run is called here: `Base`.
    pub(crate) run_names: Vec<String>,
    /// The answer.
    pub(crate) answer: Markup,
    /// What is behind it.
    pub(crate) section: Markup,
}

/// A page with what it needs besides the style of all pages: masthead, content, footer and scripts.
pub(crate) fn document<'a>(
    title: &str,
    style: &str,
    [masthead, content, footer]: [&Markup; 3],
    scripts: impl Iterator<Item = &'a str>,
) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="generator" content="knee";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) " · knee" }
                link rel="icon" href=(ICON);
                style { (PreEscaped(STYLE)) (PreEscaped(style)) }
            }
            body {
                a.skip href="#answer" { "Skip to the answer" }
                (masthead)
                main { (content) }
                footer { p { (footer) } }
                script { @for script in scripts { (PreEscaped(script)) } }
            }
        }
    };
    printable::clean(&markup.into_string(), false)
}

/// The page for one run, or for several that are laid over each other in the same plots.
pub fn page(runs: &[(Run, Conclusions)]) -> String {
    page_with(runs, None)
}

/// The same, or with an answer of its own.
pub(crate) fn page_with(runs: &[(Run, Conclusions)], front: Option<&Front>) -> String {
    let workloads = workloads(runs);
    let answers: Vec<Answer> =
        runs.iter().map(|(run, conclusions)| Answer::new(run, conclusions)).collect();
    let title = front.map_or_else(|| title(runs, &answers), |front| front.title.clone());
    let question = match workloads.as_slice() {
        [only] => Some(only.question.as_str()),
        _ => None,
    };
    let facts = |index: usize| dateline(&runs[index], None);
    let is_profiled = profile::is_profiled(runs);
    let style = if is_profiled { profile::STYLE } else { "" };
    let lists = if front.is_none() {
        matrix::lists(runs)
    } else {
        html! {}
    };
    let marks = marks::script();
    let scripts = [marks.as_str()].into_iter().chain(SCRIPTS);
    let scripts = scripts.chain(profile::SCRIPTS.into_iter().filter(|_| is_profiled));
    let content = html! {
        @if let Some(front) = front { (head::answer(&front.answer)) (front.section) }
        @else { (answer::section(runs, &answers, &workloads, facts)) (lists) }
        div.workloads.cards[workloads.len() > 1] {
            @for (index, info) in workloads.iter().enumerate() {
                @let (card, finding) = answer::card(runs, &answers, info);
                (workload(runs, info, index, ((workloads.len() > 1).then_some(card), &finding)))
            }
        }
        @if front.is_some() { (answer::of_each_run(runs, &answers, &workloads)) }
        (caveats(runs))
        (machine::section(runs))
        (reproduce(runs))
    };
    let masthead = head::masthead(&title, question, &masthead_facts(runs, front));
    document(&title, style, [&masthead, &content, &footer(runs)], scripts)
}

/// The first sentence of the answer; of several runs the first one's, with its name.
fn title(runs: &[Analysed], answers: &[Answer]) -> String {
    let Some(answer) = answers.first() else { return "Nothing measured".to_owned() };
    let headline = answer::headline(answer);
    if runs.len() > 1 && answers.iter().all(Answer::is_side_by_side) {
        return format!("{} runs side by side", count(runs.len() as u64));
    }
    if runs.len() == 1 {
        return headline;
    }
    format!("{headline} ({})", runs::brief(runs, &runs[0].0))
}

/// Where, when and how it was measured. Of several runs each has it below its name, unless the page has an
/// answer of its own.
fn masthead_facts(runs: &[Analysed], front: Option<&Front>) -> Markup {
    html! {
        @match (front, runs) {
            (Some(front), _) => {
                @for (run, name) in runs.iter().zip(&front.run_names) {
                    (dateline(run, Some((name, &runs::name(runs, &run.0)))))
                }
            }
            (None, [only]) => (dateline(only, None)),
            (None, _) => {}
        }
        (runs::banner(runs))
    }
}

/// The workloads of all runs, each once, in the order of the first run that has it.
fn workloads(runs: &[Analysed]) -> Vec<&WorkloadInfo> {
    let all = runs.iter().flat_map(|(run, _)| &run.plan.workloads);
    let by_name = grouped(all.map(|info| (&info.name, info)));
    by_name.into_iter().map(|(_, infos)| infos[0]).collect()
}

/// Machine, date and state of one run, in one block.
fn dateline((run, conclusions): &Analysed, name: Option<(&str, &str)>) -> Markup {
    let summary = &run.summary;
    let caveats = conclusions.caveats.len();
    let failed = run
        .cells
        .iter()
        .filter(|cell| cell.outcome != Outcome::Measured && !run.is_control(&cell.key));
    let failed = failed.count() as u64;
    html! {
        dl.dateline.flow {
            @if let Some((role, name)) = name { div { dt { (role) } dd { (name) } } }
            @if let Some(table) = &run.plan.table {
                div { dt { "From" } dd { "a table, " code { (table) } } }
            } @else {
                div {
                    dt { @if analysis::is_predicted(run) { "Model" } @else { "Machine" } }
                    dd { (machine::name(run)) }
                }
            }
            div {
                dt { @if run.is_foreign() { "Figures of" } @else { "Date" } }
                dd { time datetime=(summary.started) { (moment(&summary.started)) } }
            }
            div {
                dt { "State" }
                dd {
                    @let planned = text::runs::cells_planned(run);
                    (summary.state.name()) ", " (count(summary.cells_ended))
                    @if summary.cells_ended != planned { " of " (count(planned)) }
                    " cells"
                    @if failed > 0 { ", " (count(failed)) " failed" }
                }
            }
            @if caveats > 0 {
                div {
                    dt { "Caveats" }
                    dd { a href="#caveats" { (caveats) } }
                }
            }
        }
    }
}

/// `2026-11-21T14:02:11+00:00` → `2026-11-21 14:02`, its zone as it was recorded.
pub(crate) fn moment(rfc3339: &str) -> String {
    let zone = rfc3339.get(19..).unwrap_or_default();
    let zone = zone.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let zone = if ["+00:00", "Z", "z"].contains(&zone) { "UTC" } else { zone };
    match (rfc3339.get(..10), rfc3339.get(11..16)) {
        (Some(day), Some(time)) => format!("{day} {time} {zone}").trim_end().to_owned(),
        _ => rfc3339.to_owned(),
    }
}

/// Plot, tables and findings of one workload; where there are several, folded away behind its card.
fn workload(
    runs: &[Analysed],
    info: &WorkloadInfo,
    index: usize,
    (card, finding): (Option<Markup>, &str),
) -> Markup {
    let views = view::views(runs, info);
    let id = view::anchor(index);
    let subjects = view::subjects(&views);
    let label = format!("Plot of {}: {finding}", info.name);
    html! {
        section.workload aria-labelledby={ (id) "-head" } {
            details.fold open[card.is_none()] {
                summary {
                    h2 #{ (id) "-head" } { (info.name) }
                    @if let Some(card) = card { (card) }
                }
                // A link to something inside opens the section in every browser.
                div #(id) {
                    p { (info.operation) }
                    (averages::section(runs, info, &id))
                    @if draws(info, &views) {
                        (head::plot(&index.to_string(), &label, data::json(runs, info, &views)))
                        (heatmap::section(runs, info, index, &subjects))
                    }
                    (not_measured(info))
                    @if !info.averages {
                        @for (number, view) in views.iter().enumerate() {
                            (table::section(runs, view, &format!("{id}-table-{number}"), number))
                        }
                        (waits::section(runs, info, index, &subjects))
                    }
                    (profile::section(runs, info, index, &views))
                    (findings::of_workload(runs, info))
                }
            }
        }
    }
}

/// Whether there is a plot: of averages at a single point their own drawing says more, and figures that are
/// not compared are listed.
fn draws(info: &WorkloadInfo, views: &[view::View]) -> bool {
    let mut tables = views.iter().flat_map(|view| &view.tables);
    let is_plain = !info.averages && !info.has_separate_subjects();
    is_plain || tables.any(|(_, table)| table.points.len() > 1)
}

/// What a reader could take the figures for and they are not.
fn not_measured(info: &WorkloadInfo) -> Markup {
    html! {
        @if !info.not_measured.is_empty() {
            div.not-measured {
                p { "Not measured:" }
                ul { @for what in &info.not_measured { li { (what) } } }
            }
        }
    }
}

fn caveats(runs: &[Analysed]) -> Markup {
    html! {
        section #caveats aria-labelledby="caveats-head" {
            h2 #caveats-head { "Caveats" }
            @for (run, conclusions) in runs {
                @if runs.len() > 1 { h3 { (runs::name(runs, run)) } }
                @let failed = text::runs::failed(run);
                @if conclusions.caveats.is_empty() && failed.is_empty() {
                    p { "None." }
                }
                ul.caveats {
                    @for caveat in &conclusions.caveats {
                        @let Warning { what, remedy } = caveat.warning();
                        li { (head::with_remedy(&what, &remedy)) }
                    }
                    @for cells in failed {
                        li {
                            span.failed { "failed" } " " (cells.text)
                            @if !cells.detail.is_empty() {
                                details { summary { "Details" } pre { (cells.detail) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn reproduce(runs: &[Analysed]) -> Markup {
    let read = runs.iter().all(|(run, _)| run.is_foreign());
    html! {
        section #reproduce aria-labelledby="reproduce-head" {
            h2 #reproduce-head { "How to reproduce" }
            p {
                @if read { "The same table, read and analysed again:" }
                @else { "The same cells in the same order, on the machine as it is described above:" }
            }
            @for (run, _) in runs.iter().filter(|(run, _)| !is_median(run)) {
                pre.command tabindex="0" { code { (text::runs::command(run)) } }
                p.small { (planned(run)) ". Run " code { (run.summary.id) } "." }
            }
        }
    }
}

/// How a run was to be measured, as far as that was up to knee.
fn planned(run: &Run) -> String {
    let plan = &run.plan;
    let rounds = text::metrics::rounds(run);
    if run.is_foreign() {
        return capitalized(&rounds);
    }
    if analysis::is_predicted(run) {
        let time = count(plan.measure_ms);
        return format!("Seed {}, {rounds}, {time} ms of the model's time a cell", plan.seed);
    }
    let cpus = list(plan.pinned_cpus.iter().map(usize::to_string));
    let pinned = if cpus.is_empty() { cpus } else { format!(", pinned to CPU {cpus}") };
    let deadlines = match plan.deadlines_ms() {
        (min, max) if min == max => count(max),
        (min, max) => format!("{} to {}", count(min), count(max)),
    };
    format!(
        "Seed {}, {rounds}, {} ms a metric and cell, deadline {} ms a cell{pinned}",
        plan.seed, plan.measure_ms, deadlines
    )
}

fn footer(runs: &[Analysed]) -> Markup {
    let mut versions: Vec<&String> = runs.iter().map(|(run, _)| &run.summary.version).collect();
    versions.dedup();
    let read = runs.iter().all(|(run, _)| run.is_foreign());
    html! {
        "knee " (list(&versions)) ". "
        @if read { "Every figure of the table is drawn, none is removed." }
        @else { "Medians stand with their 95 % CI; every sample is drawn, none is removed." }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_keep_their_zone() {
        assert_eq!(moment("2026-11-21T14:02:11+00:00"), "2026-11-21 14:02 UTC");
        assert_eq!(moment("2026-11-21T14:02:11.123Z"), "2026-11-21 14:02 UTC");
        assert_eq!(moment("2026-11-21T14:02:11+02:00"), "2026-11-21 14:02 +02:00");
        assert_eq!(moment("soon"), "soon");
    }
}
