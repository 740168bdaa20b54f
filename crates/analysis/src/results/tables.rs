//! Tables of figures: what analysis returns for each metric of each workload.

use super::{ComparisonReason, Growth, MissingFigure, ProfileTable, Rate, Scaling, Speedup};
use crate::gather::together;
use crate::growth::levels::Cells;
use crate::thresholds::SAME_MAX;
use model::{Cell, CellKey, Fact, FailureReason, LoadOutcome, MetricInfo, Parameters, Run};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The figures of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Analysis {
    /// One table per workload, parameters and metric; headline metrics first.
    pub tables: Vec<Table>,
    /// Which subject is best where, over two axes at once: the headline metrics' only.
    pub maps: Vec<Map>,
    /// Means with their standard deviations, of workloads that report these: one for each set of parameters and point.
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
    /// The order of the subjects at each point, where the ratio of a headline metric is a multiple; else empty.
    pub rankings: Vec<Ranking>,
    /// Distributions of single operations, where the record keeps all of them: by subject, then by point.
    pub distributions: Vec<Distribution>,
    /// What the workload stated of its cells, of the headline metric's table only.
    pub facts: Vec<FactByPoint>,
    /// What became of whole loads, by point, of the headline metric's table only.
    pub load: Vec<(u64, LoadOutcome)>,
}

/// A fact that the workload stated about its cells: `hits per tenth`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FactByPoint {
    /// Its name.
    pub name: String,
    /// The subject that it is of; absent where the cells of all subjects that state it agree.
    pub subject: Option<String>,
    /// Its values by point. Rounds that differ give the least and the greatest number, the mean of shares, each text.
    pub values: Vec<(u64, Vec<Fact>)>,
}

impl FactByPoint {
    /// The values at all points together.
    pub fn overall(&self) -> Vec<Fact> {
        together(self.values.iter().flat_map(|(_, values)| values))
    }
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
    /// The curve of a chart: quantiles from 0 to 1, closer together towards 1, each with its value.
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
    /// The subjects that are best, or too close to it, at some point, in the workload's order: subject and label.
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
    /// Its growth; absent with fewer than two points, and where more is better.
    pub growth: Option<Growth>,
    /// The trend of its rate; absent with fewer than two points, and where less is better. Where the ratio
    /// is shown as a multiple, the trend begins at 1: below 1 threads add CPUs, above 1 they share them.
    pub rate: Option<Rate>,
    /// How its rate grows up to a ratio of 1, where each of the part does work of its own; absent elsewhere.
    pub speedup: Option<Speedup>,
    /// The fit of the Universal Scalability Law to its rate; absent where the ratio is no multiple.
    pub scaling: Option<Scaling>,
    /// The points at which cells failed, ascending: those that did not finish apart from those that failed otherwise.
    pub failed: Vec<FailedAt>,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PointSummary {
    /// The value on the axis.
    pub point: u64,
    /// Rounds with samples.
    pub rounds: u32,
    /// Samples in all rounds.
    pub samples: u64,
    /// The median of the rounds' medians, bootstrapped over rounds and over the samples within them.
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
    /// The logarithms of the medians of its rounds.
    #[serde(skip)]
    pub log_cells: Cells,
    /// The standard error of its logarithm, where it is a mean of a known one.
    #[serde(skip)]
    pub mean_error: Option<f64>,
}

/// A figure with its 95 % CI. Both ends of a single sample are the figure itself: it has no CI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end of the 95 % CI.
    pub low: f64,
    /// Upper end of the 95 % CI.
    pub high: f64,
}

impl Estimate {
    /// A figure without a CI.
    pub const fn exact(value: f64) -> Self {
        Self { value, low: value, high: value }
    }

    /// A figure with a CI of this half-width.
    pub const fn around(value: f64, half: f64) -> Self {
        Self { value, low: value - half, high: value + half }
    }

    /// A figure with a CI that is widened to hold it.
    pub const fn holding(value: f64, low: f64, high: f64) -> Self {
        Self { value, low: low.min(value), high: high.max(value) }
    }

    /// The ends of its CI; `None` of a figure that has none.
    pub fn ci(self) -> Option<[f64; 2]> {
        (self.low < self.high).then_some([self.low, self.high])
    }

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

    /// Half of the width of its interval, as a logarithm.
    pub(crate) fn half_width_log(self) -> f64 {
        0.5 * (self.high / self.low).ln()
    }

