//! Executes plans: each cell in a worker of its own, kept as it ends.

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

pub use cell::try_out;
pub use keeper::Unsaved;
pub use lifecycle::{named_as, new_run, new_run_id};
pub(crate) use profile::PROFILE_SAMPLES_WANTED;
pub use profile::{PROFILE_HZ_MAX, check_profile};

use crate::process::adopt_orphans;
use crate::run::progress::{RunProgress, Watch};
use crate::run::settings::Settings;
use crate::worker::starter::Starter;
use archive::RunWriter;
use budget::{Judge, Spender};
use cell::measured;
use keeper::Keeper;
use lifecycle::{Session, close};
use model::{CellKey, Run};
use pace::Pace;
use profile::ProfilePass;
use std::array::from_fn;
use std::collections::HashSet;

/// One of the runs whose cells take turns: where it is kept, and how its workers are started.
pub struct Side<'a> {
    /// The run. Cells that it has already are not measured again.
    pub run: &'a mut Run,
    /// Where it is kept, if anywhere.
    pub archive: Option<&'a mut dyn RunWriter>,
    /// What starts its workers.
    pub starter: Starter,
    /// Says which cells the plan's budget has still to be spent on. Without it, and with a budget, each cell has
    /// the fewest rounds that a budget has.
    pub judge: Option<&'a Judge<'a>>,
}

/// Measures the runs of one plan in its order, cell by cell in turns, profiles them and closes them. What disturbs the
/// machine disturbs all of them; which one comes first is drawn by the plan's seed, anew for each cell. Whatever a
/// worker does, the runs go on; what an archive could not take comes back.
pub fn run<const N: usize>(
    sides: [Side<'_>; N],
    settings: &Settings,
    watch: &mut dyn Watch,
) -> [Option<Unsaved>; N] {
    adopt_orphans();
    let mut session = Session::begin();
    let mut sides = sides.map(RunningSide::new);
    let mut is_whole = measure_rounds(&mut sides, settings, watch, &mut session);
    session.end(sides.each_mut().map(|side| (&mut *side.run, side.ended.len())));
    let mut passes = sides.each_ref().map(|side| ProfilePass::new(side.run));
    is_whole = is_whole && profile(&mut sides, &mut passes, settings, watch);
    sides.map(|side| {
        let ending = close(side.run, !is_whole);
        side.keeper.finish(side.run, &ending)
    })
}

/// Measures the cells in turns; false when that was cut off.
fn measure_rounds<const N: usize>(
    sides: &mut [RunningSide<'_>; N],
    settings: &Settings,
    watch: &mut dyn Watch,
    session: &mut Session,
) -> bool {
    let plan = &sides[0].run.plan;
    for (sequence, turns) in (0..plan.cells.len()).zip(orders::<N>(plan.seed)) {
        for turn in turns {
            if sides[turn].ended.contains(&(sequence as u64)) {
                continue;
            }
            if settings.stop.is_requested() {
                return false;
            }
            let Some(key) = sides[turn].wanted(sequence) else { continue };
            watch.begins(&key, &sides.iter().map(RunningSide::progress).sum());
            if !sides[turn].measure(sequence, settings, session) {
                return false;
            }
            let progress = sides.iter().map(RunningSide::progress).sum();
            if let Some(cell) = sides[turn].run.cells.last() {
                watch.ended(&cell.key, &cell.outcome, &progress);
                watch.grew(sides[turn].run);
            }
        }
    }
    true
}

/// Profiles the cells in turns; false when that was cut off.
fn profile<const N: usize>(
    sides: &mut [RunningSide<'_>; N],
    passes: &mut [ProfilePass; N],
    settings: &Settings,
    watch: &mut dyn Watch,
) -> bool {
    while passes.iter().any(|pass| pass.next_key().is_some()) {
        for turn in 0..N {
            let progress = passes.iter().map(ProfilePass::progress).sum();
            let Some(key) = passes[turn].next_key() else { continue };
            watch.begins(key, &progress);
            let RunningSide { run, keeper, starter, .. } = &mut sides[turn];
            let is_stopped = settings.stop.is_requested();
            if is_stopped || !passes[turn].measure(run, keeper, settings, starter) {
                return false;
            }
            if let Some(cell) = run.profile.cells.last() {
                let progress = passes.iter().map(ProfilePass::progress).sum();
                watch.ended(&cell.key, &cell.outcome, &progress);
            }
        }
    }
    true
}

fn orders<const N: usize>(seed: u64) -> impl Iterator<Item = [usize; N]> {
    let mut random = fastrand::Rng::with_seed(seed ^ ORDER_SEED);
    let mut order = from_fn(|side| side);
    std::iter::repeat_with(move || {
        random.shuffle(&mut order);
        order
    })
}

/// Separates the order of sides from other draws by a plan's seed.
const ORDER_SEED: u64 = 0x7475_726e_7320_6f66;

struct RunningSide<'a> {
    run: &'a mut Run,
    starter: Starter,
    keeper: Keeper<'a>,
    pace: Pace,
    spender: Spender<'a>,
    /// The cells that had ended before.
    ended: HashSet<u64>,
}

impl<'a> RunningSide<'a> {
    fn new(side: Side<'a>) -> RunningSide<'a> {
        let Side { run, archive, starter, judge } = side;
        let keeper = Keeper::new(archive, run);
        let (pace, spender) = (Pace::new(run), Spender::new(run, judge));
        let ended = run.cells.iter().map(|cell| cell.sequence).collect();
        RunningSide { run, starter, keeper, pace, spender, ended }
    }

    fn wanted(&mut self, sequence: usize) -> Option<CellKey> {
        let key = self.run.plan.cells.get(sequence)?;
        self.spender.wants(self.run, key).then(|| key.clone())
    }

    fn progress(&self) -> RunProgress {
        self.spender.progress(self.pace.progress())
    }

    /// Measures and keeps one cell; false when it was cut off.
    fn measure(&mut self, sequence: usize, settings: &Settings, session: &mut Session) -> bool {
        let ended = measured(&self.run.plan, sequence, settings, &self.starter);
        let Some((cell, announced_ns)) = ended else { return false };
        session.add(announced_ns);
        self.pace.add(&cell);
        self.spender.add(&cell);
        self.run.cells.push(cell);
        self.keeper.keep(self.run);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_comes_first_as_often_by_the_seed() {
        let drawn =
            |seed| orders::<2>(seed).take(1_000).map(|[first, _]| first).collect::<Vec<usize>>();
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
        let second: usize = drawn(7).iter().sum();
        assert!((400..600).contains(&second), "{second}");
        let changes = drawn(7).windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes > 400, "drawn anew for each cell: {changes}");
        assert!(orders::<1>(7).take(9).all(|order| order == [0]));
    }
}
