//! The progress of a run, and who observes it.

use model::{Cell, CellKey, ProfiledCell};
use std::time::Duration;

/// Observes a run.
pub trait Watch {
    /// A cell begins.
    fn begins(&mut self, key: &CellKey, progress: &RunProgress);
    /// A cell ended.
    fn ended(&mut self, cell: &Cell, progress: &RunProgress);
    /// A cell of the profile pass begins; `progress` is that of this pass.
    fn profile_begins(&mut self, key: &CellKey, progress: &RunProgress);
    /// A cell of the profile pass ended.
    fn profile_ended(&mut self, cell: &ProfiledCell, progress: &RunProgress);
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
