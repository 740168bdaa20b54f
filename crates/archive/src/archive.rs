//! The seam between measuring and keeping: whatever can hold runs implements [`Archive`].

use crate::{Error, Location, reference};
use model::{Cell, Ending, Host, Plan, Profile, Run, RunSummary};
use std::borrow::Cow;

/// Takes a run while it is measured. Each cell is durable when [`RunWriter::commit`] returns.
pub trait RunWriter {
    /// Begins a run, which has no cells yet, and returns its number.
    ///
    /// The summary's number, state, end and count of ended cells are the archive's own business
    /// and are not taken from `run`.
    ///
    /// # Errors
    /// [`Error::RunTwice`] for an id that is here already; [`Error::Invalid`] for a run that has
    /// cells or a profile, or a clock whose figures are not finite; else why it can't be written.
    fn begin(&mut self, run: &Run) -> Result<i64, Error>;

    /// Adds one ended cell, wholly or not at all.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`], [`Error::RunNotOpen`]; [`Error::CellTwice`] when the run has a cell
    /// of that sequence; [`Error::Invalid`] for figures that can't be kept (see [`Error::Invalid`]);
    /// else why it can't be written.
    fn commit(&mut self, run: i64, cell: &Cell) -> Result<(), Error>;

    /// Adds `profile.cells[cell]`, wholly or not at all, with the frames, stacks and code of `profile` that the run
    /// has not yet. A profile only grows: it begins with what the run has.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`], [`Error::RunNotOpen`]; [`Error::Invalid`] when the run has a profile of that cell, when
    /// `profile` does not begin with what the run has, or does not pass [`Profile::check`]; else why it can't be
    /// written.
    fn commit_profiled(&mut self, run: i64, profile: &Profile, cell: usize) -> Result<(), Error>;

    /// Closes a run.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`], [`Error::RunNotOpen`]; [`Error::Invalid`] when the ending's state is
    /// [`RunState::Open`]; else why it can't be written.
    fn finish(&mut self, run: i64, ending: &Ending) -> Result<(), Error>;
}

/// Keeps runs.
///
/// A run's number is its place in one archive and is never given again after [`Archive::delete`];
/// its id is the same wherever it is copied to. So an archive refuses a second run of the same id,
/// and copying runs between archives needs nothing but these methods: load, begin, commit, finish.
pub trait Archive: RunWriter {
    /// Where it is, for messages.
    fn location(&self) -> &Location;

    /// Marks a run as open again, so that its remaining cells can be committed. Its end and its
    /// last look at the machine are forgotten; its cells and warnings stay.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`]; [`Error::RunComplete`] when nothing of it is left to measure; else
    /// why it can't be written.
    fn reopen(&mut self, run: i64) -> Result<(), Error>;

    /// Gives an open run another plan: of a load that ends after so many requests, the number of rounds is not known
    /// before.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`], [`Error::RunNotOpen`]; else why it can't be written.
    fn replan(&mut self, run: i64, plan: &Plan) -> Result<(), Error>;

    /// Every run, oldest first.
    ///
    /// # Errors
    /// Why the archive can't be read.
    fn runs(&self) -> Result<Vec<RunSummary>, Error>;

    /// The number of the run that a person names: `last`, a number, or the beginning of an id that
    /// no other run shares.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`], [`Error::EmptyRecord`]; else why the archive
    /// can't be read.
    fn resolve(&self, name: &str) -> Result<i64, Error> {
        reference::pick(&self.runs()?, name, self.location().shown())
    }

    /// The run of this whole id, if it is here.
    ///
    /// # Errors
    /// Why the archive can't be read.
    fn find(&self, id: &str) -> Result<Option<RunSummary>, Error>;

    /// One run with its cells.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`]; else why the archive can't be read.
    fn load(&self, run: i64) -> Result<Run, Error>;

    /// What a run was planned to measure, and the machine before it began: without its cells, which are nearly
    /// all of it.
    ///
    /// # Errors
    /// As [`Archive::load`].
    fn plan_and_host(&self, run: i64) -> Result<(Plan, Host), Error>;

    /// Numbers of the runs that are not as they were kept, so far as that is seen without their cells.
    ///
    /// # Errors
    /// Why the archive can't be read.
    fn damaged(&self) -> Result<Vec<i64>, Error>;

    /// Keeps a run that is measured already, wholly or not at all, and returns its number. `origin` says how it
    /// came here, as [`RunSummary::origin`].
    ///
    /// # Errors
    /// As [`RunWriter::begin`], [`RunWriter::commit`], [`RunWriter::commit_profiled`] and [`RunWriter::finish`].
    fn keep(&mut self, run: &Run, origin: &str) -> Result<i64, Error>;

    /// The run as [`Archive::load`] returns it once it is kept: without user names and passwords in URLs, and an archive
    /// may have to write some characters otherwise.
    ///
    /// # Errors
    /// [`Error::Invalid`] for figures that can't be kept.
    fn as_kept<'a>(&self, run: &'a Run) -> Result<Cow<'a, Run>, Error>;

    /// Gives a run a name to be compared by, in this archive alone; a run that had the name loses it.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`]; else why it can't be written.
    fn set_baseline(&mut self, name: &str, run: i64) -> Result<(), Error>;

    /// Every such name with the number of its run, by name.
    ///
    /// # Errors
    /// Why the archive can't be read.
    fn baselines(&self) -> Result<Vec<(String, i64)>, Error>;

    /// Does all that `work` does with this archive as one: when this returns, all of it is durable; where
    /// it fails or is cut off, nothing of it was done. [`Archive::load`] has no place in it.
    ///
    /// # Errors
    /// What `work` came to; else why it can't be written.
    fn wholly(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Archive) -> Result<(), Error>,
    ) -> Result<(), Error>;

    /// Removes a run for good, and the names that it had.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`]; else why it can't be written.
    fn delete(&mut self, run: i64) -> Result<(), Error>;
}
