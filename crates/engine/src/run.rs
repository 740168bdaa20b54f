//! Executes a plan: each cell in a worker of its own, kept as it ends.

pub(crate) mod alternate;
pub mod budget;
mod cell;
pub(crate) mod cgroup;
pub(crate) mod cpu_look;
pub(crate) mod host;
mod keeper;
mod lifecycle;
mod pace;
mod profile;
pub(crate) mod progress;
pub(crate) mod quiet;
mod samples;
pub(crate) mod settings;
pub(crate) mod stop;

pub use keeper::Unsaved;
pub use lifecycle::{named_as, new_run, new_run_id};
pub use profile::{PROFILE_HZ, PROFILE_HZ_MAX, check_profile};

use crate::process::adopt_orphans;
use crate::run::progress::Watch;
use crate::run::settings::Settings;
use crate::worker::starter::Starter;
use archive::RunWriter;
use budget::{Judge, Spender};
use cell::{EndedCell, measured};
use keeper::Keeper;
use lifecycle::{Session, close};
use model::Run;
use pace::Pace;
use profile::ProfilePass;
use std::collections::HashSet;

/// Measures the cells of `run` that have not ended, in the plan's order, and closes it. Whatever a
/// worker does, the run goes on; what the archive could not take comes back.
pub fn run(
    run: &mut Run,
    archive: Option<&mut dyn RunWriter>,
    settings: &Settings,
    watch: &mut dyn Watch,
) -> Option<Unsaved> {
    run_by(run, archive, settings, watch, None)
}

/// The same, where `judge` says which cells the plan's budget has still to be spent on. Without a judge,
/// and with a budget, each cell has the fewest rounds that a budget has.
pub fn run_by(
    run: &mut Run,
    archive: Option<&mut dyn RunWriter>,
    settings: &Settings,
    watch: &mut dyn Watch,
    judge: Option<&Judge<'_>>,
) -> Option<Unsaved> {
    adopt_orphans();
    let mut session = Session::begin();
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
        let Some(EndedCell { cell, announced_ns }) =
            measured(&run.plan, sequence, settings, &starter)
        else {
            stopped = true;
            break;
        };
        session.add(announced_ns);
        keeper.keep(&cell);
        pace.add(&cell);
        spender.add(&cell);
        watch.ended(&cell, &spender.progress(pace.progress()));
        run.cells.push(cell);
    }
    session.end([(&mut *run, ended.len())]);
    let mut pass = ProfilePass::new(run);
    while !stopped && let Some(key) = pass.next_key() {
        watch.profile_begins(key, &pass.progress());
        stopped =
            settings.stop.is_requested() || !pass.measure(run, &mut keeper, settings, &starter);
        if let Some(cell) = run.profile.cells.last().filter(|_| !stopped) {
            watch.profile_ended(cell, &pass.progress());
        }
    }
    let ending = close(run, stopped);
    keeper.finish(&run.profile, &ending)
}
