//! Every number that decides which samples count at a point.

/// Samples that share a tick of the clock are spread in groups of about this many.
pub const DITHER_GROUP: usize = 2_000;
/// Fewer samples do not show where a round lies.
pub const ROUND_SAMPLES_MIN: usize = 5;
/// The quantiles that the offset of a round is taken from.
pub const OFFSET_QUANTILES: [f64; 7] = [0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9];
/// Fewer samples over all rounds are no evidence of growth.
pub const POINT_SAMPLES_MIN: u64 = 10;
/// How far from a point its samples may lie, as a share.
pub const POINT_REACH: f64 = 0.1;
/// Positions nearer to the far end of a trajectory than this, as a ratio, would share its samples.
pub const FAR_END_RATIO: f64 = 1.4;
