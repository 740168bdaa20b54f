//! What a gate fails for: changes that the newest figure makes certain, and none of the earlier looks had. Looks after
//! every run add up, so a gate requires [`GATE_LOOKS`] times less probability of a false alarm than one look.

use super::levels::{FIGURES_MIN, LevelChange, Levels, Reading, Requirement, changes, rise};
use crate::Estimate;
use crate::thresholds::GATE_LOOKS;

/// A change that fails a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Raised {
    /// From one figure to the next.
    Shift(LevelChange),
    /// Bit by bit, by so much from the first figure to the last.
    Drift(Estimate),
}

/// What the last of `readings`, which have these `levels`, makes certain first, with the `requirement` of a look.
pub fn raised(readings: &[Reading], levels: &Levels<'_>, requirement: &Requirement) -> Vec<Raised> {
    let strict = Requirement { chance: requirement.chance / GATE_LOOKS, ..*requirement };
    let latest = levels.changes(&strict);
    let Some(change) = latest.first() else { return Vec::new() };
    let (mut missing, first) = match rise(readings, &latest) {
        Some(drift) => (vec![Raised::Drift(drift)], FIGURES_MIN),
        None => (latest.iter().copied().map(Raised::Shift).collect(), change.at.max(FIGURES_MIN)),
    };
    // From the latest on: mostly the look before had all that there is. None had what came after it.
    for count in (first..readings.len()).rev() {
        if missing.is_empty() {
            break;
        }
        let earlier = changes(&readings[..count], &strict);
        missing.retain(|raised| !earlier.iter().any(|before| is_seen(before, raised)));
    }
    missing
}

/// Whether an earlier look had it too: a drift shows as a shift the same way before enough of it is there.
fn is_seen(before: &LevelChange, raised: &Raised) -> bool {
    match raised {
        Raised::Shift(change) => is_same_change(before, change),
        Raised::Drift(drift) => before.by.value * drift.value > 0.0,
    }
}

/// Whether two looks have the same change: one more figure may move it by one.
pub(super) fn is_same_change(before: &LevelChange, change: &LevelChange) -> bool {
    before.at.abs_diff(change.at) <= 1 && before.by.value * change.by.value > 0.0
}
