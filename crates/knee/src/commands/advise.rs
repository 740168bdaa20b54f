//! `knee advise`: which mechanism is cheapest, from what was measured on this machine.

use crate::commands::record_file::RecordFile;
use crate::commands::run::flags::Run as Asked;
use crate::commands::{record_path, run};
use crate::exit::{Exit, Trouble, complain};
use crate::output::{print, print_json, style};
use crate::usage;
use ::record::{Archive, HostRole, Run, RunState, SqliteArchive, Value};
use analysis::advise::{Advice, Ground, Spot, grounds};
use clap::Args;
use report::advice::{Said, Source};
use std::path::Path;
use std::time::Duration;

/// Advise which mechanism to use, from what was measured on this machine
///
/// Either for a number of watched descriptors and of those among them that are active at a time, or
/// for a live process, whose waits are looked at for some seconds.
#[derive(Args, Clone, Debug)]
pub struct Advise {
    /// Descriptors that are watched: 1000, 9k
    #[arg(long, value_name = "N", requires = "active", required_unless_present = "pid")]
    #[arg(allow_hyphen_values = true, value_parser = usage::value())]
    pub total: Option<Value>,
    /// Those of them that are active at a time: 50, or a percentage: 5%
    #[arg(long, value_name = "M", requires = "total", allow_hyphen_values = true)]
    #[arg(value_parser = usage::value())]
    pub active: Option<Value>,
    /// Look at this process instead: what its waits watch, and how many events they return
    #[arg(long, value_name = "PID", conflicts_with_all = ["total", "active"])]
    #[arg(allow_hyphen_values = true)]
    pub pid: Option<u32>,
    /// How long to look at the process: 5s, 500ms, or a number of seconds
    #[arg(long, value_name = "TIME", requires = "pid", default_value = "5")]
    #[arg(value_parser = quantities::seconds)]
    pub seconds: Duration,
    /// What to choose from, separated by commas [default: all that were measured]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub mechanisms: Vec<String>,
    /// Measure the spot where nothing recorded covers it
    #[arg(long)]
    pub measure: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub record_file: RecordFile,
}

/// The workload that a spot is measured with.
const MEASURED_BY: &str = "pipetest";

/// Advises for a spot that was named, or for what a live process does.
pub fn advise(ask: &Advise) -> Result<Exit, Trouble> {
    known(&ask.mechanisms)?;
    if let Some(pid) = ask.pid {
        return crate::commands::advise_live::advise(ask, pid);
    }
    let spot = spot(ask)?;
    let said = advice(ask, spot, [spot.active; 2])?;
    if ask.json {
        print_json(&report::advice::json(&said))?;
    } else {
        print(&report::advice::text(&said, &style(false)))?;
    }
    Ok(Exit::Done)
}

/// The advice for `spot`: from the record, or measured where that was asked for, and then for all
/// that lies between the `ends` of what may be active.
pub fn advice(ask: &Advise, spot: Spot, ends: [f64; 2]) -> Result<Said, Trouble> {
    let file = record_path(&ask.record_file)?;
    match recorded(ask, spot, &file)? {
        Some(said) => Ok(said),
        None if ask.measure => measured(ask, spot, ends),
        None => Err(Trouble::not_possible(nothing(spot, &file))),
    }
}

/// Every mechanism that was named is one.
fn known(mechanisms: &[String]) -> Result<(), Trouble> {
    match mechanisms.iter().find(|name| readiness::find(name).is_none()) {
        None => Ok(()),
        Some(name) => Err(Trouble::usage(format!(
            "no mechanism is called `{name}`; `knee list mechanisms` shows them all"
        ))),
    }
}

/// The spot as typed, by the rules of the workload that would measure it.
fn spot(ask: &Advise) -> Result<Spot, Trouble> {
    let total = checked(ask.total.as_ref(), "pipes", "total")?.number().unwrap_or_default();
    let active = checked(ask.active.as_ref(), "tokens", "active")?.of(total).unwrap_or_default();
    if active > total {
        let what = format!("--active {active} is more than --total {total}");
        return Err(Trouble::usage(what));
    }
    Ok(Spot { total: total as f64, active: active as f64 })
}

