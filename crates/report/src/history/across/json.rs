//! Runs across the values of a fact as one value for programs: an [`AcrossView`].

use super::{sentence, steps};
use crate::history::json::{LeftOutView, SCHEMA, left_out};
use analysis::history::across::{AcrossValues, SeriesAcross};
use model::{Fact, RunSummary, WorkloadInfo};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The output of `knee history --by KEY --json`.
#[derive(Serialize, JsonSchema)]
pub struct AcrossView<'a> {
    /// The number of this schema.
    schema: u32,
    /// The workload, as the newest run describes it.
    workload: &'a WorkloadInfo,
    /// Facts of the newest run by dotted key.
    machine: &'a BTreeMap<String, Fact>,
    /// The fact or the label.
    key: &'a str,
    /// Its values in order.
    values: &'a [String],
    /// The run of each value.
    runs: &'a [RunSummary],
    /// Whether all runs were measured in turns.
    in_turns: bool,
    /// What is not compared.
    left_out: Vec<LeftOutView<'a>>,
    /// A ratio whose whole interval is within this share is the same.
    margin: f64,
    /// How many ratios were judged at once.
    judged: usize,
    /// One for each subject under its parameters.
    series: &'a [SeriesAcross],
    /// What is significant, the largest first, as sentences.
    steps: Vec<String>,
}

/// The runs as a value.
pub fn value(across: &AcrossValues) -> AcrossView<'_> {
    let AcrossValues { workload, machine, key, values, runs, in_turns, margin, judged, .. } =
        across;
    AcrossView {
        schema: SCHEMA,
        workload,
        machine,
        key,
        values,
        runs,
        in_turns: *in_turns,
        left_out: left_out(&across.left_out),
        margin: *margin,
        judged: *judged,
        series: &across.series,
        steps: steps(across).iter().map(|step| sentence(across, step)).collect(),
    }
}
