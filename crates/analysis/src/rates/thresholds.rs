//! Every number that decides the trend of a rate beyond the rule for growth, or whether the Universal Scalability Law applies.
//!
//! *Simulated* means: chosen so that the wrong laws that `tests/usl.rs` counts stay within its bounds.

/// A rate that falls below this share of what it was collapses: a half.
pub const COLLAPSE_MAX: f64 = 0.5;
/// A rate that reaches this share of what all would do, if each did as much as the first, scales: four fifths, which a fifth of
/// contention leaves of two.
pub const SCALES_MIN: f64 = 0.8;
/// Where its interval reaches below this share, it only rises.
pub const SCALES_INTERVAL_MIN: f64 = 0.7;
/// With fewer rounds it is not said that threads fall behind processes: too little is known of how rounds scatter.
pub const FALLS_BEHIND_ROUNDS_MIN: u32 = 5;
/// How often chance may say so of any row of a table whose rows all do the same by both. Source: simulated, see
/// `tests/speedup.rs`.
pub const FALLS_BEHIND_CHANCE_MAX: f64 = 0.05;
/// Below this share a rate is crushed by over-commitment: contention alone costs a lock less. Source: locks
/// on 2 to 64 CPUs, see `tests/locks.rs`.
pub const CRUSHED_MAX: f64 = 0.01;
/// Where the ends of a position's interval are further apart, as a ratio, no position is named.
pub const POSITION_RATIO_MAX: f64 = 3.0;
/// With fewer points three parameters fit anything.
pub const LAW_POINTS_MIN: usize = 4;
/// Figures this near fit, as logarithms, however little rounds scatter: no machine follows a law exactly.
pub const LAW_ERROR_MIN: f64 = 0.05;
/// How far the figures may be from the law, in standard errors. Source: simulated.
pub const LAW_ERRORS_MAX: f64 = 2.5;
/// Where the usual median is less certain than this, as a logarithm, any law fits.
pub const LAW_MEDIAN_ERROR_MAX: f64 = 0.3;
/// A peak further out than this many times the last point is out of reach of what was measured.
pub const PEAK_REACH: f64 = 4.0;
/// Steps of the fit at most; a handful is usual.
pub const FIT_STEPS_MAX: usize = 40;
