//! The gate of `knee history`: what the newest run makes certain, and what of it can't be judged.

use super::{FailOn, History};
use crate::exit::{Exit, complain};
use crate::remedies::DIRECTION_IS_A_GUESS;
use analysis::Estimate;
use analysis::compare::Direction;
use analysis::history::{Change, History as Joined, LeftOut, Line};
use findings::format::{count, counted, factor, interval, list, percent, qualifiers, significant};
use findings::left_out;

pub struct Gate {
    limit: f64,
    flag: String,
}

impl Gate {
    pub fn new(ask: &History) -> Option<Self> {
        let on = ask.fail_on.map(|FailOn::Slower| (0.0, "--fail-on slower".to_owned()));
        let above = |limit| (limit, format!("--fail-above {}", percent(limit).replace(' ', "")));
        let (limit, flag) = on.or(ask.fail_above.map(above))?;
        Some(Self { limit, flag })
    }

    /// `without_figures` are the runs that are newer than those of `history`.
    pub fn exit(&self, history: &Joined, without_figures: &[i64]) -> Exit {
        if let Some(slower) = self.certain(history) {
            complain(&format!("knee: {slower} ({}, exit 3)", self.flag));
            return Exit::Different;
        }
        let uncertain = self.shown(history).map(|slower| {
            format!("{slower}, not certain enough to fail: measure again (docs/history.md, A gate)")
        });
        let open: Vec<String> =
            uncertain.into_iter().chain(unjudged(history, without_figures)).collect();
        if open.is_empty() {
            return Exit::Done;
        }
        complain(&format!("knee: can't pass (exit 4); {}", open.join("; ")));
        Exit::Inconclusive
    }

    /// What the newest run makes certain to be slower by more than the limit: the worst of it.
    fn certain(&self, history: &Joined) -> Option<String> {
        let alarms = history.lines.iter().flat_map(|line| {
            let alarms = line.alarms.iter();
            let refused = alarms.filter(|alarm| {
                let slowdown = slowdown_min(alarm.factor, line.metric.lower_is_better);
                self.refuses(line, alarm.direction, slowdown)
            });
            refused.map(move |alarm| (line, alarm.at, alarm.factor))
        });
        self.text(history, alarms.collect())
    }

    /// What the newest run brings to light and does not make certain, and may be above the limit: the worst of it.
    fn shown(&self, history: &Joined) -> Option<String> {
        let fresh = history.changes.iter().filter(|change| change.fresh);
        let of_change = |change: &Change| {
            let lines = change.lines.iter().map(|&(line, factor)| (&history.lines[line], factor));
            let (at, direction) = (change.at, change.direction);
            let refused = lines.filter(move |&(line, factor)| {
                let slowdown = slowdown_max(factor, line.metric.lower_is_better);
                self.refuses(line, direction, slowdown)
            });
            refused.map(move |(line, factor)| (line, at, factor)).collect::<Vec<_>>()
        };
        self.text(history, fresh.flat_map(of_change).collect())
    }

    fn refuses(&self, line: &Line, direction: Direction, slowdown: f64) -> bool {
        let above = self.limit <= 0.0 || slowdown > 1.0 + self.limit;
        direction == Direction::Worse && above && !line.metric.direction_assumed
    }

    /// `poll: epoll-level at 1,000 watched descriptors is slower since run 20 (2026-01-20): ×1.25 (95 % CI 1.22–1.28)`.
    #[expect(clippy::needless_pass_by_value, reason = "the caller has no more use for it")]
    fn text(&self, history: &Joined, all: Vec<(&Line, usize, Estimate)>) -> Option<String> {
        let slowdown = |line: &Line, factor| slowdown_min(factor, line.metric.lower_is_better);
        let &(line, at, by) = all.iter().max_by(|(first, _, by), (second, _, second_by)| {
            slowdown(first, *by).total_cmp(&slowdown(second, *second_by))
        })?;
        let than = match self.limit {
            0.0 => String::new(),
            limit => format!(" by more than {}", percent(limit)),
        };
        let more = match all.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more of {} lines", history.lines.len()),
        };
        let (value, ci) = (factor(by.value), interval(by, significant));
        let is_drift = line.figures.first().is_some_and(|(first, _)| *first == at);
        let since = if is_drift { "has become slower bit by bit" } else { "is slower" };
        Some(format!(
            "{} {since}{than} since {}: {value}{ci}{more}",
            name(history, line),
            run(history, at)
        ))
    }
}

