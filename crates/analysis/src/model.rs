//! What analysis returns: tables of figures, with what can be said of each series and pair as data.

mod reasons;

use crate::MissingFigure;
pub use reasons::{ComparisonReason, GrowthReason, Remedy, ScalingReason, TrendReason};
use record::{FailureReason, MetricInfo, Parameters};
use serde::Serialize;
use std::collections::BTreeMap;

/// The figures of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Analysis {
    /// One table per workload, parameters and metric; headline metrics first.
    pub tables: Vec<Table>,
    /// Which subject is best where, over two axes at once: the headline metrics' only.
    pub maps: Vec<Map>,
    /// Means with their deviations, of the workloads that are told in these; one for each set of
    /// parameters and point.
    pub averages: Vec<Averages>,
}

/// One metric of one workload under one set of parameters: subjects by points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// The workload.
    pub workload: String,
    /// The parameters that hold for the whole table.
    pub parameters: Parameters,
    /// The figure in it.
    pub metric: MetricInfo,
    /// Whether it is the workload's headline metric.
    pub headline: bool,
    /// The quantity that grows: `watched descriptors`.
    pub axis: String,
    /// The parameter that its points are values of: `watched`; may be empty.
    pub axis_parameter: String,
    /// Its values, ascending.
    pub points: Vec<u64>,
    /// Whether each of its series goes all the way along the axis in one pass, so that its points
    /// are places where the samples nearby were brought together.
    pub trajectory: bool,
    /// Whether it is written with the points down and the subjects across.
    pub points_down: bool,
    /// The ratio at each point, where the workload has one.
    pub shares: Option<Shares>,
    /// One row per subject, in the workload's order, those without figures included.
    pub rows: Vec<Row>,
    /// For each point who is best there; `None` where fewer than two have a figure, or one is not
    /// above zero and has no ratio to the others.
    pub leads: Vec<Option<Lead>>,
    /// How any two of its series with figures compare, in the order of the rows.
    pub comparisons: Vec<SubjectComparison>,
    /// The order of the subjects at each point, of a headline metric over a ratio that is told as a
    /// multiple; empty otherwise.
    pub rankings: Vec<Ranking>,
    /// How single operations are distributed, where the record keeps all of them: by subject, then by
    /// point.
    pub distributions: Vec<Distribution>,
    /// What the workload stated of its cells, of the headline metric's table only.
    pub facts: Vec<Fact>,
}

/// Something that the workload stated of cells, where all that stated it agree: `hits per tenth`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// Its value by point; a list of percentages is the mean of what was stated.
    pub values: Vec<(u64, String)>,
}

/// What share of a whole each point of a table is: tokens of pipes, active of watched descriptors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shares {
    /// What stands after the percentage: `active`.
    pub word: String,
    /// The parameter that is the part: `tokens`.
    pub part: String,
    /// The parameter that is the whole: `pipes`.
    pub whole: String,
    /// Whether it is told as so many of the part for each of the whole (`4 per CPU`), and not as a
    /// percentage.
    pub multiple: bool,
    /// One for each point of the table; 1 is all of it.
    pub values: Vec<f64>,
}

/// The order of the subjects at one point, the best first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// The point.
    pub point: u64,
    /// Those with a figure there.
    pub subjects: Vec<RankedSubject>,
    /// Those of which no cell finished there.
    pub unfinished: Vec<String>,
}

/// One subject in a ranking.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedSubject {
    /// The subject.
    pub subject: String,
    /// Its median.
    pub level: f64,
    /// One more than there are subjects that are clearly better, by the same rule as in a contest: those
    /// that can't be told apart from the best are first together.
    pub rank: usize,
    /// How many times worse it is than the best; 1 for the best itself.
    pub behind: Estimate,
    /// The others that can't be told apart from it.
    pub tied: Vec<String>,
}

/// How the single operations of one subject at one point are distributed, all rounds together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distribution {
    /// The subject.
    pub subject: String,
    /// Its name in reports.
    pub label: String,
    /// The point.
    pub point: u64,
    /// How many rounds.
    pub rounds: u32,
    /// How many operations.
    pub count: u64,
    /// The least, in the metric's unit.
    pub min: f64,
    /// Half are at most this.
    pub p50: f64,
    /// 90 % are at most this.
    pub p90: f64,
    /// 99 % are at most this.
    pub p99: f64,
    /// 99.9 % are at most this.
    pub p99_9: f64,
    /// The most.
    pub max: f64,
    /// To be drawn: shares from 0 to 1, ascending and closer together towards 1, each with what that
    /// share of the operations is at most.
    pub curve: Vec<(f64, f64)>,
}

