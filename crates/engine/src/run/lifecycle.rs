//! How a run begins and ends, each with a look at the machine.

use crate::calibrate::Calibrated;
use crate::run::host::{host, now};
use crate::run::quiet;
use record::{Ending, HOST_NAME, HOST_NAMED_BY, Plan, Profile, Run, RunState, RunSummary, Warning};

/// An id that no other run has.
pub fn new_run_id() -> String {
    format!("{:016x}", fastrand::u64(..))
}

/// A run of `plan` that has no cells yet. Looks at the machine, which takes about an eighth of a
/// second.
pub fn new_run(plan: Plan, command: Vec<String>, version: &str, clock: &Calibrated) -> Run {
    let host_before = host();
    let summary = RunSummary {
        number: 0,
        id: new_run_id(),
        started: now(),
        ended: None,
        state: RunState::Open,
        command,
        version: version.into(),
        cells_ended: 0,
        cells_planned: plan.cells.len() as u64,
        labels: std::collections::BTreeMap::new(),
        origin: String::new(),
        host: String::new(),
        fleet: None,
    };
    let warnings = quiet::before(&host_before);
    let clock = clock.info();
    Run {
        summary,
        plan,
        clock,
        host_before,
        host_after: None,
        warnings,
        cells: Vec::new(),
        profile: Profile::default(),
    }
}

/// Looks at the machine after the last round: what a profile uses of it later disturbs no figure. A run that goes
/// on with its profile, of which `cells_before` were measured earlier, was looked after then.
pub(super) fn look_after(run: &mut Run, cells_before: usize) {
    if run.cells.len() == cells_before && run.host_after.is_some() {
        return;
    }
    let mut host_after = host();
    // The user may have named it.
    for key in [HOST_NAME, HOST_NAMED_BY] {
        let given = run.host_before.facts.get(key);
        host_after.facts.extend(given.map(|value| (key.to_owned(), value.clone())));
    }
    let disturbed: Vec<Warning> = quiet::during(&run.host_before, &host_after, own_ns(run));
    for warning in disturbed {
        if !run.warnings.contains(&warning) {
            run.warnings.push(warning);
        }
    }
    run.host_after = Some(host_after);
}

/// Closes a run that was [looked after](look_after).
pub(super) fn close(run: &mut Run, stopped: bool) -> Ending {
    debug_assert!(run.cells.len() <= run.plan.cells.len(), "a cell of the plan ends once");
    let host_after = run.host_after.clone().unwrap_or_default();
    let state = if stopped { RunState::Interrupted } else { RunState::Complete };
    let ended = now();
    run.summary.state = state;
    run.summary.ended = Some(ended.clone());
    run.summary.cells_ended = run.cells.len() as u64;
    Ending { state, ended, host_after, warnings: run.warnings.clone() }
}

/// The CPU time of this process and its workers, in nanoseconds.
fn own_ns(run: &Run) -> u64 {
    let workers = run.cells.iter().map(|cell| cell.usage.user_ns + cell.usage.system_ns);
    let here = sys::process::resources();
    workers.sum::<u64>() + here.user_ns + here.system_ns
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Host;

    #[test]
    fn what_a_profile_takes_is_not_looked_at_when_it_goes_on() {
        let looked: Host =
            Host { facts: [("cpu.count".to_owned(), "unlikely".to_owned())].into(), ..host() };
        let mut run = new_run(Plan::default(), Vec::new(), "0", &crate::calibrate());
        run.host_after = Some(looked.clone());
        look_after(&mut run, 0);
        assert_eq!(run.host_after, Some(looked.clone()));
        assert_eq!(close(&mut run, true).host_after, looked);
        run.host_after = None;
        look_after(&mut run, 0);
        assert!(run.host_after.is_some(), "an earlier process was killed before it looked");
    }
}
