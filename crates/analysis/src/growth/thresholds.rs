//! Every number that decides a verdict on growth, with its source.
//!
//! *Usual* means: a range that holds what is seen on quiet and on shared machines. Verdicts depend on it little; `cargo xtask
//! truth` says how often they are wrong, on cases that nothing here was fitted to.

/// Factor from the first point to the last within which a series is flat, either way. Source: measured; medians of a flat
/// mechanism on a shared machine differ by more than a tenth between runs.
pub const FLAT_FACTOR_MAX: f64 = 1.3;
/// How often chance may make an inner point the lowest or the highest, where none is.
pub const TURN_CHANCE_MAX: f64 = 0.01;
/// The share of what the curves explain together that a set of classes holds: it leaves out the truth in one of fifty.
pub const SET_SHARE: f64 = 0.98;
/// Of what grows faster than linear, the share of smooth curves from which linear is excluded: most of it.
pub const SMOOTH_SHARE_MIN: f64 = 0.5;
/// The largest error beyond the levels' own of a curve that is smooth. Source: half of a step.
pub const SMOOTH_ERROR_MAX: f64 = 0.13;
/// Where the order is open with fewer points above zero, more points are the remedy: constant part, scale and class are three
/// unknowns.
pub const ORDER_POINTS_MIN: usize = 5;
/// The same for points further apart: over a shorter range, as a factor, classes look alike.
pub const ORDER_RANGE_MIN: f64 = 30.0;

/// Shares of cells that something disturbed, with how likely each is. Source: usual.
pub const DISTURBED_SHARES: [(f64, f64); 3] = [(0.02, 0.6), (0.1, 0.3), (0.25, 0.1)];
/// What a disturbance usually does to a cell, as a logarithm: ×1.4. Source: usual.
pub const DISTURBANCE_LOG: f64 = 0.35;
/// The noise of what cells of two series differ by, in that of both, up to which their rounds are taken in pairs. Source: a choice;
/// more than chance makes with fifteen cells of each.
pub const PAIRED_NOISE_MAX: f64 = 0.7;
/// A cell this many times the noise below its point's level is no noise.
pub const BELOW_ERRORS: f64 = 3.0;
/// Share of the disturbed cells that are faster for it. Source: usual.
pub const FASTER_SHARE: f64 = 0.15;
/// The noise of cells as factors of what it is by the median of their deviations. Source: the spread of that median.
pub const NOISE_FACTORS: [f64; 6] = [0.7, 1.0, 1.4, 2.0, 2.8, 4.0];
/// How many times more than usual the cells of a single point scatter, with how likely that is. Source: usual; where memory or
/// a neighbour's load decides, those of one point differ by a hundred times, and those of the others by a hundredth.
pub const POINT_FACTORS: [(f64, f64); 4] = [(1.0, 0.9), (4.0, 0.06), (16.0, 0.03), (64.0, 0.01)];
/// Errors beyond the levels' own, as standard deviations of a logarithm, the largest first. Source: usual.
pub const EXCESS_ERRORS: [f64; 7] = [0.45, 0.2, 0.09, 0.04, 0.018, 0.008, 0.004];
/// Range of a step's logarithm, ×1.3 to ×16. Source: what leaving a cache costs, and what a table of pages does besides.
pub const STEP_LOG_RANGE: (f64, f64) = (0.262_364_264_467_491, 2.772_588_722_239_781);
/// How likely none, one and two steps are. Source: usual.
pub const STEP_PRIORS: [f64; 3] = [0.88, 0.1, 0.02];
/// Points from which there may be two steps: two for each of three levels.
pub const TWO_STEPS_POINTS_MIN: usize = 6;
/// How likely a cost falls as a class grows, where a class that grows has 1. Source: usual.
pub const FALL_PRIOR: f64 = 0.5;
/// How likely a curve that grows has no constant part. Source: usual.
pub const NO_CONSTANT_PRIOR: f64 = 0.15;
/// The least factor of a curve that grows, as a logarithm: less shows nowhere.
pub const FACTOR_LOG_MIN: f64 = 0.01;

/// The greatest factor of a curve from zero on.
pub const FACTOR_MAX: f64 = 1e9;
/// Curves stand for factors whose logarithms differ by this factor at most, and by [`NODE_WIDTH`]: half of the largest error.
pub const NODE_RATIO: f64 = 1.25;
/// See [`NODE_RATIO`].
pub const NODE_WIDTH: f64 = 0.225;
/// The same for a smaller error, in units of it.
pub const NODE_WIDTH_MAX: f64 = 0.5;
/// Weights this far below the largest, as logarithms, are dropped: less than a hundredth of the whole.
pub const NEGLIGIBLE_LOG: f64 = 10.0;
/// Nodes to either side of a cell that its level is integrated over.
pub const NODES: i32 = 8;
/// Distance of these nodes in units of the noise.
pub const NODE_SPACING: f64 = 0.5;
/// The most observations of a point. More cells are taken as the medians of this many stretches.
pub const BLOCKS_MAX: usize = 24;
/// The least error of a logarithm: a clock's resolution.
pub const ERROR_MIN: f64 = 1e-4;

/// Ratio of the constant part to what grows at the first point from which it is taken off: less hardly changes
/// the exponent.
pub const CONSTANT_RATIO_MIN: f64 = 0.5;
/// Density of the ratios among which the best is taken.
pub const CONSTANT_RATIOS_PER_DECADE: f64 = 12.0;
/// Share of a figure that grows from which its logarithm counts: below, noise of the whole is most of it.
pub const GROWING_SHARE_MIN: f64 = 0.25;
/// Replicates that the interval of the growing part's exponent is made of, at most: each is fitted.
pub const REPLICATES_OF_PART: usize = 200;
