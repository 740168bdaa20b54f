//! Two runs of one plan whose cells take turns: what disturbs the machine disturbs both.
//!
//! They differ in how their workers are started: by this program as it is, through other words, or
//! with variables of their own.

use crate::process::adopt_orphans;
use crate::run::cell::{EndedCell, measured};
use crate::run::keeper::{Keeper, Unsaved};
use crate::run::lifecycle::{Session, close};
use crate::run::pace::Pace;
use crate::run::profile::ProfilePass;
use crate::run::progress::{RunProgress, Watch};
use crate::run::settings::Settings;
use crate::worker::starter::Starter;
use archive::RunWriter;
use model::{CellKey, Outcome, Plan, Run, WorkloadInfo};
use std::time::Duration;

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
    adopt_orphans();
    match measured(&plan, 0, settings, starter).map(|ended| ended.cell.outcome) {
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

/// A run, where it is kept, and how its workers are started.
pub struct Side<'a> {
    /// The run, which has no cells yet.
    pub run: &'a mut Run,
    /// Where it is kept.
    pub archive: Option<&'a mut dyn RunWriter>,
    /// What starts its workers.
    pub starter: Starter,
}

/// Measures two runs of one plan, cell by cell in turns, and closes them. Which one comes first is drawn
/// by the plan's seed, anew for each cell. What an archive could not take comes back.
pub fn alternate(
    sides: [Side<'_>; 2],
    settings: &Settings,
    watch: &mut dyn Watch,
) -> [Option<Unsaved>; 2] {
    adopt_orphans();
    let mut session = Session::begin();
    let mut sides = sides.map(RunSide::new);
    let mut firsts = first_sides(sides[0].run.plan.seed);
    let mut stopped = false;
    for sequence in 0..sides[0].run.plan.cells.len() {
        let first = firsts.next().unwrap_or(0);
        for turn in [first, 1 - first] {
            stopped = stopped || settings.stop.is_requested();
            if stopped {
                break;
            }
            let before = progress(&sides);
            if let Some(key) = sides[turn].run.plan.cells.get(sequence) {
                watch.begins(key, &before);
            }
            stopped = !sides[turn].measure(sequence, settings, &mut session);
            if let Some(cell) = sides[turn].run.cells.last().filter(|_| !stopped) {
                watch.ended(cell, &progress(&sides));
            }
        }
    }
    session.end(sides.each_mut().map(|side| (&mut *side.run, 0)));
    let mut passes = [0, 1].map(|turn| ProfilePass::new(sides[turn].run));
    stopped = stopped || !profile(&mut sides, &mut passes, settings, watch);
    sides.map(|side| side.finish(stopped))
}

/// Profiles the cells of both in turns; false when it was cut off.
fn profile(
    sides: &mut [RunSide<'_>; 2],
    passes: &mut [ProfilePass; 2],
    settings: &Settings,
    watch: &mut dyn Watch,
) -> bool {
    while passes.iter().any(|pass| pass.next_key().is_some()) {
        for (side, turn) in sides.iter_mut().zip([0, 1]) {
            let before = sum([passes[0].progress(), passes[1].progress()]);
            let Some(key) = passes[turn].next_key() else { continue };
            watch.profile_begins(key, &before);
            let RunSide { run, keeper, starter, .. } = side;
            let stopped = settings.stop.is_requested();
            if stopped || !passes[turn].measure(run, keeper, settings, starter) {
                return false;
            }
            if let Some(cell) = run.profile.cells.last() {
                watch.profile_ended(cell, &sum([passes[0].progress(), passes[1].progress()]));
            }
        }
    }
    true
}

/// The index of the side that comes first, cell by cell.
fn first_sides(seed: u64) -> impl Iterator<Item = usize> {
    let mut random = fastrand::Rng::with_seed(seed ^ ORDER_SEED);
    std::iter::repeat_with(move || usize::from(random.bool()))
}

/// Separates the order of sides from other draws by a plan's seed.
const ORDER_SEED: u64 = 0x7475_726e_7320_6f66;

/// One side while it is measured.
struct RunSide<'a> {
    run: &'a mut Run,
    keeper: Keeper<'a>,
    pace: Pace,
    starter: Starter,
}

impl<'a> RunSide<'a> {
    fn new(side: Side<'a>) -> RunSide<'a> {
        let keeper = Keeper::new(side.archive, side.run.summary.number);
        let pace = Pace::new(side.run);
        RunSide { run: side.run, keeper, pace, starter: side.starter }
    }

    /// Measures and keeps one cell; false when it was cut off.
    fn measure(&mut self, sequence: usize, settings: &Settings, session: &mut Session) -> bool {
        let Some(EndedCell { cell, announced_ns }) =
            measured(&self.run.plan, sequence, settings, &self.starter)
        else {
            return false;
        };
        session.add(announced_ns);
        self.keeper.keep(&cell);
        self.pace.add(&cell);
        self.run.cells.push(cell);
        true
    }

    fn finish(self, stopped: bool) -> Option<Unsaved> {
        let ending = close(self.run, stopped);
        self.keeper.finish(&self.run.profile, &ending)
    }
}

/// How far both are together.
fn progress(sides: &[RunSide<'_>; 2]) -> RunProgress {
    sum([&sides[0].pace, &sides[1].pace].map(Pace::progress))
}

fn sum([first, second]: [RunProgress; 2]) -> RunProgress {
    let left = first.left.zip(second.left);
    RunProgress {
        done: first.done + second.done,
        total: first.total + second.total,
        left: left.map(|(first, second): (Duration, Duration)| first + second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_comes_first_as_often_by_the_seed() {
        let drawn = |seed| first_sides(seed).take(1_000).collect::<Vec<usize>>();
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
        let second: usize = drawn(7).iter().sum();
        assert!((400..600).contains(&second), "{second}");
        let changes = drawn(7).windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes > 400, "drawn anew for each cell: {changes}");
    }
}
