//! `knee run --plan`: what a run would measure, and how long it would take. It measures and records nothing.

use super::labels::labels;
use super::planned::planned;
use super::sight;
use crate::commands::measure::run::flags::Run as RunFlags;
use crate::exit::{Exit, Trouble};
use crate::output;
use archive::{Archive, SqliteArchive};
use findings::format::{count, counted, duration, percent};
use model::{CellKey, Parameters, Plan, RunState, Value, WorkloadInfo};
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::path::Path;

/// Earlier runs that are looked through for what cells took: each is read whole.
const RUNS_MAX: usize = 8;
/// The time to start and end a worker, for a cell that the record does not have, in milliseconds.
const WORKER_MS: u64 = 20;
/// The time of a call of a trajectory that the record does not have, in milliseconds.
const CALL_MS: f64 = 0.02;

pub fn print(flags: &RunFlags, file: &Path) -> Result<Exit, Trouble> {
    // What a run would refuse is refused here too.
    labels(&flags.labels)?;
    let (plan, _) = planned(flags)?;
    let estimate = Estimate::new(&plan, file);
    if flags.json {
        output::print_json(&json(&plan, &estimate))?;
    } else {
        output::print(&text(&plan, &estimate, seen_before(&plan, file)))?;
    }
    Ok(Exit::Done)
}

struct Estimate {
    round_ms: u64,
    all_ms: u64,
    /// Cells of a round whose time is in the record.
    recorded: usize,
    /// Cells of a round whose time is estimated from the measuring time.
    by_time: usize,
    /// Workloads that measure something whole, whose time is unknown.
    unknown: BTreeSet<String>,
}

impl Estimate {
    fn new(plan: &Plan, file: &Path) -> Estimate {
        let earlier_ms = earlier(plan, file);
        let mut estimate =
            Estimate { round_ms: 0, all_ms: 0, recorded: 0, by_time: 0, unknown: BTreeSet::new() };
        let mut took_ms: HashMap<CellKey, u64> = HashMap::new();
        for key in plan.cells.iter().filter(|key| key.round == 0) {
            let info = plan.workload(&key.workload);
            let ms = match (earlier_ms.get(key), info) {
                (Some(&ms), _) => {
                    estimate.recorded += 1;
                    ms
                }
                (None, Some(info)) if info.averages => {
                    estimate.unknown.insert(info.name.clone());
                    0
                }
                (None, info) => {
                    estimate.by_time += 1;
                    by_time_ms(plan, key, info)
                }
            };
            estimate.round_ms += ms;
            took_ms.insert(key.clone(), ms);
        }
        let each = plan.cells.iter().filter_map(|key| took_ms.get(&key.in_first_round()));
        estimate.all_ms = each.sum();
        estimate
    }
}

fn by_time_ms(plan: &Plan, key: &CellKey, info: Option<&WorkloadInfo>) -> u64 {
    match info {
        Some(info) if info.trajectory => WORKER_MS + (key.point as f64 * CALL_MS) as u64,
        Some(info) => WORKER_MS + plan.measure_ms * info.metrics.len() as u64,
        None => WORKER_MS,
    }
}

/// What the same cells took in the latest runs of the record, in milliseconds.
fn earlier(plan: &Plan, file: &Path) -> HashMap<CellKey, u64> {
    let mut cells_ms: HashMap<CellKey, u64> = HashMap::new();
    let Ok(archive) = SqliteArchive::open_read_only(file) else { return cells_ms };
    let wanted: BTreeSet<&CellKey> = plan.cells.iter().filter(|key| key.round == 0).collect();
    let runs = archive.runs().unwrap_or_default();
    for summary in runs.iter().rev().take(RUNS_MAX) {
        if cells_ms.len() == wanted.len() {
            break;
        }
        let Ok(run) = archive.load(summary.number) else { continue };
        let versions = |plan: &Plan, name: &str| plan.workload(name).map(|info| info.version);
        let mut took: HashMap<CellKey, (u64, u64)> = HashMap::new();
        for cell in run.cells.iter().filter(|_| run.plan.measure_ms == plan.measure_ms) {
            let key = cell.key.in_first_round();
            let same = versions(plan, &key.workload) == versions(&run.plan, &key.workload);
            if same && wanted.contains(&key) {
                let took = took.entry(key).or_default();
                *took = (took.0 + 1, took.1 + cell.elapsed_ns);
            }
        }
        for (key, (cells, sum_ns)) in took {
            cells_ms.entry(key).or_insert(sum_ns / cells / 1_000_000);
        }
    }
    cells_ms
}

fn json(plan: &Plan, estimate: &Estimate) -> Json {
    json!({
        "plan": plan,
        "cells_per_round": plan.cells.iter().filter(|key| key.round == 0).count(),
        "estimate": {
            "round_ms": estimate.round_ms,
            "all_ms": estimate.all_ms,
            "cells_recorded": estimate.recorded,
            "cells_by_time": estimate.by_time,
            "workloads_unknown": estimate.unknown,
        },
    })
}

// Writing to a String can't fail: the results below are dropped for that reason.

/// What runs like this plan show, by the newest whole run of the same workloads in the record.
fn seen_before(plan: &Plan, file: &Path) -> Option<String> {
    let archive = SqliteArchive::open_read_only(file).ok()?;
    let names = |plan: &Plan| -> BTreeSet<String> {
        plan.workloads.iter().map(|info| info.name.clone()).collect()
    };
    let runs = archive.runs().ok()?;
    let whole = runs.iter().rev().filter(|run| run.state == RunState::Complete).take(RUNS_MAX);
    let run = whole
        .filter_map(|summary| archive.load(summary.number).ok())
        .find(|run| names(&run.plan) == names(plan))?;
    sight(&run, &format!("Runs like run {} show", run.summary.number))
}

