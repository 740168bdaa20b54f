//! Every number that decides a comparison of two runs, with its source. The head of `compare.rs` has the
//! measured rates of false alarms.

/// The default of [`Terms::margin`](super::Terms::margin): figures that differ by less are the same. A choice.
pub const MARGIN: f64 = 0.05;
/// By how much more than the whole series, as a logarithm, a point is worth a mention.
pub const POINT_EXCESS_LOG: f64 = 0.05;
/// Resamplings: enough for two digits of a standard deviation.
pub const REPLICATES: usize = 300;
/// The quantile of rounds that is the edge of a series: one disturbed or lucky round more or less does not
/// move it.
pub const ROUNDS_EDGE: f64 = 0.2;
/// The degrees of freedom by which the error of a single round is known: what a disturbance does, which it can't show.
pub const SINGLE_ROUND_FREEDOM: usize = 4;
/// The probability that any interval of a comparison misses.
pub const FALSE_ALARM: f64 = 0.05;
/// The share of [`FALSE_ALARM`] for whole series; points, which are many more, have the rest.
pub const SERIES_SHARE: f64 = 0.8;
/// The error of a run as a whole that no round shows, as a logarithm: where the program and its pages lie,
/// another tenant's cache. Source: measured, see the head of `compare.rs`.
pub const RUN_ERROR: f64 = 0.01;
/// Standard errors to either side of what the undisturbed part of the rounds says.
pub const EDGE_ERRORS: f64 = 3.0;
/// A drift that continues changes twice as much from the middle of a run to the middle of the next as between
/// the middles of its own halves.
pub const DRIFT_CONTINUES: f64 = 2.0;
/// The half-widths of the headline's CI that widen the CI of a tail (a quantile of all rounds together) on either side. A
/// bootstrap of one load does not show how the machine differed in the next load. Source: of 66 pairs of twelve equal loads
/// next to compilers on two CPUs, 15 were called different with 0, 6 with 0.5, 1 with 1. See `docs/method.md` for loads where
/// this is not enough.
pub const TAIL_HALF_WIDTHS: f64 = 1.0;
/// A difference is taken to be seen where it exceeds the half-width of the interval by so many standard
/// errors: in five of six comparisons.
pub const DETECTION_ERRORS: f64 = 1.0;
/// Nobody measures more rounds.
pub const ROUNDS_MAX: u32 = 999;
/// No interval is wider than from a millionth to a million times.
pub const INTERVAL_LOG_MAX: f64 = 13.8;
/// With fewer errors none of them is the usual one.
pub const USUAL_ERROR_MIN: usize = 3;
/// With fewer series their scatter does not show how well their common change is known.
pub const SHARED_SERIES_MIN: usize = 3;
/// The share of a round's samples that its edge leaves out.
pub const SAMPLES_EDGE: f64 = 0.1;
/// With fewer rounds modes are not looked for.
pub const MODE_ROUNDS_MIN: u32 = 5;
/// The p-value below which all rounds on an upper mode lie in one of the two runs.
pub const MODE_P_VALUE: f64 = 0.005;
/// The share of the samples above the lowest mode from which modes count that the other run lacks.
pub const MODE_SHARE_ABOVE: f64 = 0.25;
/// The difference of two shares of requests from which it counts: one in a thousand. Below, a server that restarts or a
/// single pause of the machine is the difference. A choice.
pub const UNSERVED_SHARE_MIN: f64 = 0.001;
/// From this load per CPU on, other work keeps a machine busy.
pub const BUSY_LOAD: f64 = 0.5;