/// Means with their deviations of one workload under one set of parameters at one point, as kernbench
/// told them: metrics down, subjects across.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Averages {
    /// The workload.
    pub workload: String,
    /// The parameters that hold for all of it.
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AverageColumn {
    /// The subject's name.
    pub subject: String,
    /// Its name in reports.
    pub label: String,
    /// What a reader has to know to read its figures rightly; may be empty.
    pub note: String,
    /// Cells that were measured.
    pub runs: u32,
    /// Cells that failed.
    pub failed: u32,
    /// Why the first of them failed.
    pub reason: Option<FailureReason>,
    /// Why the subject can't be measured at all.
    pub unavailable: Option<String>,
    /// What the workload stated of its cells, where all of them agree: `jobs`.
    pub facts: BTreeMap<String, String>,
}

/// A metric, as a row of averages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AverageRow {
    /// The metric.
    pub metric: MetricInfo,
    /// One for each column; `None` where nothing was measured.
    pub figures: Vec<Option<Average>>,
}

/// A mean with its deviation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Average {
    /// The arithmetic mean of all samples.
    pub mean: f64,
    /// Their sample standard deviation (n − 1); absent of one.
    pub deviation: Option<f64>,
    /// The samples, round by round.
    pub samples: Vec<f64>,
}

/// Who is best at one point, and by how much.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lead {
    /// The subject with the best median.
    pub best: String,
    /// The one after it.
    pub second: String,
    /// How many times better the best is than the second, never under 1 but in its interval.
    pub margin: Estimate,
    /// Whether the best is called the best: clearly better than every other subject, by the same
    /// rule as in a contest. If not, it is too close to call.
    pub clear: bool,
    /// The others that are not clearly behind the best: with it, they are the best together. Empty
    /// where it is clear.
    pub tied: Vec<String>,
    /// How many have a figure there.
    pub measured: usize,
}

impl Lead {
    /// Whether some share the lead, and others are clearly behind them.
    pub fn is_shared(&self) -> bool {
        !self.tied.is_empty() && self.tied.len() + 1 < self.measured
    }
}

/// How two series of one table compare along the axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubjectComparison {
    /// The subject that stands higher in the table.
    pub first: String,
    /// The subject that stands lower in the table.
    pub second: String,
    /// How it ends.
    pub outcome: ComparisonOutcome,
}

/// How a contest ends.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum ComparisonOutcome {
    /// It can't be said.
    Unknown {
        /// Why.
        reason: ComparisonReason,
    },
    /// Neither leads, or they change places often by little.
    TooClose {
        /// The largest lead that either has at a point: 1.04 is 4 %.
        max_lead: f64,
        /// The figures of the one over those of the other, over all points together; absent where
        /// nothing is known of chance.
        ratio: Option<Estimate>,
    },
    /// One leads wherever they can be told apart, by a point or by several together: there is no
    /// crossover in the range.
    Throughout {
        /// The one that leads.
        better: String,
        /// Its smallest lead from `from` to `to`: 1.2 is 20 %.
        min_lead: f64,
        /// Its largest.
        max_lead: f64,
        /// The first point of the part of the range in which it leads by the evidence of all points
        /// together; before it is too close to call.
        from: u64,
        /// The last such point.
        to: u64,
        /// At how many points its lead is clear on its own.
        clear: usize,
        /// Of how many points that both have.
        points: usize,
    },
    /// The lead changes.
    Crosses {
        /// Where, ascending.
        crossovers: Vec<Crossover>,
    },
    /// The lead changes three times or more, and is too large to be called close.
    Unsettled {
        /// How often.
        changes: usize,
        /// The largest lead that either has at a point.
        max_lead: f64,
    },
}

/// A place on the axis where one series overtakes another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Crossover {
    /// The subject that leads above the place.
    pub overtakes: String,
    /// The subject that leads below it.
    pub overtaken: String,
    /// The place on the axis. Equal ends mean that nothing was repeated and no interval is known.
    pub at: Estimate,
    /// The place as a ratio, where the workload has one; 1 is all.
    pub share: Option<Estimate>,
    /// The last point below at which `overtaken` leads, by the evidence of all points together.
    pub after: u64,
    /// The first point above at which `overtakes` does.
    pub before: u64,
}

/// Which subject is best where: a whole (total pipes) by a ratio (active of total).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Map {
    /// The workload.
    pub workload: String,
    /// The figure that decides.
    pub metric: MetricInfo,
    /// The parameters that hold for all of it, without the two that it spans.
    pub parameters: Parameters,
    /// The parameter that goes up: `pipes`.
    pub whole: String,
    /// What the ratio is: `active`.
    pub word: String,
    /// Values of the whole, ascending: the rows.
    pub totals: Vec<u64>,
    /// Ratios, ascending: the columns. Ratios that differ by rounding only share one.
    pub shares: Vec<f64>,
    /// The subjects that are best somewhere, or too close to it, in the workload's order: subject
    /// and label.
    pub subjects: Vec<(String, String)>,
    /// One entry per total, each with one per share; `None` where nothing was compared.
    pub leads: Vec<Vec<Option<Lead>>>,
}

