//! Executes a plan: each cell in a worker of its own, kept as it ends.

pub(crate) mod alternate;
pub mod budget;
pub(crate) mod host;
mod keeper;
pub(crate) mod progress;
mod quiet;
pub(crate) mod settings;
pub(crate) mod stop;

pub use keeper::Unsaved;

use crate::calibrate::Calibrated;
use crate::run::progress::{RunProgress, Watch};
use crate::run::settings::Settings;
use crate::worker::frame::{Order, Reply};
use crate::worker::starter::Starter;
use crate::worker::supervise::{Supervised, Verdict, supervise};
use budget::{Judge, Spender};
use host::{host, now};
use keeper::Keeper;
use record::{
    Archive, Cell, CellKey, Ending, HOST_NAME, Outcome, Plan, Run, RunState, RunSummary, Warning,
};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use sys::clock::Clock;

/// A run of `plan` that has no cells yet. Looks at the machine, which takes about an eighth of a
/// second.
pub fn new_run(plan: Plan, command: Vec<String>, version: &str, clock: &Calibrated) -> Run {
    let host_before = host();
    let summary = RunSummary {
        number: 0,
        id: format!("{:016x}", fastrand::u64(..)),
        started: now(),
        ended: None,
        state: RunState::Open,
        command,
        version: version.into(),
        cells_ended: 0,
        cells_planned: plan.cells.len() as u64,
        labels: std::collections::BTreeMap::new(),
        origin: String::new(),
    };
    let warnings = quiet::before(&host_before);
    let clock = clock.info();
    Run { summary, plan, clock, host_before, host_after: None, warnings, cells: Vec::new() }
}

/// Measures the cells of `run` that have not ended, in the plan's order, and closes it. Whatever a
/// worker does, the run goes on; what the archive could not take comes back.
pub fn run(
    run: &mut Run,
    archive: Option<&mut dyn Archive>,
    settings: &Settings,
    watch: &mut dyn Watch,
) -> Option<Unsaved> {
    run_by(run, archive, settings, watch, None)
}

/// The same, where `judge` says which cells the plan's budget has still to be spent on. Without a judge,
/// and with a budget, each cell has the fewest rounds that a budget has.
pub fn run_by(
    run: &mut Run,
    archive: Option<&mut dyn Archive>,
    settings: &Settings,
    watch: &mut dyn Watch,
    judge: Option<&Judge<'_>>,
) -> Option<Unsaved> {
    adopt_orphans();
    let starter = Starter::own();
    let mut keeper = Keeper::new(archive, run.summary.number);
    let mut pace = Pace::new(run);
    let mut spender = Spender::new(run, judge);
    let ended: HashSet<u64> = run.cells.iter().map(|cell| cell.sequence).collect();
    let mut stopped = false;
    for (sequence, key) in run.plan.cells.iter().enumerate() {
        if ended.contains(&(sequence as u64)) {
            continue;
        }
        if settings.stop.is_requested() {
            stopped = true;
            break;
        }
        if !spender.wants(run, key) {
            continue;
        }
        watch.begins(key, &spender.progress(pace.progress()));
        let Some(cell) = measured(&run.plan, sequence, settings, &starter) else {
            stopped = true;
            break;
        };
        keeper.keep(&cell);
        pace.add(&cell);
        spender.add(&cell);
        watch.ended(&cell, &spender.progress(pace.progress()));
        run.cells.push(cell);
    }
    keeper.finish(&close(run, stopped))
}

/// Makes this process the parent of a worker's orphans, so that it can kill them. Where that fails, cleaning up
/// is less sure, and figures are the same.
pub(crate) fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Measures one cell of a plan in a worker that `starter` starts; none when it was cut off.
pub(crate) fn measured(
    plan: &Plan,
    sequence: usize,
    settings: &Settings,
    starter: &Starter,
) -> Option<Cell> {
    let key = plan.cells.get(sequence)?;
    let scratch = std::env::temp_dir().join(format!("knee-{}-{sequence}", settings.mark()));
    let order = order(plan, settings.secrets.reveal(key), &settings.clock, scratch);
    let deadline = Duration::from_millis(plan.deadline_ms);
    ended_cell(sequence, key, supervise(&order, deadline, settings, starter))
}

