//! What an archive does with runs, once for every kind of database. A [`Database`] keeps rows and knows nothing of what is in
//! their bodies.

use crate::body::{CellRow, Keep, KeptSummary, ProfileRow, RunBodies, RunRow};
use crate::{Archive, Error, Location, RunWriter, keeping};
use model::{Cell, CellKey, Ending, Host, Plan, Profile, Run, RunState, RunSummary};
use std::borrow::Cow;
use std::path::Path;

/// Which runs are asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which<'a> {
    /// All, oldest first.
    All,
    /// The one of this whole id.
    Id(&'a str),
    /// The one of this number.
    Number(i64),
    /// The same, which no other process changes until the transaction ends.
    Locked(i64),
}

/// A change of a run's row.
#[derive(Debug)]
pub(crate) struct RunChange<'a> {
    /// The new row.
    pub row: &'a RunRow,
    /// What is in its summary.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "PostgreSQL has columns of it")
    )]
    pub summary: &'a RunSummary,
    /// The new body, where that changes.
    pub begun: Option<&'a str>,
    /// The same.
    pub ending: Option<&'a str>,
}

/// Rows of runs, cells and profiled cells in one database. Whatever implements it is an [`Archive`]. Each method fails with
/// the reason why the database can't be read or written, or with what its `work` or a row came to.
pub(crate) trait Database {
    /// Where it is, for messages.
    fn location(&self) -> &Location;

    /// A text as it is kept.
    fn text(text: &str) -> String
    where
        Self: Sized,
    {
        keeping::clean(text)
    }

    /// Does `work` in a transaction that writes, or in the one that is open: all of it is durable when the outermost one
    /// returns, or nothing of it was done.
    fn write<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error>
    where
        Self: Sized;

    /// Does `work` in a transaction that reads, so that all is of one moment.
    fn read<T>(&self, work: impl FnOnce(&Self) -> Result<T, Error>) -> Result<T, Error>
    where
        Self: Sized;

    /// Rows of runs.
    fn rows(&self, which: Which<'_>) -> Result<Vec<RunRow>, Error>;

    /// The bodies of a run that is there.
    fn bodies(&self, run: i64) -> Result<RunBodies, Error>;

    /// Adds a run and returns its number. `summary` is what is in the row.
    /// [`Error::RunTwice`] where its id is there.
    fn insert_run(
        &mut self,
        row: &RunRow,
        summary: &RunSummary,
        bodies: &RunBodies,
    ) -> Result<i64, Error>;

    /// Changes a run that is there.
    fn update_run(&mut self, change: &RunChange<'_>) -> Result<(), Error>;

    /// Whether a run has a cell of this place in its plan.
    fn has_cell(&self, run: i64, sequence: i64) -> Result<bool, Error>;

    /// Adds cells behind those that are there.
    fn insert_cells(
        &mut self,
        run: i64,
        rows: &mut dyn Iterator<Item = Result<CellRow, Error>>,
    ) -> Result<(), Error>;

    /// The cells of a run, in the order in which they ended.
    fn cells(&self, run: i64) -> Result<Vec<CellRow>, Error>;

    /// Whether a run has a profiled cell with this key.
    fn has_profiled(&self, run: i64, key: &str) -> Result<bool, Error>;

    /// Adds profiled cells behind those that are there.
    fn insert_profiled(&mut self, run: i64, rows: &[ProfileRow]) -> Result<(), Error>;

    /// The profiled cells of a run in their order, or only the last one.
    fn profiled(&self, run: i64, only_last: bool) -> Result<Vec<ProfileRow>, Error>;

    /// Gives a run that is there a name; a run that had the name loses it.
    fn name_run(&mut self, name: &str, run: i64) -> Result<(), Error>;

    /// All such names, sorted.
    fn names(&self) -> Result<Vec<(String, i64)>, Error>;

    /// Removes a run with all that belongs to it; `false` where it is not there.
    fn remove(&mut self, run: i64) -> Result<bool, Error>;

    /// What is to be done after runs have ended or are gone: giving room back.
    fn settle(&mut self, done: Done) -> Result<(), Error>;
}

/// What was done to runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// A run has ended.
    Ended,
    /// A run was removed.
    Removed,
}

impl<D: Database> RunWriter for D {
    fn begin(&mut self, run: &Run) -> Result<i64, Error> {
        if !run.cells.is_empty() || !run.profile.is_empty() {
            let what = "a run that begins with cells".into();
            return Err(Error::Invalid { path: path_of(self).into(), what });
        }
        self.write(|database| insert(database, run, "", None))
    }

