//! Every number that decides a comparison of two series along the axis, with its source.
//!
//! *Simulated* means: chosen so that `tests/crossing.rs` calls identical curves different in at most 1.3 % of
//! the repetitions.

use crate::stats::thresholds::SAMPLES_MIN;

/// A smaller lead is too close to call, however certain: two builds of the same program, or two layouts of
/// its memory, differ as much. Source: measured on A/A runs.
pub const LEAD_MIN: f64 = 1.02;
/// The same where both are single figures, whose error is unknown. Source: in Mattheij's tables of 2010, 1.5 %
/// counts and 0.8 % is too close to call.
pub const LEAD_MIN_OF_SINGLES: f64 = 1.01;
/// A single point between two changes of the lead counts from this lead on.
pub const LONE_POINT_LEAD_MIN: f64 = 1.05;
/// Series without a significant lead are close up to this lead; beyond it the evidence is too thin.
pub const CLOSE_LEAD_MAX: f64 = 1.1;
/// A lead is clear where every round of one series is this many times better than each round of the second:
/// five rounds each of identical series lie that far apart in less than one of a thousand cases.
pub const ROUNDS_APART_FACTOR: f64 = 10.0;
/// The rounds of each that [`ROUNDS_APART_FACTOR`] takes.
pub const ROUNDS_APART_MIN: u32 = 5;
/// With fewer rounds the CI of a lead is widened: its replicates lie too close together. Source: simulated,
/// `tests/shared_rounds.rs`.
pub const FEW_ROUNDS: u32 = 5;
/// With fewer rounds it is not judged whether they disturb two series alike.
pub const SHARED_ROUNDS_MIN: usize = 3;
/// A point with fewer rounds is not judged by pairs. Source: simulated, `tests/shared_rounds.rs`: with three there
/// are twice as many false leads where slow cells and slow rounds are mixed.
pub const PAIRED_ROUNDS_MIN: usize = 4;
/// Standard errors by which the correlation of two series' rounds, over all points, is above zero before their
/// rounds are paired. Source: simulated, `tests/shared_rounds.rs`.
pub const SHARED_ROUNDS_ERRORS: f64 = 3.0;
/// The variance of what a round's differences add up to over all points, in what it is where points are
/// independent (1): up to this the rounds are paired. Source: simulated, `tests/shared_rounds.rs`.
pub const LEFT_BY_ROUNDS_MAX: f64 = 2.0;
/// The assumed change between rounds, as a share, where a single round can't show it.
pub const ROUND_DRIFT: f64 = 0.03;
/// Standard errors that each e-fold of points beyond twelve adds: among more points a chance result is more
/// likely. Source: simulated.
pub const ERRORS_PER_E_FOLD: f64 = 0.26;
/// What a point adds to a stretch at most, as a share of what makes it clear on its own.
pub const POINT_SHARE_MAX: f64 = 0.8;
/// A strength of 1 in standard errors, for costs. (Two rounds require more, because their errors are less
/// certain.)
pub const STRENGTH_ERRORS: f64 = 3.5;
/// The requirement for further stretches once one series leads, as a share of that for the first: only chance
/// in favour of the opponent matters then, which halves its probability. Source: simulated.
pub const OPPONENT_SHARE: f64 = 0.92;
/// Positions of a change within this cost of the best are as good: two standard errors of a single point.
pub const CHANGE_COST_MAX: f64 = 2.0;
/// The cost of points that a leader's range leaves out at its ends: one standard error of a single point.
pub const END_COST_MAX: f64 = 0.5;
/// Positions of measured points that differ by no more than this, as a ratio, are the same: rounding.
pub const SAME_POSITION_RATIO: f64 = 1.02;

/// The lead that is required, in standard errors: 3.5 with five rounds or more, several times that with two
/// rounds, whose spread does not predict the next two.
///
/// Source: simulated. Identical curves of 5 to 40 points are called different, at a point or over several
/// together, in at most 1.3 % of the repetitions: rounds that differ by 3 % evenly, with a heavy tail, or
/// with three of ten slower by 30 %. With two rounds, both may happen to be undisturbed: there it is at most
/// 6 %.
pub fn errors_asked(rounds: u32, samples: u64) -> f64 {
    match rounds {
        2 => 9.0,
        3 => 4.2,
        4 => 3.8,
        0 | 1 if samples < SAMPLES_MIN as u64 => 5.5,
        _ => 3.5,
    }
}
