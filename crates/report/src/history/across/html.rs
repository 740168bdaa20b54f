//! Runs across the values of a fact as one self-contained page: the significant steps in sentences, then for each
//! point of each series a panel with the values across, and every figure as a table.
//!
//! The panels are drawn here and need no script; with one, pointing at a value says more of it.

use super::super::groups::machine;
use super::{
    Group, Step, confidence, emulation, groups, legend, names, sentence, sized, span, steps,
    verdicts,
};
use crate::comparison::{ratio, word};
use crate::history::frame::Frame;
use crate::history::html::{HEIGHT, Scale};
use crate::html::head;
use crate::html::spark::{self, Accent};
use crate::text::NO_FIGURE;
use analysis::compare::{Ratio, Verdict};
use analysis::history::across::{AcrossValues, PointAcross, SeriesAcross};
use findings::format::{Unit, count, counted, interval};
use maud::{Markup, html};

/// More names than these have no room below a panel: others are left to the table and to pointing at them.
const NAMES_MAX: usize = 5;
/// The characters that fit below a panel, on a phone too; and of them those of a name.
const NAMES_CHARS: usize = 50;
const NAME_CHARS: usize = 22;
/// The height of the line of names, in pixels.
const NAMES_HEIGHT: f64 = 18.0;

/// The page.
pub fn page(across: &AcrossValues) -> String {
    let groups = groups(across);
    let sections = groups.iter().enumerate().map(|(index, group)| section(across, group, index));
    Frame {
        title: &headline(across),
        question: &across.workload.question,
        facts: facts(across),
        answer: answer(across),
        sections: sections.collect(),
        left_out: &across.left_out,
        runs: &across.runs,
        note: html! {
            "Each dot is the median of a run, with its 95 % CI; a step in colour is significant. "
            (confidence(across))
            @if let Some(emulation) = emulation(across) { " " (emulation) }
        },
    }
    .page()
}

/// The largest step, else that there is none.
fn headline(across: &AcrossValues) -> String {
    let largest = steps(across).first().map(|step| sentence(across, step));
    let sentence = largest.unwrap_or_else(|| match across.values.len() {
        0 | 1 => format!("{} across {}", across.workload.name, across.key),
        _ => format!(
            "{}: no step from one {} to the next is significant",
            across.workload.name, across.key
        ),
    });
    sentence.trim_end_matches('.').to_owned()
}

fn facts(across: &AcrossValues) -> Markup {
    html! {
        dl.dateline {
            div { dt { "Values" } dd { (span(across)) } }
            div { dt { "Machine" } dd { (machine(&across.machine)) } }
            div { dt { "Ratios" } dd { (count(across.judged as u64)) " judged" } }
        }
    }
}

/// The significant steps, with a small plot each, then how many there are of each verdict.
fn answer(across: &AcrossValues) -> Markup {
    let steps: Vec<Markup> = steps(across).iter().map(|step| statement(across, step)).collect();
    let text = |line: String| html! { (line) };
    html! {
        @if !steps.is_empty() { h3 { "What changed" } }
        (head::statements(&steps))
        dl.answer-rest {
            @if let Some(verdicts) = verdicts(across) { (head::line("Steps", &text(verdicts))) }
            @if let Some(emulation) = emulation(across) {
                (head::line("Warning", &text(emulation.to_owned())))
            }
            @if !across.left_out.is_empty() {
                (head::line("Left out", &html! { a href="#left-out" { (across.left_out.len()) } }))
            }
        }
    }
}

fn statement(across: &AcrossValues, step: &Step<'_>) -> Markup {
    let (accent, class, word) = match step.ratio.verdict {
        Verdict::Slower => (Accent::Bad, "tag tag-high", "worse"),
        _ => (Accent::Good, "tag tag-low", "better"),
    };
    let is_it = |point: &&PointAcross| step.point.is_none_or(|at| at == point.point);
    let line = step.series.points.iter().rfind(is_it);
    let figures = line.into_iter().flat_map(|point| point.figures.iter().flatten());
    let values: Vec<f64> = figures.map(|figure| figure.value).collect();
    html! {
        (spark::sequence(accent, &values))
        div { p { span class=(class) { (word) } " " (sentence(across, step)) } }
    }
}

