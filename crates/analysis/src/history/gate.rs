//! What a gate fails for: changes that the newest figure makes certain, although a gate looks after every
//! run.
//!
//! The probability of a false alarm holds for one look. Looks after every run add up, so a gate requires more
//! of a change: [`GATE_LOOKS`] times less probability. A change fails a gate once: none of the earlier looks
//! had it.

use super::drift;
use super::levels::{LevelChange, Levels, Reading, Requirement};
use crate::Estimate;
use crate::history::levels::FIGURES_MIN;
use crate::thresholds::GATE_LOOKS;

/// A change that fails a gate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Raised {
    /// From one figure to the next.
    Shift(LevelChange),
    /// Bit by bit, by so much from the first figure to the last.
    Drift(Estimate),
}

/// What the last of `readings`, which have these `levels`, makes certain and no earlier one did. `requirement` is that of
/// one look.
pub fn raised(readings: &[Reading], levels: &Levels<'_>, requirement: &Requirement) -> Vec<Raised> {
    let strict = Requirement { chance: requirement.chance / GATE_LOOKS, ..*requirement };
    let latest = Look::new(readings, levels, &strict);
    if latest.changes.is_empty() {
        return Vec::new();
    }
    let mut missing = latest.raised();
    // From the latest on: mostly the look before had all that there is. None had what came after it.
    let first = match latest.drift {
        Some(_) => FIGURES_MIN,
        None => latest.changes[0].at.max(FIGURES_MIN),
    };
    for count in (first..readings.len()).rev() {
        if missing.is_empty() {
            break;
        }
        let earlier = &readings[..count];
        let look = Look::new(earlier, &Levels::new(earlier), &strict);
        missing.retain(|raised| !look.has(raised));
    }
    missing
}

/// What there is to see after a number of figures.
struct Look {
    changes: Vec<LevelChange>,
    drift: Option<Estimate>,
}

impl Look {
    fn new(readings: &[Reading], levels: &Levels<'_>, requirement: &Requirement) -> Look {
        let changes = levels.changes(requirement);
        Look { drift: drift::rise(readings, &changes), changes }
    }

    fn raised(&self) -> Vec<Raised> {
        match self.drift {
            Some(drift) => vec![Raised::Drift(drift)],
            None => self.changes.iter().copied().map(Raised::Shift).collect(),
        }
    }

    /// Whether this look has it too: a drift shows as a shift the same way before enough of it is there.
    fn has(&self, raised: &Raised) -> bool {
        match raised {
            Raised::Shift(change) => {
                self.changes.iter().any(|before| is_same_change(before, change))
            }
            Raised::Drift(drift) => {
                self.changes.iter().any(|before| before.by.value * drift.value > 0.0)
            }
        }
    }
}

/// Whether two looks have the same change: one more figure may move it by one.
pub(super) fn is_same_change(before: &LevelChange, change: &LevelChange) -> bool {
    before.at.abs_diff(change.at) <= 1 && before.by.value * change.by.value > 0.0
}
