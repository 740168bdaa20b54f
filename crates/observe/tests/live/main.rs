//! Real processes, watched: what is known of them by construction must be what is seen.
//!
//! Where tracepoints may not be used, each of these tests says that it was skipped, and why.

mod permission;
mod python;
mod server;
mod troubles;
mod watched;

use observe::{Error, Observation, Waiter, observe};
use std::time::Duration;

/// No test waits as long: it stops when its process has done enough.
const PATIENCE: Duration = Duration::from_secs(60);

/// Watches a process, or says why tracepoints may not be used here.
fn watch(pid: u32, time: Duration, stop: &dyn Fn() -> bool) -> Option<Result<Observation, Error>> {
    match observe(pid, time, stop) {
        Err(error @ (Error::NoTracepoints { .. } | Error::NotPermitted { .. })) => {
            eprintln!("SKIPPED: {error}");
            None
        }
        seen => Some(seen),
    }
}

/// The only thing that was waited on.
fn only(seen: &Observation) -> &Waiter {
    let [waiter] = seen.waiters.as_slice() else { panic!("{seen:#?}") };
    waiter
}