/// The series of one metric under one set of parameters.
fn section(across: &AcrossValues, group: &Group<'_>, index: usize) -> Markup {
    let unit = group.unit();
    let id = format!("series-{index}");
    html! {
        section aria-labelledby=(id) {
            h2 #(id) { (group.metric.name) }
            p { (group.title(across)) }
            @for series in &group.series {
                div.series-across {
                    h3 { (series.label) }
                    p { (whole(across, series)) }
                    div.timelines {
                        @for point in &series.points { (panel(across, series, point, &unit)) }
                    }
                }
            }
            (table(across, group, &unit, &id))
        }
    }
}

/// What a series comes to from the first value to the last.
fn whole(across: &AcrossValues, series: &SeriesAcross) -> String {
    let names = names(across);
    match (&series.whole, names.as_slice()) {
        (Some(whole), [first, .., last]) => {
            format!("{} from {first} to {last}: {}", sized(whole), word(whole.verdict))
        }
        _ => "No ratio from the first to the last".to_owned(),
    }
}

fn panel(across: &AcrossValues, series: &SeriesAcross, point: &PointAcross, unit: &Unit) -> Markup {
    let scale = Scale::new(across.values.len(), point.figures.iter().flatten());
    let names = names(across);
    let at = counted(&count(point.point), &across.workload.axis);
    let summary = summary(across, point);
    html! {
        figure.timeline {
            figcaption { strong { (series.label) } " at " (at) }
            svg role="img" aria-label={ (series.label) " at " (at) ": " (summary) } width="100%"
                height=(HEIGHT + NAMES_HEIGHT) tabindex="0" {
                @for (from, step) in point.steps.iter().enumerate() {
                    (segment(point, from, step.as_ref(), &scale))
                }
                @for (value, figure) in point.figures.iter().enumerate() {
                    @if let Some(figure) = figure {
                        @let x = scale.across(value as f64);
                        g.run data-run=(value) {
                            line x1=(x) x2=(x) y1=(scale.down(figure.low)) y2=(scale.down(figure.high)) {}
                            circle cx=(x) cy=(scale.down(figure.value)) r="3.5" {}
                            title {
                                (across.values[value]) ": " (unit.with_symbol(figure.value))
                                (interval(*figure, |value| unit.figure(value)))
                            }
                        }
                    }
                }
                @for value in named(&names) {
                    @let anchor = anchor(value, names.len());
                    text.at x=(scale.across(value as f64)) y=(HEIGHT + NAMES_HEIGHT - 5.0)
                        text-anchor=(anchor) { (shortened(&names[value])) }
                }
            }
            p.summary aria-live="polite" { (summary) }
        }
    }
}

/// The values whose names stand below a panel: the first, the last, and between them those that fit.
fn named(names: &[String]) -> Vec<usize> {
    let Some(last) = names.len().checked_sub(1) else { return Vec::new() };
    let width = |value: usize| shortened(&names[value]).chars().count() as f64 + 1.0;
    let column = |value: usize| (value * NAMES_CHARS) as f64 / last.max(1) as f64;
    // The first name begins at its dot, the last one ends there, and the others have it in their middle.
    let end = |value: usize| column(value) + if value == 0 { width(0) } else { width(value) / 2.0 };
    let last_begins = column(last) - width(last);
    let mut named = vec![0];
    for value in 1..last {
        let before = named[named.len() - 1];
        let begin = column(value) - width(value) / 2.0;
        if begin >= end(before) && end(value) <= last_begins && named.len() + 1 < NAMES_MAX {
            named.push(value);
        }
    }
    named.extend((last > 0).then_some(last));
    named
}

/// A name that fits next to another one.
fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME_CHARS {
        return name.to_owned();
    }
    let begin: String = name.chars().take(NAME_CHARS - 1).collect();
    begin + "…"
}

