//! One self-contained page: findings first, then each workload with its plot and tables.
//!
//! The page asks nobody for anything: style, script, icon and samples are inside it, and its own
//! content security policy forbids the rest. Without a script the findings and every table are
//! there; only the plot is missing, and the page says so.
//!
//! The plot is our own (`assets/plot.js`). What there was to choose from did not fit: charting
//! crates either load a script from a network, or embed megabytes of it in each page, or draw a
//! still image; none can be used from a keyboard, and none draws 100,000 samples behind medians
//! without thinning them out.

mod data;
mod machine;
mod table;

use crate::figures::whole;
use crate::words;
use analysis::{Analysis, Class, Finding, Row};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use record::{Run, WorkloadInfo};

const STYLE: &str = include_str!("../assets/page.css");
/// In order of use; they share one scope.
const SCRIPTS: [&str; 6] = [
    include_str!("../assets/figures.js"),
    include_str!("../assets/scale.js"),
    include_str!("../assets/draw.js"),
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

/// A run with what was concluded from it.
type Analysed = (Run, Analysis);

/// The page for one run, or for several that are laid over each other in the same plots.
pub fn page(runs: &[(Run, Analysis)]) -> String {
    let workloads = workloads(runs);
    let names: Vec<String> = workloads.iter().map(|info| info.name.clone()).collect();
    let title = if names.is_empty() { "Nothing measured".to_owned() } else { words::list(&names) };
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                title { (title) " · knee" }
                link rel="icon" href=(ICON);
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#findings" { "Skip to the findings" }
                (header(runs, &workloads, &title))
                main {
                    (findings(runs))
                    @for (index, info) in workloads.iter().enumerate() {
                        (workload(runs, info, index, workloads.len() > 1))
                    }
                    (caveats(runs))
                    (machine::section(runs))
                    (reproduce(runs))
                }
                (footer(runs))
                script { @for script in SCRIPTS { (PreEscaped(script)) } }
            }
        }
    };
    markup.into_string()
}

/// The workloads of all runs, each once, in the order of the first run that has it.
fn workloads(runs: &[Analysed]) -> Vec<&WorkloadInfo> {
    let mut found: Vec<&WorkloadInfo> = Vec::new();
    for info in runs.iter().flat_map(|(run, _)| &run.plan.workloads) {
        if !found.iter().any(|known| known.name == info.name) {
            found.push(info);
        }
    }
    found
}

/// What a run is called where there are several.
fn run_name(run: &Run) -> String {
    let host = machine::fact(&run.host_before, &["host.name", "hostname"]);
    let place = host.map(|name| format!(" on {name}")).unwrap_or_default();
    let id: String = run.summary.id.chars().take(6).collect();
    match run.summary.number {
        0 => format!("run {id}{place}"),
        number => format!("run {number}{place}"),
    }
}

fn header(runs: &[Analysed], workloads: &[&WorkloadInfo], title: &str) -> Markup {
    html! {
        header.masthead {
            p.brand {
                span.mark aria-hidden="true" { (PreEscaped(MARK)) }
                "knee"
                span.brand-what { "where a system stops scaling" }
            }
            h1 { (title) }
            @if let [only] = workloads { p.question { (only.question) } }
            @for (run, analysis) in runs { (dateline(run, analysis, runs.len() > 1)) }
        }
    }
}

const MARK: &str = "<svg viewBox='0 0 16 16' width='18' height='18'><path d='M1 12.5h7.5L14.5 2' \
    fill='none' stroke='currentColor' stroke-width='2.4' stroke-linecap='round' \
    stroke-linejoin='round'/></svg>";

