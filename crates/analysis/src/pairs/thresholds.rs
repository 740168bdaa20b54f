//! Every number that decides a comparison of two series along the axis, with its source.

/// A smaller lead is not marked, however certain: two builds of the same program, or two layouts of its memory, differ as
/// much. Source: measured on A/A runs.
pub const LEAD_MIN: f64 = 1.02;
/// The same where both are single figures, whose error is unknown. Source: in Mattheij's tables of 2010, 1.5 %
/// counts and 0.8 % is too close to call.
pub const LEAD_MIN_OF_SINGLES: f64 = 1.01;
/// How sure a leader is. Source: simulated, `tests/crossing.rs`.
pub const SURE: f64 = 0.994;
/// How likely neither leads at the first point.
pub const NEITHER_PRIOR: f64 = 0.5;
/// How often a lead becomes any other along an axis. Source: usual.
pub const JUMPS: f64 = 0.5;
/// How likely the next larger or smaller lead follows, where the same one has 1. Source: usual.
pub const STEP_SHARE: f64 = 0.3;
/// Two series of which neither leads are the same within their ratio's interval up to this bound. A choice.
pub const SAME_MAX: f64 = 1.1;
/// How surely two series are too close to call.
pub const CLOSE: f64 = 0.95;
/// The logarithms of leads, all equally likely: ×1.03 to ×55.
pub const LEADS: [f64; 8] = [0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0, 4.0];
/// How far each of [`LEADS`] reaches, as a share of it: to its neighbours, and not to the other side of zero.
pub const LEAD_SPREAD: f64 = 0.3;
/// The standard deviation of a logarithm where neither leads. Source: a third of [`LEAD_MIN`].
pub const LAYOUT_ERROR: f64 = 0.006;
/// The assumed change between rounds, as a share, where a single round can't show it.
pub const ROUND_DRIFT: f64 = 0.03;
/// The standard error of a logarithm of which nothing is known: a factor of twenty thousand.
pub const UNKNOWN_ERROR: f64 = 10.0;
/// Draws that the interval of a crossover is made of.
pub const DRAWS: usize = 300;
/// Positions of measured points that differ by no more than this, as a ratio, are the same: rounding.
pub const SAME_POSITION_RATIO: f64 = 1.02;
/// The share of the draws beyond either end of that interval: less than the 2.5 % of a 95 % CI, since what is known of the
/// levels' errors is uncertain, too.
pub const TAIL: f64 = 0.01;
