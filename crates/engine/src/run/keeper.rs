//! Commits cells as they end. A cell that the record refuses is tried again with the next one, and returned at
//! the end.

use record::{Archive, Cell, Ending, Error};

/// What could not be written, and why.
#[derive(Debug)]
pub struct Unsaved {
    /// How many cells are in no record.
    pub cells: usize,
    /// Why.
    pub error: Error,
}

pub(crate) struct Keeper<'a> {
    archive: Option<&'a mut dyn Archive>,
    run: i64,
    unsaved: Vec<Cell>,
    error: Option<Error>,
}

impl<'a> Keeper<'a> {
    /// Without an archive it keeps nothing, and fails never.
    pub fn new(archive: Option<&'a mut dyn Archive>, run: i64) -> Keeper<'a> {
        Keeper { archive, run, unsaved: Vec::new(), error: None }
    }

    /// Commits a cell, after those that could not be before.
    pub fn keep(&mut self, cell: &Cell) {
        if self.archive.is_some() {
            self.unsaved.push(cell.clone());
            self.try_again();
        }
    }

    /// Commits what is left and closes the run.
    pub fn finish(mut self, ending: &Ending) -> Option<Unsaved> {
        self.try_again();
        if self.unsaved.is_empty()
            && let Some(archive) = &mut self.archive
        {
            self.error = archive.finish(self.run, ending).err();
        }
        let cells = self.unsaved.len();
        self.error.map(|error| Unsaved { cells, error })
    }

    fn try_again(&mut self) {
        let Some(archive) = &mut self.archive else { return };
        while let Some(cell) = self.unsaved.first() {
            match archive.commit(self.run, cell) {
                Ok(()) => drop(self.unsaved.remove(0)),
                Err(error) => {
                    self.error = Some(error);
                    return;
                }
            }
        }
        self.error = None;
    }
}
