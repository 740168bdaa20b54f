//! System calls of a command, by name, in a run of its own: counting makes each take longer.

use engine::command_facts::{CALLS_OF, SYSTEM_CALLS};
use engine::{COUNTED_CALLS, MetricInfo, Probe, call_tracepoint};
use std::sync::OnceLock;

/// The metrics: all calls, then each that is counted.
pub(super) fn metrics() -> Vec<MetricInfo> {
    let about = "system calls of a run, its start included";
    let each = COUNTED_CALLS.iter().map(|(name, _)| {
        MetricInfo::less(
            &format!("{CALLS_OF}{name}"),
            &format!("calls of {name} in a run"),
            "calls",
        )
    });
    [MetricInfo::less(SYSTEM_CALLS, about, "calls")].into_iter().chain(each).collect()
}

/// Whether a metric is one of these.
pub(super) fn is_counted(metric: &str) -> bool {
    metric == SYSTEM_CALLS || metric.starts_with(CALLS_OF)
}

/// The tracepoint to count by, or why there is none.
pub(super) fn tracepoint() -> &'static Result<u64, String> {
    static TRACEPOINT: OnceLock<Result<u64, String>> = OnceLock::new();
    TRACEPOINT.get_or_init(|| call_tracepoint().map_err(|error| error.to_string()))
}

/// Gives the counts of one run: all calls, and those by name that it made.
pub(super) fn give(counts: &[u64], probe: &mut Probe) {
    for (metric, &count) in metrics().iter().zip(counts).filter(|(_, count)| **count > 0) {
        probe.given(&metric.name, &[count as f64], 1);
    }
}

/// States why nothing was counted.
pub(super) fn state_uncounted(why: &str, probe: &mut Probe) {
    probe.fact(SYSTEM_CALLS, format!("not counted: {why}"));
}