/// When a cell is ended that hangs: that may differ by workload.
fn deadlines(plan: &Plan) -> String {
    match plan.deadlines_ms() {
        (min, max) if min == max => duration(max),
        (min, max) => format!("{} to {}", duration(min), duration(max)),
    }
}

fn text(plan: &Plan, estimate: &Estimate, seen_before: Option<String>) -> String {
    let mut text = String::new();
    for info in &plan.workloads {
        workload(&mut text, plan, info);
    }
    let pinned: Vec<String> = plan.pinned_cpus.iter().map(usize::to_string).collect();
    let pinned = match pinned.as_slice() {
        [] => String::new(),
        cpus => format!(", pinned to CPU {}", cpus.join(",")),
    };
    let _ = writeln!(
        text,
        "Cells: {}, {} for each figure of a cell, deadline {}{pinned}, seed {}",
        cells(plan),
        duration(plan.measure_ms),
        deadlines(plan),
        plan.seed
    );
    if let Some(profile) = plan.profile {
        let _ = writeln!(
            text,
            "Profile: {} once more after the last round, at {} Hz, {} for each figure",
            counted(&count(plan.profiled_cells().len() as u64), "cells"),
            count(profile.frequency_hz),
            duration(profile.measure_ms)
        );
    }
    for warning in plan.warnings() {
        let arrow = if warning.remedy.is_empty() {
            String::new()
        } else {
            format!(" → {}", warning.remedy)
        };
        let _ = writeln!(text, "Changed: {}{arrow}", warning.what);
    }
    let _ = writeln!(text, "Time: {}", time(plan, estimate));
    text.extend(seen_before.map(|line| line + "\n"));
    text.push_str("Nothing was measured or recorded.\n");
    text
}

fn workload(text: &mut String, plan: &Plan, info: &WorkloadInfo) {
    let cells = || plan.cells.iter().filter(|key| key.workload == info.name);
    let points: BTreeSet<u64> = cells().map(|key| key.point).collect();
    let points: Vec<String> = points.into_iter().map(count).collect();
    let rounds = cells().map(|key| u64::from(key.round) + 1).max().unwrap_or(0);
    let _ = writeln!(text, "{}: {} · {}", info.name, info.axis, points.join("  "));
    let subjects = info.subjects.iter().map(|subject| subject.name.as_str());
    let planned = subjects.filter(|name| cells().any(|key| key.subject == **name));
    let _ = writeln!(text, "  compares {}", planned.collect::<Vec<&str>>().join(", "));
    let mut values: BTreeMap<&str, BTreeSet<&Value>> = BTreeMap::new();
    let all: BTreeSet<&Parameters> = cells().map(|key| &key.parameters).collect();
    for (name, value) in all.iter().flat_map(|parameters| parameters.iter()) {
        values.entry(name).or_default().insert(value);
    }
    for (name, values) in values {
        let values: Vec<String> = values.into_iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "  {name} {}", values.join(", "));
    }
    let bound = if plan.budget.is_some() { "at most " } else { "" };
    let _ = writeln!(text, "  {bound}{}", counted(&count(rounds), "rounds"));
    for row in plan.unavailable.iter().filter(|row| row.workload == info.name) {
        let _ = writeln!(text, "  unavailable: {}: {}", row.subject, row.reason);
    }
}

/// `672, 96 a round`, or `96 a round, at most 2,880` with a budget.
fn cells(plan: &Plan) -> String {
    let per_round = plan.cells.iter().filter(|key| key.round == 0).count() as u64;
    let all = plan.cells.len() as u64;
    match plan.budget {
        None => format!("{}, {} a round", count(all), count(per_round)),
        Some(_) => format!("{} a round, at most {}", count(per_round), count(all)),
    }
}

fn time(plan: &Plan, estimate: &Estimate) -> String {
    let about = |ms: u64| format!("about {}", duration(ms.max(1_000) / 1_000 * 1_000));
    let (round, all) = (about(estimate.round_ms), about(estimate.all_ms));
    let total = match plan.budget {
        None => all,
        Some(budget) if budget.time_ms == 0 => {
            let precision = percent(budget.precision);
            format!("until ±{precision}, {all} at most; one round takes {round}")
        }
        Some(budget) if budget.time_ms < estimate.round_ms => format!(
            "{round}: a budget of {} is shorter than one round, and one is measured",
            duration(budget.time_ms)
        ),
        Some(budget) if estimate.all_ms <= budget.time_ms && estimate.unknown.is_empty() => {
            let time = duration(budget.time_ms);
            format!(
                "{all} at most, which is less than the budget of {time}; one round takes {round}"
            )
        }
        Some(budget) => format!("{} at most; one round takes {round}", duration(budget.time_ms)),
    };
    let source = match (estimate.recorded, estimate.by_time) {
        (0, 0) => String::new(),
        (_, 0) => ", by recorded cells".to_owned(),
        (0, _) => ", by the measuring time, which few cells use up: the record has no such cells"
            .to_owned(),
        (recorded, by_time) => format!(
            ", by recorded cells for {} of {} in a round, else by the measuring time",
            count(recorded as u64),
            count((recorded + by_time) as u64)
        ),
    };
    let unknown: Vec<&str> = estimate.unknown.iter().map(String::as_str).collect();
    let unknown = match unknown.as_slice() {
        [] => String::new(),
        names => format!("; without {}, which takes what it takes", names.join(" and ")),
    };
    format!("{total}{source}{unknown}")
}
