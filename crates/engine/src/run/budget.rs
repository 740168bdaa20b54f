//! Which cells a run with a budget measures next: rounds go where intervals are still wide.
//!
//! The first [`ROUNDS_FEWEST`] rounds are whole: every cell of the plan. From then on each round
//! measures the places (a workload's subject at a point, under its parameters) whose interval is wider
//! than the goal, in the plan's shuffled order. The goal is the precision that was asked for; with a
//! time, it is what the time left can attain everywhere, if that is more: an interval narrows with the
//! root of its rounds, and a round of a place costs what its cells took so far. So the time goes to the
//! widest intervals first, and no place gets more of it than it needs.
//!
//! Stopping when an interval looks narrow prefers the moments at which it looks too narrow by chance,
//! and a median at such a moment is off as often as ever while its interval says otherwise. Therefore
//! a decision falls between whole rounds only, never before [`ROUNDS_FEWEST`] of them, and on an
//! interval that is stricter than it is called: the 99 % of a bootstrap, which analysis also tells as the
//! 95 % of such a run. Who judges has to hand in that one. It looks at widths and never at where a median lies, or how it compares with another.
//! Time ends a run whatever was measured, so it may do that anywhere but in the first round. A
//! simulation with skewed noise and shifts from round to round holds the intervals that are reported
//! to what they say (`crates/knee/tests/program/coverage.rs`).

use crate::run::progress::RunProgress;
use model::{Budget, Cell, CellKey, Outcome, Run};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// Rounds that every cell has, however narrow its interval is before, unless the time is up.
pub const ROUNDS_FEWEST: u32 = 6;

/// Says how wide the interval at each place is by now: half of it, as a share of its median. A place
/// is the key of its cells in round 0; one that has no such share is left out. The statistics are not
/// the engine's.
pub type Judge<'a> = dyn Fn(&Run) -> HashMap<CellKey, f64> + 'a;

/// From then on rounds are decided on by twos: of an odd number the resampled median can take few values,
/// and its interval jumps.
pub const ROUNDS_TOGETHER: u32 = 2;

/// The most rounds of a run with this budget and so many places, by default: thirty, or as many
/// as a time could hold if its cells took no more than a worker's start does.
pub fn rounds_most(groups: usize, budget: Budget) -> u32 {
    const USUAL: u64 = 30;
    const CELL_MS: u64 = 40;
    let hold = budget.time_ms / CELL_MS / groups.max(1) as u64;
    hold.clamp(USUAL, 1_000) as u32
}

/// A place that could be measured once more.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Half of its interval, as a share of its median.
    pub width: f64,
    /// Rounds that it was measured in.
    pub rounds: u32,
    /// What a cell of it takes.
    pub cell_ns: f64,
}

impl Candidate {
    /// Whether one more round of it comes to its end in the time left.
    pub fn fits(&self, left: Option<Duration>) -> bool {
        left.is_none_or(|left| self.cell_ns <= left.as_nanos() as f64)
    }
}

/// How narrow the intervals of the next round's places have to be: wider ones are measured.
pub fn goal(candidates: &[Candidate], precision: f64, left: Option<Duration>) -> f64 {
    debug_assert!(precision >= 0.0, "a precision is a share of a median");
    let Some(left) = left else { return precision };
    let left_ns = left.as_nanos() as f64;
    let fits = || candidates.iter().filter(|candidate| candidate.fits(Some(left)));
    let widest = fits().map(|candidate| candidate.width).fold(0.0, f64::max);
    let cost_ns = |goal: f64| -> f64 {
        let wide = fits().filter(|candidate| candidate.width > goal);
        wide.map(|candidate| {
            f64::from(candidate.rounds)
                * ((candidate.width / goal).powi(2) - 1.0)
                * candidate.cell_ns
        })
        .sum()
    };
    let (mut dear, mut cheap) = (0.0, widest);
    // Fifty halvings are more than a number has digits.
    for _ in 0..50 {
        let middle = f64::midpoint(dear, cheap);
        if cost_ns(middle) > left_ns { dear = middle } else { cheap = middle }
    }
    // The widest is measured as long as there is time, whatever rounding says.
    cheap.min(widest * (1.0 - 1e-9)).max(precision)
}

