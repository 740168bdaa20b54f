//! What was not the same when two runs were measured, the weightiest first.

use super::model::Difference;
use crate::compare::thresholds::BUSY_LOAD;
use record::{HOST_FACTS, HostFact, HostRole, Run, RunState};
use std::collections::{BTreeMap, BTreeSet};

/// All that differs.
pub(super) fn differences(base: &Run, new: &Run) -> Vec<Difference> {
    let [then, now] = [base, new].map(parameters);
    let keys: BTreeSet<&String> = then.keys().chain(now.keys()).collect();
    let differing = keys.into_iter().filter(|key| then.get(*key) != now.get(*key));
    let mut all: Vec<Difference> = differing
        .map(|key| Difference {
            what: key.clone(),
            base: then.get(key).cloned(),
            new: now.get(key).cloned(),
        })
        .collect();
    all.sort_by_key(|difference| weight(&difference.what));
    all
}

fn weight(key: &str) -> usize {
    let fact = HostFact::find(key).map(|(index, _)| index);
    fact.unwrap_or(HOST_FACTS.len() + usize::from(!key.starts_with("knee")))
}

/// What a run was measured under.
fn parameters(run: &Run) -> BTreeMap<String, String> {
    let facts = run.host_before.facts.iter();
    let mut all: BTreeMap<String, String> = facts
        .filter(|(key, _)| !HostFact::has_role(key, HostRole::Fleeting))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let plan = &run.plan;
    let pinned: Vec<String> = plan.pinned_cpus.iter().map(usize::to_string).collect();
    let pinned = if pinned.is_empty() { "none".to_owned() } else { pinned.join(",") };
    let mut add = |key: &str, value: String| all.insert(key.to_owned(), value);
    add("knee", run.summary.version.clone());
    add("clock.timed", run.clock.source.clone());
    add("pinned CPUs", pinned);
    add("time per figure", format!("{} ms", plan.measure_ms));
    add("rounds", plan.rounds.to_string());
    if run.summary.state != RunState::Complete {
        add("state", run.summary.state.name().to_owned());
    }
    if let Some(load) = busy(run) {
        add("load", load);
    }
    for (key, value) in &run.summary.labels {
        add(&format!("label.{key}"), value.clone());
    }
    all
}

/// That the machine was busy before the first cell, where it was: a word, since the figure is never
/// twice the same.
fn busy(run: &Run) -> Option<String> {
    let fact = |key: &str| run.host_before.facts.get(key)?.parse::<f64>().ok();
    let (load, cpus) = (fact("load.1m")?, fact("cpu.count")?);
    Some(if load > BUSY_LOAD * cpus { "busy" } else { "quiet" }.to_owned())
}