/// Closes a run with a last look at the machine.
pub(crate) fn close(run: &mut Run, stopped: bool) -> Ending {
    let mut host_after = host();
    // The user may have named it.
    if let Some(name) = run.host_before.facts.get(HOST_NAME) {
        host_after.facts.insert(HOST_NAME.to_owned(), name.clone());
    }
    let disturbed: Vec<Warning> = quiet::during(&run.host_before, &host_after, own_ns(run));
    for warning in disturbed {
        if !run.warnings.contains(&warning) {
            run.warnings.push(warning);
        }
    }
    debug_assert!(run.cells.len() <= run.plan.cells.len(), "a cell of the plan ends once");
    let state = if stopped { RunState::Interrupted } else { RunState::Complete };
    let ended = now();
    run.summary.state = state;
    run.summary.ended = Some(ended.clone());
    run.summary.cells_ended = run.cells.len() as u64;
    run.host_after = Some(host_after.clone());
    Ending { state, ended, host_after, warnings: run.warnings.clone() }
}

/// The CPU time of this process and its workers, in nanoseconds.
fn own_ns(run: &Run) -> u64 {
    let workers = run.cells.iter().map(|cell| cell.usage.user_ns + cell.usage.system_ns);
    let here = sys::process::resources();
    workers.sum::<u64>() + here.user_ns + here.system_ns
}

fn order(plan: &Plan, key: CellKey, calibrated: &Calibrated, scratch: PathBuf) -> Order {
    let info = plan.workloads.iter().find(|info| info.name == key.workload);
    Order {
        axis: info.map(|info| info.axis_parameter.clone()).unwrap_or_default(),
        seed: cell_seed(plan.seed, &key),
        key,
        measure_ms: plan.measure_ms,
        pinned_cpus: plan.pinned_cpus.clone(),
        scratch,
        parent_pid: rustix::process::getpid().as_raw_pid(),
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

/// The cell in the record's shape; none when it was cut off and so has not ended.
fn ended_cell(sequence: usize, key: &CellKey, supervised: Supervised) -> Option<Cell> {
    let (outcome, reply) = match supervised.verdict {
        Verdict::Stopped => return None,
        Verdict::Replied(reply) => (Outcome::Measured, reply),
        Verdict::Failed { reason, detail } => {
            (Outcome::Failed { reason, detail }, Reply::default())
        }
    };
    Some(Cell {
        key: key.clone(),
        sequence: sequence as u64,
        outcome,
        elapsed_ns: supervised.elapsed.as_nanos() as u64,
        short: reply.short,
        usage: supervised.usage,
        metrics: reply.metrics,
        facts: reply.facts,
    })
}

/// Estimates the time left: a cell takes what the others of its workload and point took.
pub(crate) struct Pace {
    total: u64,
    done: u64,
    began: Instant,
    left: HashMap<(String, u64), u64>,
    took: HashMap<(String, u64), (u64, Duration)>,
}

impl Pace {
    pub fn new(run: &Run) -> Pace {
        let mut left: HashMap<(String, u64), u64> = HashMap::new();
        for key in &run.plan.cells {
            *left.entry((key.workload.clone(), key.point)).or_default() += 1;
        }
        let total = run.plan.cells.len() as u64;
        let mut pace = Pace { total, done: 0, began: Instant::now(), left, took: HashMap::new() };
        for cell in &run.cells {
            pace.add(cell);
        }
        pace
    }

    pub fn add(&mut self, cell: &Cell) {
        let group = (cell.key.workload.clone(), cell.key.point);
        self.done += 1;
        if let Some(left) = self.left.get_mut(&group) {
            *left = left.saturating_sub(1);
        }
        let took = self.took.entry(group).or_default();
        took.0 += 1;
        took.1 += Duration::from_nanos(cell.elapsed_ns);
    }

    pub fn progress(&self) -> RunProgress {
        let cells: u64 = self.took.values().map(|took| took.0).sum();
        let spent: Duration = self.took.values().map(|took| took.1).sum();
        let mean = |(count, sum): (u64, Duration)| sum.div_f64(count as f64);
        let rest = self.left.iter().map(|(group, &count)| {
            let each = self.took.get(group).copied().map_or_else(|| mean((cells, spent)), mean);
            each.mul_f64(count as f64)
        });
        // An estimate from the first cells would be wrong most of the time.
        let is_predictable = cells >= 5 || self.began.elapsed() > Duration::from_secs(3);
        let left = (is_predictable && cells > 0).then(|| rest.sum());
        RunProgress { done: self.done, total: self.total, left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Usage;

    fn key(point: u64, round: u32) -> CellKey {
        CellKey {
            workload: "poll".into(),
            subject: "select".into(),
            parameters: record::Parameters::new(),
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
    fn a_stopped_cell_has_not_ended() {
        let supervised = Supervised {
            verdict: Verdict::Stopped,
            elapsed: Duration::ZERO,
            usage: Usage::default(),
        };
        assert!(ended_cell(0, &key(10, 0), supervised).is_none());
    }
}