fn unjudged(history: &Joined, without_figures: &[i64]) -> Vec<String> {
    let mut all = Vec::new();
    if !without_figures.is_empty() {
        let numbers = without_figures.iter().rev().map(ToString::to_string).collect::<Vec<_>>();
        let runs = if numbers.len() == 1 { "run" } else { "runs" };
        all.push(format!(
            "{runs} {} of {} can't be read, or has no such figure",
            list(&numbers),
            history.workload.name
        ));
    }
    let failed = history.left_out.iter().filter(|left| matches!(left, LeftOut::Failed { .. }));
    all.extend(failed.map(|left| left_out::of_history(left).what));
    let newest = history.runs.len().saturating_sub(1);
    let last = |line: &Line| line.figures.last().map(|(run, _)| *run);
    let has_vanished = |line: &&Line| newest > 0 && last(line) == Some(newest - 1);
    let vanished: Vec<&Line> = history.lines.iter().filter(has_vanished).collect();
    if let Some(first) = vanished.first() {
        let more = match vanished.len() - 1 {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        all.push(format!(
            "{} has nothing of {}{more}, which {} measured (--subjects and --points narrow a history)",
            run(history, newest),
            name(history, first),
            run(history, newest - 1)
        ));
    }
    let guessed = lines_at_newest(history).find(|line| line.metric.direction_assumed);
    all.extend(guessed.map(|line| format!("{}: {DIRECTION_IS_A_GUESS}", name(history, line))));
    let has_no_ratio = |line: &&Line| !line.is_judged() && !line.has_too_few();
    let mut no_ratio = lines_at_newest(history).filter(has_no_ratio);
    if let Some(first) = no_ratio.next() {
        let more = match no_ratio.count() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        all.push(format!("{}: a figure is not above zero{more}", name(history, first)));
    }
    let few = lines_at_newest(history).filter(|line| line.has_too_few()).count();
    if few > 0 {
        all.push(format!("too few runs to judge {few} of {} lines", history.lines.len()));
    }
    all
}

/// The lines of which the newest run has a figure.
fn lines_at_newest(history: &Joined) -> impl Iterator<Item = &Line> {
    let newest = history.runs.len().checked_sub(1);
    let is_there = move |line: &&Line| line.figures.last().map(|(run, _)| *run) == newest;
    history.lines.iter().filter(is_there)
}

/// `poll: select at 1,000 watched descriptors (wait, active = 10)`: what tells lines apart.
fn name(history: &Joined, line: &Line) -> String {
    let metric = (!line.headline).then_some(line.metric.name.as_str());
    let own = &line.parameters;
    let differs =
        |key: &str| history.lines.iter().any(|second| second.parameters.get(key) != own.get(key));
    let parts = qualifiers(metric, own, differs);
    let at = counted(&count(line.point), &line.axis);
    format!("{}: {} at {at}{parts}", history.workload.name, line.label)
}

/// `run 20 (2026-01-20)`.
fn run(history: &Joined, at: usize) -> String {
    let summary = &history.runs[at];
    match summary.started.get(..10) {
        Some(day) => format!("run {} ({day})", summary.number),
        None => format!("run {}", summary.number),
    }
}

fn slowdown_min(factor: Estimate, lower_is_better: bool) -> f64 {
    if lower_is_better { factor.low } else { 1.0 / factor.high }
}

fn slowdown_max(factor: Estimate, lower_is_better: bool) -> f64 {
    if lower_is_better { factor.high } else { 1.0 / factor.low }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slowdown_is_at_least_the_lower_end_of_its_interval() {
        let factor = |low, high| Estimate { value: f64::midpoint(low, high), low, high };
        assert!((slowdown_min(factor(1.1, 1.3), true) - 1.1).abs() < 1e-12);
        assert!((slowdown_min(factor(0.5, 0.8), false) - 1.25).abs() < 1e-12);
    }
}
