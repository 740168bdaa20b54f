//! A run and what was concluded from it, as one JSON value for programs.
//!
//! The keys are stable within one [`SCHEMA`]: new ones may appear, none changes its meaning or goes.
//!
//! | key | what it holds |
//! | --- | --- |
//! | `schema` | [`SCHEMA`] |
//! | `summary` | number, id, times, state, command line, version |
//! | `plan` | seed, rounds, durations, workloads with their metrics and subjects, `changes` to what was requested, cells in order |
//! | `unavailable` | subjects that can't be measured there, with the reason |
//! | `clock` | source, resolution and overhead in nanoseconds |
//! | `host` | `before` and `after` (null when cut off): facts by dotted key |
//! | `warnings` | of the plan (its changes in sentences) and of the run: `what` and `remedy` |
//! | `cells` | each cell that ended: key, outcome, resources, facts, metrics; `short` if before its axis did; `load` of a whole load |
//! | `profile` | sampled call stacks: `frames`, `stacks`, `cells` and `code`; if the run has a profile, and with [`Samples::Include`] |
//! | `profiles` | of a run with a profile: CPU time an operation by function, subjects by points, with `growth`, `change`, `contrasts` |
//! | `tables` | figures: subjects by points, with intervals, percentiles, `growth` or `rate`, `scaling`, `unfinished`, `modes`, `steps`, `drift`, `short`, `shares`, `leads`, `rankings`, `comparisons`, `distributions` |
//! | `means` | of workloads with averages: means with their standard deviations and every run, metrics by subjects |
//! | `maps` | which subject is best where, over two axes at once: a whole by a ratio |
//! | `findings` | by kind: workload, parameters, metric, subjects, `data`, its `consequence`, and the sentence |
//! | `caveats` | by kind: `data`, and in words `what` and `remedy` |
//! | `answer` | the findings ranked and grouped: `stops_scaling`, `cpu_time`, `changes_sides`, `worth_knowing`, `holds`, `undecided`, `not_measured`, `trust`, `measurement` |
//!
//! A metric of a cell has `name`, `count`, `operations` and `usage`; with [`Samples::Include`] also
//! `samples`, in the metric's unit, `positions`, and `histogram` where the record keeps one: every single
//! operation in nanoseconds, as an `HdrHistogram` (V2, deflated, base 64). A figure that is not finite is `null`.
//!
//! `docs/schema/run-2.schema.json` says the same to programs, one file for each [`SCHEMA`]; [`read`] gives back
//! the run that was written.

mod plain;
mod read;
mod schema;
mod tables;

use findings::{Answer, Caveat, Conclusions, Finding};
use model::{Cell, Metric, Run, Warning};
use serde_json::{Value, json};

pub use read::{BYTES_MAX, Unreadable, VALUES_MAX, read};
pub use schema::SCHEMA;
pub(crate) use tables::explain_change;

/// Whether every sample is written out: they are most of a run's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Samples {
    /// Only their number.
    Omit,
    /// All of them.
    Include,
}

/// The whole run as one value, with the keys that this module's head lists.
pub fn run(run: &Run, conclusions: &Conclusions, samples: Samples) -> Value {
    let analysis = &conclusions.analysis;
    let findings = conclusions.findings.iter().map(|entry| finding(run, conclusions, entry));
    let warnings: Vec<Warning> = run.plan.warnings().chain(run.warnings.iter().cloned()).collect();
    let cells: Vec<Value> = run.cells.iter().map(|ended| cell(ended, samples)).collect();
    let mut value = json!({
        "schema": SCHEMA,
        "summary": run.summary,
        "plan": run.plan,
        "unavailable": run.plan.unavailable,
        "clock": run.clock,
        "host": { "before": run.host_before, "after": run.host_after },
        "warnings": warnings,
        "cells": cells,
        "tables": tables::tables(&analysis.tables),
        "means": analysis.averages,
        "maps": analysis.maps,
        "findings": findings.collect::<Vec<Value>>(),
        "caveats": conclusions.caveats.iter().map(caveat).collect::<Vec<Value>>(),
        "answer": Answer::new(run, conclusions),
    });
    if samples == Samples::Include && !run.profile.is_empty() {
        value["profile"] = json!(run.profile);
    }
    if !analysis.profiles.is_empty() {
        value["profiles"] = json!(tables::profiles(&analysis.profiles));
    }
    value
}

/// A finding as data, with its sentence.
fn finding(run: &Run, conclusions: &Conclusions, finding: &Finding) -> Value {
    let mut value = json!(finding);
    tables::explain_finding(&mut value["data"], &finding.data);
    value["sentence"] = json!(finding.sentence(run, &conclusions.analysis).to_string());
    value["consequence"] = json!(finding.consequence(&conclusions.analysis));
    value
}

/// A caveat as data, with its text.
fn caveat(caveat: &Caveat) -> Value {
    let mut value = json!(caveat);
    value["what"] = json!(caveat.what());
    value["remedy"] = json!(caveat.remedy());
    value
}

fn cell(cell: &Cell, samples: Samples) -> Value {
    let metrics: Vec<Value> = cell.metrics.iter().map(|entry| metric(entry, samples)).collect();
    let mut value = json!({
        "key": cell.key,
        "sequence": cell.sequence,
        "outcome": cell.outcome,
        "elapsed_ns": cell.elapsed_ns,
        "short": cell.short,
        "usage": cell.usage,
        "facts": cell.facts,
        "metrics": metrics,
    });
    if let Some(load) = &cell.load {
        value["load"] = json!(load);
    }
    value
}

fn metric(metric: &Metric, samples: Samples) -> Value {
    let mut value = json!({
        "name": metric.name,
        "count": metric.samples.len(),
        "operations": metric.operations,
        "usage": metric.usage,
    });
    if samples == Samples::Include {
        value["samples"] = json!(metric.samples);
        value["positions"] = json!(metric.positions);
        if !metric.histogram.is_empty() {
            value["histogram"] = json!(metric.histogram);
        }
    }
    value
}
