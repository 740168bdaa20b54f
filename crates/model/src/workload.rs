//! A workload as it described itself when it was measured.

use crate::{Custom, Parameters, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Names of a user's axis that count what works at the same time: a figure per second along one of them is to grow with it.
pub const WORKER_AXES: [&str; 14] = [
    "threads",
    "thread",
    "workers",
    "jobs",
    "processes",
    "procs",
    "processors",
    "cpus",
    "cores",
    "tasks",
    "parallel",
    "parallelism",
    "concurrency",
    "goroutines",
];

/// A workload, as it described itself when it was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkloadInfo {
    /// Its name: `poll`.
    pub name: String,
    /// Raised when what is measured changes, so that figures are not compared across.
    pub version: u32,
    /// The question it answers.
    pub question: String,
    /// What one operation is.
    pub operation: String,
    /// What it does not measure.
    pub not_measured: Vec<String>,
    /// The quantity that grows, for people: `watched descriptors`.
    pub axis: String,
    /// The parameter that grows, which a cell's point is a value of: `watched`.
    pub axis_parameter: String,
    /// How many digits of a point are decimals: points are whole numbers, and those of a table with decimals are multiplied
    /// by this power of ten.
    #[serde(default, skip_serializing_if = "is_none")]
    pub axis_decimals: u32,
    /// The ratio that its figures are read by, where there is one.
    #[serde(default)]
    pub ratio: Option<Ratio>,
    /// Which parameters have an effect only with some values of another one; see [`WorkloadInfo::effective`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependences: Vec<Dependence>,
    /// Whether one cell goes all the way along the axis and times each operation on its own, so that
    /// its point is the far end.
    #[serde(default)]
    pub trajectory: bool,
    /// Whether its tables have the points down and the subjects across.
    #[serde(default)]
    pub points_down: bool,
    /// What it is there for.
    #[serde(default)]
    pub role: WorkloadRole,
    /// What works side by side along the axis, where each does work of its own: then the rate is to grow with it, up to one for
    /// each of the [ratio](Self::ratio)'s whole. Absent where that is not so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parallel: Option<Parallel>,
    /// Pairs of subjects whose comparison is always reported, also where their operations differ.
    #[serde(default)]
    pub compared_pairs: Vec<(String, String)>,
    /// Metrics besides the headline whose growth is reported with it.
    #[serde(default)]
    pub also_growth: Vec<String>,
    /// Whether its tables show means with their standard deviations, metrics down, as kernbench's do.
    #[serde(default)]
    pub averages: bool,
    /// The parameters whose values are commands that its workers run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command_parameters: Vec<String>,
    /// What it measures; the first one is the headline.
    pub metrics: Vec<MetricInfo>,
    /// What is compared, in table order, unavailable ones included.
    pub subjects: Vec<SubjectInfo>,
    /// A worker that measures a cell of it and has not ended by then is killed, in milliseconds; absent
    /// where the plan's deadline holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// What the user added to it; absent where it measured its own subjects only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub custom: Option<Box<Custom>>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_none(decimals: &u32) -> bool {
    *decimals == 0
}

/// One parameter as a share of another: active of watched descriptors. Either may be the axis. A
/// parameter's value may be the share itself, as a percentage (`10%`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The parameter that is a part: `active`.
    pub part: String,
    /// The parameter that it is a part of: `watched`.
    pub whole: String,
    /// What the part is, in a sentence after a percentage: `active`; or after a multiple: `per CPU`.
    pub word: String,
    /// Whether it is written as a multiple of the whole (`4 per CPU`), and not as a percentage.
    #[serde(default)]
    pub multiple: bool,
}

/// A parameter that has an effect only with some values of another one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dependence {
    /// The parameter: `position`.
    pub parameter: String,
    /// The parameter that it depends on: `activity`.
    pub depends_on: String,
    /// The values of that one with which it has an effect.
    pub values: Vec<Value>,
}

