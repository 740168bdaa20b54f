//! Every number that decides what a profile is said to show, with its source.
//!
//! *Simulated* means: chosen so that the false alarms and the coverage that the tests in [`difference`](super::difference)
//! and [`function_time`](super::function_time) count stay within their bounds.

/// Fewer samples in the profile that costs more attribute nothing: a share of a fifth has an interval of ±11 points.
pub const SAMPLES_MIN: u64 = 50;
/// The change of a trajectory begins at its first stretch with so many samples: the first stretches take no time.
pub const POSITION_SAMPLES_MIN: u64 = 15;
/// The timed rounds differ from this factor on, with the whole interval: two cells of the same differ by less on a shared
/// machine.
pub const TIMED_FACTOR_MIN: f64 = crate::growth::thresholds::FLAT_FACTOR_MAX;
/// Standard errors by which the CPU time of the two profiles differs. Source: simulated.
pub const ADDED_ERRORS: f64 = 4.0;
/// The profiled operations repeat the timed difference from this share of its logarithm on: they are one round, and
/// a mean.
pub const REPRODUCED_LOG_SHARE: f64 = 0.5;
/// From this share of the added elapsed time on that is no CPU time, the operation waits.
pub const WAITING_SHARE_MIN: f64 = 0.5;
/// The share of the added CPU time that a function holds with what it calls to be named as the place of it.
pub const CONTAINER_SHARE_MIN: f64 = 0.9;
/// The share that a function adds by itself to be named.
pub const LEADER_SHARE_MIN: f64 = 0.05;
/// Standard errors by which a named function's added time is not zero: with a hundred functions one in ten tables
/// would name a wrong one at 3. Source: simulated.
pub const LEADER_ERRORS: f64 = 3.5;
/// Functions that are named at most.
pub const LEADERS_MAX: usize = 5;
/// No function's share differs by more than this where two profiles are the same.
pub const SAME_SHARE_MAX: f64 = 0.15;
/// Processes with less of the samples are not told apart.
pub const PROCESS_SHARE_MIN: f64 = 0.05;
/// A function is listed from this share of the CPU time on that it takes by itself at any point.
pub const LISTED_SHARE_MIN: f64 = 0.005;
/// The same with what it calls.
pub const LISTED_INCLUSIVE_SHARE_MIN: f64 = 0.02;
/// Functions that are listed at most.
pub const LISTED_MAX: usize = 60;
/// The error of one cell besides its samples, as a logarithm: the medians of two runs of the same differ by 10 % in
/// half of the pairs (see [`compare`](mod@crate::compare)).
pub const CELL_ERROR: f64 = 0.1;
