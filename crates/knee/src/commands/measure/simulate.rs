//! `knee simulate`: a model of a workload on a machine that is not at hand.

mod flags;
mod lock_model;
mod simulated_run;

use crate::commands::read::report;
use crate::commands::read::show;
use crate::exit::{Exit, Trouble};
use archive::{Archive, SqliteArchive};
use clap::{Args, Subcommand};
pub use flags::Lock;
use lock_model::Model;

/// Simulate a workload on a machine that one does not have
///
/// Nothing is measured: a model computes how threads and a lock get along.
#[derive(Args, Debug)]
pub struct Simulate {
    #[command(subcommand)]
    pub what: What,
}

#[derive(Debug, Subcommand)]
pub enum What {
    /// Threads that take turns at a lock, on any number of CPUs
    Lock(Box<Lock>),
}

pub fn simulate(ask: &Simulate, words: Vec<String>) -> Result<Exit, Trouble> {
    let What::Lock(lock) = &ask.what;
    if let Some(page) = &lock.output {
        report::check(page, lock.record.as_deref())?;
    }
    if let Some(file) = &lock.record
        && file.exists()
    {
        // A file that is no record is refused before anything is computed.
        drop(SqliteArchive::open_read_only(file)?);
    }
    let model = Model::new(lock)?;
    let mut run = simulated_run::run(&model, model.cells()?, words);
    if let Some(file) = &lock.record {
        run.summary.number = SqliteArchive::open(file)?.keep(&run, "")?;
    }
    let (conclusions, files) = (findings::conclude(&run), [&lock.output, &lock.record]);
    let files = files.map(|file| file.as_deref());
    show::show_analysed((run, conclusions), simulated_run::HEAD, files, (lock.all, lock.json))
}
