//! System calls of an operation, by name, counted apart from what is timed: counting makes each take longer.

use crate::servers::drivers::Running;
use engine::command_facts::{CALLS_OF, SYSTEM_CALLS};
use engine::{COUNTED_CALLS, CallCounters, Failure, MetricInfo, Probe, call_tracepoint};
use std::io;
use std::sync::OnceLock;
use std::thread;
use std::time::Duration;
use sys::proc;

/// A server that makes no call for so long waits; one that always makes some is not waited for longer than so often.
const LOOK: Duration = Duration::from_millis(1);
const LOOKS_MAX: u32 = 20;

/// The metrics of an operation, such as a `run`: all calls, then each that is counted.
pub(crate) fn metrics(operation: &str) -> Vec<MetricInfo> {
    let unit = format!("calls/{operation}");
    let metric = |name: &str, about: &str| MetricInfo::less(name, about, &unit);
    let each = COUNTED_CALLS.iter().map(|(name, _)| {
        metric(&format!("{CALLS_OF}{name}"), &format!("calls of {name} in a {operation}"))
    });
    [metric(SYSTEM_CALLS, &format!("system calls of a {operation}"))]
        .into_iter()
        .chain(each)
        .collect()
}

/// Whether a metric is one of these.
pub(crate) fn is_counted(metric: &str) -> bool {
    metric == SYSTEM_CALLS || metric.starts_with(CALLS_OF)
}

/// The tracepoint to count by, or why there is none.
pub(crate) fn tracepoint() -> Result<u64, String> {
    static TRACEPOINT: OnceLock<Result<u64, String>> = OnceLock::new();
    TRACEPOINT.get_or_init(|| call_tracepoint().map_err(|error| error.to_string())).clone()
}

/// Gives the counts of so many operations: all calls, and those by name that they made.
pub(crate) fn give(counts: &[u64], operations: u64, probe: &mut Probe) {
    let names = COUNTED_CALLS.iter().map(|(name, _)| format!("{CALLS_OF}{name}"));
    let all = std::iter::once(SYSTEM_CALLS.to_owned()).chain(names).zip(counts);
    for (metric, &count) in all.filter(|(_, count)| **count > 0) {
        probe.given(&metric, &[count as f64 / operations.max(1) as f64], operations);
    }
}

/// States why nothing was counted.
pub(crate) fn state_uncounted(why: &str, probe: &mut Probe) {
    probe.fact(SYSTEM_CALLS, format!("not counted: {why}"));
}

/// Counts those of a server while `act` asks it for something, as often as it says then. What was measured before stays,
/// whatever comes of that.
pub(crate) fn count_of_server(
    server: &Running,
    probe: &mut Probe,
    act: impl FnOnce() -> Result<u64, Failure>,
) {
    let tids = server.pids().into_iter().flat_map(proc::threads);
    let counters = tracepoint().and_then(|tracepoint| {
        CallCounters::start(tracepoint, tids).map_err(|error| error.to_string())
    });
    let unknown = server.unknown().map(|why| why.to_string());
    let counted = unknown.map_or(counters, Err).and_then(|counters| {
        let operations = act().map_err(|failure| failure.to_string())?;
        let counts = settled(&counters).map_err(|error| error.to_string())?;
        Ok((counts, operations))
    });
    match counted {
        Ok((counts, operations)) if operations > 0 => give(&counts, operations, probe),
        Ok(_) => state_uncounted("no reply came", probe),
        Err(why) => state_uncounted(&why, probe),
    }
}

/// The counts, when the server waits again: its next wait begins after its reply has come.
fn settled(counters: &CallCounters) -> io::Result<Vec<u64>> {
    let mut before = counters.counts()?;
    for _ in 0..LOOKS_MAX {
        thread::sleep(LOOK);
        let now = counters.counts()?;
        if now == before {
            break;
        }
        before = now;
    }
    Ok(before)
}
