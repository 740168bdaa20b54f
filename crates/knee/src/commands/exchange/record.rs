//! `knee record`: what is recorded, and where.

use crate::args::{Place, Record, RecordAction};
use crate::commands::{Claim, nothing_yet, place};
use crate::exit::{Exit, Trouble, complain};
use crate::output::{print, print_exactly, print_json};
use ::record::{Archive, Error, Merged, RunState, RunSummary, SqliteArchive};
use printable::replace_unprintable;
use std::fmt::{Display, Write};
use std::path::{Path, PathBuf};

/// Does one of the things that can be done with a record.
pub fn record(ask: &Record) -> Result<Exit, Trouble> {
    match &ask.action {
        RecordAction::List { json, place } => list(place, *json),
        RecordAction::Path { place: named } => {
            print_exactly(&format!("{}\n", place(named)?.display()))
        }
        RecordAction::Merge { files, place } => return merge(place, files),
        RecordAction::Delete { runs, place } => delete(place, runs),
    }?;
    Ok(Exit::Done)
}

fn list(named: &Place, json: bool) -> Result<(), Trouble> {
    let file = place(named)?;
    let (runs, damaged) = match SqliteArchive::open_read_only(&file) {
        Ok(archive) => (archive.runs()?, archive.damaged()?),
        // The user's own record that nothing was measured into yet has no runs, and nothing wrong.
        Err(Error::NoRecord { .. } | Error::EmptyRecord { .. }) if named.file.is_none() => {
            (vec![], vec![])
        }
        Err(error) => return Err(error.into()),
    };
    if json {
        return print_json(
            &serde_json::json!({ "record": file, "runs": runs, "damaged": damaged }),
        );
    }
    if runs.is_empty() {
        return print(&format!("{} holds no runs yet; `knee run` measures one\n", file.display()));
    }
    let mut text =
        String::from("  run  id                started                    cells        command\n");
    for run in &runs {
        // Writing to a String can't fail.
        let damaged = if damaged.contains(&run.number) { "  (damaged)" } else { "" };
        let _ = writeln!(text, "{}{damaged}", replace_unprintable(&line(run)));
    }
    print(&text)
}

fn line(run: &RunSummary) -> String {
    let state = match run.state {
        RunState::Complete => "",
        RunState::Interrupted => "  (interrupted)",
        RunState::Open => "  (open)",
    };
    // Of a run that a budget ended, what was not needed was not to be measured.
    let complete = run.state == RunState::Complete;
    let planned = if complete { run.cells_ended } else { run.cells_planned };
    let cells = format!("{}/{planned}", run.cells_ended);
    let program = run.command.first().map(|path| path.rsplit('/').next().unwrap_or(path));
    let words: Vec<&str> =
        program.into_iter().chain(run.command.iter().skip(1).map(String::as_str)).collect();
    let command = words.join(" ");
    format!("{:>5}  {}  {:<25}  {cells:<11}  {command}{state}", run.number, run.id, run.started)
}

/// Brings the runs of all `files` together. One that contradicts what is there is named, and the others
/// are merged all the same.
fn merge(named: &Place, files: &[PathBuf]) -> Result<Exit, Trouble> {
    // A record that can't be read is found out before anything is changed.
    let others: Result<Vec<SqliteArchive>, Error> =
        files.iter().map(SqliteArchive::open_untouched).collect();
    let (others, mut into) = (others?, SqliteArchive::open(place(named)?)?);
    let (mut alike, mut refused) = (0, 0);
    for (other, file) in others.iter().zip(files) {
        for run in other.runs()? {
            match merge_one(&mut into, other, &run, file)? {
                Some(Merged::Alike) => alike += 1,
                Some(_) => {}
                None => refused += 1,
            }
        }
    }
    if alike > 0 {
        let were = if alike == 1 { "run was" } else { "runs were" };
        print(&format!("{alike} {were} there already\n"))?;
    }
    print(&format!("Record: {}\n", into.path().display()))?;
    Ok(if refused == 0 { Exit::Done } else { Exit::Failed })
}

/// Merges one run of `other` and says what became of it; nothing, where it can't be merged.
fn merge_one(
    into: &mut SqliteArchive,
    other: &SqliteArchive,
    run: &RunSummary,
    file: &Path,
) -> Result<Option<Merged>, Trouble> {
    let (number, file) = (run.number, file.display());
    let refused = |why: &dyn Display| {
        complain(&format!("knee: {file}: {why}"));
        Ok(None)
    };
    // One that is being measured is left for another time.
    let _claim = match Claim::of(&run.id) {
        Ok(claim) => claim,
        Err(trouble) => return refused(&trouble),
    };
    let whole = match other.load(number) {
        Ok(whole) => whole,
        Err(error @ Error::Damaged { .. }) => {
            return refused(&format!("run {number} is left out: {error}"));
        }
        Err(error) => return Err(error.into()),
    };
    let id = replace_unprintable(&run.id);
    let merged = match ::record::merge(into, &whole) {
        Ok(merged) => merged,
        Err(error @ Error::RunDiffers { .. }) => return refused(&error),
        Err(error) => return Err(error.into()),
    };
    match merged {
        Merged::Copied(new) => {
            print(&format!("Copied run {number} of {file} ({id}): it is run {new}\n"))?;
        }
        Merged::Completed(cells) => {
            print(&format!("Completed {id} with {cells} cells of {file}\n"))?;
        }
        Merged::Alike => {}
    }
    Ok(Some(merged))
}

fn delete(named: &Place, names: &[String]) -> Result<(), Trouble> {
    let file = place(named)?;
    // Opening it to write would make one where there is none.
    let there = SqliteArchive::open_read_only(&file);
    drop(there.map_err(|error| nothing_yet(error, named.file.is_some()))?);
    let mut archive = SqliteArchive::open(&file)?;
    let numbers: Result<Vec<i64>, Error> = names.iter().map(|name| archive.resolve(name)).collect();
    let runs = archive.runs()?;
    for number in numbers? {
        let run = runs.iter().find(|run| run.number == number);
        let _claim = run.map(|run| Claim::of(&run.id)).transpose()?;
        archive.delete(number)?;
        print(&format!("Deleted run {number}\n"))?;
    }
    Ok(())
}
