//! The progress of a run, and who observes it.

use model::{Cell, CellKey, ProfiledCell};
use std::iter::Sum;
use std::time::Duration;

/// Observes a run.
pub trait Watch {
    /// A cell begins.
    fn begins(&mut self, _key: &CellKey, _progress: &RunProgress) {}
    /// A cell ended.
    fn ended(&mut self, _cell: &Cell, _progress: &RunProgress) {}
    /// A cell of the profile pass begins; `progress` is that of this pass.
    fn profile_begins(&mut self, _key: &CellKey, _progress: &RunProgress) {}
    /// A cell of the profile pass ended.
    fn profile_ended(&mut self, _cell: &ProfiledCell, _progress: &RunProgress) {}
}

/// The progress of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunProgress {
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
        let none = RunProgress { done: 0, total: 0, left: Some(Duration::ZERO) };
        runs.fold(none, |sum, run| RunProgress {
            done: sum.done + run.done,
            total: sum.total + run.total,
            left: sum.left.zip(run.left).map(|(sum, left)| sum + left),
        })
    }
}
