//! `knee simulate`: a model of a workload on a machine that is not at hand.

mod flags;
mod lock_model;
mod simulated_run;

use crate::commands::read::report;
use crate::commands::read::show;
use crate::exit::{Exit, Trouble};
use crate::output::{is_quiet, print, print_json, style};
use ::report::terminal::{self, Pointers};
use archive::{Archive, SqliteArchive};
use clap::{Args, Subcommand};
pub use flags::Lock;
use lock_model::Model;
use model::Run;

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
    conclude(lock, run)
}

/// Writes the page, and prints tables and findings.
fn conclude(ask: &Lock, run: Run) -> Result<Exit, Trouble> {
    let conclusions = findings::conclude(&run);
    let analysed = [(run, conclusions)];
    if let Some(file) = &ask.output {
        report::write(file, ask.record.as_deref(), &analysed)?;
    }
    let [(run, conclusions)] = &analysed;
    if ask.json {
        print_json(&::report::json::run(run, conclusions))?;
        return Ok(Exit::Done);
    }
    let mut files = Vec::new();
    if let Some(file) = &ask.output {
        files.push(format!("Report: {}", file.display()));
    }
    if let Some(file) = &ask.record {
        files.push(format!("Record: {} (run {})", file.display(), run.summary.number));
    }
    let style = style(ask.all);
    let tables = show::tables(run, conclusions, &style);
    let files = (!files.is_empty() && !is_quiet()).then(|| files.join("    "));
    let pointers = Pointers { all: "--all".to_owned(), lines: files.into_iter().collect() };
    let answer = terminal::answer(run, conclusions, &style, &pointers);
    print(&format!("{}\n\n{tables}{answer}", simulated_run::HEAD))?;
    Ok(Exit::Done)
}
