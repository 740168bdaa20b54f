//! Every number that decides whether the level of a line changed, with its source.
//!
//! *Simulated* means: chosen by the false alarms and misses that `tests/history_levels.rs` counts.

/// The probability that all lines together report a change where there is none.
pub const FALSE_ALARM: f64 = 0.05;
/// How much less probable a change without a cause has to be where a gate looks after every run. Source:
/// simulated; with 20, at most 10 of 200 quiet histories fail a gate within 60 runs.
pub const GATE_LOOKS: f64 = 20.0;
/// The default of [`Terms::margin`](super::Terms::margin): smaller changes are not reported.
pub const MARGIN: f64 = 0.02;
/// Fewer figures have no levels.
pub const FIGURES_MIN: usize = 4;
/// A level holds at least this many figures: one alone may be a disturbance.
pub const LEVEL_FIGURES_MIN: usize = 2;
/// Below this p-value a stretch is split further, before all positions are judged together.
pub const SPLIT_P_VALUE: f64 = 0.05;
/// A level whose figures count for less rests on one of them alone.
pub const LEVEL_COUNT_MIN: f64 = 1.5;
/// How often positions are settled anew at most; twice is usual.
pub const MOVES_MAX: usize = 20;
/// A figure this many times as far from its neighbours as others are stands apart. Source: simulated.
pub const OUTLIER_DISTANCE: f64 = 6.0;
/// From a median distance to a standard deviation, for normal noise.
pub const MEDIAN_TO_DEVIATION: f64 = 1.482_602_2;
/// Replicates of a median: fewer than a table's, since weights need no second digit.
pub const REPLICATES: usize = 200;
/// Subjects that change together at least: two may do so by chance, or for a reason of their own.
pub const JOINT_SUBJECTS_MIN: usize = 3;
/// Changes belong together within this part of all runs: noise moves the position of a change by some runs.
pub const JOINT_SPREAD_DIVISOR: usize = 10;
