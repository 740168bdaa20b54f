//! What a history leaves out: data.

use crate::FailedAt;
use schemars::JsonSchema;
use serde::Serialize;

/// What is not joined, or not judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum LeftOut {
    /// Runs are not comparable with the newest.
    Runs {
        /// Their numbers.
        runs: Vec<i64>,
        /// Why.
        reason: Incomparable,
    },
    /// The figures of a metric are in another unit than those of the newest run.
    Unit {
        /// The numbers of the runs.
        runs: Vec<i64>,
        /// The metric.
        metric: String,
        /// Their unit.
        unit: String,
    },
    /// Runs that did not end. What they measured is joined.
    Unfinished {
        /// Their numbers.
        runs: Vec<i64>,
    },
    /// A later run has the same value, and stands for it.
    SameValue {
        /// Their numbers.
        runs: Vec<i64>,
        /// The fact or the label.
        key: String,
    },
    /// Runs have no such fact and no such label.
    NoValue {
        /// Their numbers.
        runs: Vec<i64>,
        /// The fact or the label.
        key: String,
    },
    /// Cells of the newest run failed, of lines that have figures of other runs.
    Failed {
        /// The number of the run.
        run: i64,
        /// The name of the first of these lines in reports.
        label: String,
        /// The quantity that grows.
        axis: String,
        /// How many of its cells failed, where, and why.
        at: FailedAt,
        /// How many more lines.
        more: usize,
    },
    /// Lines have figures that are not above zero, and are not judged.
    NotPositive {
        /// How many lines.
        lines: usize,
        /// How many lines there are.
        total: usize,
    },
}

/// Why a run can't be compared with the newest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Incomparable {
    /// A model computed its figures.
    Predicted,
    /// It was measured, and a model computed the newest.
    Measured,
    /// Other workers measured it in turns.
    Workers {
        /// How they were started; absent for those of this knee.
        workers: Option<String>,
    },
    /// Another version of the workload.
    Version {
        /// The workload.
        workload: String,
        /// The version of the run.
        version: u32,
        /// The version of the newest run.
        newest: u32,
    },
    /// Another axis.
    Axis {
        /// The axis of the run.
        axis: String,
        /// The axis of the newest run.
        newest: String,
    },
    /// Another machine.
    Machine {
        /// The machine of the run.
        machine: Machine,
        /// The machine of the newest run.
        newest: Machine,
    },
    /// The same machine, of which it might use another number of CPUs.
    UsableCpus {
        /// The CPUs of the run.
        cpus: String,
        /// Those of the newest run.
        newest: String,
    },
    /// The same machine, under another CPU quota.
    CpuQuota {
        /// The quota of the run.
        quota: String,
        /// That of the newest run.
        newest: String,
    },
}

/// A machine, as far as figures are comparable on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Machine {
    /// Its host name, if it is known.
    pub name: Option<String>,
    /// The model of its CPU, if it is known.
    pub cpu_model: Option<String>,
    /// Its number of CPUs, if it is known.
    pub cpu_count: Option<String>,
}
