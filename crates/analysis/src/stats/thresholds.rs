//! Every number that decides from how many samples on there is a CI, and how wide the CI of a tail is, with its source.

/// Fewer samples than this in a single round are not resampled: see
/// [`median_over_rounds`](super::bootstrap::median_over_rounds).
pub const SAMPLES_MIN: usize = 6;
/// With fewer intervals a load shows too little of what may happen: its tails have no CI.
pub(crate) const INTERVALS_MIN: usize = 6;
/// A block of a load's intervals is as long as this power of their number. Of the shorter ones that textbooks recommend, with a
/// power of a third, CIs of 10 to 60 simulated intervals that follow each other held 85 to 92 % of the quantiles. Source: the
/// test in `whole_quantile.rs`.
pub(crate) const BLOCK_EXPONENT: f64 = 0.5;
/// The factor by which the CI of a tail is wider than Student's t asks for, since a quantile of the tail is further off above
/// than below: without it, 88 % were held where intervals differ by 30 %. Source: as [`BLOCK_EXPONENT`].
pub(crate) const TAIL_CI_FACTOR: f64 = 1.15;
