//! How long several waited: a histogram, and its figures of a cell.

use engine::Probe;
use hdrhistogram::Histogram;

/// Three digits of whatever is waited for.
const DIGITS: u8 = 3;
/// A day. Whatever waits for longer has waited for a day.
const WAIT_NS_MAX: u64 = 86_400_000_000_000;

/// An empty one, of nanoseconds.
pub(crate) fn histogram() -> Histogram<u32> {
    #[expect(clippy::expect_used, reason = "the bounds are constants, and right")]
    Histogram::new_with_bounds(1, WAIT_NS_MAX, DIGITS).expect("bounds of a histogram")
}

/// Gives the probe its median under this name, the 99th percentile, the longest, and all of it.
pub(crate) fn state(median: &str, waits: &Histogram<u32>, probe: &mut Probe) {
    for (metric, quantile) in [(median, 0.5), ("p99", 0.99), ("longest", 1.0)] {
        probe.given(metric, &[waits.value_at_quantile(quantile) as f64], waits.len());
    }
    probe.histogram(median, waits);
}
