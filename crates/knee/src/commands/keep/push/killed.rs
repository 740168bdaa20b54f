//! Runs whose process was killed: no process ends them, and what they measured counts.

use super::{Pushed, is_alike};
use crate::commands::keep::claim::Claim;
use archive::{Archive, Error, Merged};
use jiff::Timestamp;
use model::{Host, Run, RunState, RunSummary};
use std::time::Duration;

/// Pushes an open run of `source` as interrupted, if it is certain that no process measures it. `here` is this machine.
pub fn push_killed(
    source: &dyn Archive,
    run: &RunSummary,
    archive: &mut dyn Archive,
    here: &Host,
) -> Result<Pushed, Error> {
    let host = source.plan_and_host(run.number)?.1;
    if !run.origin.is_empty() || !host.was_measured_from(here) {
        return Ok(Err(", and nothing shows that it began on this machine: push it from there"));
    }
    let Ok(claim) = Claim::new(&run.id, source.location().file()) else {
        return Ok(Err(": it is being measured"));
    };
    if !claim.is_certain() {
        return Ok(Err(", and nothing shows that its process is gone"));
    }
    // It may have ended before it was claimed.
    let mut run = source.load(run.number)?;
    if run.summary.state == RunState::Open {
        end(&mut run);
    }
    match archive.find(&run.summary.id)? {
        Some(there) if is_alike(&there, &run.summary) => Ok(Ok(Merged::Alike)),
        _ => archive::merge(archive, &run).map(Ok),
    }
}

/// Ends a run as interrupted: its process was killed, and could not. The machine was not looked at again. The time of the
/// end is the earliest that is possible: since it began, its cells took their time one after the other.
fn end(run: &mut Run) {
    let cells = run.cells.iter().map(|cell| cell.elapsed_ns);
    let profiled = run.profile.cells.iter().map(|cell| cell.elapsed_ns);
    let elapsed = Duration::from_nanos(cells.chain(profiled).sum());
    let summary = &mut run.summary;
    let ended =
        summary.started.parse::<Timestamp>().ok().and_then(|at| at.checked_add(elapsed).ok());
    let ended = ended.map(|at| at.strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string());
    summary.ended = Some(ended.unwrap_or_else(|| summary.started.clone()));
    summary.state = RunState::Interrupted;
    run.host_after = Some(Host::default());
}
