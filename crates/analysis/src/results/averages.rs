//! Means with their standard deviations, in the layout of kernbench.

use model::{Fact, FailureReason, MetricInfo, Parameters};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Means with their standard deviations of one workload under one set of parameters at one point, in
/// kernbench's layout: metrics down, subjects across.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Averages {
    /// The workload.
    pub workload: String,
    /// The parameters that are the same in all of it.
    pub parameters: Parameters,
    /// The quantity that grows: `CPUs`.
    pub axis: String,
    /// The parameter that `point` is a value of.
    pub axis_parameter: String,
    /// The value on the axis.
    pub point: u64,
    /// One for each subject that was planned or measured there, in the workload's order.
    pub columns: Vec<AverageColumn>,
    /// One for each metric.
    pub rows: Vec<AverageRow>,
}

/// A subject, as a column of averages.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AverageColumn {
    /// The subject's name.
    pub subject: String,
    /// Its name in reports.
    pub label: String,
    /// A note that its figures need; may be empty.
    pub note: String,
    /// Cells that were measured.
    pub runs: u32,
    /// Cells that failed.
    pub failed: u32,
    /// The reason of the first of them.
    pub reason: Option<FailureReason>,
    /// The reason why the subject can't be measured at all.
    pub unavailable: Option<String>,
    /// Facts that the workload stated about its cells, where all agree: `jobs`.
    pub facts: BTreeMap<String, Fact>,
}

/// A metric, as a row of averages.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AverageRow {
    /// The metric.
    pub metric: MetricInfo,
    /// One for each column; `None` where nothing was measured.
    pub figures: Vec<Option<Average>>,
}

/// A mean with its standard deviation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Average {
    /// The arithmetic mean of all samples.
    pub mean: f64,
    /// Their sample standard deviation (n − 1); absent for a single sample.
    pub deviation: Option<f64>,
    /// The samples, round by round.
    pub samples: Vec<f64>,
}
