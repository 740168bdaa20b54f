//! What changed: one change for all points of a series that changed with the same run.

use super::differences::differences;
use super::measured::Measured;
use super::results::{Change, History, JointChange, Line, Shift, Terms};
use crate::Estimate;
use crate::compare::Direction;
use crate::thresholds::{MOST, SEVERAL};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

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
        let change = |change: &Self| {
            let Line { subject, parameters, metric, .. } = change.line;
            let at = change.shift.map(|shift| shift.at);
            let series = (subject.clone(), parameters.clone(), metric.name.clone());
            (series, at, change.until(), change.direction())
        };
        change(self) == change(next)
    }

    fn factor(&self) -> Estimate {
        let drift = self.line.drift.unwrap_or(Estimate::exact(1.0));
        self.shift.map_or(drift, |shift| shift.factor)
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

/// Every change of most subjects the same way, the newest first: noise moves the position of a change by some runs.
pub(super) fn joint_changes(
    history: &History,
    runs: &[Measured],
    terms: &Terms,
) -> Vec<JointChange> {
    let is_counted = |(_, line): &(usize, &Line)| line.headline && line.is_judged();
    let lines = || history.lines.iter().enumerate().filter(is_counted);
    let judged = lines().map(|(_, line)| &line.subject).collect::<BTreeSet<_>>().len();
    let mut all = Vec::new();
    for direction in [Direction::Worse, Direction::Better] {
        let mut shifts: Vec<(usize, &Line, &Shift)> = lines()
            .flat_map(|(index, line)| line.shifts.iter().map(move |shift| (index, line, shift)))
            .filter(|(_, _, shift)| shift.direction == direction)
            .collect();
        while let Some((subjects, from, to)) = densest(&shifts, SEVERAL) {
            if subjects < SEVERAL || (subjects as f64) < MOST * judged as f64 {
                break;
            }
            let group = shifts.extract_if(.., |(_, _, shift)| (from..=to).contains(&shift.at));
            let lines = group.map(|(index, _, shift)| (index, shift.factor)).collect();
            let differences = differences(&runs[from - 1], &runs[to], terms.label.as_deref());
            all.push(JointChange { from, to, direction, subjects, judged, lines, differences });
        }
    }
    all.sort_by_key(|change| Reverse(change.to));
    all
}

/// The largest number of subjects that change within `spread` runs, and the shortest such stretch.
fn densest(shifts: &[(usize, &Line, &Shift)], spread: usize) -> Option<(usize, usize, usize)> {
    let mut changed: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for (_, line, shift) in shifts {
        changed.entry(shift.at).or_default().insert(&line.subject);
    }
    let stretches = changed.keys().flat_map(|&from| {
        let mut here: BTreeSet<&str> = BTreeSet::new();
        changed.range(from..=from + spread).map(move |(&to, subjects)| {
            here.extend(subjects);
            (here.len(), from, to)
        })
    });
    stretches.max_by_key(|&(subjects, from, to)| (subjects, Reverse(to - from)))
}
