//! What runs the commands of a cell.

use super::embedded::in_memory_of_all;
use engine::{Failure, Probe, RunEnd, Runner};

/// The program that starts a command; empty where it could not be linked so.
const STATIC_STARTER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/starter-static"));
const DYNAMIC_STARTER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/starter-dynamic"));

/// Starts the guard of a cell's commands, which are timed by the clock of the probe.
pub(crate) fn start(probe: &Probe) -> Result<Runner, Failure> {
    let starter = [STATIC_STARTER, DYNAMIC_STARTER].into_iter().find(|bytes| !bytes.is_empty());
    in_memory_of_all("starter", starter.unwrap_or_default())
        .and_then(|starter| Runner::start(probe.clock(), starter))
        .map_err(|error| Failure::call("starting a guard", error))
}

/// How a command ended, if not well.
pub(crate) fn ending(end: RunEnd) -> Option<String> {
    (end != RunEnd::Exited(0)).then(|| end.to_string())
}
