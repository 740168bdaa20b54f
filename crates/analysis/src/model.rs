//! What analysis hands to a report: tables of figures, findings with their evidence, caveats.

use record::{Conditions, MetricInfo, Warning};
use serde::Serialize;

/// All that was concluded from one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Analysis {
    /// One table per workload, conditions and metric; headline metrics first.
    pub tables: Vec<Table>,
    /// What was found, the headline metrics' first.
    pub findings: Vec<Finding>,
    /// What a reader has to know before believing it.
    pub caveats: Vec<Warning>,
}

/// One metric of one workload under one set of conditions: subjects down, points across.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// The workload.
    pub workload: String,
    /// The conditions that hold for the whole table.
    pub conditions: Conditions,
    /// The figure in it.
    pub metric: MetricInfo,
    /// Whether it is the workload's headline metric.
    pub headline: bool,
    /// The quantity across: `watched descriptors`.
    pub axis: String,
    /// Its values, ascending.
    pub points: Vec<u64>,
    /// One row per subject, in the workload's order, those without figures included.
    pub rows: Vec<Row>,
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
    /// Why cells without a figure have none, by point: void, or not planned. One line each.
    pub missing: Vec<(u64, String)>,
    /// Why the subject has no figures at all.
    pub unavailable: Option<String>,
    /// How it grows; absent with fewer than two points.
    pub growth: Option<Growth>,
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

/// How a series grows along its axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Growth {
    /// The order of growth.
    pub class: Class,
    /// Last median over first median.
    pub factor: f64,
    /// The first point with a figure.
    pub from: u64,
    /// The last point with a figure.
    pub to: u64,
    /// Slope of the logarithm of the figure over the logarithm of the axis, over the whole range.
    pub exponent: Option<Estimate>,
    /// Why it is undecided, why the medians alone were not enough, or what can't be excluded; empty
    /// otherwise.
    pub because: String,
    /// Which figures the order of growth was taken from.
    pub basis: Basis,
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

/// Orders of growth: the fixed vocabulary of findings.
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
    /// The evidence is too thin to say.
    Undecided,
}

/// A sentence with its evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What sort of finding it is.
    pub kind: FindingKind,
    /// The workload it is about.
    pub workload: String,
    /// The conditions it holds under.
    pub conditions: Conditions,
    /// The metric it is about.
    pub metric: String,
    /// The subjects it is about.
    pub subjects: Vec<String>,
    /// The sentence: `poll is linear: ×391 from 100 to 9,000 watched descriptors (exponent 1.31,
    /// 95 % 1.24 to 1.39).`
    pub sentence: String,
    /// Whether it is about the headline metric.
    pub headline: bool,
}

/// Sorts of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// How a series grows.
    Growth,
    /// What the harness itself costs.
    Control,
}
