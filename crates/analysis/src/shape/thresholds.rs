//! Every number that decides whether a series has modes, steps or a drift, with its source.
//!
//! *Simulated* means: chosen so that the false alarms and the misses that `tests/clouds` counts stay within its
//! bounds.

/// Fewer rounds are not split: three against two is the least that repeats on both sides.
pub const ROUNDS_MIN: usize = 5;
/// The smallest drift that is reported, as a factor.
pub const DRIFT_FACTOR_MIN: f64 = 1.1;
/// The two-sided p-value below which a slope over rounds is a drift. Source: simulated.
pub const DRIFT_P_VALUE: f64 = 0.002;
/// The smallest share of the samples that a mode has.
pub const MODE_SHARE_MIN: f64 = 0.05;
/// The smallest factor between two levels of rounds at a single point. Source: simulated.
pub const POINT_LEVELS_FACTOR_MIN: f64 = 1.3;
/// Mean number of consecutive samples on one curve from which modes come in stretches.
pub const STRETCH_SAMPLES_MIN: f64 = 20.0;
/// The largest number of modes that is looked for.
pub const MODES_MAX: usize = 4;
/// A round lies on a mode if it has this part of the share that all rounds have on it.
pub const PRESENT_SHARE_OF_USUAL: f64 = 1.0 / 3.0;
/// The share of its samples that a round on a mode has there at least.
pub const PRESENT_SHARE_MIN: f64 = 0.025;
/// Windows on either side that the displacement of a round is smoothed over.
pub const SMOOTHING_WINDOWS: usize = 4;
/// Samples that peaks are looked for in; of more, this many are drawn.
pub const PEAK_SAMPLES_MAX: f64 = 80_000.0;
/// The smallest factor between two peaks. Source: simulated.
pub const PEAK_FACTOR_MIN: f64 = 1.15;
/// The smallest share of a peak among the samples of a window; a mode needs [`MODE_SHARE_MIN`] of all.
pub const PEAK_SHARE_MIN: f64 = 0.04;
/// Fewer samples show no peaks.
pub const PEAK_SAMPLES_MIN: usize = 60;
/// How far a valley lies below the smaller peak, in standard errors of the difference. Source: simulated.
pub const VALLEY_ERRORS: f64 = 3.0;
/// How far down a valley goes, as a share of the smaller peak.
pub const VALLEY_DEPTH: f64 = 0.5;
/// Cells of the density's grid per bandwidth.
pub const CELLS_PER_BANDWIDTH: f64 = 4.0;
/// Cells on each side that a kernel reaches.
pub const KERNEL_CELLS: isize = 14;
/// Cells of the grid at most; then they are wider.
pub const CELLS_MAX: f64 = 4_000.0;
/// The smallest factor of a step; downwards, its inverse. Source: simulated.
pub const STEP_FACTOR_MIN: f64 = 1.15;
/// Bins that the axis is cut into at most.
pub const BINS_MAX: usize = 160;
/// Bins on either side of a step that it is judged by.
pub const BINS_PER_SIDE: usize = 8;
/// Fewer bins are too coarse to tell a step from a bend.
pub const BINS_MIN: usize = 24;
/// Samples of a round in a bin, where that leaves enough bins.
pub const BIN_SAMPLES: usize = 50;
/// Samples of a round in a bin at least.
pub const BIN_SAMPLES_MIN: usize = 10;
/// Fewer bins on one side are no side.
pub const BINS_PER_SIDE_MIN: usize = 4;
/// How far a step is beyond the scatter of the bins, in their standard deviations. Source: simulated.
pub const STEP_DEVIATIONS: f64 = 5.0;
/// The part of the jump that happens within two bins.
pub const STEP_SHARPNESS: f64 = 0.7;
/// The smallest factor of a step between two points; downwards, its inverse. Source: simulated.
pub const POINT_STEP_FACTOR_MIN: f64 = 1.3;
/// How many times what the curve changes at its neighbours such a step is. Source: simulated.
pub const POINT_STEP_SHARPNESS: f64 = 4.0;
/// Points on either side of such a step at least.
pub const POINT_STEP_SIDE_MIN: usize = 3;
/// Rounds that such a step needs.
pub const POINT_STEP_ROUNDS_MIN: usize = 3;
/// The largest number of steps that is reported.
pub const STEPS_MAX: usize = 8;
/// Replicates of a step's interval.
pub const STEP_REPLICATES: usize = 200;
/// Knots of a mode's curve at most.
pub const MODE_KNOTS_MAX: usize = 24;
/// Points that the growth of a mode is judged by at most.
pub const MODE_GROWTH_POINTS_MAX: usize = 8;
/// The smallest ratio of two of those points: closer ones share samples.
pub const MODE_GROWTH_RATIO_MIN: f64 = 1.25;
/// Samples that a knot is the median of at least.
pub const KNOT_SAMPLES_MIN: usize = 30;
/// Points of a level at least: of two, any two that are alike would be one.
pub const LEVEL_POINTS_MIN: usize = 3;
/// What a level differs by along itself, as a standard deviation of the logarithm. Source: loads of 4 KiB to 1 GiB on
/// one machine, whose second-level cache climbs by 8 % from its first point to where it is left.
pub const LEVEL_ERROR: f64 = 0.05;
/// The smallest factor between two levels. Source: simulated.
pub const LEVEL_FACTOR_MIN: f64 = 1.3;
/// What another segment has to save in squared residuals, in squared standard errors; a climb half as much again.
/// Source: simulated.
pub const SEGMENT_PRICE: f64 = 8.0;
/// What one point counts at most, in squared standard errors.
pub const RESIDUAL_MAX: f64 = 9.0;
/// The steepest slope of a level, as an exponent: a level-two cache on pages of 4 KiB climbs by 35 % over four octaves.
pub const LEVEL_SLOPE_MAX: f64 = 0.12;
/// The least slope between two levels, as an exponent. Source: simulated.
pub const STEEP_SLOPE_MIN: f64 = 0.3;
