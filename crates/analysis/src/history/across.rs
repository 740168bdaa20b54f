//! One run for each value of a fact or a label, in order: which kernel, version or setting made a difference.
//!
//! A history over time has many runs, and looks for levels. Kernels are few, and each is a level of its own: so
//! neighbours are compared as two runs are, and all ratios hold at once.

use super::joined;
use super::left_out::LeftOut;
use super::measured::{Measured, Wanted};
use crate::compare::{Comparison, Refusal, Several, Terms, compare_in_order};
use model::{Fact, HOST_FACTS, Run, RunState, WorkloadInfo};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

mod version;

/// The runs that stand for the values, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The fact or the label.
    pub key: String,
    /// A run for each value.
    pub values: Vec<RunOfValue>,
    /// What is not comparable, older, or without a value.
    pub left_out: Vec<LeftOut>,
}

/// A value, and the run that stands for it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunOfValue {
    /// The value.
    pub value: String,
    /// What is known of the run.
    pub run: Measured,
}

/// The runs of a workload across the values of a fact or a label.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AcrossValues {
    /// The workload, as the newest run describes it.
    pub workload: WorkloadInfo,
    /// The machine: facts of the newest run by key.
    pub machine: BTreeMap<String, Fact>,
    /// The fact or the label.
    pub key: String,
    /// The values in order.
    pub values: Vec<String>,
    /// See [`LeftOut`].
    #[serde(skip)]
    pub left_out: Vec<LeftOut>,
    /// The run of each value but the first, compared with that of the value before.
    #[serde(skip)]
    pub steps: Several,
    /// The last run compared with the first; absent where that is the only step.
    #[serde(skip)]
    pub whole: Option<Result<Comparison, Refusal>>,
}

/// Chooses the newest run of each value of `key` among `runs`, if possible a complete one. `None` of no runs.
pub fn choose(runs: Vec<Measured>, key: &str) -> Option<Chosen> {
    joined::newest(&runs)?;
    let (runs, mut left_out) = joined::comparable(runs);
    let (mut values, mut older, mut without) = (Vec::<RunOfValue>::new(), Vec::new(), Vec::new());
    for run in runs {
        let number = run.summary.number;
        let Some(value) = value_of(&run, key) else {
            without.push(number);
            continue;
        };
        let Some(same) = values.iter_mut().find(|chosen| chosen.value == value) else {
            values.push(RunOfValue { value, run });
            continue;
        };
        let is_complete = |run: &Measured| run.summary.state == RunState::Complete;
        let loser = if is_complete(&run) || !is_complete(&same.run) {
            std::mem::replace(&mut same.run, run)
        } else {
            run
        };
        older.push(loser.summary.number);
    }
    // Where they are no versions, they stay in the order of time.
    if values.iter().all(|value| version::is_version(&value.value)) {
        values.sort_by(|a, b| version::compare(&a.value, &b.value));
    }
    older.sort_unstable();
    if !older.is_empty() {
        left_out.push(LeftOut::SameValue { runs: older, key: key.to_owned() });
    }
    if !without.is_empty() {
        left_out.push(LeftOut::NoValue { runs: without, key: key.to_owned() });
    }
    Some(Chosen { key: key.to_owned(), values, left_out })
}

/// What a run has for `key`: a label, a fact, or the fact that sentences call so.
fn value_of(run: &Measured, key: &str) -> Option<String> {
    let called = || HOST_FACTS.iter().find(|fact| fact.label == key).map(|fact| fact.key);
    let label = run.summary.labels.get(key);
    let facts = &run.machine.facts;
    let fact = || facts.get(key).or_else(|| facts.get(called()?));
    label.cloned().or_else(|| fact().map(Fact::to_string))
}

/// Compares neighbours among the chosen runs, and the first with the last. `runs` are theirs, narrowed by [`narrow`].
pub fn across(chosen: Chosen, runs: &[&Run], terms: &Terms) -> AcrossValues {
    let Chosen { key, values, mut left_out } = chosen;
    let (values, measured): (Vec<String>, Vec<Measured>) =
        values.into_iter().map(|value| (value.value, value.run)).unzip();
    // The caller has chosen at least one.
    let newest = measured.iter().max_by_key(|run| run.summary.number);
    let workload = newest.map(|run| run.workload.clone()).unwrap_or_default();
    let machine = newest.map(|run| run.machine.facts.clone()).unwrap_or_default();
    let (_, other_units) = joined::lines(&measured, &workload);
    left_out.extend(other_units);
    left_out.extend(joined::unfinished(&measured));
    let (steps, whole) = compare_in_order(runs, &Terms { across: true, ..*terms });
    AcrossValues { workload, machine, key, values, left_out, steps, whole }
}

/// Leaves in `run` what is wanted of a workload: the fewer ratios there are, the narrower their intervals.
pub fn narrow(run: &mut Run, workload: &str, wanted: &Wanted) {
    run.plan.workloads.retain(|info| info.name == workload);
    run.cells.retain(|cell| {
        let Wanted { subjects, points, .. } = wanted;
        cell.key.workload == workload
            && (subjects.is_empty() || subjects.contains(&cell.key.subject))
            && (points.is_empty() || points.contains(&cell.key.point))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::measured;
    use fixtures::{cell, host, run, workload};

    fn made(number: i64, kernel: Option<&str>, state: RunState) -> Measured {
        let cells = (0..3).map(|round| cell("made", "a", 1, round).samples("call", vec![1.0, 1.1]));
        let facts = [("cpu.model", "A CPU"), ("cpu.count", "2")].into_iter();
        let facts = facts.chain(kernel.map(|kernel| ("kernel.release", kernel)));
        let made = workload("made").axis("things", "things").time("call").subjects(["a"]);
        let host = host("2026-11-01T12:00:00+00:00", facts.collect::<Vec<_>>());
        let mut run = run(made).number(number).host_before(host).cells(cells).complete();
        run.summary.state = state;
        measured(&run, "made", &Wanted::default()).unwrap()
    }

    #[test]
    fn the_newest_complete_run_stands_for_its_value() {
        let runs = vec![
            made(1, Some("6.12"), RunState::Complete),
            made(2, Some("6.1"), RunState::Interrupted),
            made(3, Some("6.1"), RunState::Complete),
            made(4, Some("6.1"), RunState::Interrupted),
            made(5, None, RunState::Complete),
            made(6, Some("6.12"), RunState::Complete),
        ];
        let chosen = choose(runs, "kernel").unwrap();
        let values =
            chosen.values.iter().map(|value| (value.value.as_str(), value.run.summary.number));
        assert_eq!(values.collect::<Vec<_>>(), [("6.1", 3), ("6.12", 6)]);
        let key = "kernel".to_owned();
        let older = LeftOut::SameValue { runs: vec![1, 2, 4], key: key.clone() };
        assert_eq!(chosen.left_out, [older, LeftOut::NoValue { runs: vec![5], key }]);
    }
}
