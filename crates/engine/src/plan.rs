//! From what was asked for to a plan: every cell, in the order in which it will be measured.

use crate::workload::info;
use crate::{Fit, Kind, Workload};
use record::{CellKey, Conditions, Plan, Unavailable, Warning};
use std::collections::{BTreeMap, HashSet};

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Names of workloads; empty for the suite and its controls.
    pub workloads: Vec<String>,
    /// Names of subjects; empty for all that are available.
    pub subjects: Vec<String>,
    /// Values on the axis; empty for the workload's own.
    pub points: Vec<u64>,
    /// Values of conditions, as typed; the ones not named keep their default.
    pub conditions: BTreeMap<String, Vec<String>>,
    /// Passes over all cells.
    pub rounds: u32,
    /// Whether the workload's short list of points is meant.
    pub quick: bool,
    /// Time that one metric of one cell may spend measuring, in milliseconds.
    pub measure_ms: u64,
    /// A worker that has not ended by then is killed, in milliseconds.
    pub deadline_ms: u64,
    /// The CPUs that workers are pinned to.
    pub pinned_cpus: Vec<usize>,
    /// Shuffles the order.
    pub seed: u64,
}

/// Why what was asked for can't be planned: one line for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The words are off.
    #[error("{0}")]
    Usage(String),
    /// Nothing of it can be measured on this machine.
    #[error("{0}")]
    NotPossibleHere(String),
}

