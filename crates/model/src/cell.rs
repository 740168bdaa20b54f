//! One cell: what was measured, or why its figures don't count.

use crate::{CellKey, Fact, FailureReason, LoadOutcome};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One cell: planned, isolated, timed out, saved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Which cell it is.
    pub key: CellKey,
    /// Its place in the plan, counted from 0.
    pub sequence: u64,
    /// Whether its figures count.
    pub outcome: Outcome,
    /// Wall time from the start of its worker to its end, in nanoseconds.
    pub elapsed_ns: u64,
    /// That part of it in which operations were timed, in nanoseconds; absent where knee did not time them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed_ns: Option<u64>,
    /// How far it came, where that is not to the end of its axis; absent where it is.
    #[serde(default)]
    pub short: Option<Short>,
    /// Resources of the whole worker with its helpers, set-up included.
    pub usage: Usage,
    /// What was measured; empty when it failed.
    pub metrics: Vec<Metric>,
    /// What the workload says of this cell: `parked peers` is 9000.
    pub facts: BTreeMap<String, Fact>,
    /// What is known of a whole load; with its last interval only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadOutcome>,
}

/// Where a trajectory ended before the point that it was to reach: what it measured up to there
/// counts. In JSON the sentence and the remedy follow the reason, as `because` and `remedy`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "ShortJson", into = "ShortJson")]
pub struct Short {
    /// The last position on the axis that it reached; 0 if none.
    pub reached: u64,
    /// Why it went no further.
    pub reason: FailureReason,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct ShortJson {
    reached: u64,
    reason: FailureReason,
    /// Written for readers without knee, and not read.
    because: String,
    /// The same.
    remedy: String,
}

impl From<Short> for ShortJson {
    fn from(Short { reached, reason }: Short) -> Self {
        let (because, remedy) = (reason.cause(), reason.remedy().to_owned());
        Self { reached, reason, because, remedy }
    }
}

impl From<ShortJson> for Short {
    fn from(ShortJson { reached, reason, .. }: ShortJson) -> Self {
        Self { reached, reason }
    }
}

/// Whether a cell's figures count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// They count.
    #[default]
    Measured,
    /// They don't, because…
    Failed {
        /// The reason.
        reason: FailureReason,
        /// What could be learnt about it: what its threads were doing, standard error.
        detail: String,
    },
}

/// The samples of one figure in one cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// Its name, as in [`MetricInfo`].
    pub name: String,
    /// Per operation, in the metric's unit, in order of measurement.
    pub samples: Vec<f64>,
    /// For a trajectory: the place on the axis of each sample. Empty when all are at the point.
    pub positions: Vec<u64>,
    /// Operations in all samples together.
    pub operations: u64,
    /// The standard deviation of these, where the only sample is their mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<f64>,
    /// Resources spent while these operations ran.
    pub usage: Usage,
    /// Every single operation's time in nanoseconds, where samples are quantiles of them: an
    /// `HdrHistogram`, V2, deflated, in base 64. Empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub histogram: String,
}

/// Resources that the kernel counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// CPU time in user mode, in nanoseconds.
    pub user_ns: u64,
    /// CPU time in the kernel, in nanoseconds.
    pub system_ns: u64,
    /// Context switches because the process waited.
    pub switches_voluntary: u64,
    /// Context switches because the kernel took the CPU away.
    pub switches_involuntary: u64,
    /// Page faults served without input or output.
    pub faults_minor: u64,
    /// Page faults that needed input or output.
    pub faults_major: u64,
}