fn anchor(value: usize, values: usize) -> &'static str {
    match value {
        _ if values == 1 => "middle",
        0 => "start",
        _ if value + 1 == values => "end",
        _ => "middle",
    }
}

/// The line from one value's figure to the next.
fn segment(point: &PointAcross, from: usize, step: Option<&Ratio>, scale: &Scale) -> Markup {
    let class = match step.map(|step| step.verdict) {
        Some(Verdict::Slower) => "step worse",
        Some(Verdict::Faster) => "step better",
        _ => "step",
    };
    let ends = point.figures[from].zip(point.figures[from + 1]);
    html! {
        @if let Some((first, second)) = ends {
            line class=(class) x1=(scale.across(from as f64)) x2=(scale.across((from + 1) as f64))
                y1=(scale.down(first.value)) y2=(scale.down(second.value)) {}
        }
    }
}

/// The significant steps of a panel in words.
fn summary(across: &AcrossValues, point: &PointAcross) -> String {
    let names = names(across);
    let real = point.steps.iter().enumerate().filter_map(|(from, step)| {
        let step = step.as_ref()?;
        let is_real = matches!(step.verdict, Verdict::Slower | Verdict::Faster);
        is_real.then(|| format!("{} in {}: {}", word(step.verdict), names[from + 1], sized(step)))
    });
    let all: Vec<String> = real.collect();
    if all.is_empty() { "no significant step".to_owned() } else { all.join("; ") }
}

/// Every figure, with the step to it.
fn table(across: &AcrossValues, group: &Group<'_>, unit: &Unit, id: &str) -> Markup {
    let step_text = |step: Option<&Ratio>| step.map_or_else(|| NO_FIGURE.to_owned(), ratio);
    html! {
        details open {
            summary { "All figures" @if !unit.symbol.is_empty() { " in " (unit.symbol) } }
            div.scroll tabindex="0" role="region" aria-labelledby=(id) {
                table.figures {
                    caption { (legend(across)) }
                    thead { tr {
                        th scope="col" { "series" }
                        th scope="col" { (across.workload.axis) }
                        @for name in names(across) { th scope="col" { (name) } }
                        th scope="col" { "first to last" }
                    } }
                    tbody {
                        @for series in &group.series {
                            @for point in &series.points {
                                tr {
                                    th scope="row" { (series.label) }
                                    td { (count(point.point)) }
                                    @for (value, figure) in point.figures.iter().enumerate() {
                                        @let step = value.checked_sub(1).and_then(|step| point.steps[step].as_ref());
                                        td class=[tint(step)] {
                                            @match figure {
                                                Some(figure) => (unit.figure(figure.value)),
                                                None => (NO_FIGURE),
                                            }
                                            @if let Some(step) = step { " " span.step-ratio { (ratio(step)) } }
                                        }
                                    }
                                    td class=[tint(point.whole.as_ref())] { (step_text(point.whole.as_ref())) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn tint(step: Option<&Ratio>) -> Option<&'static str> {
    match step?.verdict {
        Verdict::Slower => Some("slower"),
        Verdict::Faster => Some("faster"),
        Verdict::Same | Verdict::Undecided => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_below_a_panel_are_few_and_begin_and_end_it() {
        let named = |values: usize, name: &str| named(&vec![name.to_owned(); values]);
        assert_eq!(named(1, "6.1.0-53"), [0]);
        assert_eq!(named(3, "6.1.0-53"), [0, 1, 2]);
        assert_eq!(named(9, "6.1.0-53"), [0, 3, 5, 8]);
        let many = named(20, "6.1.0-53");
        assert_eq!((many[0], many[many.len() - 1]), (0, 19));
        let long = "6.12.117+deb12-cloud-amd64 · pti=off";
        assert_eq!(named(4, long), [0, 3]);
        // Each fits, and two of them don't fit next to each other.
        let kernels = ["5.10.0-46", "6.1.0-56", "6.12.117+deb12", "7.2.13+deb14"];
        assert_eq!(super::named(&kernels.map(str::to_owned)), [0, 1, 3]);
        assert_eq!(shortened(long), "6.12.117+deb12-cloud-…");
    }
}
