//! `knee run`: from what was asked for to a plan, to cells in the record, to tables and findings.

use crate::args::Run as Asked;
use crate::commands::{Claim, place, report};
use crate::exit::{Exit, Trouble, complain, names_the_wrong_thing};
use crate::like;
use crate::output::{print, print_json, style};
use crate::progress::Progress;
use ::record::{Archive, Outcome, Run, RunState, SqliteArchive};
use ::report::json::Samples;
use analysis::Analysis;
use engine::{Ask, AskError, Calibrated, Settings, Stop, Unsaved};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A run that is measured by this process and no other.
pub struct Sitting {
    /// What was measured, when it has been.
    pub run: Run,
    /// Absent when it can't be written: then it is measured and printed all the same.
    archive: Option<SqliteArchive>,
    _claim: Claim,
}

/// Measures what was asked for, or completes what was interrupted, and reports it.
pub fn run(asked: &Asked, command: Vec<String>) -> Result<Exit, Trouble> {
    let asked = &like::filled(asked);
    let (sitting, unsaved) = measured(asked, command)?;
    conclude(asked, &place(&asked.place)?, sitting, unsaved.as_ref())
}

/// Measures what was asked for, or completes what was interrupted. What the record could not take
/// comes back beside it.
pub fn measured(
    asked: &Asked,
    command: Vec<String>,
) -> Result<(Sitting, Option<Unsaved>), Trouble> {
    let stop = Stop::on_signals()
        .map_err(|error| Trouble::failed(format!("listening for signals: {error}")))?;
    engine::raise_descriptors_max();
    let file = place(&asked.place)?;
    if let Some(page) = &asked.output {
        report::check(page, Some(&file))?;
    }
    let settings = Settings::new(engine::calibrate(), stop);
    let mut sitting = match &asked.resume {
        Some(name) => resumed(&file, name)?,
        None => begun(asked, command, &file, &settings.clock)?,
    };

    let mut progress = Progress::new(sitting.run.plan.cells.len() as u64);
    let archive = sitting.archive.as_mut().map(|archive| archive as &mut dyn Archive);
    let unsaved = engine::run(&mut sitting.run, archive, &settings, &mut progress);
    progress.done();
    Ok((sitting, unsaved))
}

/// A new run, and its record if that can be written. A file that is no record is refused before
/// anything is measured; where only the disk is in the way, it is measured and printed all the same.
fn begun(
    asked: &Asked,
    command: Vec<String>,
    file: &Path,
    clock: &Calibrated,
) -> Result<Sitting, Trouble> {
    let plan = engine::plan(&ask(asked)?, workloads::TABLE)?;
    let opened = SqliteArchive::open(file);
    if let Err(error) = &opened
        && names_the_wrong_thing(error)
    {
        return Err(Trouble::usage(error.to_string()));
    }
    let mut run = engine::new_run(plan, command, env!("CARGO_PKG_VERSION"), clock);
    let claim = Claim::of(&run.summary.id)?;
    let begun = opened.and_then(|mut archive| {
        run.summary.number = archive.begin(&run)?;
        Ok(archive)
    });
    let archive = match begun {
        Ok(archive) => Some(archive),
        Err(error) => {
            complain(&format!("knee: this run will be printed but not recorded: {error}"));
            None
        }
    };
    Ok(Sitting { run, archive, _claim: claim })
}

/// The interrupted run that is meant by `name`; the latest that nobody measures, if it is empty.
fn resumed(file: &Path, name: &str) -> Result<Sitting, Trouble> {
    drop(SqliteArchive::open_read_only(file)?);
    let mut archive = SqliteArchive::open(file)?;
    let runs = archive.runs()?;
    let number = (!name.is_empty()).then(|| archive.resolve(name)).transpose()?;
    let mut candidates: Vec<_> = runs
        .iter()
        .rev()
        .filter(|run| number.map_or(run.state != RunState::Complete, |n| n == run.number))
        .map(|run| (run.number, Claim::of(&run.id)))
        .collect();
    let free = candidates.iter().position(|(_, claim)| claim.is_ok()).unwrap_or(0);
    if candidates.is_empty() {
        let what = format!("{}: every run is complete already", file.display());
        return Err(Trouble::failed(what));
    }
    let (number, claim) = candidates.swap_remove(free);
    let claim = claim?;
    same_conditions(&archive.load(number)?)?;
    archive.reopen(number)?;
    // Another process may have added cells before this one claimed the run.
    let run = archive.load(number)?;
    Ok(Sitting { run, archive: Some(archive), _claim: claim })
}

/// Facts that make a machine another one when they change.
pub const MACHINE: [&str; 3] = ["kernel.release", "cpu.model", "cpu.count"];

/// A run goes on only where its first part was measured, and with workloads that measure the same.
fn same_conditions(run: &Run) -> Result<(), Trouble> {
    let number = run.summary.number;
    let refused = |what: String| {
        Err(Trouble::failed(format!("run {number} can't go on: {what}; begin a new one")))
    };
    for workload in &run.plan.workloads {
        let here = workloads::TABLE.iter().map(|row| row.about());
        let same = here.into_iter().find(|about| about.name == workload.name);
        if same.is_none_or(|about| about.version != workload.version) {
            return refused(format!("this knee measures {} otherwise", workload.name));
        }
    }
    let host = engine::host();
    for key in MACHINE {
        let (then, now) = (run.host_before.facts.get(key), host.facts.get(key));
        if let (Some(then), Some(now)) = (then, now)
            && then != now
        {
            return refused(format!("{key} was {then} and is {now}"));
        }
    }
    Ok(())
}

