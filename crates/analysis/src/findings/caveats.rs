//! Caveats: what a reader has to know before believing the figures, each with what mends it.

use crate::findings::controls;
use crate::findings::words;
use crate::gather::places::verdicts_from;
use crate::growth::thresholds::POINTS_MIN;
use crate::tables::distributions::unreadable;
use crate::trust::widths;
use crate::{Class, PointSummary, Table, is_predicted};
use record::{CellKey, FailureReason, Outcome, Parameters, Run, RunState, Warning, WorkloadInfo};
use std::collections::{BTreeMap, BTreeSet};

/// A 95 % interval that is wider than this share of its median, end to end, is said to be wide.
pub const WIDE: f64 = 0.5;
/// With fewer rounds than this an interval between rounds is narrower than it says.
pub const FEWEST_ROUNDS: u32 = 5;
/// What a table of somebody else lacks where a run would need more rounds.
pub const MORE_ROWS: &str = "a row for each repetition of the measurement";
/// The same, where a run would need more points.
pub const MORE_POINTS: &str = "figures at five points or more";

/// The caveats of `run`: of its state, its plan, its machine, its cells and its figures.
pub fn caveats(run: &Run, tables: &[Table]) -> Vec<Warning> {
    let mut all: Vec<Warning> = Vec::new();
    all.extend(controls::caveats(run));
    all.extend(cut_short(run));
    all.extend(widths::caveat(run, tables));
    all.extend(run.warnings.iter().cloned());
    all.extend(run.plan.warnings.iter().cloned());
    all.extend(failed_cells(run));
    all.extend(short_ways(run));
    all.extend(damaged(run));
    // What is told as averages has no intervals, and nothing is concluded from it.
    let averaged = |name: &str| run.plan.workloads.iter().any(|of| of.averages && of.name == name);
    let told: Vec<&Table> = tables.iter().filter(|table| !averaged(&table.workload)).collect();
    all.extend(wide_intervals(&told, run));
    all.extend(few_rounds(&told, run));
    all.extend(few_points(&told, run));
    let mut seen = BTreeSet::new();
    all.retain(|caveat| seen.insert(caveat.clone()));
    all
}

fn warning(what: String, remedy: &str) -> Warning {
    Warning { what, remedy: remedy.to_owned() }
}

fn cut_short(run: &Run) -> Option<Warning> {
    let ended = words::count(run.cells.len() as u64);
    let planned = words::count(run.plan.cells.len() as u64);
    let what = match run.summary.state {
        // No knee ends a run so; a file that was changed may say it all the same.
        RunState::Complete
            if run.plan.budget.is_none() && run.cells.len() < run.plan.cells.len() =>
        {
            let what = format!("The run calls itself complete with {ended} of {planned} cells");
            return Some(warning(what, ""));
        }
        RunState::Complete => return None,
        RunState::Interrupted => "The run was interrupted",
        RunState::Open => "The run has not ended",
    };
    // With a budget nobody knows beforehand how many there will be.
    let of = if run.plan.budget.is_some() { String::new() } else { format!(" of {planned}") };
    // One of a pair does not go on alone, and what began elsewhere goes on there.
    let remedy = if !run.plan.beside.is_empty() {
        "measure both again"
    } else if run.summary.origin.is_empty() {
        "knee run --resume"
    } else {
        "resume it where it began, then bring it in again"
    };
    Some(warning(format!("{what}: {ended}{of} cells ended"), remedy))
}