/// What works side by side: threads that share what is their process's, or processes that don't.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Parallel {
    /// The parameter that says which: `by`.
    pub parameter: String,
    /// Its value for those that share: `threads`.
    pub sharing: String,
    /// Its value for those that don't: `processes`.
    pub separate: String,
}

/// One figure that a workload measures at each point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MetricInfo {
    /// Short name: `loop`.
    pub name: String,
    /// What is inside the timed region: `write + wait + dispatch`.
    pub about: String,
    /// Unit of the samples. Times are `ns`.
    pub unit: String,
    /// Whether less of it is better.
    pub lower_is_better: bool,
    /// Whether that is a guess: subjects are not ranked by it, and none is recommended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub direction_assumed: bool,
    /// What findings read in it.
    #[serde(default)]
    pub role: MetricRole,
}

impl MetricInfo {
    /// Nanoseconds an operation: less is better.
    pub fn time(name: &str, about: &str) -> MetricInfo {
        MetricInfo::less(name, about, "ns")
    }

    /// A figure in this unit, which may be empty: less is better.
    pub fn less(name: &str, about: &str, unit: &str) -> MetricInfo {
        MetricInfo { lower_is_better: true, ..MetricInfo::more(name, about, unit) }
    }

    /// A figure in this unit (`tokens/s`), which may be empty: more is better.
    pub fn more(name: &str, about: &str, unit: &str) -> MetricInfo {
        let [name, about, unit] = [name, about, unit].map(String::from);
        MetricInfo { name, about, unit, ..MetricInfo::default() }
    }

    /// The same in this role.
    #[must_use]
    pub fn with_role(self, role: MetricRole) -> MetricInfo {
        MetricInfo { role, ..self }
    }
}

/// What findings read in a metric besides its growth. The headline is the first metric of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MetricRole {
    /// The CPU time of an operation: the cost of a rate.
    Cpu,
    /// A part of that: what it takes in user mode, or in the kernel.
    CpuPart,
    /// The CPU time over the elapsed time, in percent.
    CpuShare,
    /// How long an operation waits for its end under the work of a rate.
    Latency,
    /// The 99th percentile of that wait, in each round.
    TailLatency,
    /// How evenly threads share a rate: Jain's index.
    Fairness,
    /// The longest wait of all.
    #[serde(rename = "longest-wait")]
    MaxWait,
    /// The 99th percentile of all operations of a load: those of the first metric that keeps histograms, in all rounds.
    WholeP99,
    /// The 99.9th percentile, likewise.
    WholeP999,
    /// The maximum of all operations of a load. It has no CI.
    WholeMax,
    /// Another figure of a whole load, kept with its last interval. It has no CI.
    Whole,
    /// Operations of a load that failed.
    Errors,
    /// Nothing else, as is a role that only a later knee knows.
    #[default]
    #[serde(other)]
    Plain,
}

impl MetricRole {
    /// Whether it is CPU time, of which waiting is no part.
    pub fn is_cpu_time(self) -> bool {
        matches!(self, Self::Cpu | Self::CpuPart)
    }

    /// Whether it is one figure of all rounds of a load, and not one of each.
    pub fn is_whole(self) -> bool {
        matches!(self, Self::Whole | Self::WholeMax) || self.whole_share().is_some()
    }

    /// The share of all operations that are at most the figure, where it is a quantile of all rounds together.
    pub fn whole_share(self) -> Option<f64> {
        match self {
            Self::WholeP99 => Some(0.99),
            Self::WholeP999 => Some(0.999),
            _ => None,
        }
    }
}

/// What a workload is there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadRole {
    /// It compares its subjects.
    #[default]
    Comparison,
    /// It does nothing: its figures are the harness's own cost.
    Control,
    /// A load of `knee load`: its rounds are intervals of time, of which a longer load has more.
    Load,
}

impl WorkloadInfo {
    /// Whether its figures are the harness's own cost.
    pub fn is_control(&self) -> bool {
        self.role == WorkloadRole::Control
    }

    /// Whether it is a load, whose rounds are intervals of time.
    pub fn is_load(&self) -> bool {
        self.role == WorkloadRole::Load
    }

