//! What changed: one change for all points of a series that changed with the same run.

use super::results::{Change, History, Line, Shift};
use crate::Estimate;
use crate::compare::Direction;
use std::cmp::Reverse;

/// Every change, the newest first, else in the order of the lines.
pub(super) fn changes(history: &History) -> Vec<Change> {
    let mut groups: Vec<Vec<LineChange<'_>>> = Vec::new();
    for (index, line) in history.lines.iter().enumerate() {
        let shifts = line.shifts.iter().map(Some);
        for shift in shifts.chain(line.drift.map(|_| None)) {
            let change = LineChange { index, line, shift };
            match groups.iter_mut().find(|group| group[0].belongs_with(&change)) {
                Some(group) => group.push(change),
                None => groups.push(vec![change]),
            }
        }
    }
    let mut all: Vec<Change> = groups.iter().map(|group| joined(group)).collect();
    all.sort_by_key(|change| (!change.fresh, Reverse(change.at)));
    all
}

/// One line's change: a shift, or its drift.
struct LineChange<'a> {
    index: usize,
    line: &'a Line,
    shift: Option<&'a Shift>,
}

impl LineChange<'_> {
    /// Whether the two are one change of a series: the same way, from the same run to the same run.
    fn belongs_with(&self, next: &Self) -> bool {
        let series =
            |line: &Line| (line.subject.clone(), line.parameters.clone(), line.metric.name.clone());
        series(self.line) == series(next.line)
            && self.direction() == next.direction()
            && self.until() == next.until()
            && self.shift.map(|shift| shift.at) == next.shift.map(|shift| shift.at)
    }

    fn factor(&self) -> Estimate {
        let none = Estimate { value: 1.0, low: 1.0, high: 1.0 };
        self.shift.map_or(self.line.drift.unwrap_or(none), |shift| shift.factor)
    }

    fn direction(&self) -> Direction {
        self.line.direction(self.factor().value)
    }

    fn is_fresh(&self) -> bool {
        self.shift.map_or(self.line.drift_is_fresh, |shift| shift.fresh)
    }

    /// The run at which the next change of the same line came.
    fn until(&self) -> Option<usize> {
        let at = self.shift?.at;
        self.line.shifts.iter().map(|shift| shift.at).find(|&next| next > at)
    }

    /// The last run before the next change of the same line.
    fn last(&self) -> Option<usize> {
        let next = self.until()?;
        Some(self.line.figures.iter().map(|(run, _)| *run).rfind(|&run| run < next).unwrap_or(next))
    }
}

fn joined(group: &[LineChange<'_>]) -> Change {
    let first = &group[0];
    let LineChange { line, shift, .. } = *first;
    let mut points: Vec<u64> = group.iter().map(|change| change.line.point).collect();
    points.sort_unstable();
    let first_run = line.figures.first().map_or(0, |first| first.0);
    Change {
        at: shift.map_or(first_run, |shift| shift.at),
        last: first.last(),
        direction: first.direction(),
        fresh: group.iter().any(LineChange::is_fresh),
        drift: shift.is_none(),
        subject: line.subject.clone(),
        parameters: line.parameters.clone(),
        metric: line.metric.name.clone(),
        points,
        lines: group.iter().map(|change| (change.index, change.factor())).collect(),
        differences: shift.map(|shift| shift.differences.clone()).unwrap_or_default(),
    }
}