/// Plans what was asked for out of the `table` of workloads.
pub fn plan(ask: &Ask, table: &[&'static dyn Workload]) -> Result<Plan, AskError> {
    let workloads = chosen(ask, table)?;
    pinnable(&ask.pinned_cpus)?;
    known_subjects(ask, &workloads)?;
    known_conditions(ask, &workloads)?;
    let mut plan = Plan {
        seed: ask.seed,
        rounds: ask.rounds,
        measure_ms: ask.measure_ms,
        deadline_ms: ask.deadline_ms,
        pinned_cpus: ask.pinned_cpus.clone(),
        ..Plan::default()
    };
    let mut keys = Vec::new();
    for workload in &workloads {
        plan.workloads.push(info(*workload));
        keys.extend(series(ask, *workload, &mut plan)?);
    }
    if keys.is_empty() {
        return Err(AskError::NotPossibleHere(nothing_left(&plan)));
    }
    let cells = keys.len() as u64 * u64::from(ask.rounds);
    if cells > CELLS_MAX {
        return Err(AskError::Usage(format!(
            "that is {cells} cells, and {CELLS_MAX} are the most; ask for fewer points or rounds"
        )));
    }
    plan.cells = in_order(&keys, ask.rounds, ask.seed);
    Ok(plan)
}

/// More cells than this take days to measure, and their plan alone fills the memory.
const CELLS_MAX: u64 = 100_000;

/// Whether workers may run on these CPUs.
fn pinnable(cpus: &[usize]) -> Result<(), AskError> {
    let allowed = rustix::thread::sched_getaffinity(None);
    let usable = |cpu: usize| match &allowed {
        Ok(allowed) => cpu < rustix::thread::CpuSet::MAX_CPU && allowed.is_set(cpu),
        // Where the kernel does not tell, pinning itself will.
        Err(_) => true,
    };
    match cpus.iter().find(|&&cpu| !usable(cpu)) {
        None => Ok(()),
        Some(cpu) => Err(AskError::NotPossibleHere(format!(
            "--pin: CPU {cpu} is not among those that this process may use (see `taskset -p $$`)"
        ))),
    }
}

fn nothing_left(plan: &Plan) -> String {
    let warnings = plan.warnings.iter().map(|warning| warning.what.clone());
    let unavailable = plan
        .unavailable
        .iter()
        .map(|row| format!("{} is unavailable: {}", row.subject, row.reason));
    let reasons: Vec<String> = unavailable.chain(warnings).collect();
    format!("nothing of this can be measured here: {}", reasons.join("; "))
}

/// The workloads that were named, or the suite with its controls.
fn chosen(
    ask: &Ask,
    table: &[&'static dyn Workload],
) -> Result<Vec<&'static dyn Workload>, AskError> {
    if ask.workloads.is_empty() {
        return Ok(table.iter().copied().filter(|row| row.about().kind != Kind::Fault).collect());
    }
    let names: Vec<&str> = table.iter().map(|row| row.about().name).collect();
    let mut chosen: Vec<&'static dyn Workload> = Vec::new();
    for name in &ask.workloads {
        let found = table.iter().find(|row| row.about().name == name);
        let found = *found.ok_or_else(|| unknown("workload", name, &names, "knee list"))?;
        if !chosen.iter().any(|row| row.about().name == name) {
            chosen.push(found);
        }
    }
    Ok(chosen)
}

/// Every subject that was named belongs to one of the workloads at least.
fn known_subjects(ask: &Ask, workloads: &[&'static dyn Workload]) -> Result<(), AskError> {
    let names: Vec<&str> =
        workloads.iter().flat_map(|row| row.subjects()).map(|subject| subject.name).collect();
    for name in &ask.subjects {
        if !names.contains(&name.as_str()) {
            return Err(unknown("subject", name, &names, "knee list"));
        }
    }
    Ok(())
}

fn known_conditions(ask: &Ask, workloads: &[&'static dyn Workload]) -> Result<(), AskError> {
    for name in ask.conditions.keys() {
        let has = |row: &&dyn Workload| row.about().conditions.iter().any(|c| c.name == name);
        if !workloads.iter().any(has) {
            let names: Vec<&str> = workloads.iter().map(|row| row.about().name).collect();
            let names = names.join(", ");
            return Err(AskError::Usage(format!("--{name} is no condition of {names}")));
        }
    }
    Ok(())
}

/// The keys of one round of one workload, clamped and thinned to what can be measured here.
fn series(ask: &Ask, workload: &dyn Workload, plan: &mut Plan) -> Result<Vec<CellKey>, AskError> {
    let about = workload.about();
    let conditions = combinations(ask, workload)?;
    let default = if ask.quick { about.axis.quick } else { about.axis.full };
    let points = if ask.points.is_empty() { default } else { &ask.points[..] };
    let (mut keys, mut seen) = (Vec::new(), HashSet::new());
    for subject in workload.subjects() {
        let named = ask.subjects.iter().any(|name| name == subject.name);
        if !ask.subjects.is_empty() && !named {
            continue;
        }
        if let Err(reason) = subject.available {
            plan.unavailable.push(Unavailable {
                workload: about.name.into(),
                subject: subject.name.into(),
                reason,
            });
            continue;
        }
        for conditions in &conditions {
            for &point in points {
                let key = CellKey {
                    workload: about.name.into(),
                    subject: subject.name.into(),
                    conditions: conditions.clone(),
                    point,
                    round: 0,
                };
                keys.extend(fitted(workload, key, plan).filter(|key| seen.insert(key.clone())));
            }
        }
    }
    Ok(keys)
}

/// The cell as it can be measured here; what was changed stands in the plan's warnings, once.
fn fitted(workload: &dyn Workload, mut key: CellKey, plan: &mut Plan) -> Option<CellKey> {
    let (key, warning) = match workload.fit(&key) {
        Fit::Measure => return Some(key),
        Fit::Leave(warning) => (None, warning),
        Fit::Clamp(point, warning) => {
            key.point = point;
            (Some(key), warning)
        }
    };
    if !plan.warnings.contains(&warning) {
        plan.warnings.push(warning);
    }
    key
}

/// Every combination of the conditions' values.
fn combinations(ask: &Ask, workload: &dyn Workload) -> Result<Vec<Conditions>, AskError> {
    let mut all = vec![Conditions::new()];
    for condition in workload.about().conditions {
        let typed = ask.conditions.get(condition.name).cloned();
        let typed = typed.unwrap_or_else(|| vec![condition.default.into()]);
        let values: Result<Vec<String>, String> =
            typed.iter().map(|value| condition.check(value)).collect();
        let values = values.map_err(AskError::Usage)?;
        all = all
            .iter()
            .flat_map(|base| {
                values.iter().map(|value| {
                    let mut more = base.clone();
                    more.insert(condition.name.into(), value.clone());
                    more
                })
            })
            .collect();
    }
    Ok(all)
}

/// Rounds interleave, and each is shuffled on its own, so that drift hits all subjects alike.
fn in_order(keys: &[CellKey], rounds: u32, seed: u64) -> Vec<CellKey> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut cells = Vec::with_capacity(keys.len() * rounds as usize);
    for round in 0..rounds {
        let mut pass: Vec<CellKey> =
            keys.iter().map(|key| CellKey { round, ..key.clone() }).collect();
        random.shuffle(&mut pass);
        cells.append(&mut pass);
    }
    cells
}

/// One line for a name that nobody knows, with the nearest ones.
fn unknown(what: &str, name: &str, known: &[&str], list: &str) -> AskError {
    let near = nearest(name, known);
    let hint = if near.is_empty() {
        format!("`{list}` shows them all")
    } else {
        format!("did you mean {}?", near.join(" or "))
    };
    AskError::Usage(format!("no {what} is called `{name}`; {hint}"))
}

/// The names most like `name`, at most three.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Vec<&'a str> {
    let mut near: Vec<(f64, &str)> = known
        .iter()
        .map(|&other| (strsim::jaro_winkler(name, other), other))
        .filter(|&(likeness, _)| likeness > 0.75)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.dedup();
    near.into_iter().take(3).map(|(_, other)| other).collect()
}

/// A whole number as people type one: `9000`, `9,000` is a list, `9k`, `1M`, `1_000`.
pub(crate) fn whole_number(typed: &str) -> Result<u64, String> {
    let wrong = || format!("`{typed}` is not a whole number (such as 100, 9k or 1M)");
    let (digits, factor) = match typed.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1_000),
        None => match typed.strip_suffix(['m', 'M']) {
            Some(digits) => (digits, 1_000_000),
            None => (typed, 1),
        },
    };
    let number: u64 = digits.replace('_', "").parse().map_err(|_| wrong())?;
    number.checked_mul(factor).ok_or_else(|| format!("`{typed}` is too large"))
}

