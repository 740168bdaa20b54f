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

use crate::run::progress::{RunProgress, Watch};
use crate::run::settings::Settings;
use archive::RunWriter;
use budget::{Judge, Spender};
use keeper::Keeper;
use lifecycle::{Session, close};
use model::{Cell, CellKey, ProfiledCell, Run};
use pace::Pace;
use profile::ProfilePass;
use std::collections::HashSet;

/// One of the runs whose cells take turns: where it is kept, and what measures it.
pub struct Side<'a> {
    /// The run. Cells that it has already are not measured again.
    pub run: &'a mut Run,
    /// Where it is kept, if anywhere.
    pub archive: Option<&'a mut dyn RunWriter>,
    /// What measures its cells.
    pub instrument: &'a mut dyn Instrument,
    /// Says which cells the plan's budget has still to be spent on. Without it, each cell has all rounds.
    pub judge: Option<&'a Judge<'a>>,
}

/// What measures the cells of a side: workers of this machine ([`Starter`](crate::Starter)), or another machine.
pub trait Instrument {
    /// Measures a cell of the plan of `run`. With it comes the CPU time of processes that it measured and the run did not
    /// start, in nanoseconds. None where it was cut off, or where this side can't go on.
    fn measure(&mut self, run: &Run, sequence: usize, settings: &Settings) -> Option<(Cell, u64)>;

    /// Profiles a cell of `run`, whose profile gets what the cell shares with others. None as above.
    fn profile(
        &mut self,
        run: &mut Run,
        key: &CellKey,
        settings: &Settings,
    ) -> Option<ProfiledCell>;

    /// Its run is about to be closed: another machine than this one says how it is now.
    fn end(&mut self, _run: &mut Run) {}
}

/// Measures runs in the order of their plans, cell by cell in turns, profiles them and closes them. What disturbs the
/// machine disturbs all of them; which one comes first is drawn by the plan's seed, anew for each cell. Sides whose
/// plans have other cells take turns round by round. Whatever a worker does, the runs go on; what an archive could not
/// take comes back, by side.
pub fn run(
    sides: Vec<Side<'_>>,
    settings: &Settings,
    watch: &mut dyn Watch,
) -> Vec<Option<Unsaved>> {
    let mut session = Session::begin();
    let mut sides: Vec<RunningSide<'_>> = sides.into_iter().map(RunningSide::new).collect();
    let mut is_whole = measure_rounds(&mut sides, settings, watch, &mut session);
    let mut runs: Vec<(&mut Run, usize)> =
        sides.iter_mut().map(|side| (&mut *side.run, side.ended.len())).collect();
    session.end(&mut runs);
    is_whole = is_whole && profile(&mut sides, settings, watch);
    let closed = sides.into_iter().map(|side| {
        side.instrument.end(side.run);
        let ending = close(side.run, side.is_lost || !is_whole);
        side.keeper.finish(side.run, &ending)
    });
    closed.collect()
}