/// One line per workload, subject, parameters and reason.
fn failed_cells(run: &Run) -> Vec<Warning> {
    type Group<'a> = (&'a str, &'a str, &'a Parameters, String);
    let mut order: Vec<Group<'_>> = Vec::new();
    let mut groups: BTreeMap<Group<'_>, Vec<u64>> = BTreeMap::new();
    let mut parameters: BTreeMap<&str, BTreeSet<&Parameters>> = BTreeMap::new();
    for cell in &run.cells {
        parameters.entry(&cell.key.workload).or_default().insert(&cell.key.parameters);
        let Outcome::Failed { reason, .. } = &cell.outcome else { continue };
        if controls::is_control(run, &cell.key) || is_a_finding(run, &cell.key, reason) {
            continue;
        }
        // What threads were doing differs from cell to cell.
        let event = reason.event();
        let group =
            (cell.key.workload.as_str(), cell.key.subject.as_str(), &cell.key.parameters, event);
        let points = groups.entry(group.clone()).or_insert_with(|| {
            order.push(group);
            Vec::new()
        });
        points.push(cell.key.point);
    }
    let line = |group: Group<'_>| {
        let points = groups.get(&group)?;
        let (workload, subject, of, event) = group;
        let several = parameters.get(workload).is_some_and(|all| all.len() > 1);
        let told = if several { format!(" ({})", pairs(of)) } else { String::new() };
        let distinct: Vec<u64> =
            points.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
        let cells = match points.len() {
            1 => "1 cell".to_owned(),
            many => format!("{} cells", words::count(many as u64)),
        };
        let at = words::points(&distinct);
        Some(warning(format!("{cells} of {subject}{told} at {at} failed: {event}"), ""))
    };
    order.into_iter().filter_map(line).collect()
}

/// Whether a failed cell is told as a finding: that a series did not finish is what was to be found.
fn is_a_finding(run: &Run, key: &CellKey, reason: &FailureReason) -> bool {
    let workload = run.plan.workloads.iter().find(|workload| workload.name == key.workload);
    let tells =
        |of: &WorkloadInfo| of.averages || of.ratio.as_ref().is_some_and(|ratio| ratio.multiple);
    reason.is_unfinished() && workload.is_some_and(tells)
}

/// Histograms that can't be read: their operations are in no distribution.
fn damaged(run: &Run) -> Option<Warning> {
    let metrics = run.cells.iter().flat_map(|cell| &cell.metrics);
    let damaged = metrics.filter(|metric| unreadable(&metric.histogram)).count();
    (damaged > 0).then(|| {
        let many = words::count(damaged as u64);
        let (histograms, are) =
            if damaged == 1 { ("histogram", "is") } else { ("histograms", "are") };
        let what = format!("{many} {histograms} can't be read and {are} in no distribution");
        warning(what, "measure again: the record is damaged")
    })
}

/// One line per workload, subject, parameters and reason of trajectories that ended before their
/// axis did.
fn short_ways(run: &Run) -> Vec<Warning> {
    type Group<'a> = (&'a str, &'a str, &'a Parameters, u64, &'a str, &'a str);
    let mut groups: BTreeMap<Group<'_>, Vec<u64>> = BTreeMap::new();
    for cell in &run.cells {
        let Some(short) = &cell.short else { continue };
        let key = &cell.key;
        let group: Group<'_> = (
            &key.workload,
            &key.subject,
            &key.parameters,
            key.point,
            &short.because,
            &short.remedy,
        );
        groups.entry(group).or_default().push(short.reached);
    }
    let line = |(group, reached): (Group<'_>, Vec<u64>)| {
        let (workload, subject, parameters, of, because, remedy) = group;
        let alike = run.cells.iter().filter(|cell| {
            let key = &cell.key;
            let same = (&key.parameters, key.point) == (parameters, of);
            same && key.workload == workload && key.subject == subject
        });
        let rounds = alike.filter(|cell| cell.outcome == Outcome::Measured).count();
        let info = run.plan.workloads.iter().find(|info| info.name == workload);
        let axis = info.map_or("points", |info| info.axis.as_str());
        let mut others = run.cells.iter().filter(|cell| cell.key.workload == workload);
        let several = others.any(|cell| cell.key.parameters != *parameters);
        let told = if several { format!(" ({})", pairs(parameters)) } else { String::new() };
        let often = if reached.len() == rounds {
            "in every round".to_owned()
        } else {
            format!("in {} of {rounds} rounds", reached.len())
        };
        let (reached, of) = (span(&reached), words::count(of));
        let what = format!(
            "{workload} {subject}{told} reached {reached} of {of} {axis} {often}: {because}"
        );
        warning(what, remedy)
    };
    groups.into_iter().map(line).collect()
}

