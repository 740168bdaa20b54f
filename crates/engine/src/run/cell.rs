//! One cell of a plan: its order to a worker, and the record of how it ended.

use crate::descriptors::caller_limit;
use crate::run::Instrument;
use crate::run::profile::profiled;
use crate::run::settings::Settings;
use crate::worker::frame::{CellOrder, Reply};
use crate::worker::starter::Starter;
use crate::worker::supervise::{Supervised, supervise};
use model::{Cell, CellKey, Outcome, Plan, ProfiledCell, Run, WorkloadInfo};
use std::path::PathBuf;
use sys::clock::Clock;

impl Instrument for Starter {
    fn measure(&mut self, run: &Run, sequence: usize, settings: &Settings) -> Option<(Cell, u64)> {
        let key = run.plan.cells.get(sequence)?;
        let scratch = std::env::temp_dir().join(format!("knee-{}-{sequence}", settings.mark));
        let order = order(&run.plan, key, settings, scratch);
        let supervised = supervise(&order, settings, self, None)?;
        let announced_ns = supervised.announced_ns;
        Some((settings.secrets.conceal(ended_cell(sequence, key, supervised)), announced_ns))
    }

    fn profile(
        &mut self,
        run: &mut Run,
        key: &CellKey,
        settings: &Settings,
    ) -> Option<ProfiledCell> {
        profiled(run, key, settings, self)
    }
}

/// Whether workers can be started so: one cell of a `workload` that does nothing is measured and thrown
/// away.
///
/// # Errors
/// With the reason, as the end of a sentence, where they can't, or where they are none that this knee
/// understands.
pub fn try_out(
    starter: &Starter,
    key: &CellKey,
    axis: &str,
    settings: &Settings,
) -> Result<(), String> {
    let info = WorkloadInfo {
        name: key.workload.clone(),
        axis_parameter: axis.to_owned(),
        ..WorkloadInfo::default()
    };
    let plan = Plan {
        measure_ms: 1,
        deadline_ms: TRIAL_MS,
        workloads: vec![info],
        cells: vec![key.clone()],
        ..Plan::default()
    };
    let run = Run { plan, ..Run::default() };
    match starter.clone().measure(&run, 0, settings).map(|(cell, _)| cell.outcome) {
        Some(Outcome::Failed { reason, detail }) => {
            let last = detail.lines().last().unwrap_or_default().trim();
            Err(if last.is_empty() {
                reason.to_string()
            } else {
                format!("{reason} (its last line: {last})")
            })
        }
        // Without a cell the run was stopped, and needs no answer.
        Some(Outcome::Measured) | None => Ok(()),
    }
}

/// Deadline of the trial: a worker that does nothing takes milliseconds.
const TRIAL_MS: u64 = 20_000;

pub(super) fn order(
    plan: &Plan,
    key: &CellKey,
    settings: &Settings,
    scratch: PathBuf,
) -> CellOrder {
    let (secrets, calibrated) = (&settings.secrets, &settings.clock);
    let key = secrets.reveal(key);
    let info = plan.workload(&key.workload);
    CellOrder {
        axis: info.map(|info| info.axis_parameter.clone()).unwrap_or_default(),
        custom: info
            .and_then(|info| info.custom.as_ref())
            .map(|custom| Box::new(secrets.reveal_custom(&key.workload, custom))),
        seed: cell_seed(plan.seed, &key),
        deadline_ms: plan.cell_deadline_ms(&key.workload),
        key,
        measure_ms: plan.measure_ms,
        is_profiled: false,
        pinned_cpus: plan.pinned_cpus.clone(),
        scratch,
        parent_pid: rustix::process::getpid().as_raw_pid(),
        caller_descriptors_max: caller_limit(),
        tick_ns: match calibrated.clock {
            Clock::Tsc { tick_ns } => Some(tick_ns),
            Clock::Monotonic => None,
        },
        resolution_ns: calibrated.resolution_ns,
        overhead_ns: calibrated.overhead_ns,
    }
}

/// The seed of a cell: the same for all subjects of a point and a round, so that their draws are the same.
fn cell_seed(seed: u64, key: &CellKey) -> u64 {
    let salt = key.point.rotate_left(32) ^ u64::from(key.round);
    fastrand::Rng::with_seed(seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15)).u64(..)
}

fn ended_cell(sequence: usize, key: &CellKey, supervised: Supervised) -> Cell {
    let (outcome, reply) = match supervised.reply {
        Ok(reply) => (Outcome::Measured, reply),
        Err(reason) => (Outcome::Failed { reason, detail: supervised.detail }, Reply::default()),
    };
    Cell {
        key: key.clone(),
        sequence: sequence as u64,
        outcome,
        elapsed_ns: supervised.elapsed.as_nanos() as u64,
        timed_ns: Some(reply.timed_ns),
        short: reply.short,
        usage: supervised.usage,
        metrics: reply.metrics,
        facts: reply.facts,
        ..Cell::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::stop::Stop;
    use model::ProfilePlan;
    use std::collections::HashSet;

    fn key(point: u64, round: u32) -> CellKey {
        CellKey {
            workload: "poll".into(),
            subject: "select".into(),
            parameters: model::Parameters::new(),
            point,
            round,
        }
    }

    #[test]
    fn all_subjects_of_a_point_and_round_draw_the_same() {
        let of_poll = CellKey { subject: "poll".into(), ..key(10, 1) };
        assert_eq!(cell_seed(7, &key(10, 1)), cell_seed(7, &of_poll));
        let seeds: HashSet<u64> = [(10, 0), (10, 1), (100, 0), (100, 1)]
            .map(|(point, round)| cell_seed(7, &key(point, round)))
            .into();
        assert_eq!(seeds.len(), 4);
        assert_ne!(cell_seed(7, &key(10, 1)), cell_seed(8, &key(10, 1)));
    }

    #[test]
    fn the_workers_of_rounds_get_the_same_orders_with_a_profile_as_without() {
        let settings = Settings::new(crate::calibrate(), Stop::never().unwrap());
        let plan = Plan { seed: 7, measure_ms: 30, cells: vec![key(10, 1)], ..Plan::default() };
        let profile = Some(ProfilePlan { frequency_hz: 997, measure_ms: 1_000 });
        let profiled = Plan { profile, ..plan.clone() };
        let [without, with] = [&plan, &profiled].map(|plan| {
            let order = order(plan, &plan.cells[0], &settings, PathBuf::from("/tmp/x"));
            serde_json::to_string(&order).unwrap()
        });
        assert_eq!(without, with);
        assert!(!with.contains("profile"), "{with}");
    }
}
