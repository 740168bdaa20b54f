//! What runs the commands of a cell.

use super::embedded::{Inherited, STATIC, in_memory};
use engine::{Failure, Probe, RunEnd, Runner};
use rustix::fs::{Access, access};
use std::path::PathBuf;

/// The program that starts a command, where there is no static one.
const DYNAMIC: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/starter-dynamic.deflate"));

/// Starts the guard of a cell's commands, which are timed by the clock of the probe.
pub(crate) fn start(probe: &Probe) -> Result<Runner, Failure> {
    let starter = if STATIC.is_empty() { DYNAMIC } else { STATIC };
    in_memory("starter", starter, Inherited::Yes)
        .and_then(|starter| Runner::start(probe.clock(), starter))
        .map_err(|error| Failure::call("starting a guard", error))
}

/// How a command ended, if not well.
pub(crate) fn ending(end: RunEnd) -> Option<String> {
    (end != RunEnd::Exited(0)).then(|| end.to_string())
}

/// Whether there is a program of that name.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let may_run = |path: PathBuf| path.is_file() && access(path, Access::EXEC_OK).is_ok();
    std::env::split_paths(&path).any(|directory| may_run(directory.join(program)))
}