/// `500`, or `498 to 512`.
fn span(figures: &[u64]) -> String {
    let least = figures.iter().min().copied().unwrap_or(0);
    let most = figures.iter().max().copied().unwrap_or(0);
    if least == most {
        return words::count(least);
    }
    format!("{} to {}", words::count(least), words::count(most))
}

fn pairs(parameters: &Parameters) -> String {
    let all: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    all.join(", ")
}

fn figures(table: &Table) -> impl Iterator<Item = &PointSummary> {
    // The first calls of a trajectory are cold, and few: their intervals are what they are.
    let warm = verdicts_from(table.trajectory, &table.points);
    let counts = move |figure: &&PointSummary| figure.point >= warm;
    table.rows.iter().flat_map(move |row| row.cells.iter().flatten()).filter(counts)
}

fn wide_intervals(tables: &[&Table], run: &Run) -> Option<Warning> {
    let is_wide = |f: &&PointSummary| f.median.high - f.median.low > WIDE * f.median.value.abs();
    let headline = || tables.iter().filter(|table| table.headline).flat_map(|table| figures(table));
    let (wide, all) = (headline().filter(is_wide).count(), headline().count());
    (wide > 0).then(|| {
        let (wide, all) = (words::count(wide as u64), words::count(all as u64));
        let what = format!("The intervals of {wide} of {all} medians are wider than ±25 %");
        let rounds = 2 * headline().map(|figure| figure.rounds).max().unwrap_or(FEWEST_ROUNDS);
        // Nothing runs beside a model that could be ended, nor beside what is long past.
        let past = is_predicted(run) || is_from_elsewhere(run);
        let quiet = if past { "" } else { "end what else runs, then " };
        warning(what, &format!("{quiet}{}", with_rounds(run, rounds)))
    })
}

/// What gives a run so many rounds.
fn with_rounds(run: &Run, rounds: u32) -> String {
    match run.plan.budget {
        _ if is_from_elsewhere(run) => MORE_ROWS.to_owned(),
        Some(budget) => widths::remedy(&budget, run.plan.rounds, widths::rounds(run, None)),
        None => format!("the same with --rounds {rounds}"),
    }
}

/// Whether another program measured it: nothing is known of the machine.
fn is_from_elsewhere(run: &Run) -> bool {
    run.host_before.facts.is_empty()
}

fn few_rounds(tables: &[&Table], run: &Run) -> Option<Warning> {
    let headline = tables.iter().filter(|table| table.headline);
    let rounds = headline.flat_map(|table| figures(table)).map(|figure| figure.rounds).min()?;
    let what = match rounds {
        1 => "Some figures are from a single round: their intervals know nothing of what changes \
              from round to round"
            .to_owned(),
        few if few < FEWEST_ROUNDS => format!(
            "Some figures are from {} rounds: their intervals are narrower than 95 % asks for",
            words::number_word(few as usize)
        ),
        _ => return None,
    };
    Some(warning(what, &with_rounds(run, FEWEST_ROUNDS)))
}

/// With few points "linear" covers n log n: see [`crate::growth::classify`].
fn few_points(tables: &[&Table], run: &Run) -> Option<Warning> {
    // A trajectory's growth is judged by more places than its table shows.
    let shown = tables.iter().filter(|table| !table.trajectory);
    let few = shown.flat_map(|table| &table.rows).any(|row| {
        let points = row.cells.iter().flatten().count();
        let linear = row.growth.as_ref().is_some_and(|growth| growth.class == Class::Linear);
        linear && points < POINTS_MIN
    });
    few.then(|| {
        let remedy = if is_from_elsewhere(run) {
            MORE_POINTS
        } else {
            "the same with --points 10,30,100,300,1k,3k,10k"
        };
        warning(
            "With fewer than five points n log n can't be told from n: linear stands for both"
                .into(),
            remedy,
        )
    })
}
