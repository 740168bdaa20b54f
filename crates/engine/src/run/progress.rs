//! The progress of a run, and who observes it.

use archive::Error;
use model::{CellKey, Outcome, Run};
use std::iter::Sum;
use std::time::Duration;

/// Observes runs, and says how long they go on.
pub trait Watch {
    /// A cell of the side of this number begins.
    fn begins(&mut self, _side: usize, _key: &CellKey, _progress: &RunProgress) {}
    /// A cell ended.
    fn ended(&mut self, _key: &CellKey, _outcome: &Outcome, _progress: &RunProgress) {}
    /// A run has one cell more. The next one begins when this returns.
    fn grew(&mut self, _run: &Run) {}
    /// The archive of a side refuses what it measures.
    fn refused(&mut self, _side: usize, _error: &Error) {}
    /// Whether the rounds may end here: no cell that is left is needed.
    fn is_enough(&mut self, _runs: &[&Run]) -> bool {
        false
    }
    /// Whether the other sides go on where the instrument of a side can't.
    fn goes_on_without_a_side(&self) -> bool {
        true
    }
}

/// The progress of a run, or of its profile pass.
#[derive(Clone, Copy, Debug)]
pub struct RunProgress {
    /// Whether it is that of the profile pass.
    pub is_profile: bool,
    /// Cells that ended, those before a resume included.
    pub done: u64,
    /// Cells in the plan.
    pub total: u64,
    /// What the rest takes, by what the cells of each workload and point took so far; absent until
    /// something is known. With a budget of time, what is left of it.
    pub left: Option<Duration>,
}

impl Sum for RunProgress {
    /// That of runs whose cells take turns.
    fn sum<I: Iterator<Item = RunProgress>>(runs: I) -> RunProgress {
        let left = Some(Duration::ZERO);
        let none = RunProgress { is_profile: false, done: 0, total: 0, left };
        runs.fold(none, |sum, run| RunProgress {
            is_profile: run.is_profile,
            done: sum.done + run.done,
            total: sum.total + run.total,
            left: sum.left.zip(run.left).map(|(sum, left)| sum + left),
        })
    }
}