    /// This over an independent `denominator`: the relative widths of both intervals are added as errors are.
    #[must_use]
    pub fn over(self, denominator: Self) -> Self {
        let value = self.value / denominator.value;
        let below = (self.value / self.low).ln().hypot((denominator.high / denominator.value).ln());
        let above = (self.high / self.value).ln().hypot((denominator.value / denominator.low).ln());
        Self { value, low: value * (-below).exp(), high: value * above.exp() }
    }

    /// How far two with this ratio are apart at most; `None` where that is no longer close.
    pub fn close_within(self) -> Option<f64> {
        let bound = self.high.max(1.0 / self.low);
        (bound <= SAME_MAX).then_some(bound)
    }
}

/// Cells of a series that failed at one point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FailedAt {
    /// The point.
    pub point: u64,
    /// Number of cells that failed so.
    pub cells: u32,
    /// Number of all cells there.
    pub total: u32,
    /// The reason of the first of them.
    pub reason: FailureReason,
}

/// Samples on several curves instead of around one: a median between the curves was never measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Modes {
    /// The first point with more than one mode.
    pub from: u64,
    /// The last.
    pub to: u64,
    /// The curves, the lowest first; two or more.
    pub modes: Vec<Mode>,
    /// How the samples are divided among them.
    pub division: Division,
}

/// A mode: a curve that a part of the samples lies on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Mode {
    /// The share of the samples between `from` and `to` that lie on it.
    pub share: f64,
    /// The curve: points, each with the median of its samples there.
    pub curve: Vec<(u64, f64)>,
    /// Its growth; absent with fewer than two points.
    pub growth: Option<Growth>,
    /// The rounds, counted from 1, that lie on it; empty where each round lies on several modes.
    pub rounds: Vec<u32>,
}

/// How samples are divided among modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Division {
    /// A round lies on one mode: the start of a process decides.
    ByRound,
    /// Every round lies on all modes: each operation decides anew.
    WithinRounds,
    /// Modes alternate in long runs of operations.
    InStretches,
}

/// A jump of a curve: a table that leaves a cache, or doubles.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// The value on the axis, with its CI.
    pub at: Estimate,
    /// The level after the step over that before: below 1 it falls.
    pub factor: Estimate,
    /// The two points that it lies between, where nothing was measured but points. Then `at` is their geometric mean
    /// and has no interval, and that of `factor` reaches from the least of a round to the greatest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<[u64; 2]>,
}

/// A part of the axis along which a curve stays the same.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Level {
    /// Its first point.
    pub from: u64,
    /// Its last point.
    pub to: u64,
    /// The median of all its points, with its CI.
    pub median: Estimate,
}

/// A change over the rounds of a measurement, whatever the axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Drift {
    /// The last rounds over the first.
    pub factor: Estimate,
    /// The first changed round, counted from 1, where the change is sudden; absent where it is gradual.
    pub since: Option<u32>,
}

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

/// The order of the subjects at one point, the best first.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Ranking {
    /// The point.
    pub point: u64,
    /// The subjects with a figure there.
    pub subjects: Vec<RankedSubject>,
    /// The subjects without a finished cell there.
    pub unfinished: Vec<String>,
}

/// One subject in a ranking.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RankedSubject {
    /// The subject.
    pub subject: String,
    /// Its median.
    pub level: f64,
    /// One more than the number of clearly better subjects: those that are not clearly behind the best share rank 1.
    pub rank: usize,
    /// How many times worse it is than the best; 1 for the best itself.
    pub behind: Estimate,
    /// The subjects that are neither clearly better nor clearly worse.
    pub tied: Vec<String>,
}

/// The best subject at one point, and its lead.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Lead {
    /// The subject with the best median.
    pub best: String,
    /// The subject with the second best median.
    pub second: String,
    /// How many times better the best is than the second: at least 1, except for the ends of its CI.
    pub margin: Estimate,
    /// Whether it is clearly better than every other subject. If not, the point is too close to call.
    pub clear: bool,
    /// The subjects that are not clearly behind the best; empty where the lead is clear.
    pub tied: Vec<String>,
    /// Number of subjects with a figure there.
    pub measured: usize,
}

impl Lead {
    /// Whether several subjects share the lead and further ones are clearly behind them.
    pub fn is_shared(&self) -> bool {
        !self.tied.is_empty() && self.tied.len() + 1 < self.measured
    }
}