/// One series: the figures of one subject along the axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The subject's name.
    pub subject: String,
    /// Its name in reports.
    pub label: String,
    /// What a reader has to know to read its figures rightly; may be empty.
    pub note: String,
    /// One entry per point of the table; `None` where there is no figure.
    pub cells: Vec<Option<PointSummary>>,
    /// Why cells without a figure have none, by point.
    pub missing: Vec<(u64, MissingFigure)>,
    /// Why the subject has no figures at all.
    pub unavailable: Option<String>,
    /// How it grows; absent with fewer than two points, and where more is better: orders of growth are
    /// those of costs.
    pub growth: Option<Growth>,
    /// How its rate goes along the axis; absent with fewer than two points, and where less is better.
    /// Where the ratio is told as a multiple it is that from 1 on: up to there threads bring CPUs to
    /// bear, beyond it they only share them.
    pub rate: Option<Rate>,
    /// How its rate fits the Universal Scalability Law; absent where it is no rate of a ratio that is
    /// told as a multiple.
    pub scaling: Option<Scaling>,
    /// Where cells of it did not finish, ascending.
    pub unfinished: Vec<Unfinished>,
    /// The curves that its samples lie on, where that is more than one.
    pub modes: Option<Modes>,
    /// Where its curve jumps, ascending.
    pub steps: Vec<Step>,
    /// How it changed from round to round, where it did.
    pub drift: Option<Drift>,
    /// How far it came, where that is not to the end of the axis in every round.
    pub short: Option<CutShort>,
}

/// Samples that lie on several curves, not scattered around one: a median between them is a figure
/// that was never measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Modes {
    /// The first place on the axis at which there is more than one.
    pub from: u64,
    /// The last.
    pub to: u64,
    /// The curves, the lowest first; two or more.
    pub modes: Vec<Mode>,
    /// How the samples are divided among them.
    pub division: Division,
}

/// One curve of several.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mode {
    /// The share of the samples between `from` and `to` that lie on it.
    pub share: f64,
    /// Where it runs: a place on the axis, and the median of its samples there.
    pub curve: Vec<(u64, f64)>,
    /// How it grows; absent where it has fewer than two places.
    pub growth: Option<Growth>,
    /// The rounds, counted from 1, that lie on it; empty where rounds are divided within themselves.
    pub rounds: Vec<u32>,
}

/// How samples are divided among modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Division {
    /// A round lies on one of them: something that is set when a process starts decides.
    ByRound,
    /// Every round lies on all of them: something decides anew at each operation.
    WithinRounds,
    /// Operations on either come in runs, of many places each.
    InStretches,
}

/// A place on the axis where a curve jumps: a table that leaves a cache, or doubles.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The place, with its interval.
    pub at: Estimate,
    /// How many times higher it is behind the step: below 1 it falls.
    pub factor: Estimate,
}

/// How a series changed while it was measured, whatever the axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Drift {
    /// The last rounds over the first.
    pub factor: Estimate,
    /// From this round on, counted from 1, where it changed at once; absent where it did so bit by
    /// bit.
    pub since: Option<u32>,
}

/// Where a series ended before its axis did, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CutShort {
    /// The place that every round came to.
    pub reached: u64,
    /// The place that was asked for.
    pub planned: u64,
    /// Why it went no further.
    pub reason: FailureReason,
}

/// The distribution at one point, all rounds together.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// 10th, 25th, 75th, 90th and 99th percentiles of all samples, rounds having equal say.
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

/// A figure with its interval. Equal ends on a single sample mean that there is no interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The figure.
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
}

impl Estimate {
    /// The figure and the ends of its interval on another scale, which must keep their order.
    #[must_use]
    pub fn map(self, scale: impl Fn(f64) -> f64) -> Self {
        Self { value: scale(self.value), low: scale(self.low), high: scale(self.high) }
    }
}

/// How a series grows along its axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Growth {
    /// The growth class, or the word for the classes that are left.
    pub class: Class,
    /// The classes that are not excluded: neighbours, ascending. Empty where the cost falls, and where it
    /// is undecided.
    pub classes: Vec<Class>,
    /// Last median over first median.
    pub factor: f64,
    /// The first point with a figure.
    pub from: u64,
    /// The last point with a figure.
    pub to: u64,
    /// Slope of the logarithm of the figure over the logarithm of the axis, over all points above zero.
    pub exponent: Option<Estimate>,
    /// Why it is undecided, why the medians alone were not enough, or what can't be excluded.
    pub reason: Option<GrowthReason>,
    /// Which figures the order of growth was taken from.
    pub basis: Basis,
}