impl Ask {
    /// Reads values on the axis as people type them: at least 1 each, `10`, `9k` or `1M`.
    pub fn read_points(typed: &[String]) -> Result<Vec<u64>, AskError> {
        typed.iter().map(|point| read_point(point)).collect()
    }
}

/// More rounds than anyone has the patience for are a slip of the finger.
const ROUNDS_MAX: u64 = 10_000;

impl Ask {
    /// Reads a number of rounds: 1 to 10,000.
    pub fn read_rounds(typed: &str) -> Result<u32, AskError> {
        match whole_number(typed.trim()) {
            Ok(rounds @ 1..=ROUNDS_MAX) => Ok(rounds as u32),
            Ok(rounds) => {
                Err(AskError::Usage(format!("--rounds is 1 to {ROUNDS_MAX}, not {rounds}")))
            }
            Err(why) => Err(AskError::Usage(format!("--rounds: {why}"))),
        }
    }
}

fn read_point(typed: &str) -> Result<u64, AskError> {
    match whole_number(typed.trim()) {
        Ok(0) => Err(AskError::Usage("--points: a point is at least 1, not 0".into())),
        Ok(point) => Ok(point),
        Err(why) => Err(AskError::Usage(format!("--points: {why}"))),
    }
}

/// A warning whose remedy is `remedy`.
pub(crate) fn warning(what: impl Into<String>, remedy: impl Into<String>) -> Warning {
    Warning { what: what.into(), remedy: remedy.into() }
}
