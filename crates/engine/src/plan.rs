//! From what was asked for to a plan: every cell, in the order in which it will be measured.

mod request;
mod with_custom;

pub use request::{Overrides, ProfileRate, ROUNDS_MAX, RequestError, RunRequest};

use crate::workload::parameter::{Defaults, Parameter, Values};
use crate::workload::{About, Cell, Fit, Kind, Workload};
use model::{
    AxisPosition, CellKey, Change, Limit, Parameters, Plan, PlanChange, Unavailable, Value,
    WorkloadInfo,
};
use quantities::{expanded, families, nearest};
use request::Asked;
use std::collections::HashSet;
use with_custom::{Chosen, with_custom};

/// Plans what was asked for out of the `table` of workloads. With a budget the plan holds every round that
/// there may be.
pub fn plan(request: &RunRequest, table: &[&'static dyn Workload]) -> Result<Plan, RequestError> {
    let chosen = with_custom(request, chosen(request, table)?)?;
    let workloads: Vec<&'static dyn Workload> = chosen.iter().map(|(row, _)| *row).collect();
    pinnable(&request.pinned_cpus)?;
    let names = subject_names(&workloads);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let [subjects, without] =
        [&request.subjects, &request.without].map(|typed| expanded(typed, &names));
    known_subjects(&subjects, &names, &workloads, table)?;
    known_parameters(request, &workloads)?;
    own_subjects_are_named(request, &subjects)?;
    points_once(request, &chosen)?;
    let subjects = without_left_out(subjects, &without, &names, request)?;
    let mut plan = Plan {
        seed: request.seed.unwrap_or_else(|| fastrand::u64(..1 << 32)),
        measure_ms: request.measure_ms(&workloads),
        pinned_cpus: request.pinned_cpus.clone(),
        budget: request.early_end(),
        ..Plan::default()
    };
    plan.profile = request.profile(plan.measure_ms);
    known_axis(request, &workloads, table)?;
    let mut keys_by_workload = Vec::new();
    for (workload, custom) in &chosen {
        let asked = request.of_workload(workload.name());
        let subjects = if asked.subjects().is_empty() { &subjects } else { asked.subjects() };
        let sweep = Swept::new(asked, subjects, *workload)?;
        keys_by_workload.push((workload.about(), sweep.keys(&mut plan)?));
        plan.workloads.push(WorkloadInfo { custom: custom.clone(), ..sweep.info });
    }
    let cells = keys_by_workload.iter().map(|(_, keys)| keys.len()).sum();
    if cells == 0 {
        return Err(RequestError::NotPossibleHere(nothing_left(&plan)));
    }
    let mut keys = Vec::with_capacity(cells);
    for (about, keys_of_one) in keys_by_workload {
        let rounds = request.rounds_of(about, cells);
        plan.rounds = plan.rounds.max(rounds);
        keys.extend(keys_of_one.into_iter().map(|key| (key, rounds)));
    }
    let cells: u64 = keys.iter().map(|(_, rounds)| u64::from(*rounds)).sum();
    if cells > CELLS_MAX {
        return Err(RequestError::Usage(format!(
            "that is {cells} cells, and {CELLS_MAX} are the most; ask for fewer points or rounds"
        )));
    }
    for (index, row) in workloads.iter().enumerate() {
        let about = row.about();
        let deadline_ms = match request.deadline {
            Some(deadline) => deadline.as_millis() as u64,
            None => ample_ms(&plan, &plan.workloads[index], &keys, about),
        };
        plan.workloads[index].deadline_ms = Some(deadline_ms);
        plan.deadline_ms = plan.deadline_ms.max(deadline_ms);
    }
    plan.cells = in_order(&keys, plan.seed);
    Ok(plan)
}

/// A deadline that no cell of a workload meets that works. A cell measures several figures, and opens and
/// closes what it measures them on, for which its workload says how long it takes at most; a call of a
/// trajectory takes what its workload says at most, and mostly far less.
fn ample_ms(plan: &Plan, info: &WorkloadInfo, keys: &[(CellKey, u32)], about: &About) -> u64 {
    let keys = || keys.iter().map(|(key, _)| key).filter(|key| key.workload == info.name);
    let things_ms = keys().map(|key| things_ms_max(key, info, about)).max();
    let farthest = keys().map(|key| key.point).max().filter(|_| info.trajectory);
    let calls_ms = farthest.unwrap_or(0).saturating_mul(about.usual.call_ms_max);
    // A workload with averages measures something whole, and for no set time.
    let measuring_ms = if info.averages { 0 } else { 10 * plan.measure_ms };
    about.usual.cell_ms_max + measuring_ms + calls_ms + things_ms.unwrap_or(0)
}

/// What a cell takes at most to make the things of which it has a number, such as connections.
fn things_ms_max(key: &CellKey, info: &WorkloadInfo, about: &About) -> u64 {
    let Some((parameter, each_us_max)) = about.usual.made_us_max else { return 0 };
    let number = || key.parameters.get(parameter).and_then(Value::number);
    let count = if info.axis_parameter == parameter { Some(key.point) } else { number() };
    count.unwrap_or(0).saturating_mul(each_us_max) / 1_000
}

/// More cells than this take days to measure, and their plan alone fills the memory.
const CELLS_MAX: u64 = 100_000;

/// Whether this process, and what it starts, may run on these CPUs.
///
/// # Errors
/// With the first that it may not run on.
pub fn pinnable(cpus: &[usize]) -> Result<(), RequestError> {
    // Where the kernel does not answer, pinning itself will.
    let allowed = sys::cpus::allowed().ok();
    match cpus.iter().find(|cpu| allowed.as_ref().is_some_and(|allowed| !allowed.contains(cpu))) {
        None => Ok(()),
        Some(cpu) => Err(RequestError::NotPossibleHere(format!(
            "--pin: CPU {cpu} is not among those that this process may use (see `taskset -p $$`)"
        ))),
    }
}

/// Each reason once, with the subjects that it keeps from being measured.
fn unavailable(plan: &Plan) -> impl Iterator<Item = String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for Unavailable { subject, reason, .. } in &plan.unavailable {
        match reasons.iter_mut().find(|(key, _)| key == reason) {
            Some((_, subjects)) => subjects.push(subject),
            None => reasons.push((reason, vec![subject])),
        }
    }
    reasons.into_iter().map(|(reason, subjects)| match subjects.as_slice() {
        [first, _, ..] => {
            format!("{first} and {} more are unavailable: {reason}", subjects.len() - 1)
        }
        _ => format!("{} is unavailable: {reason}", subjects.concat()),
    })
}

