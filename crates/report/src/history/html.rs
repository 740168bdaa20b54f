//! A history as one self-contained page: what changed in sentences, then a panel for each line.
//!
//! The panels are drawn here and need no script; with one, pointing at a run or going along a panel with the
//! arrow keys says more of it than the tooltip does.

use super::groups::{
    Group, SEEN, SHARED_CAUSE, confidence, emulation, groups, machine, span, too_few, unchanged,
};
use super::sentences;
use crate::html::spark::{self, Accent, Axis};
use crate::html::{document, head, moment};
use analysis::Estimate;
use analysis::compare::Direction;
use analysis::history::{History, LeftOut, Line, Shift};
use findings::format::{Unit, count, factor, interval, quantity, significant};
use findings::left_out;
use maud::{Markup, html};
use model::RunSummary;

const STYLE: &str = include_str!("../../assets/history.css");
/// The page's own parts of the script come last; they share one scope.
const SCRIPTS: [&str; 2] =
    [include_str!("../../assets/page.js"), include_str!("../../assets/history.js")];
/// Height of a panel's drawing, and what is left free above and below, in pixels.
const HEIGHT: f64 = 120.0;
const MARGIN: f64 = 14.0;
/// Where the first and the last run stand, in per cent of the width.
const LEFT: f64 = 2.0;
const RIGHT: f64 = 98.0;
/// A line that moves by less than this is not drawn as if it moved by much.
const SPAN_LEAST: f64 = 1.15;

/// The page.
pub fn page(history: &History) -> String {
    let (title, groups) = (headline(history), groups(history));
    let content = html! {
        (head::answer(&answer(history)))
        @for (index, group) in groups.iter().enumerate() { (section(history, group, index)) }
        (left_out(&history.left_out))
        (runs(&history.runs))
    };
    let footer = html! {
        "Each dot is the median of a run, with its 95 % CI; each bar is a level. "
        @if history.judged > 0 { (confidence(history)) }
        @if let Some(emulation) = emulation(history) { " " (emulation.sentence()) }
    };
    let masthead = head::masthead(&title, Some(&history.workload.question), &facts(history));
    document(&title, STYLE, [&masthead, &content, &footer], SCRIPTS.into_iter())
}

/// The history in one sentence: its first change, else that there is none.
fn headline(history: &History) -> String {
    let joint = history.joint_changes.first().map(|change| sentences::joint(history, change));
    let change = || history.changes.first().map(|change| sentences::change(history, change));
    let same =
        || unchanged(history).map(|same| same.split(": ").next().unwrap_or_default().to_owned());
    let sentence = joint.or_else(change).or_else(same);
    let sentence = sentence.unwrap_or_else(|| format!("{} over time", history.workload.name));
    sentence.trim_end_matches('.').to_owned()
}

fn facts(history: &History) -> Markup {
    html! {
        dl.dateline.flow {
            div { dt { "Runs" } dd { (span(history)) } }
            div { dt { "Machine" } dd { (machine(&history.machine)) } }
            div { dt { "Lines" } dd { (count(history.judged as u64)) " judged" } }
        }
    }
}

/// What changed, with a small plot each, then what did not.
fn answer(history: &History) -> Markup {
    let groups = groups(history);
    let several = groups.iter().filter(|group| !group.changes.is_empty()).count() > 1;
    let joint = history.joint_changes.iter().map(|change| {
        let text = sentences::joint(history, change);
        statement(history, change.direction, false, &change.lines, &text)
    });
    let joint: Vec<Markup> = joint.collect();
    let text = |line: String| html! { (line) };
    html! {
        @if !history.changes.is_empty() { h3 { "What changed" } }
        @if !joint.is_empty() {
            (head::statements(&joint))
            p.note { (SHARED_CAUSE) }
        }
        @for group in groups.iter().filter(|group| !group.changes.is_empty()) {
            @if several { p.group { (group.title(history)) } }
            @let changes: Vec<Markup> = group.changes.iter().map(|change| {
                let text = sentences::change(history, change);
                statement(history, change.direction, change.fresh, &change.lines, &text)
            }).collect();
            (head::statements(&changes))
        }
        dl.answer-rest {
            @if let Some(same) = unchanged(history) { (head::line("Unchanged", &text(same))) }
            @if let Some(few) = too_few(history) { (head::line("Not decided", &text(few + "."))) }
            @if !history.left_out.is_empty() {
                (head::line("Left out", &html! { a href="#left-out" { (history.left_out.len()) } }))
            }
        }
    }
}

