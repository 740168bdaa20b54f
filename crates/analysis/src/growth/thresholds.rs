//! Every number that decides a growth class, with its source.
//!
//! *Simulated* means: chosen so that `tests/synthetic.rs` names the wrong class at most 4 times in 200, for six
//! kinds of noise, with and without an intercept.

/// Share of the model weights from which a class is the verdict. Source: simulated.
pub const DECISIVE_WEIGHT: f64 = 0.98;
/// Fewer points can't tell all classes apart: see [`classify`](super::classify). Source: simulated.
pub const POINTS_MIN: usize = 5;
/// Over a shorter range, as a factor, classes look alike. Source: simulated.
pub const RANGE_MIN: u64 = 8;
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
/// The error of a figure that was measured once, as a logarithm.
pub const SINGLE_FIGURE_ERROR: f64 = 0.2;
/// With fewer samples the fastest tenth is one or two lucky ones.
pub const FASTEST_TENTH_SAMPLES_MIN: usize = 20;
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
/// Terms this far below the largest, as logarithms, are left out: together they are less than a millionth.
pub const NEGLIGIBLE_LOG: f64 = 25.0;
