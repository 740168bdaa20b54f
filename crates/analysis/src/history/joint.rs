//! Changes that most subjects share: they say more about what lies beneath all of them than about any.

use super::differences::differences;
use super::measured::Measured;
use super::results::{History, JointChange, Line, Shift, Terms};
use crate::compare::Direction;
use crate::thresholds::{MOST, SEVERAL};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Every change of most subjects the same way, the newest first: noise moves the position of a change by some runs. `runs` are
/// those of the history.
pub(super) fn joint_changes(
    history: &History,
    runs: &[Measured],
    terms: &Terms,
) -> Vec<JointChange> {
    let lines = || {
        let all = history.lines.iter().enumerate();
        all.filter(|(_, line)| line.headline && line.is_judged())
    };
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

/// The stretch of runs, no longer than `spread`, within which the largest number of subjects change, and that number;
/// of several the shortest.
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