/// A sentence, and before it the line that changed most and which way it goes.
fn statement(
    history: &History,
    direction: Direction,
    fresh: bool,
    lines: &[(usize, Estimate)],
    text: &str,
) -> Markup {
    let (accent, class, word) = look(direction);
    let figures = sentences::largest(lines).map(|(line, _)| &history.lines[*line].figures);
    let values = figures.into_iter().flatten().map(|(_, figure)| figure.value);
    html! {
        (spark::sequence(accent, &values.collect::<Vec<_>>()))
        div { p {
            span class={ "tag " (class) } { (word) } @if fresh { " " span.tag.tag-cross { "new" } } " " (text)
        } }
    }
}

fn look(direction: Direction) -> (Accent, &'static str, &'static str) {
    match direction {
        Direction::Worse => (Accent::Bad, "tag-high", "worse"),
        Direction::Better => (Accent::Good, "tag-low", "better"),
    }
}

/// The lines of one metric under one set of parameters: those that changed, then the others.
fn section(history: &History, group: &Group, index: usize) -> Markup {
    let unit = group.unit();
    let (changed, same): (Vec<&Line>, Vec<&Line>) =
        group.lines.iter().partition(|line| line.has_changed());
    let id = format!("lines-{index}");
    let lines = if changed.is_empty() { "lines" } else { "further lines" };
    html! {
        section aria-labelledby=(id) {
            h2 #(id) { (group.metric.name) }
            p { (group.title(history)) }
            @if !changed.is_empty() {
                div.timelines { @for line in &changed { (panel(history, line, &unit)) } }
            }
            @if !same.is_empty() {
                details open[changed.is_empty() && same.len() <= 12] {
                    summary { "The " (count(same.len() as u64)) " " (lines) ", which did not change" }
                    div.timelines { @for line in &same { (panel(history, line, &unit)) } }
                }
            }
        }
    }
}

/// Where things stand in one panel.
struct Scale {
    runs: usize,
    /// Absent where no figure has a logarithm.
    up: Option<Axis>,
}

impl Scale {
    /// From the lowest end of an interval to the highest.
    fn new<'a>(runs: usize, figures: impl Iterator<Item = &'a Estimate> + Clone) -> Self {
        let ends = figures.flat_map(|figure| [figure.low, figure.value, figure.high]);
        Self { runs, up: Axis::new(ends.filter(|end| *end > 0.0), SPAN_LEAST) }
    }

    /// A place in the sequence of runs, in per cent of the width; halves are between two runs.
    fn across(&self, run: f64) -> String {
        let share = if self.runs > 1 { run / (self.runs - 1) as f64 } else { 0.5 };
        format!("{:.2}%", LEFT + share * (RIGHT - LEFT))
    }

    /// A figure, in pixels from above; what has no logarithm lies at the bottom.
    fn down(&self, value: f64) -> String {
        let share = self.up.as_ref().map_or(0.0, |axis| axis.share(value));
        format!("{:.1}", HEIGHT - MARGIN - share.clamp(0.0, 1.0) * (HEIGHT - 2.0 * MARGIN))
    }
}

fn panel(history: &History, line: &Line, unit: &Unit) -> Markup {
    let scale = Scale::new(history.runs.len(), line.figures.iter().map(|(_, figure)| figure));
    let name = format!("{} at {} {}", line.label, count(line.point), line.axis);
    let figures = line.figures.len();
    html! {
        figure.timeline aria-label=(name) {
            figcaption { strong { (line.label) } " at " (count(line.point)) " " (line.axis) }
            svg role="img" aria-label={ (name) ": " (summary(history, line, unit)) } width="100%"
                height=(HEIGHT) tabindex="0" {
                (levels(line, &scale))
                @for shift in &line.shifts { (mark(history, shift, &scale)) }
                @for (run, figure) in &line.figures {
                    (dot(&history.runs[*run], *run, figure, line, &scale, unit))
                }
            }
            p.ends {
                span { (unit.with_symbol(line.figures.first().map_or(f64::NAN, |(_, figure)| figure.value))) }
                span { (quantity(figures as u64, "run")) }
                span { (unit.with_symbol(line.figures.last().map_or(f64::NAN, |(_, figure)| figure.value))) }
            }
            p.summary aria-live="polite" { (summary(history, line, unit)) }
        }
    }
}