    /// Those of `parameters` that have an effect with the values of the others.
    pub fn effective(&self, parameters: &Parameters) -> Parameters {
        let has_effect = |name: &str| {
            let mut dependences = self.dependences.iter();
            let dependence = dependences.find(|dependence| dependence.parameter == name);
            // The axis is not among the parameters: it has all its values.
            let value = dependence.and_then(|dependence| parameters.get(&dependence.depends_on));
            dependence
                .zip(value)
                .is_none_or(|(dependence, value)| dependence.values.contains(value))
        };
        let kept = parameters.iter().filter(|(name, _)| has_effect(name));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The subject of this name.
    pub fn subject(&self, name: &str) -> Option<&SubjectInfo> {
        self.subjects.iter().find(|info| info.name == name)
    }

    /// The metric that `subject` is measured for: its own, or else the first of the workload.
    pub fn headline(&self, subject: &str) -> Option<&MetricInfo> {
        let own = self.subject(subject).map_or("", |info| info.headline.as_str());
        self.metrics.iter().find(|metric| metric.name == own).or(self.metrics.first())
    }

    /// What the axis counts under these parameters, for people: `processes`, where these work side by side and not
    /// the `threads` of the axis.
    pub fn axis_with(&self, parameters: &Parameters) -> String {
        let counted = self.parallel.as_ref().filter(|parallel| parallel.sharing == self.axis);
        let value = counted.and_then(|parallel| parameters.get(&parallel.parameter));
        value.map_or_else(|| self.axis.clone(), |value| value.text().into_owned())
    }

    /// Whether each subject has an operation of its own, so that none is an alternative to another.
    pub fn has_separate_subjects(&self) -> bool {
        let operations = self.subjects.iter().map(|subject| subject.operation.as_str());
        let distinct: BTreeSet<&str> =
            operations.filter(|operation| !operation.is_empty()).collect();
        !distinct.is_empty() && distinct.len() == self.subjects.len()
    }

    /// The heading that `subject` is listed under; empty where there is none.
    pub fn group(&self, subject: &str) -> &str {
        self.subject(subject).map_or("", |info| &info.group)
    }
}

/// A subject, as reports name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectInfo {
    /// The name on the command line: `kqueue`.
    pub name: String,
    /// The name in reports, where it differs: `kqueue (libkqueue)`.
    pub label: String,
    /// What a reader has to know to read its figures rightly; may be empty.
    pub note: String,
    /// Whether it is wrong on purpose: a control, each cell of which has to fail.
    #[serde(default)]
    pub control: bool,
    /// What it does, where that is not the workload's own operation; else empty. Only subjects with the same are
    /// alternatives: one of them is the best, and each is compared with each.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub operation: String,
    /// The heading that it is listed under; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The name of its headline metric, where that is not the first of the workload; else empty. See
    /// [`WorkloadInfo::headline`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub headline: String,
    /// What those that [share](Parallel::sharing) have in common in it: `the descriptor table`; else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub shared: String,
    /// How it goes over memory, where its axis is the size of a working set in KiB: the levels of its curve are
    /// those of memory, and it has no order of growth. Absent for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_access: Option<MemoryAccess>,
}

impl SubjectInfo {
    /// One of which the name says what a reader has to know.
    pub fn named(name: &str) -> SubjectInfo {
        SubjectInfo { name: name.into(), label: name.into(), ..SubjectInfo::default() }
    }

    /// The same with an operation of its own, so that it is no alternative to any other.
    pub fn separate(name: &str) -> SubjectInfo {
        SubjectInfo { operation: name.into(), ..SubjectInfo::named(name) }
    }
}

/// How a subject goes over a working set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryAccess {
    /// Bytes of the working set for each byte that it takes in a cache: 64 where of each page of 4 KiB one line of
    /// 64 bytes is used.
    pub spread: u64,
    /// The subject that does the same on huge pages; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub huge_page_subject: String,
}
