//! What was not the same when two runs were measured, the weightiest first.

use super::results::Difference;
use crate::thresholds::EVEN;
use model::{HOST_FACTS, HostFact, HostRole, Run, RunState, Value, WorkloadInfo, fact_text};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn differences(base: &Run, new: &Run) -> Vec<Difference> {
    let [mut then, mut now] = [base, new].map(parameters);
    for workload in &base.plan.workloads {
        if let Some(newer) = new.plan.workload(&workload.name) {
            then.extend(settings(base, workload));
            now.extend(settings(new, newer));
        }
    }
    let mut all = differing(&then, &now);
    all.sort_by_key(|difference| weight(&difference.what));
    all
}

/// What two maps have otherwise, by key.
pub(crate) fn differing(
    then: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
) -> Vec<Difference> {
    let keys: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let difference = |key: &String| {
        let [base, new] = [then, now].map(|values| values.get(key).cloned());
        (base != new).then(|| Difference { what: key.clone(), base, new })
    };
    keys.into_iter().filter_map(difference).collect()
}

fn weight(key: &str) -> usize {
    if key.starts_with(PARAMETER) {
        return 0;
    }
    let fact = HostFact::find(key).map(|(index, _)| index);
    1 + fact.unwrap_or(HOST_FACTS.len() + usize::from(!key.starts_with("knee")))
}

const PARAMETER: &str = "parameter.";

/// The values of the parameters under which a run measured `workload`, but for the axis, and what its user added to it.
fn settings(run: &Run, workload: &WorkloadInfo) -> BTreeMap<String, String> {
    let keys = run.plan.cells.iter().filter(|key| key.workload == workload.name);
    let mut values: BTreeMap<&str, BTreeSet<&Value>> = BTreeMap::new();
    for (name, value) in keys.flat_map(|key| &key.parameters) {
        values.entry(name).or_default().insert(value);
    }
    let text = |values: BTreeSet<&Value>| {
        values.into_iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    let parameters = values.into_iter().filter(|(name, _)| *name != workload.axis_parameter);
    let parameters = parameters.map(|(name, values)| (name.to_owned(), text(values)));
    let added = workload.custom.iter().flat_map(|custom| {
        let templates = custom.templates().map(|template| (&template.name, &template.text));
        templates.map(|(name, text)| (name.clone(), text.clone())).chain(custom.around())
    });
    let key = |(name, value)| (format!("{PARAMETER}{}.{name}", workload.name), value);
    parameters.chain(added).map(key).collect()
}

/// What a run was measured under.
fn parameters(run: &Run) -> BTreeMap<String, String> {
    let facts = run.host_before.facts.iter();
    let mut all: BTreeMap<String, String> = facts
        .filter(|(key, _)| !HostFact::has_role(key, HostRole::Fleeting))
        .map(|(key, value)| (key.clone(), fact_text(key, value)))
        .collect();
    let plan = &run.plan;
    let pinned: Vec<String> = plan.pinned_cpus.iter().map(usize::to_string).collect();
    let pinned = if pinned.is_empty() { "none".to_owned() } else { pinned.join(",") };
    let state = run.summary.state;
    let own = [
        ("knee", Some(run.summary.version.clone())),
        ("clock.timed", Some(run.clock.source.clone())),
        ("pinned CPUs", Some(pinned)),
        ("time per figure", Some(format!("{} ms", plan.measure_ms))),
        ("rounds", Some(plan.rounds.to_string())),
        ("state", (state != RunState::Complete).then(|| state.name().to_owned())),
        ("load", busy(run)),
    ];
    all.extend(own.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    let labels = run.summary.labels.iter();
    all.extend(labels.map(|(key, value)| (format!("label.{key}"), value.clone())));
    all
}

/// Whether other work took the larger part of the CPUs before the first cell: a word, since the figure is never twice
/// the same.
fn busy(run: &Run) -> Option<String> {
    let host = &run.host_before;
    let (load, cpus) = (host.number("load.1m")?, host.number("cpu.count")?);
    Some(if load > EVEN * cpus { "busy" } else { "quiet" }.to_owned())
}