/// Decides cell by cell in the plan's order.
pub(crate) struct Spender<'a> {
    judge: Option<&'a Judge<'a>>,
    budget: Option<Budget>,
    began: Instant,
    /// What the cells of an earlier part of the run took.
    earlier: Duration,
    /// The round that was decided on last.
    round: u32,
    /// The places of that round; none where all of them are.
    wanted: Option<HashSet<CellKey>>,
    took: HashMap<CellKey, Took>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Took {
    cells: u32,
    measured: u32,
    sum: Duration,
}

impl<'a> Spender<'a> {
    /// For `run`, some cells of which may have ended in an earlier part of the run.
    pub fn new(run: &Run, judge: Option<&'a Judge<'a>>) -> Spender<'a> {
        let mut spender = Spender {
            judge,
            budget: run.plan.budget.filter(|_| judge.is_some()),
            began: Instant::now(),
            earlier: run.cells.iter().map(|cell| Duration::from_nanos(cell.elapsed_ns)).sum(),
            // What an earlier part of the run left out was not needed then; only its last round may be in part.
            round: run.cells.iter().map(|cell| cell.key.round).max().unwrap_or(0),
            wanted: None,
            took: HashMap::new(),
        };
        run.cells.iter().for_each(|cell| spender.add(cell));
        if spender.round >= ROUNDS_FEWEST {
            spender.wanted = Some(spender.decided(run));
        }
        spender
    }

    pub fn add(&mut self, cell: &Cell) {
        let took = self.took.entry(cell.key.in_first_round()).or_default();
        took.cells += 1;
        took.measured += u32::from(cell.outcome == Outcome::Measured);
        took.sum += Duration::from_nanos(cell.elapsed_ns);
    }

    /// Whether the cell of this key, which has not ended, is to be measured.
    pub fn wants(&mut self, run: &Run, key: &CellKey) -> bool {
        if self.budget.is_none() || key.round == 0 {
            return true;
        }
        if self.nothing_is_wanted() || self.is_too_late(key) {
            return false;
        }
        if key.round > self.round {
            self.round = key.round;
            let later = key.round.checked_sub(ROUNDS_FEWEST);
            if later.is_some_and(|later| later.is_multiple_of(ROUNDS_TOGETHER)) {
                self.wanted = Some(self.decided(run));
            }
        }
        let asked_before = key.round < self.round && key.round >= ROUNDS_FEWEST;
        let wanted =
            self.wanted.as_ref().is_none_or(|wanted| wanted.contains(&key.in_first_round()));
        key.round < ROUNDS_FEWEST || (wanted && !asked_before)
    }

    /// How far the run is, by its budget where that has a time.
    pub fn progress(&self, progress: RunProgress) -> RunProgress {
        match (self.budget, self.left()) {
            (None, _) => progress,
            // What a precision takes is known when it is reached.
            (Some(_), left) => RunProgress { left, ..progress },
        }
    }

    fn left(&self) -> Option<Duration> {
        let time_ms = self.budget.map_or(0, |budget| budget.time_ms);
        let spent = self.earlier + self.began.elapsed();
        (time_ms > 0).then(|| Duration::from_millis(time_ms).saturating_sub(spent))
    }

    fn nothing_is_wanted(&self) -> bool {
        self.wanted.as_ref().is_some_and(HashSet::is_empty)
    }

    /// Whether a cell of this place would outlast the budget.
    fn is_too_late(&self, key: &CellKey) -> bool {
        self.left().is_some_and(|left| {
            let took = self.took.get(&key.in_first_round()).copied().unwrap_or_default();
            left.is_zero() || left < took.sum / took.cells.max(1)
        })
    }

    fn decided(&self, run: &Run) -> HashSet<CellKey> {
        let widths = self.judge.map(|judge| judge(run)).unwrap_or_default();
        let candidate = |(cell_group, &width): (&CellKey, &f64)| {
            let took = self.took.get(cell_group).filter(|took| took.measured > 0)?;
            let cell_ns = took.sum.as_nanos() as f64 / f64::from(took.cells);
            Some((cell_group.clone(), Candidate { width, rounds: took.measured, cell_ns }))
        };
        let (groups, all): (Vec<CellKey>, Vec<Candidate>) =
            widths.iter().filter_map(candidate).unzip();
        let precision = self.budget.map_or(0.0, |budget| budget.precision);
        let left = self.left();
        let goal = goal(&all, precision, left);
        let wide = groups
            .into_iter()
            .zip(all)
            .filter(|(_, candidate)| candidate.width > goal && candidate.fits(left));
        wide.map(|(cell_group, _)| cell_group).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(all: &[(f64, u32, f64)]) -> Vec<Candidate> {
        all.iter().map(|&(width, rounds, cell_ns)| Candidate { width, rounds, cell_ns }).collect()
    }

    /// The widths that are measured again.
    fn measured(all: &[(f64, u32, f64)], precision: f64, left_ns: Option<u64>) -> Vec<f64> {
        let all = candidates(all);
        let left = left_ns.map(Duration::from_nanos);
        let goal = goal(&all, precision, left);
        let wanted = all.iter().filter(|candidate| candidate.width > goal && candidate.fits(left));
        wanted.map(|candidate| candidate.width).collect()
    }

    #[test]
    fn a_precision_alone_measures_what_is_wider() {
        let all = [(0.01, 6, 1.0), (0.02, 6, 1.0), (0.021, 6, 1.0), (0.3, 6, 1.0)];
        assert_eq!(measured(&all, 0.02, None), [0.021, 0.3]);
        assert_eq!(measured(&all, 0.3, None), [0.0; 0]);
    }

    /// By hand: from 6 rounds at 4 % to 2 % takes 18 more, from 6 at 2 % to 1 % as many.
    #[test]
    fn a_time_goes_to_the_widest_as_far_as_it_comes() {
        let all = [(0.04, 6, 100.0), (0.02, 6, 100.0), (0.01, 6, 100.0)];
        let goal_of = |left_ns| goal(&candidates(&all), 0.0, Some(Duration::from_nanos(left_ns)));
        assert!((goal_of(1_800) - 0.02).abs() < 1e-6, "{}", goal_of(1_800));
        // 90 rounds of the first and 18 of the second.
        assert!((goal_of(10_800) - 0.01).abs() < 1e-6, "{}", goal_of(10_800));
        assert_eq!(measured(&all, 0.0, Some(1_700)), [0.04]);
        assert_eq!(measured(&all, 0.0, Some(10_700)), [0.04, 0.02]);
        assert_eq!(measured(&all, 0.0, Some(11_000)), [0.04, 0.02, 0.01]);
        assert_eq!(measured(&all, 0.03, Some(11_000)), [0.04]);
        // What is dearer gets less of it: 4 % in cells of ten times the cost.
        let dear = [(0.04, 6, 1_000.0), (0.039, 6, 100.0)];
        assert_eq!(measured(&dear, 0.0, Some(200)), [0.039]);
        assert_eq!(measured(&dear, 0.0, Some(50)), [0.0; 0]);
    }

    #[test]
    fn the_widest_is_measured_while_there_is_time() {
        let alike = [(0.1, 6, 100.0); 3];
        assert_eq!(measured(&alike, 0.0, Some(100)).len(), 3);
        assert_eq!(measured(&[], 0.0, Some(100)), [0.0; 0]);
        assert_eq!(measured(&[(0.0, 6, 100.0)], 0.0, Some(1_000_000)), [0.0; 0]);
    }
}
