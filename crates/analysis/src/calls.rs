//! Which system calls an operation makes more, or fewer, of: at two points of a run, or in two runs.

use crate::Table;
use crate::stats::quantiles::median;
use crate::thresholds::NAMED_SHARE_MIN;
use model::Run;
use model::command_facts::{CALLS_OF, SYSTEM_CALLS};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

const NAMED_MAX: usize = 3;

/// How the system calls of an operation differ.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CallsChange {
    /// What they are counted in: `calls/run`.
    pub unit: String,
    /// All calls at first.
    pub before: f64,
    /// All calls in the end.
    pub after: f64,
    /// The calls that changed most, those first that changed more.
    pub calls: Vec<CallChange>,
}

/// How much more often a call is made.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CallChange {
    /// Its name: `futex`.
    pub name: String,
    /// Calls more; fewer where it is below zero.
    pub change: f64,
}

/// How the calls of a subject of `table` differ on two sides, each a run and a point. None where they were not counted,
/// or are the same.
pub fn change(table: &Table, subject: &str, sides: [(&Run, u64); 2]) -> Option<CallsChange> {
    let [first, last] = sides.map(|(run, point)| counts(table, subject, run, point));
    let (before, after) = (*first.get("")?, *last.get("")?);
    let by_name =
        |counts: &BTreeMap<&str, f64>, name: &str| counts.get(name).copied().unwrap_or(0.0);
    let names = first.keys().chain(last.keys()).filter(|name| !name.is_empty());
    let changes: BTreeMap<&str, f64> =
        names.map(|name| (*name, by_name(&last, name) - by_name(&first, name))).collect();
    let is_large = |change: f64| change.abs() >= NAMED_SHARE_MIN * (after - before).abs();
    let mut calls: Vec<CallChange> = changes
        .into_iter()
        .filter(|(_, change)| change.abs() > 0.0 && is_large(*change))
        .map(|(name, change)| CallChange { name: name.to_owned(), change })
        .collect();
    calls.sort_by(|a, b| b.change.abs().total_cmp(&a.change.abs()));
    calls.truncate(NAMED_MAX);
    let metrics = &sides[0].0.plan.workload(&table.workload)?.metrics;
    let unit = metrics.iter().find(|metric| metric.name == SYSTEM_CALLS)?.unit.clone();
    ((after - before).abs() > 0.0).then_some(CallsChange { unit, before, after, calls })
}

/// The medians of all calls, under an empty name, and of each that was counted.
fn counts<'a>(table: &Table, subject: &str, run: &'a Run, point: u64) -> BTreeMap<&'a str, f64> {
    let mut samples: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let cells = table.cells(run, subject).filter(|cell| cell.key.point == point);
    for metric in cells.flat_map(|cell| &cell.metrics) {
        let all = (metric.name == SYSTEM_CALLS).then_some("");
        if let Some(name) = all.or_else(|| metric.name.strip_prefix(CALLS_OF)) {
            samples.entry(name).or_default().extend(&metric.samples);
        }
    }
    let medians = samples.into_iter();
    medians.filter_map(|(name, all)| Some((name, median(all)?))).collect()
}
