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
    match end {
        RunEnd::Exited(0) => None,
        RunEnd::Exited(code) => Some(format!("exited with {code}")),
        RunEnd::Killed(signal) => Some(format!("was killed by signal {signal}")),
        RunEnd::TimeLimit => Some("took too long and was killed".to_owned()),
        RunEnd::Processes(max) => {
            Some(format!("had more than {max} processes at once and was killed"))
        }
    }
}
