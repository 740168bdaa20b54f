//! What a gate fails for: changes that the newest figure makes certain, and none of the earlier looks had. Looks after
//! every run add up, so a gate requires [`GATE_LOOKS`] times less probability of a false alarm than one look.

use super::levels::{FIGURES_MIN, LevelChange, Levels, Reading, Requirement, changes, rise};
use crate::Estimate;
use crate::thresholds::GATE_LOOKS;

/// What the last of `readings`, which have these `levels`, makes certain first, with the `requirement` of a look: the
/// first figure of each new level, with how far it is from the one before. A rise bit by bit is from figure 0 to the
/// last.
pub fn raised(
    readings: &[Reading],
    levels: &Levels<'_>,
    requirement: &Requirement,
) -> Vec<(usize, Estimate)> {
    let strict = Requirement { chance: requirement.chance / GATE_LOOKS, ..*requirement };
    let latest = levels.changes(&strict);
    let Some(change) = latest.first() else { return Vec::new() };
    let (mut missing, first) = match rise(readings, &latest) {
        Some(drift) => (vec![(0, drift)], FIGURES_MIN),
        None => (
            latest.iter().map(|change| (change.at, change.by)).collect(),
            change.at.max(FIGURES_MIN),
        ),
    };
    // From the latest on: mostly the look before had all that there is. None had what came after it.
    for count in (first..readings.len()).rev() {
        if missing.is_empty() {
            break;
        }
        let earlier = changes(&readings[..count], &strict);
        // A drift shows as a shift the same way before enough of it is there.
        let is_seen = |at: usize, by: Estimate, before: &LevelChange| {
            is_same_change(before, at, by) || at == 0 && before.by.value * by.value > 0.0
        };
        missing.retain(|(at, by)| !earlier.iter().any(|before| is_seen(*at, *by, before)));
    }
    missing
}

/// Whether a look had the change `by` so much at a figure: one more figure may move it by one.
pub(super) fn is_same_change(before: &LevelChange, at: usize, by: Estimate) -> bool {
    before.at.abs_diff(at) <= 1 && before.by.value * by.value > 0.0
}
