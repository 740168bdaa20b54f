//! Commits cells as they end. A cell that the record refuses is tried again with the next one, and returned at
//! the end.

use super::progress::Watch;
use archive::{Error, RunWriter};
use model::{Ending, Run};

/// What could not be written, and why.
#[derive(Debug)]
pub struct Unsaved {
    /// How many cells are in no record.
    pub cells: usize,
    /// Why.
    pub error: Error,
}

pub(super) struct Keeper<'a> {
    archive: Option<&'a mut dyn RunWriter>,
    /// Cells of the run that the archive has.
    cells: usize,
    /// The same of the profile.
    profiled: usize,
    error: Option<Error>,
    is_reported: bool,
}

impl<'a> Keeper<'a> {
    /// Keeps what comes to `run` from now on. Without an archive it keeps nothing, and fails never.
    pub fn new(archive: Option<&'a mut dyn RunWriter>, run: &Run) -> Keeper<'a> {
        let (cells, profiled) = (run.cells.len(), run.profile.cells.len());
        Keeper { archive, cells, profiled, error: None, is_reported: false }
    }

    /// Commits what was added to the run, after what could not be committed before.
    pub fn keep(&mut self, run: &Run) {
        self.error = self.try_to_keep(run).err();
    }

    /// Reports an error of the side of this number, until all is kept once.
    pub fn report(&mut self, side: usize, watch: &mut dyn Watch) {
        if let Some(error) = self.error.as_ref().filter(|_| !self.is_reported) {
            watch.refused(side, error);
        }
        self.is_reported = self.error.is_some();
    }

    fn try_to_keep(&mut self, run: &Run) -> Result<(), Error> {
        let Some(archive) = &mut self.archive else { return Ok(()) };
        while let Some(cell) = run.cells.get(self.cells) {
            archive.commit(run.summary.number, cell)?;
            self.cells += 1;
        }
        while self.profiled < run.profile.cells.len() {
            archive.commit_profiled(run.summary.number, &run.profile, self.profiled)?;
            self.profiled += 1;
        }
        Ok(())
    }

    /// Commits what is left and closes the run.
    pub fn finish(mut self, run: &Run, ending: &Ending) -> Option<Unsaved> {
        self.keep(run);
        if self.error.is_none()
            && let Some(archive) = &mut self.archive
        {
            self.error = archive.finish(run.summary.number, ending).err();
        }
        let cells = run.cells.len() - self.cells + run.profile.cells.len() - self.profiled;
        self.error.map(|error| Unsaved { cells, error })
    }
}
