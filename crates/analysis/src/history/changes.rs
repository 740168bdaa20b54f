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
    // Each with the run at which the next one of its lines came.
    let mut all: Vec<(Change, Option<usize>)> = Vec::new();
    for (index, line) in history.lines.iter().enumerate() {
        let shifts = line.shifts.iter().map(|shift| (Some(shift), shift.factor));
        for (shift, factor) in shifts.chain(line.drift.map(|drift| (None, drift))) {
            let (change, until) = of_line((index, line), shift, factor);
            let is_same = |(listed, next): &&mut (Change, Option<usize>)| {
                is_one(listed, &change) && *next == until
            };
            match all.iter_mut().find(is_same) {
                Some((listed, _)) => {
                    listed.fresh |= change.fresh;
                    listed.points.extend(change.points);
                    listed.lines.extend(change.lines);
                }
                None => all.push((change, until)),
            }
        }
    }
    let mut all: Vec<Change> = all.into_iter().map(|(change, _)| change).collect();
    for change in &mut all {
        change.points.sort_unstable();
    }
    all.sort_by_key(|change| (!change.fresh, Reverse(change.at)));
    all
}

/// Whether changes of two lines are one of a series: the same way, with the same run.
fn is_one(first: &Change, second: &Change) -> bool {
    let start = |change: &Change| (!change.drift).then_some(change.at);
    (&first.subject, &first.parameters, &first.metric)
        == (&second.subject, &second.parameters, &second.metric)
        && (start(first), first.direction) == (start(second), second.direction)
}

/// One line's shift by `factor`, or its drift, and the run at which the next change came.
fn of_line(
    (index, line): (usize, &Line),
    shift: Option<&Shift>,
    factor: Estimate,
) -> (Change, Option<usize>) {
    let runs = || line.figures.iter().map(|(run, _)| *run);
    let starts = || line.shifts.iter().map(|shift| shift.at);
    let until = shift.and_then(|shift| starts().find(|next| *next > shift.at));
    let change = Change {
        at: shift.map_or_else(|| runs().next().unwrap_or(0), |shift| shift.at),
        last: until.map(|until| runs().rfind(|run| *run < until).unwrap_or(until)),
        direction: line.direction(factor.value),
        fresh: shift.map_or(line.drift_is_fresh, |shift| shift.fresh),
        drift: shift.is_none(),
        subject: line.subject.clone(),
        parameters: line.parameters.clone(),
        metric: line.metric.name.clone(),
        points: vec![line.point],
        lines: vec![(index, factor)],
        differences: shift.map(|shift| shift.differences.clone()).unwrap_or_default(),
    };
    (change, until)
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