/// Machine, date and state of one run, in one block.
fn dateline(run: &Run, analysis: &Analysis, named: bool) -> Markup {
    let summary = &run.summary;
    let caveats = analysis.caveats.len() + usize::from(words::unfinished(run).is_some());
    let void: u64 = run.cells.iter().map(|cell| u64::from(is_void(cell))).sum();
    html! {
        dl.dateline {
            @if named { div { dt { "Run" } dd { (run_name(run)) } } }
            div { dt { "Machine" } dd { (machine::name(run)) } }
            div { dt { "Date" } dd { time datetime=(summary.started) { (moment(&summary.started)) } } }
            div {
                dt { "State" }
                dd {
                    (words::state(summary.state)) ", " (whole(summary.cells_ended)) " of "
                    (whole(summary.cells_planned)) " cells"
                    @if void > 0 { ", " (whole(void)) " void" }
                }
            }
            @if caveats > 0 {
                div {
                    dt { "Mind" }
                    dd { a href="#caveats" { (caveats) (if caveats == 1 { " caveat" } else { " caveats" }) } }
                }
            }
        }
    }
}

fn is_void(cell: &record::Cell) -> bool {
    cell.outcome != record::Outcome::Measured
}

/// `2026-11-21T14:02:11+00:00` → `2026-11-21 14:02`, its zone as it was recorded.
fn moment(rfc3339: &str) -> String {
    let zone = rfc3339.get(19..).unwrap_or_default();
    let zone = zone.trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let zone = if ["+00:00", "Z", "z"].contains(&zone) { "UTC" } else { zone };
    match (rfc3339.get(..10), rfc3339.get(11..16)) {
        (Some(day), Some(time)) => format!("{day} {time} {zone}").trim_end().to_owned(),
        _ => rfc3339.to_owned(),
    }
}

fn findings(runs: &[Analysed]) -> Markup {
    html! {
        section #findings aria-labelledby="findings-head" tabindex="-1" {
            h2 #findings-head { "Findings" }
            @for (run, analysis) in runs {
                @if runs.len() > 1 { h3 { (run_name(run)) } }
                @let (headline, rest): (Vec<&Finding>, Vec<&Finding>) =
                    analysis.findings.iter().partition(|finding| finding.headline);
                @if headline.is_empty() { p { "None: too little was measured." } }
                (grouped(run, analysis, &headline))
                @if !rest.is_empty() {
                    details {
                        summary { "The other metrics: " (rest.len()) " findings" }
                        (grouped(run, analysis, &rest))
                    }
                }
            }
        }
    }
}

/// Findings under the conditions that they hold under.
fn grouped(run: &Run, analysis: &Analysis, findings: &[&Finding]) -> Markup {
    let place = |finding: &Finding| {
        (finding.workload.clone(), finding.conditions.clone(), finding.metric.clone())
    };
    html! {
        @for group in findings.chunk_by(|a, b| place(a) == place(b)) {
            p.group { (heading(run, group[0])) }
            ul.findings {
                @for finding in group { li { (sentence(analysis, finding)) } }
            }
        }
    }
}

/// `poll, loop: 1 active of N watched socketpairs`.
fn heading(run: &Run, finding: &Finding) -> String {
    let info = run.plan.workloads.iter().find(|info| info.name == finding.workload);
    let axis = info.map_or("", |info| info.axis.as_str());
    let conditions = words::conditions(&finding.conditions, axis);
    format!("{} · {} · {conditions}", finding.workload, finding.metric)
}

/// A sentence with its subject set off, and before it its class as a tag: for the eye that runs
/// down the list, since the sentence says the same.
fn sentence(analysis: &Analysis, finding: &Finding) -> Markup {
    let row = row_of(analysis, finding);
    let label = row.map_or("", |row| row.label.as_str());
    let rest = finding.sentence.strip_prefix(label).filter(|_| !label.is_empty());
    html! {
        @if let Some(growth) = row.and_then(|row| row.growth.as_ref()) {
            span.tags aria-hidden="true" { (tag(growth.class)) }
        }
        span.sentence {
            @if let Some(rest) = rest { strong { (label) } (rest) } @else { (finding.sentence) }
        }
    }
}

