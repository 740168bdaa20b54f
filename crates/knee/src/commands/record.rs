//! `knee record`: what is recorded, and where.

use crate::args::{Place, Record, RecordAction};
use crate::commands::{Claim, place};
use crate::exit::{Exit, Trouble};
use crate::output::{print, print_json};
use ::record::{Archive, Error, RunState, RunSummary, SqliteArchive};
use std::fmt::Write;

/// Does one of the things that can be done with a record.
pub fn record(ask: &Record) -> Result<Exit, Trouble> {
    match &ask.action {
        RecordAction::List { json, place } => list(place, *json),
        RecordAction::Path { place: named } => print(&format!("{}\n", place(named)?.display())),
        RecordAction::Delete { runs, place } => delete(place, runs),
    }?;
    Ok(Exit::Done)
}

fn list(named: &Place, json: bool) -> Result<(), Trouble> {
    let file = place(named)?;
    let runs = match SqliteArchive::open_read_only(&file) {
        Ok(archive) => archive.runs()?,
        // The user's own record that nothing was measured into yet has no runs, and nothing wrong.
        Err(Error::NoRecord { .. } | Error::EmptyRecord { .. }) if named.file.is_none() => vec![],
        Err(error) => return Err(error.into()),
    };
    if json {
        return print_json(&serde_json::json!({ "record": file, "runs": runs }));
    }
    if runs.is_empty() {
        return print(&format!("{} holds no runs yet; `knee run` measures one\n", file.display()));
    }
    let mut text =
        String::from("  run  id                started                    cells        command\n");
    for run in &runs {
        // Writing to a String can't fail.
        let _ = writeln!(text, "{}", line(run));
    }
    print(&text)
}

fn line(run: &RunSummary) -> String {
    let state = match run.state {
        RunState::Complete => "",
        RunState::Interrupted => "  (interrupted)",
        RunState::Open => "  (open)",
    };
    let cells = format!("{}/{}", run.cells_ended, run.cells_planned);
    let program = run.command.first().map(|path| path.rsplit('/').next().unwrap_or(path));
    let words: Vec<&str> =
        program.into_iter().chain(run.command.iter().skip(1).map(String::as_str)).collect();
    let command = words.join(" ");
    format!("{:>5}  {}  {:<25}  {cells:<11}  {command}{state}", run.number, run.id, run.started)
}

fn delete(named: &Place, names: &[String]) -> Result<(), Trouble> {
    let file = place(named)?;
    // Opening it to write would make one where there is none.
    drop(SqliteArchive::open_read_only(&file)?);
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