    fn commit(&mut self, run: i64, cell: &Cell) -> Result<(), Error> {
        self.write(|database| {
            let (row, _) = open(database, run)?;
            let (path, sequence) = (path_of(database), cell.sequence);
            let cell = keep(database).cell(&row.id, cell)?;
            if database.has_cell(run, sequence.cast_signed())? {
                return Err(Error::CellTwice { path: path.into(), run, sequence });
            }
            database.insert_cells(run, &mut std::iter::once(Ok(cell)))
        })
    }

    fn commit_profiled(&mut self, run: i64, profile: &Profile, cell: usize) -> Result<(), Error> {
        self.write(|database| {
            let (row, _) = open(database, run)?;
            let path = path_of(database);
            let Some(cell) = profile.cells.get(cell) else {
                let what = format!("cell {cell} of a profile of {}", profile.cells.len());
                return Err(Error::Invalid { path: path.into(), what });
            };
            let last = database.profiled(run, true)?;
            let cell = std::slice::from_ref(cell);
            let rows = keep(database).profiled(&row.id, profile, cell, last.first())?;
            for row in &rows {
                if database.has_profiled(run, &row.key)? {
                    return Err(profiled_twice(&cell[0].key, path));
                }
            }
            database.insert_profiled(run, &rows)
        })
    }

    fn finish(&mut self, run: i64, ending: &Ending) -> Result<(), Error> {
        if ending.state == RunState::Open {
            let what = "an ending that leaves the run open".into();
            return Err(Error::Invalid { path: path_of(self).into(), what });
        }
        self.write(|database| {
            let (row, kept) = open(database, run)?;
            let (host, warnings) = (Some(&ending.host_after), &ending.warnings[..]);
            let body = keep(database).ending(host, warnings)?;
            change_ending(database, &row, kept, (ending.state, Some(ending.ended.clone())), &body)
        })?;
        self.settle(Done::Ended)
    }
}

impl<D: Database> Archive for D {
    fn location(&self) -> &Location {
        Database::location(self)
    }

    fn reopen(&mut self, run: i64) -> Result<(), Error> {
        self.write(|database| {
            let (row, kept) = locked(database, run)?;
            if kept.summary.state == RunState::Complete {
                return Err(Error::RunComplete { path: path_of(database).into(), run });
            }
            let last = row.last(&kept, &database.bodies(run)?, path_of(database))?;
            let body = keep(database).ending(None, &last.warnings)?;
            change_ending(database, &row, kept, (RunState::Open, None), &body)
        })
    }

    fn replan(&mut self, run: i64, plan: &Plan) -> Result<(), Error> {
        self.write(|database| {
            let (row, mut kept) = open(database, run)?;
            let bodies = database.bodies(run)?;
            let begun = row.begun(&kept, &bodies, path_of(database))?;
            let begun = keep(database).replanned(begun, plan)?;
            kept.set_begun(&begun);
            kept.summary.cells_planned = plan.cells.len() as u64;
            let row = &keep(database).row(&kept)?;
            let summary = &kept.summary;
            database.update_run(&RunChange { row, summary, begun: Some(&begun), ending: None })
        })
    }

    fn runs(&self) -> Result<Vec<RunSummary>, Error> {
        Ok(self.rows(Which::All)?.iter().map(RunRow::shown).collect())
    }

    fn find(&self, id: &str) -> Result<Option<RunSummary>, Error> {
        Ok(self.rows(Which::Id(id))?.first().map(RunRow::shown))
    }

    fn load(&self, run: i64) -> Result<Run, Error> {
        self.read(|database| {
            let path = path_of(database);
            let row = run_row(database, run, false)?;
            let kept = row.read(path)?;
            let (cells, profiled) = (database.cells(run)?, database.profiled(run, false)?);
            row.whole(kept, &database.bodies(run)?, cells, &profiled, path)
        })
    }

    fn plan_and_host(&self, run: i64) -> Result<(Plan, Host), Error> {
        self.read(|database| {
            let path = path_of(database);
            let row = run_row(database, run, false)?;
            let begun = row.begun(&row.read(path)?, &database.bodies(run)?, path)?;
            Ok((begun.plan.into_owned(), begun.host_before.into_owned()))
        })
    }