/// Measures the cells in turns; false when that was cut off.
fn measure_rounds(
    sides: &mut [RunningSide<'_>],
    settings: &Settings,
    watch: &mut dyn Watch,
    session: &mut Session,
) -> bool {
    let are_alike = sides.windows(2).all(|two| two[0].run.plan.cells == two[1].run.plan.cells);
    let seed = sides.first().map_or(0, |side| side.run.plan.seed);
    for turns in orders(seed, sides.len()) {
        let Some(next) = sides.iter_mut().filter_map(|side| side.position(are_alike)).min() else {
            break;
        };
        for turn in turns {
            if sides[turn].position(are_alike) != Some(next) {
                continue;
            }
            if settings.stop.is_requested() {
                return false;
            }
            let Some((sequence, key)) = sides[turn].wanted() else { continue };
            watch.begins(turn, &key, &sides.iter().map(RunningSide::progress).sum());
            if !sides[turn].measure(sequence, settings, session) {
                if settings.stop.is_requested() || !watch.goes_on_without_a_side() {
                    return false;
                }
                continue;
            }
            let progress = sides.iter().map(RunningSide::progress).sum();
            if let Some(cell) = sides[turn].run.cells.last() {
                watch.ended(&cell.key, &cell.outcome, &progress);
                watch.grew(sides[turn].run);
            }
            sides[turn].keeper.report(turn, watch);
        }
        if watch.is_enough(&sides.iter().map(|side| &*side.run).collect::<Vec<&Run>>()) {
            break;
        }
    }
    true
}

/// Profiles the cells in turns; false when that was cut off.
fn profile(sides: &mut [RunningSide<'_>], settings: &Settings, watch: &mut dyn Watch) -> bool {
    let mut passes: Vec<ProfilePass> =
        sides.iter().map(|side| ProfilePass::new(side.run)).collect();
    while passes.iter().zip(&*sides).any(|(pass, side)| pass.next_key(side.is_lost).is_some()) {
        for turn in 0..sides.len() {
            let progress = passes.iter().map(ProfilePass::progress).sum();
            let RunningSide { run, keeper, instrument, is_lost, .. } = &mut sides[turn];
            let Some(key) = passes[turn].next_key(*is_lost) else { continue };
            watch.begins(turn, key, &progress);
            if settings.stop.is_requested() {
                return false;
            }
            if !passes[turn].measure(run, keeper, settings, &mut **instrument) {
                *is_lost = true;
                if settings.stop.is_requested() || !watch.goes_on_without_a_side() {
                    return false;
                }
                continue;
            }
            keeper.report(turn, watch);
            if let Some(cell) = run.profile.cells.last() {
                let progress = passes.iter().map(ProfilePass::progress).sum();
                watch.ended(&cell.key, &cell.outcome, &progress);
            }
        }
    }
    true
}

fn orders(seed: u64, sides: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut random = fastrand::Rng::with_seed(seed ^ ORDER_SEED);
    let mut order: Vec<usize> = (0..sides).collect();
    std::iter::repeat_with(move || {
        random.shuffle(&mut order);
        order.clone()
    })
}

/// Separates the order of sides from other draws by a plan's seed.
const ORDER_SEED: u64 = 0x7475_726e_7320_6f66;

struct RunningSide<'a> {
    run: &'a mut Run,
    instrument: &'a mut dyn Instrument,
    keeper: Keeper<'a>,
    pace: Pace,
    spender: Spender<'a>,
    /// The cells that had ended before.
    ended: HashSet<u64>,
    /// The cell of the plan that is measured next, or a later one.
    next: usize,
    /// Whether its instrument can't go on.
    is_lost: bool,
}

impl<'a> RunningSide<'a> {
    fn new(side: Side<'a>) -> RunningSide<'a> {
        let Side { run, archive, instrument, judge } = side;
        let keeper = Keeper::new(archive, run);
        let (pace, spender) = (Pace::new(run), Spender::new(run, judge));
        let ended = run.cells.iter().map(|cell| cell.sequence).collect();
        RunningSide { run, instrument, keeper, pace, spender, ended, next: 0, is_lost: false }
    }

    /// How far it is: its next cell where all plans have the same ones, else the round of that. None at its end.
    fn position(&mut self, are_alike: bool) -> Option<u64> {
        while self.ended.contains(&(self.next as u64)) {
            self.next += 1;
        }
        let key = self.run.plan.cells.get(self.next).filter(|_| !self.is_lost)?;
        Some(if are_alike { self.next as u64 } else { key.round.into() })
    }

    /// Passes on to the next cell, which is to be measured unless a budget leaves it out.
    fn wanted(&mut self) -> Option<(usize, CellKey)> {
        let sequence = self.next;
        self.next += 1;
        let key = self.run.plan.cells.get(sequence)?;
        self.spender.wants(self.run, key).then(|| (sequence, key.clone()))
    }

    fn progress(&self) -> RunProgress {
        self.spender.progress(self.pace.progress())
    }

    /// Measures and keeps one cell; false when it was cut off, or where this side can't go on.
    fn measure(&mut self, sequence: usize, settings: &Settings, session: &mut Session) -> bool {
        let Some((cell, announced_ns)) = self.instrument.measure(self.run, sequence, settings)
        else {
            self.is_lost = true;
            return false;
        };
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
    use crate::run::stop::Stop;
    use model::{Plan, RunState};
    use std::cell::RefCell;

    #[test]
    fn each_comes_first_as_often_by_the_seed() {
        let drawn =
            |seed| orders(seed, 2).take(1_000).map(|order| order[0]).collect::<Vec<usize>>();
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
        let second: usize = drawn(7).iter().sum();
        assert!((400..600).contains(&second), "{second}");
        let changes = drawn(7).windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes > 400, "drawn anew for each cell: {changes}");
        assert!(orders(7, 1).take(9).all(|order| order == [0]));
    }

    /// Measures nothing, and notes each cell with its side.
    struct Noting<'a> {
        side: usize,
        cells: &'a RefCell<Vec<(usize, usize)>>,
        /// The cell that it can't measure.
        lost_at: Option<usize>,
    }

    impl Instrument for Noting<'_> {
        fn measure(&mut self, run: &Run, sequence: usize, _: &Settings) -> Option<(Cell, u64)> {
            self.cells.borrow_mut().push((self.side, sequence));
            let key = run.plan.cells[sequence].clone();
            let cell = Cell { key, sequence: sequence as u64, ..Cell::default() };
            (self.lost_at != Some(sequence)).then_some((cell, 0))
        }

        fn profile(&mut self, _: &mut Run, _: &CellKey, _: &Settings) -> Option<ProfiledCell> {
            None
        }
    }

    #[derive(Default)]
    struct Enough {
        cells: Option<usize>,
        needs_all: bool,
    }

    impl Watch for Enough {
        fn is_enough(&mut self, runs: &[&Run]) -> bool {
            self.cells.is_some_and(|cells| runs.iter().all(|run| run.cells.len() >= cells))
        }

        fn goes_on_without_a_side(&self) -> bool {
            !self.needs_all
        }
    }

    /// How a run ended, with the number of its cells.
    type Ended = (RunState, usize);

    /// Runs with a plan of so many cells in each of two rounds come to these states and numbers of cells, in this order of
    /// sides and cells.
    fn measured(
        cells: [u64; 2],
        lost_at: Option<usize>,
        mut watch: Enough,
    ) -> ([Ended; 2], Vec<(usize, usize)>) {
        let key = |round, point| CellKey { round, point, ..CellKey::default() };
        let mut runs = cells.map(|cells| {
            let keys = (0..2).flat_map(|round| (0..cells).map(move |point| key(round, point)));
            Run { plan: Plan { cells: keys.collect(), ..Plan::default() }, ..Run::default() }
        });
        let noted = RefCell::new(Vec::new());
        let noting = |side| Noting { side, cells: &noted, lost_at: lost_at.filter(|_| side == 1) };
        let mut instruments = [0, 1].map(noting);
        let mut sides = Vec::new();
        for (run, instrument) in runs.iter_mut().zip(&mut instruments) {
            sides.push(Side { run, archive: None, instrument, judge: None });
        }
        let settings = Settings::new(crate::calibrate(), Stop::never().unwrap());
        let unsaved = run(sides, &settings, &mut watch);
        assert!(unsaved.iter().all(Option::is_none));
        (runs.map(|run| (run.summary.state, run.cells.len())), noted.into_inner())
    }

    #[test]
    fn sides_take_turns_by_cell_and_with_other_cells_by_round() {
        use RunState::Complete;
        let (states, cells) = measured([2, 2], None, Enough::default());
        assert_eq!(states, [(Complete, 4); 2]);
        let sequences: Vec<usize> = cells.iter().map(|(_, sequence)| *sequence).collect();
        assert_eq!(sequences, [0, 0, 1, 1, 2, 2, 3, 3]);
        let (states, cells) = measured([3, 1], None, Enough::default());
        assert_eq!(states, [(Complete, 6), (Complete, 2)]);
        let is_of_round_0 = |&(side, sequence): &(usize, usize)| sequence < [3, 1][side];
        assert!(cells.is_sorted_by_key(|cell| !is_of_round_0(cell)), "{cells:?}");
    }

    #[test]
    fn a_side_that_can_not_go_on_ends_alone_unless_all_are_needed() {
        use RunState::{Complete, Interrupted};
        let (states, _) = measured([2, 2], Some(1), Enough::default());
        assert_eq!(states, [(Complete, 4), (Interrupted, 1)]);
        let (states, _) = measured([2, 2], Some(1), Enough { needs_all: true, cells: None });
        assert_eq!(states.map(|(state, _)| state), [Interrupted; 2]);
    }

    #[test]
    fn runs_are_complete_when_there_is_enough() {
        let (states, _) = measured([2, 2], None, Enough { cells: Some(3), needs_all: false });
        assert_eq!(states, [(RunState::Complete, 3); 2]);
    }
}
