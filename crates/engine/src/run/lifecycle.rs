//! How a run begins and ends, each with a look at the machine.

use crate::calibrate::Calibrated;
use crate::run::cpu_look::CpuLook;
use crate::run::host::{host, now};
use crate::run::quiet;
use model::{Ending, HOST_NAME, HOST_NAMED_BY, Host, Plan, Run, RunState, RunSummary};

/// An id that no other run has.
pub fn new_run_id() -> String {
    format!("{:016x}", fastrand::u64(..))
}

/// A run of `plan` that has no cells yet. Looks at the machine, which takes about an eighth of a
/// second.
pub fn new_run(plan: Plan, command: Vec<String>, version: &str, clock: &Calibrated) -> Run {
    let host_before = host();
    let summary = RunSummary {
        id: new_run_id(),
        started: now(),
        command,
        version: version.into(),
        cells_planned: plan.cells.len() as u64,
        ..RunSummary::default()
    };
    let warnings = quiet::before(&host_before);
    let clock = clock.info();
    Run { summary, plan, clock, host_before, warnings, ..Run::default() }
}

/// The part of its runs that one process measures.
pub(super) struct Session {
    first: CpuLook,
    /// The CPU time of what its cells measured and did not start.
    announced_ns: u64,
}

impl Session {
    pub fn begin() -> Session {
        Session { first: CpuLook::now(Some(0)), announced_ns: 0 }
    }

    /// Adds the CPU time of processes that a cell measured and that the run did not start.
    pub fn add(&mut self, announced_ns: u64) {
        self.announced_ns += announced_ns;
    }

    /// Looks once at the machine after the last round, for all runs whose cells took turns, each with the number of its cells
    /// that were measured before: what a profile uses of it later disturbs no figure. A run that goes on with its profile was
    /// looked after then.
    pub fn end(self, runs: &mut [(&mut Run, usize)]) {
        let is_over = |run: &Run, before| run.cells.len() == before && run.host_after.is_some();
        if runs.iter().all(|(run, before)| is_over(run, *before)) {
            return;
        }
        let used = CpuLook::now(Some(self.announced_ns)).since(&self.first);
        let host = host();
        for (run, _) in runs {
            let earlier = run.cpu_use();
            let cpu_use = Some(earlier.map_or(used, |earlier| earlier.plus(&used)));
            run.host_after = Some(named_as(&run.host_before, Host { cpu_use, ..host.clone() }));
        }
    }
}

/// A later look at the machine of `before`, which the user may have named.
pub fn named_as(before: &Host, mut after: Host) -> Host {
    for key in [HOST_NAME, HOST_NAMED_BY] {
        let given = before.facts.get(key);
        after.facts.extend(given.map(|value| (key.to_owned(), value.clone())));
    }
    after
}

/// Closes a run that was [looked after](Session::end).
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

#[cfg(test)]
mod tests {
    use super::*;
    use model::CpuUse;

    #[test]
    fn what_a_profile_takes_is_not_looked_at_when_it_goes_on() {
        let looked: Host =
            Host { facts: [("cpu.count".to_owned(), "unlikely".into())].into(), ..host() };
        let mut run = new_run(Plan::default(), Vec::new(), "0", &crate::calibrate());
        run.host_after = Some(looked.clone());
        Session::begin().end(&mut [(&mut run, 0)]);
        assert_eq!(run.host_after, Some(looked.clone()));
        assert_eq!(close(&mut run, true).host_after, looked);
        run.host_after = None;
        Session::begin().end(&mut [(&mut run, 0)]);
        assert!(run.host_after.is_some(), "an earlier process was killed before it looked");
    }

    #[test]
    fn sessions_add_up_and_two_that_take_turns_have_one() {
        let earlier = CpuUse { total_ticks: 1 << 40, own_ns: Some(7), ..CpuUse::default() };
        let new = || new_run(Plan::default(), Vec::new(), "0", &crate::calibrate());
        let (mut resumed, mut alone) = (new(), new());
        resumed.host_after = Some(Host { cpu_use: Some(earlier), ..Host::default() });
        resumed.cells.push(fixtures::cell("poll", "poll", 1, 0).into());
        Session::begin().end(&mut [(&mut resumed, 0), (&mut alone, 0)]);
        let [resumed, alone] = [resumed, alone].map(|run| run.cpu_use().unwrap());
        assert_eq!(resumed, earlier.plus(&alone));
    }
}
