//! Tables of figures: what analysis returns for each metric of each workload.

use super::{
    Averages, Drift, Growth, Lead, Level, Modes, ProfileTable, Ranking, Rate, Scaling, Speedup,
    Step, SubjectComparison,
};
use crate::MissingFigure;
use model::{Fact, FailureReason, LoadOutcome, MetricInfo, Parameters};
use schemars::JsonSchema;
use serde::Serialize;

/// The figures of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Analysis {
    /// One table per workload, parameters and metric; headline metrics first.
    pub tables: Vec<Table>,
    /// Which subject is best where, over two axes at once: the headline metrics' only.
    pub maps: Vec<Map>,
    /// Means with their standard deviations, of the workloads that report these: one entry for each set
    /// of parameters and point.
    #[serde(rename = "means")]
    pub averages: Vec<Averages>,
    /// Where CPU time goes: one table per workload, parameters and metric that were profiled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<ProfileTable>,
}

/// One metric of one workload under one set of parameters: subjects by points.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Table {
    /// The workload.
    pub workload: String,
    /// The parameters that are the same in the whole table.
    pub parameters: Parameters,
    /// Those of them that have an effect with the values of the others.
    #[serde(skip)]
    pub effective: Parameters,
    /// The metric of its figures.
    pub metric: MetricInfo,
    /// Whether it is the workload's headline metric.
    pub headline: bool,
    /// The quantity that grows: `watched descriptors`.
    pub axis: String,
    /// The parameter that its points are values of: `watched`; may be empty.
    pub axis_parameter: String,
    /// Its values, ascending.
    pub points: Vec<u64>,
    /// Whether each round passes along the whole axis, so that a point stands for the samples around it.
    pub trajectory: bool,
    /// Whether it is written with the points down and the subjects across.
    pub points_down: bool,
    /// The ratio at each point, where the workload has one.
    pub shares: Option<Shares>,
    /// One row per subject, in the workload's order, including subjects without figures.
    pub rows: Vec<Row>,
    /// The best subjects at each point: one of each operation of which two have a figure, and all are above zero.
    pub leads: Vec<Vec<Lead>>,
    /// Each pair of series with figures that do the same, or are always compared, in the order of the rows.
    pub comparisons: Vec<SubjectComparison>,
    /// The order of the subjects at each point, of a headline metric whose ratio is shown as a multiple;
    /// empty otherwise.
    pub rankings: Vec<Ranking>,
    /// Distributions of single operations, where the record keeps all of them: by subject, then by point.
    pub distributions: Vec<Distribution>,
    /// What the workload stated of its cells, of the headline metric's table only.
    pub facts: Vec<FactByPoint>,
    /// What became of whole loads, by point, of the headline metric's table only.
    pub load: Vec<(u64, LoadOutcome)>,
}

/// A fact that the workload stated about its cells, where they agree: `hits per tenth`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FactByPoint {
    /// Its name.
    pub name: String,
    /// Its value by point; shares are the mean of what was stated.
    pub values: Vec<(u64, Fact)>,
}

/// Each point of a table as a share of a whole: tokens of pipes, active of watched descriptors.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Shares {
    /// The word after the percentage: `active`.
    pub word: String,
    /// The parameter that is the part: `tokens`.
    pub part: String,
    /// The parameter that is the whole: `pipes`.
    pub whole: String,
    /// Whether it is shown as a multiple (`4 per CPU`) instead of a percentage.
    pub multiple: bool,
    /// One for each point of the table; 1 is all of it.
    pub values: Vec<f64>,
}

/// Distribution of the single operations of one subject at one point, all rounds together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Distribution {
    /// The subject.
    pub subject: String,
    /// Its name in reports.
    pub label: String,
    /// The point.
    pub point: u64,
    /// Number of rounds.
    pub rounds: u32,
    /// Number of operations.
    pub count: u64,
    /// The minimum, in the metric's unit.
    pub min: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p99_9: f64,
    /// The maximum.
    pub max: f64,
    /// The curve of a chart: quantiles from 0 to 1, ascending and closer together towards 1, each with its
    /// value.
    pub curve: Vec<(f64, f64)>,
}

