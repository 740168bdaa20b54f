//! What changed, in sentences: one for all points of a series that changed with the same run.

use super::{History, Line, Shift, Told};
use crate::Estimate;
use crate::compare::Direction;
use crate::findings::words::{count, factor, significant};

/// Every change, the newest first, else in the order of the lines.
pub(super) fn told(history: &History) -> Vec<Told> {
    let mut groups: Vec<Vec<(&Line, Option<&Shift>)>> = Vec::new();
    for line in &history.lines {
        let shifts = line.shifts.iter().map(|shift| (line, Some(shift)));
        for change in shifts.chain(line.drift.map(|_| (line, None))) {
            match groups.iter_mut().find(|group| belong(group[0], change)) {
                Some(group) => group.push(change),
                None => groups.push(vec![change]),
            }
        }
    }
    let mut all: Vec<Told> = groups.iter().map(|group| said(history, group)).collect();
    all.sort_by_key(|told| (!told.fresh, std::cmp::Reverse(told.at)));
    all
}

/// Whether two changes are told together.
fn belong(one: (&Line, Option<&Shift>), other: (&Line, Option<&Shift>)) -> bool {
    let series =
        |line: &Line| (line.subject.clone(), line.parameters.clone(), line.metric.name.clone());
    series(one.0) == series(other.0)
        && direction(one) == direction(other)
        && until(one) == until(other)
        && one.1.map(|shift| shift.at) == other.1.map(|shift| shift.at)
}

fn direction((line, shift): (&Line, Option<&Shift>)) -> Direction {
    line.direction(change(line, shift).value)
}

fn change(line: &Line, shift: Option<&Shift>) -> Estimate {
    let none = Estimate { value: 1.0, low: 1.0, high: 1.0 };
    shift.map_or(line.drift.unwrap_or(none), |shift| shift.factor)
}

/// The run at which the next change of the same line came.
fn until((line, shift): (&Line, Option<&Shift>)) -> Option<usize> {
    let at = shift?.at;
    line.shifts.iter().map(|shift| shift.at).find(|&next| next > at)
}

fn said(history: &History, group: &[(&Line, Option<&Shift>)]) -> Told {
    let (line, shift) = group[0];
    let mut points: Vec<u64> = group.iter().map(|(line, _)| line.point).collect();
    points.sort_unstable();
    let at =
        shift.map_or_else(|| line.figures.first().map_or(0, |first| first.0), |shift| shift.at);
    Told {
        at,
        direction: direction(group[0]),
        fresh: group.iter().any(|(line, shift)| shift.map_or(line.drift_is_fresh, |s| s.fresh)),
        drift: shift.is_none(),
        subject: line.subject.clone(),
        parameters: line.parameters.clone(),
        metric: line.metric.name.clone(),
        points,
        sentence: sentence(history, group),
    }
}

fn sentence(history: &History, group: &[(&Line, Option<&Shift>)]) -> String {
    let (line, shift) = group[0];
    let whom = if line.headline {
        line.label.clone()
    } else {
        format!("{} ({})", line.label, line.metric.name)
    };
    let of_series = |other: &&Line| {
        (&other.subject, &other.parameters, &other.metric.name)
            == (&line.subject, &line.parameters, &line.metric.name)
    };
    let of = history.lines.iter().filter(of_series).count();
    let at = format!("at {} {}", count(line.point), line.axis);
    let how = how(history, line, shift);
    let by = change(line, shift);
    if let [_] = group {
        return format!("{whom} {at} {how}: {} ({}).", factor(by.value), interval(by));
    }
    let all: Vec<(&Line, Estimate)> =
        group.iter().map(|&(line, shift)| (line, change(line, shift))).collect();
    let values = || all.iter().map(|(_, by)| by.value);
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
    let most = all.iter().max_by(|a, b| a.1.value.ln().abs().total_cmp(&b.1.value.ln().abs()));
    let (most, by) = most.map_or((line, by), |(line, by)| (*line, *by));
    let points = match (all.len(), of) {
        (2, 2) => "both".to_owned(),
        (here, of) if here == of => format!("all {of}"),
        (here, of) => format!("{here} of {of}"),
    };
    format!(
        "{whom} {how}, at {points} points: {} to {}, most at {} {} ({}).",
        factor(low),
        factor(high),
        count(most.point),
        line.axis,
        interval(by)
    )
}

/// `is slower since run 12 (2026-11-20, commit 9cf01cb → 1a00bb2)`.
fn how(history: &History, line: &Line, shift: Option<&Shift>) -> String {
    let by = change(line, shift).value;
    let word = word(line, by);
    let name = |place: usize| format!("run {}", history.runs[place].number);
    let Some(shift) = shift else {
        let ends = line.figures.first().zip(line.figures.last());
        let (from, to) = ends.map_or((0, 0), |(from, to)| (from.0, to.0));
        return format!(
            "has become {word} bit by bit from {} to {}, and with no run in particular",
            name(from),
            name(to)
        );
    };
    let started = &history.runs[shift.at].started;
    let mut known = vec![started.get(..10).unwrap_or(started).to_owned()];
    known.extend(shift.because.iter().cloned());
    let known = known.join(", ");
    match until((line, Some(shift))) {
        None => format!("is {word} since {} ({known})", name(shift.at)),
        Some(next) => {
            let last = line.figures.iter().map(|(run, _)| *run).rfind(|&run| run < next);
            format!(
                "was {word} from {} ({known}) to {}",
                name(shift.at),
                name(last.unwrap_or(next))
            )
        }
    }
}

/// Times and rates are slower or faster; what else is measured is higher or lower.
pub(super) fn word(line: &Line, by: f64) -> &'static str {
    let metric = &line.metric;
    let timed = metric.unit == "ns" || metric.unit.ends_with("/s");
    match (timed, line.direction(by)) {
        (true, Direction::Worse) => "slower",
        (true, Direction::Better) => "faster",
        (false, _) if by > 1.0 => "higher",
        (false, _) => "lower",
    }
}

fn interval(by: Estimate) -> String {
    format!("95 % {} to {}", significant(by.low), significant(by.high))
}
