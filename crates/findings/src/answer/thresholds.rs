//! The bounds that decide what stands in an answer and where.

/// From this share of the medians whose 95 % CI is wider than ±25 % on figures are poor; from the second on fair.
pub(super) const WIDE_SHARES: [f64; 2] = [0.25, 0.05];
/// The same for the share of the cells that failed.
pub(super) const FAILED_SHARES: [f64; 2] = [0.10, 0.0];

/// Of a load with a larger share of requests without a reply, latencies are lower bounds in a sentence. A request without a reply
/// counts with the time that it had waited, so that a share of 0.1 % moves the 99th percentile to the 99.1th at most.
pub(super) const WITHOUT_REPLY_SHARE_MAX: f64 = 0.001;
