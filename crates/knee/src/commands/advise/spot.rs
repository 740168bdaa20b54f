//! The advice for one spot: a number of watched descriptors, and the number of active ones.

use crate::commands::advise::flags::Advise;
use crate::commands::run::flags::Run as RunFlags;
use crate::commands::{record_path, run};
use crate::exit::{Exit, Trouble, complain};
use ::record::{Archive, HostRole, Run, RunState, SqliteArchive, Value};
use analysis::advise::{Advice, Ground, Spot, grounds};
use report::advice::{Source, SourcedAdvice};
use std::path::Path;

/// The workload that a spot is measured with.
pub const MEASURED_BY: &str = "pipetest";

/// The advice for `spot`: from the record, or measured with --measure, and then over the whole range of
/// active descriptors between `ends`.
pub fn advice(ask: &Advise, spot: Spot, ends: [f64; 2]) -> Result<SourcedAdvice, Trouble> {
    let file = record_path(&ask.record_file)?;
    match recorded(ask, spot, &file)? {
        Some(advice) => Ok(advice),
        None if ask.measure => measured(ask, spot, ends),
        None => Err(Trouble::not_possible(nothing(spot, &file))),
    }
}

/// The advice of the run of this machine that covers the spot for most mechanisms, the newest of
/// those that cover as many.
fn recorded(ask: &Advise, spot: Spot, file: &Path) -> Result<Option<SourcedAdvice>, Trouble> {
    if !file.exists() {
        return Ok(None);
    }
    let archive = SqliteArchive::open_read_only(file)?;
    let here = engine::host();
    let mut best_run: Option<SourcedAdvice> = None;
    for summary in archive.runs()?.iter().rev().filter(|run| run.cells_ended > 0) {
        let run = archive.load(summary.number)?;
        let has_ratio = run.plan.workloads.iter().any(|info| info.ratio.is_some());
        let has_host = !run.host_before.facts.is_empty();
        let is_here = has_host && here.differing(&run.host_before, HostRole::Resume).is_empty();
        if !has_ratio || !is_here {
            continue;
        }
        let Some(advice) = best(&run, spot, &wanted(ask)) else { continue };
        let is_whole = advice.absent.is_empty();
        let ranked = best_run.as_ref().map_or(0, |best| best.advice.ranking.len());
        if advice.ranking.len() > ranked {
            best_run = Some(with_source(advice, &run, Source::Recorded));
        }
        if is_whole {
            break;
        }
    }
    Ok(best_run)
}

/// The mechanisms that were named, or all that are available here.
fn wanted(ask: &Advise) -> Vec<String> {
    if !ask.mechanisms.is_empty() {
        return ask.mechanisms.clone();
    }
    let available = readiness::TABLE.iter().filter(|row| (row.available)().is_ok());
    available.map(|row| row.name.to_owned()).collect()
}

/// Measures the spot, and advises from that.
fn measured(ask: &Advise, spot: Spot, ends: [f64; 2]) -> Result<SourcedAdvice, Trouble> {
    let random = run_flags(ask, spot, ends, "random");
    // Where all pipes are written to, both ends have to be here; in a tail, the others can be parked.
    let (claimed, unsaved) = match run::measured(&random, words(&random)) {
        Err(trouble) if trouble.exit == Exit::NotPossibleHere => {
            let tail = run_flags(ask, spot, ends, "tail");
            run::measured(&tail, words(&tail))?
        }
        result => result?,
    };
    if let Some(unsaved) = &unsaved {
        complain(&format!("knee: {}", run::lost(unsaved)));
    }
    let run = &claimed.run;
    if run.summary.state != RunState::Complete {
        return Err(Trouble::interrupted("interrupted; `knee run --resume` goes on from here"));
    }
    best(run, spot, &wanted(ask))
        .map(|advice| with_source(advice, run, Source::Measured))
        .ok_or_else(|| Trouble::failed("nothing of it could be measured: see `knee show last`"))
}

/// The run that measures one spot: where a mean lies between two counts, both.
fn run_flags(ask: &Advise, spot: Spot, ends: [f64; 2], spread: &str) -> RunFlags {
    let parameter = |name: &str, value: Value| (name.to_owned(), vec![value]);
    let parameters =
        [parameter("pipes", Value::Number(spot.total as u64)), parameter("spread", spread.into())];
    RunFlags {
        workloads: vec![MEASURED_BY.into()],
        subjects: ask.mechanisms.clone(),
        points: counts(spot, ends),
        parameters: parameters.into(),
        record_file: ask.record_file.clone(),
        ..RunFlags::default()
    }
}

/// The whole numbers of active descriptors about a spot, and about the ends of what may be active.
fn counts(spot: Spot, [low, high]: [f64; 2]) -> Vec<Value> {
    let all = [low.floor(), spot.active.floor(), spot.active.ceil(), high.ceil()];
    let count = |count: &f64| Value::Number(count.clamp(1.0, spot.total) as u64);
    let mut counts: Vec<Value> = all.iter().map(count).collect();
    counts.dedup();
    counts
}

/// The command that measures the same, for the record.
fn words(flags: &RunFlags) -> Vec<String> {
    let mut words: Vec<String> = ["knee", "run", MEASURED_BY].map(String::from).to_vec();
    if !flags.subjects.is_empty() {
        words.extend(["--subjects".to_owned(), flags.subjects.join(",")]);
    }
    words.extend(["--points".to_owned(), texts(&flags.points).join(",")]);
    for (name, values) in &flags.parameters {
        words.extend([format!("--{name}"), texts(values).join(",")]);
    }
    words
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().map(Value::to_string).collect()
}

/// The advice of the ground that is most like a server's: pipetest before poll, and activity all
/// over the descriptors before activity at one end.
fn best(run: &Run, spot: Spot, mechanisms: &[String]) -> Option<Advice> {
    let analysis = analysis::analyse(run);
    let mut grounds = grounds(&analysis);
    grounds.sort_by_key(unlike_a_server);
    grounds.iter().find_map(|ground| ground.advise(spot, mechanisms))
}

fn unlike_a_server(ground: &Ground) -> (bool, u8) {
    let lies = ground.parameters.get("spread").or(ground.parameters.get("activity"));
    let lies = match lies.and_then(Value::word) {
        Some("random") => 0,
        Some("spaced") => 1,
        Some("tail" | "sequential") => 2,
        // The original rule makes fewer pipes active than there are tokens, from half on.
        _ => 3,
    };
    (ground.workload != MEASURED_BY, lies)
}

fn with_source(advice: Advice, run: &Run, source: Source) -> SourcedAdvice {
    let started = run.summary.started.get(..10).unwrap_or_default().to_owned();
    SourcedAdvice { advice, run: run.summary.number, date: started, source }
}

/// What to run where nothing recorded covers the spot.
fn nothing(spot: Spot, file: &Path) -> String {
    let Spot { total, active } = spot;
    format!(
        "{}: nothing that was measured on this machine covers {active} active of {total} watched \
         descriptors; run `knee run {MEASURED_BY} --pipes {total} --points {} --spread random`, or \
         the same with --measure",
        file.display(),
        texts(&counts(spot, [spot.active; 2])).join(",")
    )
}
