//! What the instrument asks of a workload.

use crate::{Condition, Probe};
use record::{CellKey, Conditions, MetricInfo, SubjectInfo, Warning, WorkloadInfo};
use std::fmt::Display;

/// What is exercised. A workload describes itself, says what it compares, and measures one cell;
/// help, `list`, docs and reports derive from that.
pub trait Workload: Sync {
    /// What it is.
    fn about(&self) -> &'static About;

    /// What it compares, unavailable subjects included, in the order of its tables.
    fn subjects(&self) -> Vec<Subject>;

    /// Whether a cell can be measured here, before anything is started. Everything can, unless the
    /// workload knows better.
    fn fit(&self, _cell: &CellKey) -> Fit {
        Fit::Measure
    }

    /// Measures one cell. Runs in a worker process of its own.
    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure>;
}

/// What a workload is, for people.
#[derive(Debug)]
pub struct About {
    /// Its name: `poll`.
    pub name: &'static str,
    /// Raised when what is measured changes, so that figures are not compared across.
    pub version: u32,
    /// Whether it runs when nobody names it.
    pub kind: Kind,
    /// The question it answers.
    pub question: &'static str,
    /// What one operation is.
    pub operation: &'static str,
    /// What it does not measure.
    pub not_measured: &'static [&'static str],
    /// The quantity that grows.
    pub axis: Axis,
    /// What else can be varied.
    pub conditions: &'static [Condition],
    /// What it measures; the first one is the headline.
    pub metrics: &'static [MetricAbout],
}

/// Whether a workload runs when nobody names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Part of `knee run` without arguments.
    Suite,
    /// Proves the instrument, and runs along with the suite.
    Control,
    /// Proves the instrument by misbehaving: only by name.
    Fault,
}

/// The quantity that grows.
#[derive(Debug)]
pub struct Axis {
    /// What is counted: `watched descriptors`.
    pub name: &'static str,
    /// The points of `--quick` and of `knee run` without arguments.
    pub quick: &'static [u64],
    /// The points otherwise.
    pub full: &'static [u64],
}

/// One figure that a workload measures.
#[derive(Debug)]
pub struct MetricAbout {
    /// Short name: `loop`.
    pub name: &'static str,
    /// What is inside the timed region: `write + wait + dispatch`.
    pub about: &'static str,
}

/// What is compared within a workload.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The name on the command line.
    pub name: &'static str,
    /// The name in reports.
    pub label: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// What a reader has to know to read its figures rightly; may be empty.
    pub note: String,
    /// Whether it can be measured here, or why not.
    pub available: Result<(), String>,
}

/// Whether a cell can be measured here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// As it is.
    Measure,
    /// At this lower point instead, and why.
    Clamp(u64, Warning),
    /// Not at all, and why.
    Leave(Warning),
}

/// One cell, as a worker sees it.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The subject: `epoll-level`.
    pub subject: String,
    /// The value on the axis.
    pub point: u64,
    /// The other conditions, one value each, all present and checked.
    pub conditions: Conditions,
    /// Seeds whatever the workload draws at random; the same for all subjects of a point and round.
    pub seed: u64,
}

impl Cell {
    /// The value of a condition that the workload declared; a failure names one that it did not.
    pub fn condition(&self, name: &str) -> Result<&str, Failure> {
        let value = self.conditions.get(name).map(String::as_str);
        value.ok_or_else(|| Failure::new(format!("the cell lacks the condition {name}")))
    }

    /// The value of a condition that is a whole number.
    pub fn number(&self, name: &str) -> Result<u64, Failure> {
        let text = self.condition(name)?;
        text.parse().map_err(|_| Failure::new(format!("{name} is {text}, not a whole number")))
    }
}

/// Why a cell's figures don't count, in one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(String);

impl Failure {
    /// With this reason.
    pub fn new(reason: impl Into<String>) -> Failure {
        Failure(reason.into())
    }

    /// What was being done when `error` came: `opening a socketpair: Too many open files`.
    pub fn doing(what: impl Display, error: impl Display) -> Failure {
        Failure(format!("{what}: {error}"))
    }
}

/// A workload's own description, in the record's shape.
pub(crate) fn info(workload: &dyn Workload) -> WorkloadInfo {
    let about = workload.about();
    WorkloadInfo {
        name: about.name.into(),
        version: about.version,
        question: about.question.into(),
        operation: about.operation.into(),
        not_measured: about.not_measured.iter().map(|&line| line.into()).collect(),
        axis: about.axis.name.into(),
        metrics: about.metrics.iter().map(metric_info).collect(),
        subjects: workload.subjects().iter().map(subject_info).collect(),
    }
}

fn metric_info(metric: &MetricAbout) -> MetricInfo {
    MetricInfo {
        name: metric.name.into(),
        about: metric.about.into(),
        unit: "ns".into(),
        lower_is_better: true,
    }
}

fn subject_info(subject: &Subject) -> SubjectInfo {
    SubjectInfo {
        name: subject.name.into(),
        label: subject.label.into(),
        note: subject.note.clone(),
    }
}
