//! `knee run`: from what was asked for to a plan, to cells in the record, to tables and findings.

use crate::args::Run as Asked;
use crate::commands::{Claim, place, report};
use crate::exit::{Exit, Trouble, names_the_wrong_thing};
use crate::output::{print, print_json, style};
use crate::progress::Progress;
use ::record::{Archive, Run, RunState, SqliteArchive};
use ::report::json::Samples;
use engine::{Ask, AskError, Calibrated, Settings, Stop, Unsaved};
use std::path::{Path, PathBuf};

/// Measures what was asked for, or completes what was interrupted.
pub fn run(asked: &Asked, command: Vec<String>) -> Result<Exit, Trouble> {
    let program = std::env::current_exe()
        .map_err(|error| Trouble::failed(format!("finding this program: {error}")))?;
    let stop = Stop::on_signals()
        .map_err(|error| Trouble::failed(format!("listening for signals: {error}")))?;
    let settings = Settings { program, clock: engine::calibrate(), stop };
    engine::raise_descriptors_max();
    let file = place(&asked.place)?;
    let (mut run, mut archive) = match &asked.resume {
        Some(name) => resumed(&file, name)?,
        None => begun(asked, command, &file, &settings.clock)?,
    };
    let _claim = Claim::of(&run.summary.id)?;
    if archive.is_some() && asked.resume.is_some() {
        reopen(&mut run, &mut archive)?;
    }

    let mut progress = Progress::new(run.plan.cells.len() as u64);
    let kept = archive.as_mut().map(|archive| archive as &mut dyn Archive);
    let unsaved = engine::run(&mut run, kept, &settings, &mut progress);
    progress.done();
    conclude(asked, run, &file, archive.is_some(), unsaved)
}

/// A new run, and its record if that can be written. A file that is no record is refused before
/// anything is measured; where only the disk is in the way, it is measured and printed all the same.
fn begun(
    asked: &Asked,
    command: Vec<String>,
    file: &Path,
    clock: &Calibrated,
) -> Result<(Run, Option<SqliteArchive>), Trouble> {
    let plan = engine::plan(&ask(asked)?, workloads::TABLE)?;
    let opened = SqliteArchive::open(file);
    if let Err(error) = &opened
        && names_the_wrong_thing(error)
    {
        return Err(Trouble::usage(error.to_string()));
    }
    let mut run = engine::new_run(plan, command, env!("CARGO_PKG_VERSION"), clock);
    let begun = opened.and_then(|mut archive| {
        run.summary.number = archive.begin(&run)?;
        Ok(archive)
    });
    match begun {
        Ok(archive) => Ok((run, Some(archive))),
        Err(error) => {
            eprintln!("knee: this run will be printed but not recorded: {error}");
            Ok((run, None))
        }
    }
}

/// The interrupted run that is meant by `name`; the latest, if it is empty.
fn resumed(file: &Path, name: &str) -> Result<(Run, Option<SqliteArchive>), Trouble> {
    drop(SqliteArchive::open_read_only(file)?);
    let archive = SqliteArchive::open(file)?;
    let number = match name {
        "" => {
            let runs = archive.runs()?;
            let latest = runs.iter().rev().find(|run| run.state != RunState::Complete);
            let nothing =
                || Trouble::failed(format!("{}: every run is complete already", file.display()));
            latest.ok_or_else(nothing)?.number
        }
        name => archive.resolve(name)?,
    };
    let run = archive.load(number)?;
    Ok((run, Some(archive)))
}

fn reopen(run: &mut Run, archive: &mut Option<SqliteArchive>) -> Result<(), Trouble> {
    if let Some(archive) = archive {
        archive.reopen(run.summary.number)?;
        // Another process may have added cells between reading the run and claiming it.
        *run = archive.load(run.summary.number)?;
    }
    Ok(())
}

/// Tables, findings, and where to find them again.
fn conclude(
    asked: &Asked,
    run: Run,
    file: &Path,
    recorded: bool,
    unsaved: Option<Unsaved>,
) -> Result<Exit, Trouble> {
    let analysis = analysis::analyse(&run);
    let exit = match run.summary.state {
        RunState::Complete => Exit::Done,
        RunState::Open | RunState::Interrupted => Exit::Interrupted,
    };
    if asked.json {
        print_json(&::report::json::run(&run, &analysis, Samples::Include))?;
    } else {
        print(&::report::terminal::tables(&run, &analysis, &style(asked.all)))?;
    }
    let page = asked.output.clone().unwrap_or_else(|| page(&run, file, recorded));
    let number = run.summary.number;
    let written = report::write(&page, &[(run, analysis)]);
    if !asked.json {
        let mut last = Vec::new();
        if written.is_ok() {
            last.push(format!("Report: {}", page.display()));
        }
        if recorded {
            last.push(format!("Record: {} (run {number})", file.display()));
        }
        print(&format!("{}\n", last.join("    ")))?;
    }
    if let Some(unsaved) = unsaved {
        return Err(lost(&unsaved));
    }
    written?;
    if exit == Exit::Interrupted && recorded {
        eprintln!("knee: interrupted; `knee run --resume` goes on from here");
    }
    Ok(if recorded { exit } else { Exit::Failed })
}

fn lost(unsaved: &Unsaved) -> Trouble {
    let what = match unsaved.cells {
        0 => "the end of the run is".to_owned(),
        1 => "1 cell is".to_owned(),
        cells => format!("{cells} cells are"),
    };
    Trouble::failed(format!("{what} printed above but not recorded: {}", unsaved.error))
}

/// Where the report goes when nobody says: beside the record, or where temporary files go if that
/// can't be written.
fn page(run: &Run, file: &Path, recorded: bool) -> PathBuf {
    let names: Vec<&str> = run.plan.workloads.iter().map(|row| row.name.as_str()).collect();
    let day = run.summary.started.get(..10).unwrap_or_default();
    let (folder, last) = if recorded {
        (file.parent().map(PathBuf::from), format!("run{}", run.summary.number))
    } else {
        (Some(std::env::temp_dir()), run.summary.id.clone())
    };
    folder.unwrap_or_default().join(format!("{}-{day}-{last}.html", names.join("-")))
}

/// What was asked for, resolved: every default filled in.
fn ask(asked: &Asked) -> Result<Ask, AskError> {
    let quick = asked.quick || (asked.workloads.is_empty() && !asked.full);
    let (rounds, measure_ms) = match (quick, asked.full) {
        (true, _) => (5, 30),
        (_, true) => (10, 250),
        _ => (5, 100),
    };
    Ok(Ask {
        workloads: asked.workloads.clone(),
        subjects: asked.subjects.clone(),
        points: Ask::read_points(&asked.points)?,
        conditions: asked.conditions.clone(),
        rounds: asked.rounds.as_deref().map_or(Ok(rounds), Ask::read_rounds)?,
        quick,
        measure_ms: asked.time.map_or(measure_ms, |time| time.as_millis() as u64),
        deadline_ms: asked.deadline.as_millis() as u64,
        pinned_cpus: asked.pin.clone(),
        seed: asked.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::record::Error;

    #[test]
    fn a_file_that_is_no_record_is_refused_but_a_full_disk_is_not() {
        let path = PathBuf::from("x.db");
        assert!(names_the_wrong_thing(&Error::NotSqlite { path: path.clone() }));
        assert!(!names_the_wrong_thing(&Error::DiskFull { path: path.clone() }));
        assert!(!names_the_wrong_thing(&Error::ReadOnly { path }));
    }
}
