//! Every number that decides a growth class, with its source.
//!
//! *Simulated* means: chosen so that `tests/synthetic.rs` names the wrong class at most 4 times in 200, for six
//! kinds of noise, with and without an intercept.

use std::ops::RangeInclusive;

/// Share of the model weights from which a class is the verdict. Source: simulated.
pub const DECISIVE_WEIGHT: f64 = 0.98;
/// Fewer points can't tell all classes apart: see [`classify`](super::classify). Source: simulated.
pub const POINTS_MIN: usize = 5;
/// Over a shorter range, as a factor, classes look alike. Source: simulated.
pub const RANGE_MIN: u64 = 8;
/// The same with fewer than [`POINTS_MIN`] points, and for points that carry a verdict alone. Source: simulated.
pub const RANGE_MIN_OF_FEW: f64 = 30.0;
/// Factor from the first median to the last up to which a series is level. Source: measured; medians of a flat
/// mechanism on a shared machine differ by more than a tenth between runs.
pub const LEVEL_FACTOR_MAX: f64 = 1.3;
/// Factor up to which a median of a level series may lie from their middle. Source: as [`LEVEL_FACTOR_MAX`].
pub const LEVEL_SPREAD_MAX: f64 = 1.4;
/// Exponent up to which a level series is constant: [`LEVEL_FACTOR_MAX`] over two decades.
pub const FLAT_EXPONENT_MAX: f64 = 0.06;
/// The same for both ends of the exponent's interval. Source: simulated.
pub const FLAT_EXPONENT_CI_MAX: f64 = 0.1;
/// Standard errors of a ratio that noise explains: 95 % of normal errors.
pub const NOISE_ERRORS: f64 = 2.0;
/// Standard errors by which the last median of a falling series lies below the first. Source: simulated.
pub const FALL_ERRORS: f64 = 3.0;
/// Standard error of a median's logarithm beyond which the median carries no verdict. Source: simulated.
pub const ERROR_MAX: f64 = 0.3;
/// Standard error of a median's logarithm from which it may lie between two modes: then the fastest samples
/// are judged as well. Source: simulated.
pub const ERROR_OF_MODES: f64 = 0.1;
/// Where no class fits, the exponent of each of the last [`CLIMBING_GAPS`] gaps from which a series grows at
/// least linearly. Source: simulated.
pub const CLIMBING_SLOPE: f64 = 0.75;
/// See [`CLIMBING_SLOPE`]: one gap may be a cache's edge.
pub const CLIMBING_GAPS: usize = 3;
/// Ratio of the constant part to what grows at the first point from which it is taken off: less hardly changes
/// the exponent.
pub const CONSTANT_RATIO_MIN: f64 = 0.5;
/// Density of the ratios among which the best is taken.
pub const CONSTANT_RATIOS_PER_DECADE: f64 = 12.0;
/// Share of a figure that grows from which its logarithm counts: below, noise of the whole is most of it.
pub const GROWING_SHARE_MIN: f64 = 0.25;
/// Replicates that the interval of the growing part's exponent is made of, at most: each is fitted.
pub const REPLICATES_OF_PART: usize = 200;
/// The error of a figure that was measured once, as a logarithm.
pub const SINGLE_FIGURE_ERROR: f64 = 0.2;
/// With fewer samples the fastest tenth is one or two lucky ones.
pub const FASTEST_TENTH_SAMPLES_MIN: usize = 20;
/// A round comes near the fastest tenth with a sample of this many times its edge at most.
pub const NEAR_FASTEST_TENTH: f64 = 1.5;
/// Error of the fastest tenth at least: where its samples are equal, their resolution is the limit.
pub const FASTEST_ERROR_MIN: f64 = 0.02;
/// The growth of the medians over that of the fastest tenth where both grow alike: up to a cache's step, ×8.
pub const FASTEST_FACTOR_RATIOS: RangeInclusive<f64> = 0.5..=8.0;
/// Exponents of a linear series of three or four points. Source for these and all slopes below: simulated.
pub const LINEAR_EXPONENTS: RangeInclusive<f64> = 0.85..=1.45;
/// Slope between neighbours of such a series at least.
pub const LINEAR_SLOPE_MIN: f64 = 0.8;
/// Slope between neighbours of such a series at most.
pub const LINEAR_SLOPE_MAX: f64 = 1.75;
/// The same for figures without intervals: they may be off by a fifth, and 2 less that is what a quadratic
/// curve could show.
pub const LINEAR_SLOPE_MAX_OF_SINGLES: f64 = 1.62;
/// Exponents of a quadratic series of three or four points.
pub const QUADRATIC_EXPONENTS: RangeInclusive<f64> = 1.8..=2.2;
/// Slopes between neighbours of such a series.
pub const QUADRATIC_SLOPES: RangeInclusive<f64> = 1.65..=2.35;
/// Last slope at least of three or four points on a line with an intercept.
pub const INTERCEPT_SLOPE_LAST_MIN: f64 = 0.6;
/// Any slope of such a series at most: a line never rises faster than n.
pub const INTERCEPT_SLOPE_MAX: f64 = 1.1;
/// Misfit of the line of such a series at most.
pub const INTERCEPT_MISFIT_MAX: f64 = 0.1;
/// Misfit of the class of three points and zero at most. Source: simulated.
pub const FROM_ZERO_MISFIT_MAX: f64 = 0.15;
/// Misfit beyond which no class fits. Source: simulated.
pub const MISFIT_MAX: f64 = 0.25;
/// Deviance for each degree of freedom beyond which a curve is bent rather than smooth. Source: simulated.
pub const BENT_DEVIANCE_MIN: f64 = 6.0;
/// Weight of linear at least where a bent curve is linear. Source: simulated.
pub const BENT_LINE_WEIGHT_MIN: f64 = 0.05;
/// Weight of linear and n log n together at least there. Source: simulated.
pub const BENT_WEIGHT_MIN: f64 = 0.9;
/// Exponents of such a curve. Source: simulated.
pub const BENT_EXPONENTS: RangeInclusive<f64> = 0.6..=1.5;
/// Errors beyond the medians' own intervals, as standard deviations of a logarithm, evenly spaced on a
/// logarithmic scale. Likelihoods are averaged over them.
pub const EXCESS_ERRORS: [f64; 8] = [0.02, 0.0312, 0.0487, 0.0759, 0.1185, 0.1849, 0.2884, 0.45];
/// Index into [`EXCESS_ERRORS`] of the error that deviances are counted with.
pub const DEVIANCE_EXCESS: usize = 1;
/// Range of a step's logarithm, ×1.3 to ×8: what leaving a cache costs. Likelihoods are averaged over it.
pub const STEP_LOG_RANGE: (f64, f64) = (0.262_364_264_467_491, 2.079_441_541_679_835_7);
/// Prior probability of a step. Source: simulated.
pub const STEP_PRIOR: f64 = 0.2;
/// Density of the intercepts that likelihoods are averaged over.
pub const INTERCEPTS_PER_DECADE: f64 = 16.0;
/// Terms this far below the largest, as logarithms, are left out: of a few thousand terms they are together less than
/// a hundred-thousandth, where verdicts look at hundredths.
pub const NEGLIGIBLE_LOG: f64 = 20.0;
/// Beyond this many standard errors of a normal distribution nothing is left that weights could show: a
/// billionth.
pub const CERTAIN_ERRORS: f64 = 6.0;
