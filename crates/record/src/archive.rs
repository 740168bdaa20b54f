//! The seam between measuring and keeping: whatever can hold runs implements [`Archive`].

use crate::{Cell, Error, Host, Run, RunState, RunSummary, Warning};

/// Keeps runs. Each cell is durable when [`Archive::commit`] returns.
pub trait Archive {
    /// Begins a run, which has no cells yet, and returns its number.
    fn begin(&mut self, run: &Run) -> Result<i64, Error>;
    /// Adds one ended cell, wholly or not at all.
    fn commit(&mut self, run: i64, cell: &Cell) -> Result<(), Error>;
    /// Closes a run.
    fn finish(&mut self, run: i64, ending: &Ending) -> Result<(), Error>;
    /// Every run, oldest first.
    fn runs(&self) -> Result<Vec<RunSummary>, Error>;
    /// One run with its cells.
    fn load(&self, run: i64) -> Result<Run, Error>;
    /// Removes a run for good.
    fn delete(&mut self, run: i64) -> Result<(), Error>;
}

/// How a run ended.
#[derive(Clone, Debug)]
pub struct Ending {
    /// Complete or interrupted.
    pub state: RunState,
    /// When: RFC 3339 with offset.
    pub ended: String,
    /// The machine at the end.
    pub host_after: Host,
    /// All warnings about the run as a whole, those of its beginning included.
    pub warnings: Vec<Warning>,
}