fn nothing_left(plan: &Plan) -> String {
    let changes = plan.changes.iter().map(|row| match row.remedy.as_str() {
        "" => row.change.to_string(),
        remedy => format!("{} → {remedy}", row.change.to_string().trim_end_matches('.')),
    });
    let reasons: Vec<String> = unavailable(plan).chain(changes).collect();
    format!("nothing of this can be measured here: {}", reasons.join("; "))
}

fn chosen(
    request: &RunRequest,
    table: &[&'static dyn Workload],
) -> Result<Vec<&'static dyn Workload>, RequestError> {
    if request.workloads.is_empty() {
        return Ok(table.iter().copied().filter(|row| row.about().kind == Kind::Suite).collect());
    }
    let names: Vec<&str> = table.iter().map(|row| row.name()).collect();
    let mut chosen: Vec<&'static dyn Workload> = Vec::new();
    for name in &request.workloads {
        let row = table.iter().find(|row| row.name() == name);
        let row = *row.ok_or_else(|| unknown("workload", name, &names, "knee list"))?;
        if !chosen.iter().any(|row| row.name() == name) {
            chosen.push(row);
        }
    }
    Ok(chosen)
}

fn subject_names(workloads: &[&'static dyn Workload]) -> Vec<String> {
    workloads.iter().flat_map(|row| row.subjects()).map(|subject| subject.info.name).collect()
}

/// Every subject that was named belongs to one of the workloads at least.
fn known_subjects(
    subjects: &[String],
    names: &[&str],
    workloads: &[&'static dyn Workload],
    table: &[&'static dyn Workload],
) -> Result<(), RequestError> {
    for name in subjects {
        if names.contains(&name.as_str()) {
            continue;
        }
        let has = |row: &&&'static dyn Workload| subject_names(&[**row]).contains(name);
        let owners: Vec<&str> = table.iter().filter(has).map(|row| row.name()).collect();
        if owners.is_empty() {
            return Err(unknown("subject", name, names, "knee list"));
        }
        let here: Vec<&str> = workloads.iter().map(|row| row.name()).collect();
        return Err(RequestError::Usage(format!(
            "no subject of {} is called `{name}`; `knee run {}` has it",
            here.join(", "),
            owners.join(" ")
        )));
    }
    Ok(())
}

/// No subject that flags add is left out by another flag: a suite's may be.
fn own_subjects_are_named(request: &RunRequest, subjects: &[String]) -> Result<(), RequestError> {
    let typed = request.custom.iter().flat_map(|custom| custom.templates());
    match typed.map(|template| &template.name).find(|name| !is_named(subjects, name)) {
        None => Ok(()),
        Some(name) => Err(RequestError::Usage(format!(
            "--subjects leaves out {name}, which another flag adds; name it too: --subjects {},{name}",
            subjects.join(",")
        ))),
    }
}

fn is_named(subjects: &[String], name: &str) -> bool {
    subjects.is_empty() || subjects.iter().any(|subject| subject == name)
}

/// The `subjects` without those that are left out: off all where none is named.
fn without_left_out(
    subjects: Vec<String>,
    without: &[String],
    names: &[&str],
    request: &RunRequest,
) -> Result<Vec<String>, RequestError> {
    if without.is_empty() {
        return Ok(subjects);
    }
    if let Some(stray) = without.iter().find(|name| !names.contains(&name.as_str())) {
        let workloads = request.workloads.join(" and ");
        let hint = did_you_mean(stray, names).unwrap_or_else(|| "see `knee list`".to_owned());
        let what = format!("{stray} is no subject of {workloads}; {hint}");
        return Err(RequestError::Usage(what));
    }
    let is_kept = |name: &&&str| {
        is_named(&subjects, name) && !without.iter().any(|excluded| excluded == **name)
    };
    let kept: Vec<String> = names.iter().filter(is_kept).map(|&name| name.into()).collect();
    if kept.is_empty() {
        let what = "nothing is left to compare; leave fewer out";
        return Err(RequestError::Usage(what.to_owned()));
    }
    Ok(kept)
}

/// The points of a word are given once where they are typed: by `--points`, or by `--set`.
fn points_once(request: &RunRequest, chosen: &[Chosen]) -> Result<(), RequestError> {
    let set = |workload: &dyn Workload| {
        let axis = workload.about().axis();
        let typed = request.custom.as_ref().filter(|_| !request.points.is_empty())?;
        typed.words.contains_key(axis).then_some(axis)
    };
    match chosen.iter().find_map(|(workload, _)| set(*workload)) {
        None => Ok(()),
        Some(axis) => Err(RequestError::Usage(format!(
            "--points and --set {axis} name the same: {axis} is the axis"
        ))),
    }
}

fn known_parameters(
    request: &RunRequest,
    workloads: &[&'static dyn Workload],
) -> Result<(), RequestError> {
    for name in request.parameters.keys() {
        let has = |row: &&dyn Workload| row.about().parameters.iter().any(|c| c.name == name);
        if !workloads.iter().any(has) {
            let names: Vec<&str> = workloads.iter().map(|row| row.name()).collect();
            let names = names.join(", ");
            return Err(RequestError::Usage(format!("--{name} is no parameter of {names}")));
        }
    }
    Ok(())
}

/// Some workload can be swept over the axis that was named.
fn known_axis(
    request: &RunRequest,
    workloads: &[&'static dyn Workload],
    table: &[&'static dyn Workload],
) -> Result<(), RequestError> {
    let Some(axis) = &request.axis else { return Ok(()) };
    let mut all = workloads.iter().flat_map(|row| row.about().axes());
    if all.any(|parameter| parameter.name == axis) {
        return Ok(());
    }
    let names: Vec<&str> = workloads
        .iter()
        .flat_map(|row| row.about().axes())
        .map(|parameter| parameter.name)
        .collect();
    if let Some(hint) = did_you_mean(axis, &names) {
        return Err(RequestError::Usage(format!("--axis {axis}: {hint}")));
    }
    let can = |row: &&dyn Workload| {
        let axes: Vec<&str> = row.about().axes().map(|parameter| parameter.name).collect();
        format!("{} over {}", row.name(), axes.join(" or "))
    };
    let can: Vec<String> = workloads.iter().map(can).collect();
    let has = |row: &&&dyn Workload| row.about().axes().any(|parameter| parameter.name == axis);
    let sweepable: Vec<&str> = table.iter().filter(has).map(|row| row.name()).collect();
    let elsewhere = match &sweepable[..] {
        [] => String::new(),
        names => format!("; over {axis} it is {}", names.join(" or ")),
    };
    Err(RequestError::Usage(format!("--axis {axis}: {} can grow{elsewhere}", can.join("; "))))
}

struct Swept<'a> {
    asked: Asked<'a>,
    /// Those that are compared; empty for all that are not measured by name only.
    subjects: &'a [String],
    workload: &'a dyn Workload,
    axis: &'a Parameter,
    info: WorkloadInfo,
}

impl<'a> Swept<'a> {
    fn new(
        asked: Asked<'a>,
        subjects: &'a [String],
        workload: &'a dyn Workload,
    ) -> Result<Swept<'a>, RequestError> {
        let about = workload.about();
        let wanted = |parameter: &&Parameter| Some(parameter.name) == asked.axis();
        let own = |parameter: &&Parameter| parameter.name == about.axis();
        let axis = about.axes().find(wanted).or_else(|| about.axes().find(own));
        let axis = axis.ok_or_else(|| {
            let (name, axis) = (workload.name(), about.axis());
            RequestError::Usage(format!("{name}: its axis {axis} has no sweep"))
        })?;
        Ok(Swept { asked, subjects, workload, axis, info: workload.info(axis) })
    }

    /// The keys of one round, clamped and thinned to what can be measured here.
    fn keys(&self, plan: &mut Plan) -> Result<Vec<CellKey>, RequestError> {
        let name = self.workload.name();
        let (series, points) = (self.combinations()?, self.far_end(self.points()?, plan));
        let (mut keys, mut seen) = (Vec::new(), HashSet::new());
        for subject in self.workload.subjects() {
            let is_named = self.subjects.contains(&subject.info.name);
            if !is_named && (subject.by_name_only || !self.subjects.is_empty()) {
                continue;
            }
            if let Err(reason) = subject.available.ask() {
                let (workload, subject) = (name.into(), subject.info.name.clone());
                plan.unavailable.push(Unavailable { workload, subject, reason });
                continue;
            }
            let first = series.first();
            let is_first = |parameters: &Parameters, name: &str| {
                first.is_none_or(|first| first.get(name) == parameters.get(name))
            };
            let has_effect = |parameters: &&Parameters| {
                subject.unused.iter().all(|name| is_first(parameters, name))
            };
            for parameters in series.iter().filter(has_effect) {
                let at = points.iter().map(|point| self.number(point, parameters));
                let mut at = at.collect::<Result<Vec<u64>, RequestError>>()?;
                if subject.info.control {
                    at = at.into_iter().max().into_iter().collect();
                }
                for point in at {
                    let key = CellKey {
                        workload: name.into(),
                        subject: subject.info.name.clone(),
                        parameters: parameters.clone(),
                        point,
                        round: 0,
                    };
                    keys.extend(self.fitted(key, plan)?.filter(|key| seen.insert(key.clone())));
                }
            }
        }
        Ok(keys)
    }

    fn number(&self, point: &Value, parameters: &Parameters) -> Result<u64, RequestError> {
        let name = self.axis.name;
        let none = || RequestError::Usage(format!("{name}: `{point}` stands for no number"));
        self.axis.number(point, parameters).ok_or_else(none)
    }

    fn usual(&self, parameter: &Parameter, defaults: &Defaults) -> Vec<Value> {
        let typed = defaults.values(self.asked.request.is_quick()).iter();
        typed.map(|typed| parameter.read(typed)).collect()
    }

    /// The points, checked: those that were asked for by `--points` or by the axis's own flag, else
    /// the workload's own.
    fn points(&self) -> Result<Vec<Value>, RequestError> {
        let (axis, asked) = (self.axis, self.asked.points());
        let own = self.asked.values(axis.name).filter(|values| !values.is_empty());
        let (values, flag) = match own {
            Some(_) if !asked.is_empty() => {
                let name = axis.name;
                let what = format!("--points and --{name} name the same: {name} is the axis");
                return Err(RequestError::Usage(what));
            }
            Some(own) => (own.to_vec(), axis.name),
            None if asked.is_empty() => {
                let sweep = axis.sweep.as_ref().map_or(&axis.default, |sweep| &sweep.points);
                (self.usual(axis, sweep), "points")
            }
            // Only its axis says what `64k` is: 64,000 of something, or 64 KiB.
            None => (asked.iter().map(|point| axis.read(&point.text())).collect(), "points"),
        };
        if values.is_empty() {
            let (workload, name) = (self.workload.name(), axis.name);
            return Err(RequestError::Usage(format!(
                "{workload}: --points names the values of {{{name}}}: --points 1k,10k,100k"
            )));
        }
        self.checked(axis, &values, flag)
    }

    /// Of a trajectory's points the last, since all others are on the way there.
    fn far_end(&self, points: Vec<Value>, plan: &mut Plan) -> Vec<Value> {
        let last = match points.iter().max_by_key(|point| point.number()) {
            Some(last) if points.len() > 1 => last.clone(),
            _ => return points,
        };
        if !self.info.trajectory {
            return points;
        }
        let change = Change::FarEndOnly {
            workload: self.workload.name().into(),
            label: self.info.axis.clone(),
            last: last.clone(),
        };
        plan.changes.push(PlanChange { cells: Vec::new(), change, remedy: String::new() });
        vec![last]
    }

    /// Every combination of the values of all parameters but the axis.
    fn combinations(&self) -> Result<Vec<Parameters>, RequestError> {
        let mut all = vec![Parameters::new()];
        let parameters = &self.workload.about().parameters;
        for parameter in parameters.iter().filter(|parameter| parameter.name != self.axis.name) {
            let asked = self.asked.values(parameter.name).map(<[Value]>::to_vec);
            let values = asked.unwrap_or_else(|| self.usual(parameter, &parameter.default));
            let values = self.checked(parameter, &values, parameter.name)?;
            // One that is not asked for and has no default is not varied: cells are without it.
            if values.is_empty() {
                continue;
            }
            let with = |base: &Parameters, value: &Value| {
                let mut more = base.clone();
                more.insert(parameter.name.into(), value.clone());
                more
            };
            all = all.iter().flat_map(|base| values.iter().map(|v| with(base, v))).collect();
        }
        // Of those that differ only in what has no effect, the first.
        let mut seen = HashSet::new();
        all.retain(|parameters| seen.insert(self.info.effective(parameters)));
        Ok(all)
    }

    /// The cell as it can be measured here, if it can; what was changed stands in the plan.
    fn fitted(&self, key: CellKey, plan: &mut Plan) -> Result<Option<CellKey>, RequestError> {
        let cell = self.cell(&key);
        let (planned, change, remedy) = match self.workload.fit(&cell) {
            Fit::Measure => return Ok(Some(key)),
            Fit::Leave { what, cause, remedy } => (None, Change::LeftOut { what, cause }, remedy),
            Fit::AtMost { parameter, max, cause, remedy } => {
                let is_axis = parameter == self.axis.name;
                let requested = cell.parameter(parameter).map_err(|lacking| {
                    RequestError::NotPossibleHere(format!("{}: {lacking}", self.workload.name()))
                })?;
                let mut limit = Limit {
                    parameter: parameter.into(),
                    label: self.label(parameter).into(),
                    requested: requested.clone(),
                    max,
                    cause,
                    position: None,
                };
                let clamped = CellKey { point: max, ..key.clone() };
                // What is clamped has to fit as well: there may be more tokens than pipes then.
                if is_axis && self.workload.fit(&self.cell(&clamped)) == Fit::Measure {
                    (Some(clamped), Change::Clamped(limit), remedy)
                } else {
                    let label = self.info.axis.clone();
                    limit.position = (!is_axis).then_some(AxisPosition { label, point: key.point });
                    (None, Change::OverLimit(limit), remedy)
                }
            }
        };
        keep_change(plan, key, change, remedy);
        Ok(planned)
    }

    fn cell(&self, key: &CellKey) -> Cell {
        Cell::new(self.workload.about(), self.axis.name, key, 0)
    }

    /// Values as the record keeps them, each once.
    fn checked(
        &self,
        parameter: &Parameter,
        values: &[Value],
        flag: &str,
    ) -> Result<Vec<Value>, RequestError> {
        let mut checked = Vec::new();
        for value in values {
            let mut value = parameter.check(value, flag).map_err(RequestError::Usage)?;
            if matches!(parameter.values, Values::Cpus) {
                value = self.asked.request.cpus_within(&value, flag)?;
            }
            if !checked.contains(&value) {
                checked.push(value);
            }
        }
        Ok(checked)
    }

    fn label(&self, parameter: &str) -> &'static str {
        self.workload.about().parameter(parameter).unwrap_or(self.axis).label()
    }
}

/// Notes in the plan what became of the cell that was requested: a change that several cells share stands
/// there once.
fn keep_change(plan: &mut Plan, requested: CellKey, change: Change, remedy: String) {
    let is_same = |kept: &&mut PlanChange| kept.change == change && kept.remedy == remedy;
    match plan.changes.iter_mut().find(is_same) {
        Some(kept) => {
            if !kept.cells.contains(&requested) {
                kept.cells.push(requested);
            }
        }
        None => plan.changes.push(PlanChange { cells: vec![requested], change, remedy }),
    }
}

/// Rounds interleave, and each is shuffled on its own, so that drift hits all subjects alike. With
/// each key stands how many rounds it has.
fn in_order(keys: &[(CellKey, u32)], seed: u64) -> Vec<CellKey> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut cells = Vec::new();
    for round in 0..keys.iter().map(|(_, rounds)| *rounds).max().unwrap_or(0) {
        let has_it = keys.iter().filter(|(_, rounds)| round < *rounds);
        let mut pass: Vec<CellKey> =
            has_it.map(|(key, _)| CellKey { round, ..key.clone() }).collect();
        random.shuffle(&mut pass);
        cells.append(&mut pass);
    }
    cells
}

fn unknown(what: &str, name: &str, names: &[&str], list: &str) -> RequestError {
    let families = families(names);
    let names: Vec<&str> = names.iter().copied().chain(families).collect();
    let hint = did_you_mean(name, &names).unwrap_or_else(|| format!("`{list}` shows them all"));
    RequestError::Usage(format!("no {what} is called `{name}`; {hint}"))
}

/// The names that were probably meant, as a question.
fn did_you_mean(name: &str, names: &[&str]) -> Option<String> {
    let mut suggestions = nearest(name, names);
    // Where names begin so, others that only look alike are not meant.
    let begin = suggestions.iter().filter(|suggested| suggested.starts_with(name)).count();
    suggestions.truncate(begin.max(1));
    (!suggestions.is_empty()).then(|| format!("did you mean {}?", suggestions.join(" or ")))
}

impl RunRequest {
    /// How many CPUs a run has: those that it is pinned to, or all that this process may use.
    fn cpus(&self) -> usize {
        if !self.pinned_cpus.is_empty() {
            return self.pinned_cpus.len();
        }
        sys::cpus::allowed().map_or(1, |cpus| cpus.len().max(1))
    }

    /// A number of CPUs, checked: `all` is as many as a run has.
    fn cpus_within(&self, value: &Value, flag: &str) -> Result<Value, RequestError> {
        let max = self.cpus() as u64;
        match value.number() {
            None => Ok(Value::Number(max)),
            Some(cpus) if cpus <= max => Ok(Value::Number(cpus)),
            Some(cpus) => Err(RequestError::NotPossibleHere(format!(
                "--{flag}: {cpus} CPUs, and this run has {max} (see `taskset -p $$`, and --pin)"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_stands_once_with_the_number_of_its_subjects() {
        let row = |(subject, reason): (&str, &str)| Unavailable {
            workload: "baseline".into(),
            subject: subject.into(),
            reason: reason.into(),
        };
        let rows = [("add", "musl"), ("udp", "no IPv4"), ("stat", "musl"), ("pipe", "musl")];
        let plan = Plan { unavailable: rows.map(row).into(), ..Plan::default() };
        let text = nothing_left(&plan);
        assert!(
            text.ends_with(
                "here: add and 2 more are unavailable: musl; udp is unavailable: no IPv4"
            )
        );
    }
}
