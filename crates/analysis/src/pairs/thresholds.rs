//! Every number that decides a comparison of two series along the axis, with its source.
//!
//! *Simulated* means: chosen so that `tests/crossing.rs` and `tests/overtaking.rs` tell identical curves apart in at
//! most 1.3 % of the repetitions.

/// A smaller lead is too close to call, however certain: the same program built twice, or with its memory
/// laid out otherwise, differs by as much. Source: measured on A/A runs.
pub const LEAD_MIN: f64 = 1.02;
/// The same where both are single figures, which say nothing of chance. Source: in Mattheij's tables of 2010,
/// 1.5 % counts and 0.8 % is too close to call.
pub const LEAD_MIN_OF_SINGLES: f64 = 1.01;
/// A single point between two changes of the lead counts from this lead on.
pub const LONE_POINT_LEAD_MIN: f64 = 1.05;
/// Series that can't be told apart are close up to this lead; beyond it they are badly known.
pub const CLOSE_LEAD_MAX: f64 = 1.1;
/// Where every round of one series is this many times better than each of the other, no doubt is left: five
/// rounds each of the same lie that far apart less than once in a thousand times.
pub const ROUNDS_APART_FACTOR: f64 = 10.0;
/// The rounds of each that [`ROUNDS_APART_FACTOR`] takes.
pub const ROUNDS_APART_MIN: u32 = 5;
/// The assumed change from round to round, as a share, where a single round can't show it.
pub const ROUND_DRIFT: f64 = 0.03;
/// Standard errors that each e-fold of points beyond twelve adds: chance has more to try. Source: simulated.
pub const ERRORS_PER_E_FOLD: f64 = 0.26;
/// What a point adds to a stretch at most, as a share of what makes it clear on its own.
pub const POINT_SHARE_MAX: f64 = 0.8;
/// The strength of 1 in standard errors, for costs; with two rounds more is required only because the errors
/// are less known.
pub const STRENGTH_ERRORS: f64 = 3.5;
/// What is required of further stretches once one series leads, as a share of the first: chance has to favour
/// the opponent now, half of what it could do before. Source: simulated.
pub const OPPONENT_SHARE: f64 = 0.92;
/// Positions of a change that cost this much more than the best are as good: two standard errors of a single
/// point.
pub const CHANGE_COST_MAX: f64 = 2.0;
/// What a leader may do without at the ends of its range: one standard error of a single point.
pub const END_COST_MAX: f64 = 0.5;