/// The row that a finding about one subject stands on.
fn row_of<'a>(analysis: &'a Analysis, finding: &Finding) -> Option<&'a Row> {
    let [subject] = finding.subjects.as_slice() else { return None };
    let table = analysis.tables.iter().find(|table| {
        table.workload == finding.workload
            && table.conditions == finding.conditions
            && table.metric.name == finding.metric
    })?;
    table.rows.iter().find(|row| row.subject == *subject)
}

/// A class of growth as a quiet tag.
fn tag(class: Class) -> Markup {
    let name = match class {
        Class::Constant | Class::Logarithmic => "low",
        Class::SquareRoot | Class::Linear => "middle",
        Class::Linearithmic | Class::Quadratic => "high",
        Class::Undecided => "open",
    };
    html! { span class={ "tag tag-" (name) } { (words::class(class)) } }
}

/// Plot and tables of one workload; its question too, unless that stands at the head of the page.
fn workload(runs: &[Analysed], info: &WorkloadInfo, index: usize, several: bool) -> Markup {
    let views = data::views(runs, info);
    let id = format!("workload-{index}");
    html! {
        section.workload #(id) aria-labelledby={ (id) "-head" } {
            h2 #{ (id) "-head" } { (info.name) }
            @if several { p.lead { (info.question) } }
            p { (info.operation) }
            (not_measured(info))
            figure.plot data-plot=(index) aria-label={ "Plot of " (info.name) } {
                noscript { p.note {
                    "The plot needs JavaScript. Its figures stand in the tables below."
                } }
            }
            script type="application/json" id={ "plot-data-" (index) } {
                (PreEscaped(data::json(runs, info, &views)))
            }
            @for (number, view) in views.iter().enumerate() {
                (table::of_view(runs, view, &format!("{id}-table-{number}"), number))
            }
        }
    }
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
            @for (run, analysis) in runs {
                @if runs.len() > 1 { h3 { (run_name(run)) } }
                @let void = words::void(run);
                @let unfinished = words::unfinished(run);
                @if analysis.caveats.is_empty() && void.is_empty() && unfinished.is_none() {
                    p { "None." }
                }
                ul.caveats {
                    @if let Some(text) = unfinished { li { (text) } }
                    @for caveat in &analysis.caveats {
                        li {
                            (caveat.what)
                            @if !caveat.remedy.is_empty() { " → " code { (caveat.remedy) } }
                        }
                    }
                    @for said in void {
                        li {
                            span.void { "void" } " " (said.text)
                            @if !said.detail.is_empty() {
                                details { summary { "What could be learnt" } pre { (said.detail) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn reproduce(runs: &[Analysed]) -> Markup {
    html! {
        section #reproduce aria-labelledby="reproduce-head" {
            h2 #reproduce-head { "How to reproduce" }
            p { "The same cells in the same order, on the machine as it is described above:" }
            @for (run, _) in runs {
                pre.command tabindex="0" { code { (words::command(run)) } }
                p.small {
                    "Seed " (run.plan.seed) ", " (words::rounds(run)) ", "
                    (run.plan.measure_ms) " ms a metric and cell, deadline "
                    (whole(run.plan.deadline_ms)) " ms a cell"
                    @if !run.plan.pinned_cpus.is_empty() {
                        ", pinned to CPU "
                        (words::list(&run.plan.pinned_cpus.iter().map(usize::to_string).collect::<Vec<_>>()))
                    }
                    ". Run " code { (run.summary.id) } "."
                }
            }
        }
    }
}

fn footer(runs: &[Analysed]) -> Markup {
    let mut versions: Vec<String> =
        runs.iter().map(|(run, _)| run.summary.version.clone()).collect();
    versions.dedup();
    html! {
        footer {
            p {
                "Measured by knee " (words::list(&versions)) ". Medians stand with their 95 % \
                 interval; every sample is drawn, none is removed."
            }
        }
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