/// The best subject by a whole (total pipes) and a ratio (active of total).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Map {
    /// The workload.
    pub workload: String,
    /// The metric that decides.
    pub metric: MetricInfo,
    /// The parameters that are the same in the whole map, without the two that it spans.
    pub parameters: Parameters,
    /// The parameter of its rows: `pipes`.
    pub whole: String,
    /// The word for the ratio: `active`.
    pub word: String,
    /// Values of the whole, ascending: the rows.
    pub totals: Vec<u64>,
    /// Ratios, ascending: the columns. Ratios that differ by rounding share a column.
    pub shares: Vec<f64>,
    /// The subjects that are best at some point, or too close to the best, in the workload's order:
    /// subject and label.
    pub subjects: Vec<(String, String)>,
    /// One entry per total, each with one per share; `None` where nothing was compared.
    pub leads: Vec<Vec<Option<Lead>>>,
}

/// One series: the figures of one subject along the axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// The subject's name.
    pub subject: String,
    /// Its name in reports.
    pub label: String,
    /// A note that its figures need; may be empty.
    pub note: String,
    /// What it does, where that is not the workload's own operation: only rows with the same are ranked.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub operation: String,
    /// One entry per point of the table; `None` where there is no figure.
    pub cells: Vec<Option<PointSummary>>,
    /// The reason of each cell without a figure, by point.
    pub missing: Vec<(u64, MissingFigure)>,
    /// The reason why the subject has no figures at all.
    pub unavailable: Option<String>,
    /// Its growth; absent with fewer than two points, and where more is better: only costs have a growth
    /// class.
    pub growth: Option<Growth>,
    /// The trend of its rate; absent with fewer than two points, and where less is better. Where the ratio
    /// is shown as a multiple, the trend begins at 1: below 1 threads add CPUs, above 1 they share them.
    pub rate: Option<Rate>,
    /// How its rate grows up to a ratio of 1, where each of the part does work of its own; absent elsewhere.
    pub speedup: Option<Speedup>,
    /// The fit of the Universal Scalability Law to its rate; absent where the ratio is not shown as a
    /// multiple.
    pub scaling: Option<Scaling>,
    /// The points at which cells did not finish, ascending.
    pub unfinished: Vec<Unfinished>,
    /// The curves that its samples lie on, where there are several.
    pub modes: Option<Modes>,
    /// The jumps of its curve, ascending.
    pub steps: Vec<Step>,
    /// The levels of its curve, ascending by size, where it goes over memory.
    pub levels: Vec<Level>,
    /// Its change from round to round, if it is significant.
    pub drift: Option<Drift>,
    /// The point that every round reached, where that is not the end of the axis.
    pub short: Option<CutShort>,
}

/// The end of a series that ended before its axis, with the reason.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CutShort {
    /// The point that every round reached.
    pub reached: u64,
    /// The point that was planned.
    pub planned: u64,
    /// The reason.
    pub reason: FailureReason,
}

/// The distribution at one point, all rounds together.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct PointSummary {
    /// The value on the axis.
    pub point: u64,
    /// Rounds with samples.
    pub rounds: u32,
    /// Samples in all rounds.
    pub samples: u64,
    /// The median with its interval: median of the rounds' medians, bootstrapped over rounds and
    /// over the samples within them.
    pub median: Estimate,
    /// Smallest sample.
    pub min: f64,
    /// 10th, 25th, 75th, 90th and 99th percentiles of all samples; all rounds have the same weight.
    pub p10: f64,
    /// See `p10`.
    pub p25: f64,
    /// See `p10`.
    pub p75: f64,
    /// See `p10`.
    pub p90: f64,
    /// See `p10`.
    pub p99: f64,
    /// Largest sample.
    pub max: f64,
    /// User CPU per operation, in nanoseconds; absent when the kernel counted none.
    pub user_ns: Option<f64>,
    /// System CPU per operation, in nanoseconds; absent when the kernel counted none.
    pub system_ns: Option<f64>,
}

/// A figure with its 95 % CI. Both ends of a single sample are the figure itself: it has no CI.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end of the 95 % CI.
    pub low: f64,
    /// Upper end of the 95 % CI.
    pub high: f64,
}

impl Estimate {
    /// The figure and the ends of its interval on another scale, which must keep their order.
    #[must_use]
    pub fn map(self, scale: impl Fn(f64) -> f64) -> Self {
        Self { value: scale(self.value), low: scale(self.low), high: scale(self.high) }
    }

    /// One over it.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { value: 1.0 / self.value, low: 1.0 / self.high, high: 1.0 / self.low }
    }
}

/// Cells of a series that did not finish at one point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Unfinished {
    /// The point.
    pub point: u64,
    /// Number of unfinished cells.
    pub cells: u32,
    /// Number of all cells there.
    pub total: u32,
    /// The reason of the first of them.
    pub reason: FailureReason,
}
