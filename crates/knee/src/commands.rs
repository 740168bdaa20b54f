//! The commands, one file each, in rooms by what they are for; and the record in use.

pub mod exchange;
pub mod generate;
pub mod httpd;
pub mod keep;
pub mod machine;
pub mod measure;
pub mod read;

use crate::commands::keep::record_file::RecordFile;
use crate::exit::{Trouble, complain};
use crate::remedies::explained;
use archive::{Archive, Error, Location, RunRef, default_path};
use findings::{Conclusions, Reader};
use model::{Run, RunState};
use std::path::{Path, PathBuf};

/// The record in use: the one that was named, or the user's own.
fn record_location(record_file: &RecordFile) -> Result<Location, Trouble> {
    record_file.named().map_or_else(|| Ok(Location::File(default_path()?)), Ok)
}

/// The same for what works on a file only, such as measuring; a database is refused.
fn record_path(record_file: &RecordFile) -> Result<PathBuf, Trouble> {
    Ok(record_location(record_file)?.into_file()?)
}

/// Reads the run of this `name`, from the file in the name or the record in use.
fn read_run(name: &str, in_use: &RecordFile) -> Result<Run, Trouble> {
    let (archive, number) = resolved(name, in_use)?;
    Ok(archive.load(number)?)
}

/// A run; one that can't be read is named and left out.
fn loaded(archive: &dyn Archive, number: i64) -> Option<Run> {
    let run = archive.load(number);
    run.inspect_err(|error| {
        complain(&format!("knee: run {number} is left out: {}", explained(error)));
    })
    .ok()
}

/// The number of the run of this `name`, and the archive that has it, to read.
fn resolved(name: &str, in_use: &RecordFile) -> Result<(Box<dyn Archive>, i64), Trouble> {
    let meant = RunRef::parse(name)?;
    let named = meant.record.is_some() || in_use.named().is_some();
    let location = meant.record.map_or_else(|| record_location(in_use), Ok)?;
    let resolved = archive::open_read_only(&location).and_then(|archive| {
        let number = archive.resolve(&meant.run)?;
        Ok((archive, number))
    });
    resolved.map_err(|error| nothing_yet(error, named))
}

/// What is concluded from a run that was read by this `name`: commands about it name its record if they have to.
fn concluded(run: &Run, name: &str, in_use: &RecordFile) -> Conclusions {
    let of_name = RunRef::parse(name).ok().and_then(|meant| meant.record);
    let of_name = of_name.as_ref().map(Location::shown);
    let record = of_name.or_else(|| in_use.flag()).map(Path::to_path_buf);
    let host = (run.summary.state != RunState::Complete).then(engine::host);
    findings::conclude_for(run, &Reader { record, host })
}

/// Runs with what is concluded from each.
fn concluded_runs(runs: impl IntoIterator<Item = Run>) -> Vec<(Run, Conclusions)> {
    let concluded = |run: Run| {
        let conclusions = findings::conclude(&run);
        (run, conclusions)
    };
    runs.into_iter().map(concluded).collect()
}

/// The record in use, to read: opening it to write would make one where there is none.
fn opened(in_use: &RecordFile) -> Result<Box<dyn Archive>, Trouble> {
    let archive = archive::open_read_only(&record_location(in_use)?);
    archive.map_err(|error| nothing_yet(error, in_use.named().is_some()))
}

/// Where no record was named, it is no usage error that there is none yet.
fn nothing_yet(error: Error, named: bool) -> Trouble {
    match error {
        Error::NoRecord { .. } | Error::EmptyRecord { .. } if !named => {
            Trouble::not_possible(explained(&error))
        }
        error => error.into(),
    }
}