    fn damaged(&self) -> Result<Vec<i64>, Error> {
        let path = path_of(self);
        let rows = self.rows(Which::All)?;
        let mut damaged: Vec<i64> =
            rows.iter().filter(|row| row.read(path).is_err()).map(|row| row.number).collect();
        damaged.sort_unstable();
        Ok(damaged)
    }

    fn keep(&mut self, run: &Run, origin: &str) -> Result<i64, Error> {
        let ending = Ending::from_run(run);
        self.write(|database| {
            let number = insert(database, run, origin, ending.as_ref())?;
            let (keep, id) = (keep(database), &run.summary.id);
            database.insert_cells(number, &mut run.cells.iter().map(|cell| keep.cell(id, cell)))?;
            let Profile { cells, .. } = &run.profile;
            if cells.is_empty() {
                return Ok(number);
            }
            let rows = keep.profiled(id, &run.profile, cells, None)?;
            database.insert_profiled(number, &rows)?;
            Ok(number)
        })
    }

    fn as_kept<'a>(&self, run: &'a Run) -> Result<Cow<'a, Run>, Error> {
        keeping::as_kept(run, &D::text, path_of(self))
    }

    fn set_baseline(&mut self, name: &str, run: i64) -> Result<(), Error> {
        self.write(|database| {
            run_row(database, run, true)?;
            database.name_run(name, run)
        })
    }

    fn baselines(&self) -> Result<Vec<(String, i64)>, Error> {
        self.names()
    }

    fn wholly(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Archive) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.write(|database| work(database))
    }

    fn delete(&mut self, run: i64) -> Result<(), Error> {
        self.write(
            |database| {
                if database.remove(run)? { Ok(()) } else { Err(no_such_run(database, run)) }
            },
        )?;
        self.settle(Done::Removed)
    }
}

fn path_of(database: &impl Database) -> &Path {
    database.location().shown()
}

/// How this database keeps things.
fn keep<D: Database>(database: &D) -> Keep {
    Keep { rule: D::text, path: path_of(database).to_owned() }
}

/// Adds a run without its cells. Without an `ending` it is open.
fn insert<D: Database>(
    database: &mut D,
    run: &Run,
    origin: &str,
    ending: Option<&Ending>,
) -> Result<i64, Error> {
    let keep = keep(database);
    let bodies = RunBodies {
        begun: keep.begun(run)?,
        ending: keep.ending(ending.map(|ending| &ending.host_after), &run.warnings)?,
    };
    let mut kept = KeptSummary::new(run, &bodies);
    let summary = &mut kept.summary;
    origin.clone_into(&mut summary.origin);
    summary.state = ending.map_or(RunState::Open, |ending| ending.state);
    summary.ended = ending.map(|ending| ending.ended.clone());
    let row = keep.row(&kept)?;
    database.insert_run(&row, &kept.summary, &bodies)
}

/// Ends a run, or opens it again.
fn change_ending<D: Database>(
    database: &mut D,
    row: &RunRow,
    mut kept: KeptSummary,
    (state, ended): (RunState, Option<String>),
    body: &str,
) -> Result<(), Error> {
    kept.set_ending(row, state, ended, body);
    let row = &keep(database).row(&kept)?;
    let summary = &kept.summary;
    database.update_run(&RunChange { row, summary, begun: None, ending: Some(body) })
}

fn run_row(database: &impl Database, run: i64, is_locked: bool) -> Result<RunRow, Error> {
    let which = if is_locked { Which::Locked(run) } else { Which::Number(run) };
    database.rows(which)?.pop().ok_or_else(|| no_such_run(database, run))
}

/// A run that no other process changes until this transaction ends.
fn locked(database: &impl Database, run: i64) -> Result<(RunRow, KeptSummary), Error> {
    let row = run_row(database, run, true)?;
    let kept = row.read(path_of(database))?;
    Ok((row, kept))
}

/// The same, which is open.
fn open(database: &impl Database, run: i64) -> Result<(RunRow, KeptSummary), Error> {
    let (row, kept) = locked(database, run)?;
    match kept.summary.state {
        RunState::Open => Ok((row, kept)),
        state => Err(Error::RunNotOpen { path: path_of(database).into(), run, state }),
    }
}

fn no_such_run(database: &impl Database, run: i64) -> Error {
    Error::NoSuchRun { path: path_of(database).into(), run: run.to_string() }
}

fn profiled_twice(key: &CellKey, path: &Path) -> Error {
    let CellKey { workload, subject, point, .. } = key;
    let what = format!("a second profile of {workload}, {subject} at {point}");
    Error::Invalid { path: path.into(), what }
}
