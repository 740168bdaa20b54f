//! Commits cells as they end. A cell that the record refuses is tried again with the next one, and returned at
//! the end.

use archive::{Error, RunWriter};
use model::{Cell, Ending, Profile};
use std::collections::VecDeque;

/// What could not be written, and why.
#[derive(Debug)]
pub struct Unsaved {
    /// How many cells are in no record.
    pub cells: usize,
    /// Why.
    pub error: Error,
}

pub(crate) struct Keeper<'a> {
    archive: Option<&'a mut dyn RunWriter>,
    run: i64,
    unsaved: Vec<Cell>,
    /// Cells of the profile, by their index in it.
    unsaved_profiled: VecDeque<usize>,
    error: Option<Error>,
}

impl<'a> Keeper<'a> {
    /// Without an archive it keeps nothing, and fails never.
    pub fn new(archive: Option<&'a mut dyn RunWriter>, run: i64) -> Keeper<'a> {
        Keeper { archive, run, unsaved: Vec::new(), unsaved_profiled: VecDeque::new(), error: None }
    }

    /// Commits a cell, after those that could not be before.
    pub fn keep(&mut self, cell: &Cell) {
        if self.archive.is_some() {
            self.unsaved.push(cell.clone());
            self.try_again();
        }
    }

    /// Commits the cell of this index of the profile, after what could not be before.
    pub fn keep_profiled(&mut self, profile: &Profile, cell: usize) {
        if self.archive.is_some() {
            self.unsaved_profiled.push_back(cell);
            self.try_profile_again(profile);
        }
    }

    /// Commits what is left and closes the run.
    pub fn finish(mut self, profile: &Profile, ending: &Ending) -> Option<Unsaved> {
        self.try_profile_again(profile);
        let cells = self.unsaved.len() + self.unsaved_profiled.len();
        if cells == 0
            && let Some(archive) = &mut self.archive
        {
            self.error = archive.finish(self.run, ending).err();
        }
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

    fn try_profile_again(&mut self, profile: &Profile) {
        self.try_again();
        let Some(archive) = self.archive.as_mut().filter(|_| self.error.is_none()) else { return };
        while let Some(&cell) = self.unsaved_profiled.front() {
            if let Err(error) = archive.commit_profiled(self.run, profile, cell) {
                self.error = Some(error);
                return;
            }
            self.unsaved_profiled.pop_front();
        }
    }
}