/// What a panel comes to, in a few words.
fn summary(history: &History, line: &Line, unit: &Unit) -> String {
    if let Some(drift) = line.drift {
        return format!("bit by bit {}{}", factor(drift.value), interval(drift, significant));
    }
    let shift_text = |shift: &Shift| {
        format!(
            "{} → {} with run {}, {}{}",
            unit.figure(shift.before),
            unit.with_symbol(shift.after),
            history.runs[shift.at].number,
            factor(shift.factor.value),
            interval(shift.factor, significant)
        )
    };
    let all: Vec<String> = line.shifts.iter().map(shift_text).collect();
    match line.visible {
        _ if !all.is_empty() => all.join("; "),
        Some(visible) => format!("no change; one of {} {SEEN}", factor(visible)),
        None if line.has_too_few() => "too few runs".to_owned(),
        None => "not judged".to_owned(),
    }
}

/// A bar from the first run of each level to its last; or a line, where it came bit by bit.
fn levels(line: &Line, scale: &Scale) -> Markup {
    let (Some((first, _)), Some((last, _))) = (line.figures.first(), line.figures.last()) else {
        return html! {};
    };
    let (first, last) = (*first as f64, *last as f64);
    let mut bars = Vec::new();
    let mut from = first - 0.3;
    for shift in &line.shifts {
        bars.push((from, shift.at as f64 - 0.6, shift.before));
        from = shift.at as f64 - 0.4;
    }
    if let Some(shift) = line.shifts.last() {
        bars.push((from, last + 0.3, shift.after));
    }
    html! {
        @for (from, to, level) in bars {
            line.level x1=(scale.across(from)) x2=(scale.across(to)) y1=(scale.down(level))
                y2=(scale.down(level)) {}
        }
        @if let Some(drift) = line.drift {
            // The geometric mean, about which it drifts.
            @let logs = line.figures.iter().map(|(_, figure)| figure.value.ln());
            @let middle = (logs.sum::<f64>() / line.figures.len() as f64).exp();
            @let half = drift.value.sqrt();
            line.level x1=(scale.across(first)) x2=(scale.across(last))
                y1=(scale.down(middle / half)) y2=(scale.down(middle * half)) {}
        }
    }
}

/// Where a level changed.
fn mark(history: &History, shift: &Shift, scale: &Scale) -> Markup {
    let (_, _, word) = look(shift.direction);
    let at = scale.across(shift.at as f64 - 0.5);
    html! {
        g class={ "shift " (word) } {
            line x1=(at) x2=(at) y1="0" y2=(HEIGHT) {}
            title { "run " (history.runs[shift.at].number) ": " (sentences::differences(&shift.differences)) }
        }
    }
}

fn dot(
    run: &RunSummary,
    run_index: usize,
    figure: &Estimate,
    line: &Line,
    scale: &Scale,
    unit: &Unit,
) -> Markup {
    let at = scale.across(run_index as f64);
    let class = if line.apart.contains(&run_index) { "run apart" } else { "run" };
    html! {
        g class=(class) data-run=(run_index) {
            line x1=(at) x2=(at) y1=(scale.down(figure.low)) y2=(scale.down(figure.high)) {}
            circle cx=(at) cy=(scale.down(figure.value)) r="3" {}
            title {
                "run " (run.number) ": " (unit.with_symbol(figure.value))
                (interval(*figure, |value| unit.figure(value)))
            }
        }
    }
}

fn left_out(parts: &[LeftOut]) -> Markup {
    html! {
        @if !parts.is_empty() {
            section #left-out aria-labelledby="left-out-head" {
                h2 #left-out-head { "Left out" }
                ul.caveats { @for left in parts { li { (left_out::of_history(left).what) } } }
            }
        }
    }
}

/// Every run with its labels, to be looked up; the script takes from here what it says of a run.
fn runs(runs: &[RunSummary]) -> Markup {
    let row = |run: &RunSummary| {
        let labels = run.labels.iter().map(|(key, value)| format!("{key} {value}"));
        vec![
            html! { (run.number) },
            html! { time datetime=(run.started) { (moment(&run.started)) } },
            html! { (labels.collect::<Vec<_>>().join(", ")) },
            html! { (run.version) },
            html! { code { (run.id) } },
        ]
    };
    let rows = runs.iter().rev().map(row);
    html! {
        section #runs aria-labelledby="runs-head" {
            h2 #runs-head { "The runs" }
            (head::listing(("The runs, the last first", "figures"), &["run", "date", "labels", "knee", "id"], rows))
        }
    }
}