/// Writes the page, prints tables and findings, and says what was lost. What is printed comes last:
/// a reader that has gone away changes nothing of the rest.
fn conclude(
    asked: &Asked,
    file: &Path,
    sitting: Sitting,
    unsaved: Option<&Unsaved>,
) -> Result<Exit, Trouble> {
    let recorded = sitting.archive.is_some();
    let analysis = analysis::analyse(&sitting.run);
    let page = asked.output.clone().unwrap_or_else(|| page(&sitting.run, file, recorded));
    let pages = [(sitting.run, analysis)];
    let written = report::write(&page, Some(file), &pages);
    let [(run, analysis)] = pages;

    let mut places = Vec::new();
    if written.is_ok() {
        places.push(format!("Report: {}", page.display()));
    }
    if recorded {
        places.push(format!("Record: {} (run {})", file.display(), run.summary.number));
    }
    let printed = printed(asked, &run, &analysis, &places.join("    "));

    if let Some(unsaved) = unsaved {
        return Err(lost(unsaved));
    }
    if recorded && !file.exists() {
        let what = format!("{} was removed during the run: nothing is recorded", file.display());
        return Err(Trouble::failed(what));
    }
    written?;
    let exit = exit(&run, recorded);
    if exit == Exit::Interrupted && recorded {
        complain("knee: interrupted; `knee run --resume` goes on from here");
    }
    if exit == Exit::Failed && recorded {
        return Err(Trouble::failed("nothing was measured: every cell is void"));
    }
    match printed {
        Err(trouble) if exit == Exit::Done => Err(trouble),
        _ => Ok(exit),
    }
}

fn printed(asked: &Asked, run: &Run, analysis: &Analysis, places: &str) -> Result<(), Trouble> {
    if asked.json {
        return print_json(&::report::json::run(run, analysis, Samples::Include));
    }
    if let Some(name) = &asked.like {
        return print(&like::told(name, run, analysis, places));
    }
    let tables = ::report::terminal::tables(run, analysis, &style(asked.all));
    print(&format!("{tables}{places}\n"))
}

fn exit(run: &Run, recorded: bool) -> Exit {
    let measured = run.cells.iter().any(|cell| cell.outcome == Outcome::Measured);
    match run.summary.state {
        RunState::Open | RunState::Interrupted => Exit::Interrupted,
        RunState::Complete if recorded && measured => Exit::Done,
        RunState::Complete => Exit::Failed,
    }
}

/// What is said of figures that the record could not take.
pub fn lost(unsaved: &Unsaved) -> Trouble {
    let what = match unsaved.cells {
        0 => "the end of the run was".to_owned(),
        1 => "1 cell was".to_owned(),
        cells => format!("{cells} cells were"),
    };
    Trouble::failed(format!("{what} measured but not recorded: {}", unsaved.error))
}

/// Where the report goes when nobody says: beside the record, or where temporary files go if that
/// can't be written. The run's id is in its name, so that no two runs share one.
fn page(run: &Run, file: &Path, recorded: bool) -> PathBuf {
    let names: Vec<&str> = run.plan.workloads.iter().map(|row| row.name.as_str()).collect();
    // All of them would make a name that no line holds.
    let names = match names.len() {
        0..=4 => names.join("-"),
        many => format!("{many}-workloads"),
    };
    let day = run.summary.started.get(..10).unwrap_or_default();
    let id = run.summary.id.get(..8).unwrap_or_default();
    let beside = recorded.then(|| file.parent().map(PathBuf::from)).flatten();
    let folder = beside.unwrap_or_else(std::env::temp_dir);
    folder.join(format!("{names}-{day}-{id}.html"))
}

/// What was asked for, resolved: every default filled in.
fn ask(asked: &Asked) -> Result<Ask, AskError> {
    let quick = asked.quick || (asked.workloads.is_empty() && !asked.full);
    let (rounds, time) = match (quick, asked.full) {
        (true, _) => (None, Duration::from_millis(30)),
        (_, true) => (Some(10), Duration::from_millis(250)),
        _ => (None, usual_time(&asked.workloads)),
    };
    let asked_rounds = asked.rounds.as_deref().map(Ask::read_rounds).transpose()?;
    let time = asked.time.unwrap_or(time);
    Ok(Ask {
        workloads: asked.workloads.clone(),
        subjects: asked.subjects.clone(),
        axis: asked.axis.clone(),
        points: asked.points.clone(),
        conditions: asked.conditions.clone(),
        rounds: asked_rounds.or(rounds),
        quick,
        measure_ms: time.as_millis() as u64,
        deadline_ms: asked.deadline.map(|deadline| deadline.as_millis() as u64),
        pinned_cpus: asked.pin.clone(),
        seed: asked.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)),
    })
}

/// The time that is usual for the workloads of that name: the most of each.
fn usual_time(names: &[String]) -> Duration {
    let all = workloads::TABLE.iter().map(|row| row.about());
    let usual = all.filter(|about| names.iter().any(|name| name == about.name));
    Duration::from_millis(usual.map(|about| about.usual.measure_ms).max().unwrap_or(0))
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