/// How a series of which more is better goes along its axis: a rate of replies over dead connections.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Whether it holds.
    pub trend: RateTrend,
    /// The point that the last one is compared with: the first, or the best on the way where that is
    /// clearly better than both ends.
    pub from: u64,
    /// The last point with a figure.
    pub to: u64,
    /// The median there.
    pub level: f64,
    /// The rate at `to` as a multiple of that at `from`: 0.5 is half of it, and 0 where nothing was done
    /// or no cell finished.
    pub factor: Estimate,
    /// Where the best on the way is clearly better than both ends.
    pub peak: Option<Peak>,
    /// Where it has fallen to half of what it is at `from`, if it collapses.
    pub halved: Option<Halved>,
    /// Why it is undecided, or what the trend rests on where the ends alone leave it undecided.
    pub reason: Option<TrendReason>,
}

/// Where a rate goes: the fixed vocabulary of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateTrend {
    /// It falls or rises by less than a tenth.
    Holds,
    /// It rises by a tenth or more.
    Rises,
    /// It rises and falls again, by a tenth or more, but not to less than half of its best.
    Peaks,
    /// It falls by a tenth or more, but not surely to less than half.
    Falls,
    /// It falls to less than half.
    Collapses,
    /// It holds, or falls but not to half: its interval excludes a rise and a collapse.
    HoldsOrFalls,
    /// It holds or rises: its interval excludes a fall.
    HoldsOrRises,
    /// Its interval excludes a fall to half, and no more.
    DoesNotCollapse,
    /// The evidence contradicts itself or is too thin.
    Undecided,
}

impl RateTrend {
    /// Whether it is a single trend.
    pub const fn is_decided(self) -> bool {
        !matches!(
            self,
            Self::HoldsOrFalls | Self::HoldsOrRises | Self::DoesNotCollapse | Self::Undecided
        )
    }
}

/// The Universal Scalability Law: X(N) = λN / (1 + σ(N − 1) + κN(N − 1)).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scaling {
    /// λ: the rate of one.
    pub single: Estimate,
    /// σ, contention: the share of the work that waits its turn.
    pub contention: Estimate,
    /// κ, crosstalk: what any two cost each other.
    pub crosstalk: Estimate,
    /// Where the rate is highest, √((1 − σ)/κ) and 1 at least; absent where that is not known to be
    /// in reach.
    pub peak: Option<Estimate>,
    /// How far the figures are from the law, as the root mean square of their logarithms.
    pub residual: f64,
    /// Why it does not apply; absent where it does.
    pub reason: Option<ScalingReason>,
}

/// Cells of a series that did not finish at one point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unfinished {
    /// The point.
    pub point: u64,
    /// How many cells.
    pub cells: u32,
    /// Of how many that ended there.
    pub total: u32,
    /// The reason of the first.
    pub reason: FailureReason,
}

/// The best of a rate, between its ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Peak {
    /// The point.
    pub at: u64,
    /// The median there.
    pub level: f64,
    /// As a multiple of what it is at the first point.
    pub factor: Estimate,
    /// The first point.
    pub over: u64,
}

/// Where a rate has fallen to half.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Halved {
    /// The place on the axis. Equal ends mean that nothing was repeated and no interval is known.
    pub at: Estimate,
    /// The last point before it at which the rate is above half.
    pub after: u64,
    /// The next point.
    pub before: u64,
    /// Whether its interval is too wide to name a place.
    pub vague: bool,
}

/// Which figures an order of growth was taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The medians.
    Medians,
    /// The fastest tenth of the samples at each point, because a median was too uncertain.
    FastestTenth,
}

/// Growth classes, and the words for several of them: the fixed vocabulary of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Flat for all practical purposes: an exponent within ±0.06, which is ×1.3 over two decades.
    Constant,
    /// As log n.
    Logarithmic,
    /// As √n.
    SquareRoot,
    /// As n, bent by caches or not. With fewer than five points it covers n log n too.
    Linear,
    /// As n log n.
    Linearithmic,
    /// As n².
    Quadratic,
    /// Constant or slower than linear, by no more than ±30 % over the range.
    DoesNotGrow,
    /// The cost falls along the axis.
    Falls,
    /// Any of constant, log n and √n.
    SlowerThanLinear,
    /// As n, or slower.
    AtMostLinear,
    /// As n, or faster: n log n can't be excluded.
    AtLeastLinear,
    /// As n log n or n².
    FasterThanLinear,
    /// The evidence contradicts itself or is too thin.
    Undecided,
}
