//! Runs whose process was killed: no process ends them, and what they measured counts.

use super::{Pushed, is_alike, push_run};
use crate::commands::Claim;
use archive::{Archive, Error};
use model::{Host, RunState, RunSummary};

/// Pushes an open run of `source` as interrupted, if it is certain that no process measures it. `here` is this machine.
pub fn push_killed(
    source: &dyn Archive,
    run: &RunSummary,
    archive: &mut dyn Archive,
    here: &Host,
) -> Result<Pushed, Error> {
    let host = source.plan_and_host(run.number)?.1;
    if !run.origin.is_empty() || !host.was_measured_from(here) {
        return Ok(Pushed::Not(
            ", and nothing shows that it began on this machine: push it from there",
        ));
    }
    let Ok(claim) = Claim::new(&run.id, source.location().file()) else {
        return Ok(Pushed::Not(": it is being measured"));
    };
    if !claim.is_certain() {
        return Ok(Pushed::Not(", and nothing shows that its process is gone"));
    }
    // It may have ended before it was claimed.
    let mut run = source.load(run.number)?;
    if run.summary.state == RunState::Open {
        run.end_killed();
    }
    match archive.find(&run.summary.id)? {
        Some(there) if is_alike(&there, &run.summary) => Ok(Pushed::Before),
        _ => push_run(&run, archive),
    }
}
