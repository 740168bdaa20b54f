//! The numbers that decide which figures are a finding or a caveat.
//!
//! Source, where none is given: judgement, about what a reader would act on.

/// Below this index a rate is unfairly shared: of ten that want it, two have none.
pub const INDEX_FAIR_MIN: f64 = 0.8;
/// A rate within this factor of the best one is fast.
pub const FAST_FACTOR_MAX: f64 = 2.0;
/// What is left of less than this share of its own best is not fast, whatever the others do.
pub const OWN_SHARE_MIN: f64 = 0.1;
/// A wait that is not longer than this is no evidence of anything.
pub const WAIT_NS_MIN: f64 = 1e6;
/// A series whose order of growth is open, and which costs this many times more at its end, has grown all
/// the same.
pub const GROWN_FACTOR_MIN: f64 = 2.0;
/// Series of one verdict whose factors are no further apart than this stand together: a decade.
pub const SAME_FACTOR_MAX: f64 = 10.0;
/// A subject that is behind the best of its table by this factor or more is worth knowing.
pub const SPREAD_FACTOR_MIN: f64 = 1.5;
/// Of subjects that are behind, those within this factor of each other stand together.
pub const GROUP_FACTOR_MAX: f64 = 2.0;
/// More alternatives than this are counted, not named.
pub const ALTERNATIVES_MAX: usize = 3;
/// Where the ends of the interval of a peak are further apart than this factor, it names no position.
pub const PEAK_CI_RATIO_MAX: f64 = 3.0;
/// A curve that changes by less than this, as a logarithm, has one level.
pub const MODE_FLAT_LOG_MAX: f64 = 0.1;
/// A 95 % CI that is wider than this share of its median, end to end, is wide.
pub const WIDE_CI_SHARE_MIN: f64 = 0.5;
/// With fewer rounds than this an interval between rounds is narrower than it says.
pub const ROUNDS_MIN: u32 = 5;
/// A server that ends this share of its connections after the same number of replies does so by rule: the
/// others were still open at the end of the load.
pub const CLOSING_SHARE_MIN: f64 = 0.5;
/// A server that has ended this share of its idle connections does so by rule.
pub const IDLE_CLOSED_SHARE_MIN: f64 = 0.01;
/// From so many threads or processes that came with each connection on there is one for each. Above 0.9, a
/// pool would have to be nearly as large as the number of connections.
pub const PER_CONNECTION_MIN: f64 = 0.9;
/// From this share of stolen CPU time on figures are poor; from the second on fair, and there is a caveat. The same holds for
/// the share of the periods of a CPU quota in which it was used up: what is taken away then is as good as stolen.
pub const STEAL_SHARES: [f64; 2] = [0.10, 0.01];
/// The same for the share of the CPUs that other processes used.
pub const OTHERS_SHARES: [f64; 2] = [0.50, 0.10];
/// Fewer connections say nothing of what grows with them: they may meet as many threads of any pool.
pub const GROWTH_CONNECTIONS_MIN: u64 = 8;
/// A server that is faster by this factor when it is warm is worth a sentence. Source: usual, as the margins of ratios.
pub const WARM_FACTOR_MIN: f64 = 1.5;
/// From this share of lost samples on a profile may lack what was busiest.
pub const LOST_SHARE_MIN: f64 = 0.01;
/// From this share of samples without a symbol on a profile may hide where time goes.
pub const UNNAMED_SHARE_MIN: f64 = 0.05;
/// A level that ends at this many times the size of a cache still is the cache's: between its size and the next point
/// lies where it is left.
pub const CACHE_EXCESS_MAX: f64 = 1.25;
/// A cache whose level ends below this share of its size holds less than the kernel says. On pages of 4 KiB, whose
/// physical places compete for the same sets, the level of a second-level cache ends at half of its size.
pub const CACHE_LEFT_SHARE_MIN: f64 = 0.5;
/// The operations that a quantile needs: with fewer it is the maximum.
pub const P90_COUNT_MIN: u64 = 10;
/// See [`P90_COUNT_MIN`].
pub const P99_COUNT_MIN: u64 = 100;
/// See [`P90_COUNT_MIN`].
pub const P999_COUNT_MIN: u64 = 1_000;
/// From this share of the medians whose 95 % CI is wider than ±25 % on figures are poor; from the second on fair.
pub(crate) const WIDE_SHARES: [f64; 2] = [0.25, 0.05];
/// The same for the share of the cells that failed.
pub(crate) const FAILED_SHARES: [f64; 2] = [0.10, 0.0];

/// Of a load with a larger share of requests without a reply, latencies are lower bounds in a sentence. A request without a reply
/// counts with the time that it had waited, so that a share of 0.1 % moves the 99th percentile to the 99.1th at most.
pub(crate) const WITHOUT_REPLY_SHARE_MAX: f64 = 0.001;
