//! `knee record`: what is recorded, and where.

use crate::commands::keep::claim::Claim;
use crate::commands::keep::push;
use crate::commands::keep::record_file::{RecordFile, archive};
use crate::commands::{opened, record_location};
use crate::exit::{Exit, Trouble, complain};
use crate::output::{print, print_exactly, print_json, print_note};
use crate::remedies::explained;
use archive::{Archive, Error, Location, Merged, pick};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use model::{RunState, RunSummary};
use printable::{quantity, replace_unprintable};
use std::fmt::{Display, Write};
use std::path::PathBuf;

const SECONDS_OF_A_DAY: i64 = 86_400;

#[derive(Args, Debug)]
pub struct Record {
    #[command(subcommand)]
    pub action: RecordAction,
}

#[derive(Debug, Subcommand)]
pub enum RecordAction {
    /// List the runs
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        record_file: RecordFile,
    },
    /// Print where the record is
    Path {
        #[command(flatten)]
        record_file: RecordFile,
    },
    /// Bring the runs of other records into this one: what is there stays, what is missing is added
    Merge {
        /// Records to bring them from
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        record_file: RecordFile,
    },
    /// Add runs to an archive that many machines share: what is there already is passed over
    Push {
        /// The archive: `postgres://USER@HOST/DATABASE`, or a file
        #[arg(value_name = "URL", value_parser = archive())]
        archive: Location,
        /// Numbers, beginnings of ids, or `last` [default: all that do not go on]
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        #[command(flatten)]
        record_file: RecordFile,
    },
    /// Remove old runs for good, and keep those that are baselines
    Prune {
        /// Keep the runs that began in the last N days: 90d
        #[arg(long, value_name = "Nd", value_parser = days)]
        keep: u32,
        #[command(flatten)]
        record_file: RecordFile,
    },
    /// Remove runs for good
    Delete {
        /// Numbers, beginnings of ids, `last` or `last@HOST`
        #[arg(value_name = "RUN", required = true)]
        runs: Vec<String>,
        #[command(flatten)]
        record_file: RecordFile,
    },
}

pub fn record(ask: &Record) -> Result<Exit, Trouble> {
    match &ask.action {
        RecordAction::List { json, record_file } => list(record_file, *json),
        RecordAction::Path { record_file: named } => {
            print_exactly(&format!("{}\n", record_location(named)?))
        }
        RecordAction::Merge { files, record_file } => return merge(record_file, files),
        RecordAction::Push { archive, runs, record_file } => {
            return push::push(archive, runs, record_file);
        }
        RecordAction::Prune { keep, record_file } => prune(record_file, *keep),
        RecordAction::Delete { runs, record_file } => delete(record_file, runs),
    }?;
    Ok(Exit::Done)
}

fn list(named: &RecordFile, json: bool) -> Result<(), Trouble> {
    let location = record_location(named)?;
    let (runs, damaged) = match archive::open_read_only(&location) {
        Ok(archive) => (archive.runs()?, archive.damaged()?),
        // The user's own record that nothing was measured into yet has no runs, and nothing wrong.
        Err(Error::NoRecord { .. } | Error::EmptyRecord { .. }) if named.named().is_none() => {
            (vec![], vec![])
        }
        Err(error) => return Err(error.into()),
    };
    if json {
        let runs: Vec<serde_json::Value> = runs.iter().map(listed).collect();
        return print_json(
            &serde_json::json!({ "record": location.shown(), "runs": runs, "damaged": damaged }),
        );
    }
    if runs.is_empty() {
        return print(&format!("{location} holds no runs yet; `knee run` measures one\n"));
    }
    let host_width = host_width(&runs);
    let host = host_width.map_or_else(String::new, |width| format!("{:<width$}  ", "host"));
    let mut text =
        format!("  run  id                started                    {host}cells        command\n");
    for run in &runs {
        let damaged = if damaged.contains(&run.number) { "  (damaged)" } else { "" };
        let _ = writeln!(text, "{}{damaged}", replace_unprintable(&line(run, host_width)));
    }
    print(&text)
}

fn listed(run: &RunSummary) -> serde_json::Value {
    let mut value = serde_json::json!(run);
    value["host"] = serde_json::json!((!run.host.is_empty()).then_some(&run.host));
    value
}

const HOST_WIDTH_MAX: usize = 24;

/// The width of the column of hosts; `None` where all runs are of one, and it has no column.
fn host_width(runs: &[RunSummary]) -> Option<usize> {
    let differ = runs.windows(2).any(|pair| pair[0].host != pair[1].host);
    let width_max = runs.iter().map(|run| run.host.chars().count()).max().unwrap_or(0);
    differ.then_some(width_max.clamp("host".len(), HOST_WIDTH_MAX))
}

