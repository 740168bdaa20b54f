//! Changes that most subjects share: they say more about what lies beneath all of them than about any.

use super::because::because;
use super::told::word;
use super::{History, Line, Measured, Shift, Terms, Together};
use crate::compare::Direction;
use crate::findings::words::{factor, list};
use crate::history::thresholds::{JOINT_SPREAD_DIVISOR, JOINT_SUBJECTS_MIN};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Every change of most subjects the same way, the newest first. `runs` are those of the history.
pub(super) fn together(history: &History, runs: &[Measured], terms: &Terms) -> Vec<Together> {
    let lines = || history.lines.iter().filter(|line| line.headline && line.is_judged());
    let of = lines().map(|line| &line.subject).collect::<BTreeSet<_>>().len();
    let mut all = Vec::new();
    for direction in [Direction::Worse, Direction::Better] {
        let mut shifts: Vec<(&Line, &Shift)> = lines()
            .flat_map(|line| line.shifts.iter().map(move |shift| (line, shift)))
            .filter(|(_, shift)| shift.direction == direction)
            .collect();
        while let Some((subjects, from, to)) = densest(&shifts, runs.len() / JOINT_SPREAD_DIVISOR) {
            if subjects < JOINT_SUBJECTS_MIN || subjects * 4 < of * 3 {
                break;
            }
            let here = |(_, shift): &(&Line, &Shift)| (from..=to).contains(&shift.at);
            let group: Vec<_> = shifts.extract_if(.., |one| here(one)).collect();
            let mut one = Together {
                from,
                to,
                direction,
                subjects,
                of,
                because: because(&runs[from - 1], &runs[to], terms.label.as_deref()),
                sentence: String::new(),
            };
            one.sentence = sentence(history, &one, &group);
            all.push(one);
        }
    }
    all.sort_by_key(|together| Reverse(together.to));
    all
}

/// The stretch of runs, no longer than `spread`, within which most subjects change, and how many those are; of several
/// such the shortest.
fn densest(shifts: &[(&Line, &Shift)], spread: usize) -> Option<(usize, usize, usize)> {
    let mut changed: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    for (line, shift) in shifts {
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

/// `All 4 subjects became slower with run 12 (kernel 6.18 → 6.19): ×1.12 to ×1.18.`
fn sentence(history: &History, one: &Together, group: &[(&Line, &Shift)]) -> String {
    let Together { subjects, of, because, .. } = one;
    let who = if subjects == of { format!("All {of}") } else { format!("{subjects} of {of}") };
    let became = group.first().map_or("", |(line, shift)| word(line, shift.factor.value));
    let known = if because.is_empty() { String::new() } else { format!(" ({})", list(because)) };
    let when = when(history, one.from, one.to);
    format!("{who} subjects became {became} {when}{known}: {}.", size(group))
}

/// `with run 12`, `from run 12 to run 14`.
fn when(history: &History, from: usize, to: usize) -> String {
    let number = |place: usize| history.runs[place].number;
    if from == to {
        return format!("with run {}", number(from));
    }
    format!("from run {} to run {}", number(from), number(to))
}

/// `×1.12 to ×1.18`.
fn size(group: &[(&Line, &Shift)]) -> String {
    let factors = || group.iter().map(|(_, shift)| shift.factor.value);
    let ends = [factors().fold(f64::INFINITY, f64::min), factors().fold(0.0, f64::max)];
    let [low, high] = ends.map(factor);
    if low == high { low } else { format!("{low} to {high}") }
}