/// How two series of one table compare along the axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SubjectComparison {
    /// The subject that is higher in the table.
    pub first: String,
    /// The subject that is lower in the table.
    pub second: String,
    /// The outcome.
    pub outcome: ComparisonOutcome,
}

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum ComparisonOutcome {
    /// The evidence is too thin.
    Unknown {
        /// The reason.
        reason: ComparisonReason,
    },
    /// Neither leads by more than ×1.3 at any point, for sure; single figures, by more than 1 %.
    TooClose {
        /// The largest lead that either has at a point: 1.04 is 4 %.
        max_lead: f64,
        /// The figures of the first over those of the second, over all points; absent where the error is unknown.
        ratio: Option<Estimate>,
    },
    /// The same subject leads wherever one leads clearly: the range has no crossover.
    Throughout {
        /// The subject that leads.
        better: String,
        /// Its smallest lead at the points `clear`: 1.2 is 20 %.
        min_lead: f64,
        /// Its largest.
        max_lead: f64,
        /// The points at which it clearly leads, ascending.
        clear: Vec<u64>,
        /// The other points that both have, which are too close to call.
        open: Vec<u64>,
    },
    /// The lead changes.
    Crosses {
        /// The crossovers, ascending.
        crossovers: Vec<Crossover>,
    },
    /// The lead changes three times or more.
    Unsettled {
        /// Number of changes.
        changes: usize,
        /// The largest lead that either has at a point.
        max_lead: f64,
    },
}

/// A value on the axis at which one series overtakes another.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Crossover {
    /// The subject that leads above it.
    pub overtakes: String,
    /// The subject that leads below it.
    pub overtaken: String,
    /// The value on the axis. Equal ends mean that nothing was repeated and no CI is known.
    pub at: Estimate,
    /// The same as a ratio, where the workload has one; 1 is all.
    pub share: Option<Estimate>,
    /// The last point below at which `overtaken` leads, by the evidence of all points together.
    pub after: u64,
    /// The first point above at which `overtakes` does.
    pub before: u64,
}

impl Table {
    /// Its workload, parameters and metric.
    pub(crate) fn key(&self) -> (&str, &Parameters, &str) {
        (&self.workload, &self.parameters, &self.metric.name)
    }

    /// The row of `subject`.
    pub fn row(&self, subject: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.subject == subject)
    }

    /// Whether a cell, or a profiled one, is of `subject`.
    pub fn has_cell(&self, subject: &str, key: &CellKey) -> bool {
        (key.workload.as_str(), key.subject.as_str()) == (self.workload.as_str(), subject)
            && key.parameters == self.parameters
    }

    /// The cells of `run` that the figures of `subject` are from.
    pub fn cells<'r>(&self, run: &'r Run, subject: &str) -> impl Iterator<Item = &'r Cell> {
        run.cells.iter().filter(move |cell| self.has_cell(subject, &cell.key))
    }

    /// What `subject` does, if another row does the same: else it has no alternative.
    pub fn shared_operation(&self, subject: &str) -> Option<&str> {
        let own = self.row(subject)?;
        let mut rivals = self.rows.iter().filter(|row| row.subject != subject);
        rivals.find(|row| row.operation == own.operation).map(|row| row.operation.as_str())
    }

    /// The best in a column of those that do the same as `subject`.
    pub fn lead(&self, column: usize, subject: &str) -> Option<&Lead> {
        let operation = |subject: &str| self.row(subject).map(|row| row.operation.as_str());
        let own = operation(subject)?;
        self.leads.get(column)?.iter().find(|lead| operation(&lead.best) == Some(own))
    }

    /// How many of the part there are for each of the whole at `point`, where the ratio of the axis is a multiple.
    pub fn multiple_at(&self, point: u64) -> Option<f64> {
        let shares = self.shares.as_ref().filter(|shares| shares.multiple)?;
        let index = self.points.iter().position(|&listed| listed == point)?;
        (shares.part == self.axis_parameter).then(|| shares.values[index])
    }

    /// The same for a position between points: the whole is the same at each of them.
    pub fn multiple_between(&self, position: f64) -> Option<f64> {
        let shares = self.shares.as_ref().filter(|shares| shares.multiple)?;
        let mut points = self.points.iter().zip(&shares.values);
        let (point, times) = points.find(|(point, _)| **point > 0)?;
        (shares.part == self.axis_parameter).then(|| position * times / *point as f64)
    }
}

impl Row {
    /// Whether it has any figure.
    pub fn has_figures(&self) -> bool {
        self.cells.iter().any(Option::is_some)
    }

    /// Its figure at `point`.
    pub fn at(&self, point: u64) -> Option<&PointSummary> {
        self.cells.iter().flatten().find(|cell| cell.point == point)
    }

    /// Where cells did not finish, ascending.
    pub fn unfinished(&self) -> impl Iterator<Item = &FailedAt> {
        self.failed.iter().filter(|at| at.reason.is_unfinished())
    }
}