fn checked(value: Option<&Value>, parameter: &str, flag: &str) -> Result<Value, Trouble> {
    let mut table = workloads::TABLE.iter().map(|row| row.about());
    let about = table.find(|about| about.name == MEASURED_BY);
    let parameter = about.and_then(|about| about.parameter(parameter));
    let parameter = parameter.ok_or_else(|| Trouble::failed(format!("no {MEASURED_BY} here")))?;
    let value = value.ok_or_else(|| Trouble::usage(format!("--{flag} is missing")))?;
    parameter.check(value, flag).map_err(Trouble::usage)
}

/// The advice of the run of this machine that covers the spot for most mechanisms, the newest of
/// those that cover as many.
fn recorded(ask: &Advise, spot: Spot, file: &Path) -> Result<Option<Said>, Trouble> {
    if !file.exists() {
        return Ok(None);
    }
    let archive = SqliteArchive::open_read_only(file)?;
    let here = engine::host();
    let mut found: Option<Said> = None;
    for summary in archive.runs()?.iter().rev().filter(|run| run.cells_ended > 0) {
        let run = archive.load(summary.number)?;
        let has_ratio = run.plan.workloads.iter().any(|info| info.ratio.is_some());
        let is_known = !run.host_before.facts.is_empty();
        let is_here = is_known && here.differing(&run.host_before, HostRole::Resume).is_empty();
        if !has_ratio || !is_here {
            continue;
        }
        let Some(advice) = best(&run, spot, &wanted(ask)) else { continue };
        let is_whole = advice.absent.is_empty();
        let known = found.as_ref().map_or(0, |said| said.advice.ranking.len());
        if advice.ranking.len() > known {
            found = Some(said(advice, &run, Source::Recorded));
        }
        if is_whole {
            break;
        }
    }
    Ok(found)
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
fn measured(ask: &Advise, spot: Spot, ends: [f64; 2]) -> Result<Said, Trouble> {
    let random = asked(ask, spot, ends, "random");
    // Where all pipes are written to, both ends have to be here; in a tail, the others can be parked.
    let (sitting, unsaved) = match run::measured(&random, words(&random)) {
        Err(trouble) if trouble.exit == Exit::NotPossibleHere => {
            let tail = asked(ask, spot, ends, "tail");
            run::measured(&tail, words(&tail))?
        }
        other => other?,
    };
    if let Some(unsaved) = &unsaved {
        complain(&format!("knee: {}", run::lost(unsaved)));
    }
    let run = &sitting.run;
    if run.summary.state != RunState::Complete {
        return Err(Trouble::interrupted("interrupted; `knee run --resume` goes on from here"));
    }
    best(run, spot, &wanted(ask))
        .map(|advice| said(advice, run, Source::Measured))
        .ok_or_else(|| Trouble::failed("nothing of it could be measured: see `knee show last`"))
}

/// The run that measures one spot: where a mean lies between two counts, both.
fn asked(ask: &Advise, spot: Spot, ends: [f64; 2], spread: &str) -> Asked {
    let parameter = |name: &str, value: Value| (name.to_owned(), vec![value]);
    let parameters =
        [parameter("pipes", Value::Number(spot.total as u64)), parameter("spread", spread.into())];
    Asked {
        workloads: vec![MEASURED_BY.into()],
        subjects: ask.mechanisms.clone(),
        points: counts(spot, ends),
        parameters: parameters.into(),
        record_file: ask.record_file.clone(),
        ..Asked::default()
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
fn words(asked: &Asked) -> Vec<String> {
    let mut words: Vec<String> = ["knee", "run", MEASURED_BY].map(String::from).to_vec();
    if !asked.subjects.is_empty() {
        words.extend(["--subjects".to_owned(), asked.subjects.join(",")]);
    }
    words.extend(["--points".to_owned(), texts(&asked.points).join(",")]);
    for (name, values) in &asked.parameters {
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

fn said(advice: Advice, run: &Run, source: Source) -> Said {
    let started = run.summary.started.get(..10).unwrap_or_default().to_owned();
    Said { advice, run: run.summary.number, date: started, source }
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
