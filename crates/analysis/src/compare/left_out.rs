//! What a comparison leaves out, and why two runs are not compared at all: data.

use model::{Parameters, RunState};
use schemars::JsonSchema;
use serde::Serialize;

/// Which of the two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The run that is compared with.
    Base,
    /// The run that is judged.
    New,
}

/// A table among the tables of its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TableName {
    /// The workload.
    pub workload: String,
    /// The metric; absent where it is the workload's headline metric.
    pub metric: Option<String>,
    /// The parameters that differ between the workload's tables.
    pub parameters: Parameters,
}

/// What is in one run only, was not measured to its end, or can't be compared.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum LeftOut {
    /// A run was not measured to its end. It is compared as far as it came.
    Unfinished {
        /// The run.
        side: Side,
        /// Its id.
        run: String,
        /// How it ended.
        state: RunState,
        /// How many cells ended.
        cells: usize,
        /// How many cells were planned.
        planned: usize,
    },
    /// The hardware is equal and the machines are two.
    TwoMachines {
        /// The host name in base, if it is known.
        base: Option<String>,
        /// The host name in new, if it is known.
        new: Option<String>,
    },
    /// A workload is in one run only.
    Workload {
        /// The run.
        side: Side,
        /// The workload.
        workload: String,
    },
    /// A workload has another version.
    Version {
        /// The workload.
        workload: String,
        /// The version in base.
        base: u32,
        /// The version in new.
        new: u32,
    },
    /// A workload has another axis.
    Axis {
        /// The workload.
        workload: String,
        /// The axis in base.
        base: String,
        /// The axis in new.
        new: String,
    },
    /// A table is in one run only.
    Table {
        /// The run.
        side: Side,
        /// The table.
        table: TableName,
    },
    /// A table has another unit.
    Unit {
        /// The table.
        table: TableName,
        /// The unit in base.
        base: String,
        /// The unit in new.
        new: String,
    },
    /// Subjects are in one run only.
    Subjects {
        /// The run.
        side: Side,
        /// The workload.
        workload: String,
        /// The metric; absent where it is the workload's headline metric.
        metric: Option<String>,
        /// The labels of the subjects.
        labels: Vec<String>,
    },
    /// Points are in one run only.
    Points {
        /// The run.
        side: Side,
        /// The workload.
        workload: String,
        /// The metric; absent where it is the workload's headline metric.
        metric: Option<String>,
        /// The labels of the subjects, where others have the points in both runs; else empty.
        labels: Vec<String>,
        /// The quantity that grows.
        axis: String,
        /// The points.
        points: Vec<u64>,
        /// Where the other run's trajectory ends, if the only point is the end of this run's, for the same stretch.
        other_end: Option<u64>,
    },
    /// Subjects have figures in both runs and no ratio.
    NoRatio {
        /// The workload.
        workload: String,
        /// The metric; absent where it is the workload's headline metric.
        metric: Option<String>,
        /// The labels of the subjects.
        labels: Vec<String>,
        /// The quantity that grows.
        axis: String,
        /// The points.
        points: Vec<u64>,
        /// Why.
        reason: NoRatioReason,
    },
    /// A single figure of each whole load: it has no CI, and is not judged.
    WholeLoad {
        /// The workload.
        workload: String,
        /// The metric.
        metric: String,
        /// Its unit.
        unit: String,
        /// The quantity that grows.
        axis: String,
        /// The figures.
        figures: Vec<WholeFigure>,
    },
}

impl LeftOut {
    /// Whether base measured what this keeps from being judged: of a headline metric, or of any metric that is compared.
    pub fn is_unjudged(&self, any_metric: bool) -> bool {
        self.is_open(any_metric) && self.side() != Some(Side::New)
    }

    /// The same of either run.
    pub fn is_open(&self, any_metric: bool) -> bool {
        let is_of_headline = |metric: &Option<String>| metric.is_none();
        let counts = |metric| any_metric || is_of_headline(metric);
        match self {
            Self::Version { .. } | Self::Axis { .. } | Self::Workload { .. } => true,
            Self::Table { table, .. } | Self::Unit { table, .. } => counts(&table.metric),
            Self::Subjects { metric, .. } => counts(metric),
            // Trajectories that end at a limit end a little further on, or earlier, each time.
            Self::Points { metric, other_end, .. } => other_end.is_none() && counts(metric),
            // Counters are zero at most points.
            Self::NoRatio { metric, .. } => is_of_headline(metric),
            Self::Unfinished { .. } | Self::TwoMachines { .. } | Self::WholeLoad { .. } => false,
        }
    }

    /// The only run that has it, where one lacks it.
    fn side(&self) -> Option<Side> {
        match self {
            Self::Workload { side, .. }
            | Self::Table { side, .. }
            | Self::Subjects { side, .. }
            | Self::Points { side, .. } => Some(*side),
            _ => None,
        }
    }
}

/// A figure of two whole loads.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WholeFigure {
    /// The label of the subject.
    pub label: String,
    /// The point.
    pub point: u64,
    /// Its value in base.
    pub base: f64,
    /// Its value in new.
    pub new: f64,
}

/// Why two figures have no ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NoRatioReason {
    /// A figure is not above zero.
    NotPositive,
    /// Both were measured at the points, but in no round of both.
    NoCommonRound,
    /// The first calls of a trajectory are cold and don't count. The point is the last of them.
    Cold,
}

/// Why two runs are not compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the runs are not comparable: {reasons:?}")]
pub struct Refusal {
    /// Each reason.
    pub reasons: Vec<RefusalReason>,
}

/// One reason why two runs are not compared.
#[derive(Clone, Debug, PartialEq)]
pub enum RefusalReason {
    /// A model computed the figures of one of them, and the other was measured.
    OnePredicted {
        /// The run whose figures were computed.
        side: Side,
    },
    /// A fact of the hardware differs.
    Hardware {
        /// The fact's key.
        key: String,
        /// Its value in base.
        base: String,
        /// Its value in new.
        new: String,
    },
    /// They have no workload in common.
    NoCommonWorkload {
        /// The workloads of base.
        base: Vec<String>,
        /// The workloads of new.
        new: Vec<String>,
    },
    /// The workload that they have in common measures something else.
    LeftOut(LeftOut),
    /// They have no figure in common.
    NoCommonFigure,
}
