//! Changes over time in sentences.

use analysis::Estimate;
use analysis::compare::{Difference, Direction};
use analysis::history::{Change, History, JointChange, Line};
use findings::answer::Range;
use findings::format::{count, factor, interval, list, significant};

/// `epoll-level at 1,000 watched descriptors is slower since run 12 (2026-11-20, commit 9cf01cb → 1a00bb2):
/// ×1.13 (95 % CI 1.10–1.16).`
pub(crate) fn change(history: &History, change: &Change) -> String {
    let lines = changed_lines(history, &change.lines);
    let Some(&(first, by)) = lines.first() else { return String::new() };
    let name = if first.headline {
        first.label.clone()
    } else {
        format!("{} ({})", first.label, first.metric.name)
    };
    let when = when(history, change, direction_word(first, by.value));
    if lines.len() == 1 {
        let at = format!("at {} {}", count(first.point), first.axis);
        return format!("{name} {at} {when}: {}{}.", factor(by.value), interval(by, significant));
    }
    let (largest, by) = largest(&lines).copied().unwrap_or((first, by));
    let range = range(&lines);
    format!(
        "{name} {when}, at {} points: {} to {}, most at {} {}{}.",
        share_of_points(history, first, lines.len()),
        factor(range.0),
        factor(range.1),
        count(largest.point),
        largest.axis,
        interval(by, significant)
    )
}

/// The line that changed most.
pub(super) fn largest<T>(lines: &[(T, Estimate)]) -> Option<&(T, Estimate)> {
    let size = |by: &Estimate| by.value.ln().abs();
    lines.iter().max_by(|a, b| size(&a.1).total_cmp(&size(&b.1)))
}

/// `All 4 subjects became slower with run 12 (kernel 6.18 → 6.19): ×1.12 to ×1.18.`
pub(crate) fn joint(history: &History, change: &JointChange) -> String {
    let JointChange { subjects, judged: total, from, to, .. } = *change;
    let lines = changed_lines(history, &change.lines);
    let subjects =
        if subjects == total { format!("All {total}") } else { format!("{subjects} of {total}") };
    let word = lines.first().map_or("", |(line, by)| direction_word(line, by.value));
    let differences = differences(&change.differences);
    let facts = if differences.is_empty() { differences } else { format!(" ({differences})") };
    let when = if from == to {
        format!("with {}", run(history, from))
    } else {
        format!("from {} to {}", run(history, from), run(history, to))
    };
    let size = range(&lines).format(factor);
    format!("{subjects} subjects became {word} {when}{facts}: {size}.")
}

/// `commit 3701d31 → 9cf01cb and kernel 6.18 → 6.19`.
pub(crate) fn differences(all: &[Difference]) -> String {
    list(all.iter().map(difference))
}

/// `kernel 6.18 → 6.19`.
pub(crate) fn difference(fact: &Difference) -> String {
    let [base, new] = [&fact.base, &fact.new].map(|value| value.as_deref().unwrap_or("none"));
    format!("{} {base} → {new}", fact.what)
}

/// `is slower since run 12 (2026-11-20, commit 9cf01cb → 1a00bb2)`.
fn when(history: &History, change: &Change, word: &str) -> String {
    let first = run(history, change.at);
    if change.drift {
        let figures = change.lines.first().map(|(line, _)| &history.lines[*line].figures);
        let last = figures.and_then(|figures| figures.last()).map_or(0, |last| last.0);
        let last = run(history, last);
        return format!(
            "has become {word} bit by bit from {first} to {last}, and with no run in particular"
        );
    }
    let started = &history.runs[change.at].started;
    let mut facts = vec![started.get(..10).unwrap_or(started).to_owned()];
    facts.extend(change.differences.iter().map(difference));
    let facts = facts.join(", ");
    match change.last {
        None => format!("is {word} since {first} ({facts})"),
        Some(last) => format!("was {word} from {first} ({facts}) to {}", run(history, last)),
    }
}

/// `all 4`, `both` or `2 of 3`, of the points of a line's series.
fn share_of_points(history: &History, line: &Line, changed: usize) -> String {
    let series =
        |line: &Line| (line.subject.clone(), line.parameters.clone(), line.metric.name.clone());
    let total = history.lines.iter().filter(|entry| series(entry) == series(line)).count();
    match (changed, total) {
        (2, 2) => "both".to_owned(),
        _ if changed == total => format!("all {total}"),
        _ => format!("{changed} of {total}"),
    }
}

/// Times and rates are slower or faster; other figures are higher or lower.
fn direction_word(line: &Line, by: f64) -> &'static str {
    let unit = &line.metric.unit;
    let timed = unit == "ns" || unit.ends_with("/s");
    match (timed, line.direction(by)) {
        (true, Direction::Worse) => "slower",
        (true, Direction::Better) => "faster",
        (false, _) if by > 1.0 => "higher",
        (false, _) => "lower",
    }
}

fn changed_lines<'a>(
    history: &'a History,
    changed: &[(usize, Estimate)],
) -> Vec<(&'a Line, Estimate)> {
    changed.iter().map(|&(index, by)| (&history.lines[index], by)).collect()
}

/// The smallest and the largest factor.
fn range(lines: &[(&Line, Estimate)]) -> Range {
    Range::new(lines.iter().map(|(_, by)| by.value))
}

fn run(history: &History, position: usize) -> String {
    format!("run {}", history.runs[position].number)
}