fn line(run: &RunSummary, host_width: Option<usize>) -> String {
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
    let host = host_width.map_or_else(String::new, |width| {
        let name = if run.host.is_empty() { "-" } else { &run.host };
        format!("{name:<width$.width$}  ")
    });
    let RunSummary { number, id, started, .. } = run;
    format!("{number:>5}  {id}  {started:<25}  {host}{cells:<11}  {command}{state}")
}

/// Merges the runs of all `files` into the record. A run that contradicts the record is named and left out.
fn merge(named: &RecordFile, files: &[PathBuf]) -> Result<Exit, Trouble> {
    // A record that can't be read is found out before anything is changed.
    let locations: Vec<Location> = files.iter().map(|file| file.as_os_str().into()).collect();
    let sources: Result<Vec<Box<dyn Archive>>, Error> =
        locations.iter().map(archive::open_read_only).collect();
    let (sources, mut into) = (sources?, archive::open(&record_location(named)?)?);
    let (mut alike, mut refused) = (0, 0);
    for source in &sources {
        for run in source.runs()? {
            match merge_run(&mut *into, &**source, &run)? {
                Some(Merged::Alike) => alike += 1,
                Some(_) => {}
                None => refused += 1,
            }
        }
    }
    if alike > 0 {
        let were = if alike == 1 { "run was" } else { "runs were" };
        print_note(&format!("{alike} {were} there already\n"))?;
    }
    print_note(&format!("Record: {}\n", into.location()))?;
    Ok(if refused == 0 { Exit::Done } else { Exit::Failed })
}

fn merge_run(
    into: &mut dyn Archive,
    source: &dyn Archive,
    run: &RunSummary,
) -> Result<Option<Merged>, Trouble> {
    let (number, file) = (run.number, source.location());
    let refused = |why: &dyn Display| {
        complain(&format!("knee: {file}: {why}"));
        Ok(None)
    };
    // A run that is being measured is left out.
    let _claim = match Claim::new(&run.id, file.file()) {
        Ok(claim) => claim,
        Err(trouble) => return refused(&trouble),
    };
    let whole = match source.load(number) {
        Ok(whole) => whole,
        Err(error @ Error::Damaged { .. }) => {
            return refused(&format!("run {number} is left out: {}", explained(&error)));
        }
        Err(error) => return Err(error.into()),
    };
    let id = replace_unprintable(&run.id);
    let merged = match archive::merge(into, &whole) {
        Ok(merged) => merged,
        Err(error @ Error::RunDiffers { .. }) => return refused(&error),
        Err(error) => return Err(error.into()),
    };
    match merged {
        Merged::Copied(new) => {
            print_note(&format!("Copied run {number} of {file} ({id}): it is run {new}\n"))?;
        }
        Merged::Completed(cells) => {
            print_note(&format!("Completed {id} with {cells} cells of {file}\n"))?;
        }
        Merged::Alike => {}
    }
    Ok(Some(merged))
}

fn days(typed: &str) -> Result<u32, String> {
    let number = typed.trim().strip_suffix('d').and_then(|number| number.trim_end().parse().ok());
    number.ok_or_else(|| format!("`{typed}` is not a number of days (such as 90d)"))
}

/// Removes the runs that began before the last `days` days, but for baselines and what is being measured.
fn prune(named: &RecordFile, days: u32) -> Result<(), Trouble> {
    let location = opened(named)?.location().clone();
    let mut archive = archive::open(&location)?;
    let baselines: Vec<i64> = archive.baselines()?.into_iter().map(|(_, run)| run).collect();
    let kept_since = Timestamp::now().as_second() - i64::from(days) * SECONDS_OF_A_DAY;
    let is_old = |run: &RunSummary| {
        run.started.parse::<Timestamp>().is_ok_and(|started| started.as_second() < kept_since)
    };
    let (mut deleted, mut runs) = (0_u64, 0_u64);
    for run in archive.runs()? {
        runs += 1;
        if !is_old(&run) || baselines.contains(&run.number) {
            continue;
        }
        let Ok(_claim) = Claim::new(&run.id, location.file()) else { continue };
        archive.delete(run.number)?;
        deleted += 1;
    }
    print_note(&format!("Deleted {} of {runs}: {location}\n", quantity(deleted, "run")))
}

fn delete(named: &RecordFile, names: &[String]) -> Result<(), Trouble> {
    let location = opened(named)?.location().clone();
    let mut archive = archive::open(&location)?;
    let (runs, baselines) = (archive.runs()?, archive.baselines()?);
    let picked = |name: &String| pick(&runs, name, location.shown());
    for number in names.iter().map(picked).collect::<Result<Vec<i64>, Error>>()? {
        let run = runs.iter().find(|run| run.number == number);
        let _claim = run.map(|run| Claim::new(&run.id, location.file())).transpose()?;
        archive.delete(number)?;
        let of_run = baselines.iter().filter(|(_, run)| *run == number);
        let names: Vec<String> = of_run.map(|(name, _)| format!(", baseline {name}")).collect();
        print_note(&format!("Deleted run {number}{}\n", names.concat()))?;
    }
    Ok(())
}
