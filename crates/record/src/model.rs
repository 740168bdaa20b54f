//! The shapes of what was measured: the only types that cross from measuring to reasoning.
//!
//! They carry figures and words, no behaviour: whatever an old record holds, a newer knee can read
//! and analyse again. Times are nanoseconds in `f64`; names and units are given in full.

use crate::{
    CellKey, CpuUse, Custom, FailureReason, FleetMember, Parameters, PlanChange, Profile,
    ProfilePlan, Value,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One execution of a plan on one machine, with all that was measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// What a list of runs shows.
    pub summary: RunSummary,
    /// What was planned, in the order of execution.
    pub plan: Plan,
    /// The clock that timed it.
    pub clock: Clock,
    /// The machine before the first cell.
    pub host_before: Host,
    /// The machine after the last cell; absent when the run was cut off.
    pub host_after: Option<Host>,
    /// What disturbed or limited the run as a whole.
    pub warnings: Vec<Warning>,
    /// Every cell that ended, in the order in which they ended.
    pub cells: Vec<Cell>,
    /// What the CPUs did, sampled in a pass of its own; empty where the plan asks for none.
    #[serde(default, skip_serializing_if = "Profile::is_empty")]
    pub profile: Profile,
}

impl Run {
    /// Whether `key` is of a subject that is wrong on purpose: a control, whose cells have to fail.
    pub fn is_control(&self, key: &CellKey) -> bool {
        self.plan.controls().any(|control| control == (&*key.workload, &*key.subject))
    }

    /// Whether `knee load` measured it: no other command repeats it.
    pub fn is_load(&self) -> bool {
        self.plan.workloads.iter().any(WorkloadInfo::is_load)
    }

    /// Whether all its rounds are done, and its profile is not.
    pub fn is_cut_off_in_profile(&self) -> bool {
        let has_all = self.plan.budget.is_none() && self.cells.len() >= self.plan.cells.len();
        self.summary.state != RunState::Complete
            && self.plan.profile.is_some()
            && (has_all || !self.profile.is_empty())
    }
}

/// What identifies a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Number within its record, counted from 1; 0 until it is archived.
    pub number: i64,
    /// Identity that survives copying between records: 16 hexadecimal digits.
    pub id: String,
    /// When it began: RFC 3339 with offset.
    pub started: String,
    /// When it ended; absent while it runs, or when it was cut off.
    pub ended: Option<String>,
    /// How far it came.
    pub state: RunState,
    /// The command line, program name first.
    pub command: Vec<String>,
    /// Version of knee that measured.
    pub version: String,
    /// Cells that ended, failed ones included.
    pub cells_ended: u64,
    /// Cells that were planned.
    pub cells_planned: u64,
    /// What else is to be known about what was measured, as it was typed: `commit = 3701d31`.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// How it came into its record, if it began elsewhere: `import` or `merge`. Only what began there is
    /// resumed there, for what a plan says is done. Like the number it belongs to the record, and is not
    /// written along.
    #[serde(skip)]
    pub origin: String,
    /// The name of the machine that it was measured on, as `host_before` has it; empty where that has none.
    /// An archive fills it in; it is not written along.
    #[serde(skip)]
    pub host: String,
    /// Its place in the fleet that it was started with, filled in likewise.
    #[serde(skip)]
    pub fleet: Option<FleetMember>,
}

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Not ended: it is running now, or its process was killed. It can be resumed.
    Open,
    /// Every planned cell ended.
    Complete,
    /// Ended in an orderly way before every cell was measured. It can be resumed.
    Interrupted,
}

impl RunState {
    /// Its word in lists, messages and records: `open`, `complete`, `interrupted`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
        }
    }
}

/// What a run sets out to measure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Shuffles the order of cells, and seeds whatever a workload draws at random.
    pub seed: u64,
    /// Passes over all cells.
    pub rounds: u32,
    /// Time that one metric of one cell may spend measuring, in milliseconds.
    pub measure_ms: u64,
    /// A worker that has not ended by then is killed and its cell failed, in milliseconds: the longest
    /// deadline of any workload. See [`Plan::cell_deadline_ms`].
    pub deadline_ms: u64,
    /// The CPUs that workers are pinned to; empty when they run where the kernel puts them.
    pub pinned_cpus: Vec<usize>,
    /// The workloads of the plan, as they described themselves.
    pub workloads: Vec<WorkloadInfo>,
    /// Subjects that can't be measured here, with the reason.
    pub unavailable: Vec<Unavailable>,
    /// Cells that planning changed or left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<PlanChange>,
    /// What ends the rounds before all of them are done; absent where nothing does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
    /// How its cells are profiled after the last round; absent where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfilePlan>,
    /// The id of the run whose cells took turns with those of this one; empty where it had the machine
    /// to itself.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub paired_with: String,
    /// Every cell, in order of execution. With a budget, those of all rounds that there may be: a cell
    /// that did not end was not needed.
    pub cells: Vec<CellKey>,
}

impl Plan {
    /// The deadline of a workload's cells, in milliseconds.
    pub fn cell_deadline_ms(&self, workload: &str) -> u64 {
        let info = self.workloads.iter().find(|info| info.name == workload);
        info.and_then(|info| info.deadline_ms).unwrap_or(self.deadline_ms)
    }

    /// Those of a workload's `parameters` that have an effect with the values of the others.
    pub fn effective(&self, workload: &str, parameters: &Parameters) -> Parameters {
        let info = self.workloads.iter().find(|info| info.name == workload);
        info.map_or_else(|| parameters.clone(), |info| info.effective(parameters))
    }

    /// The shortest and the longest deadline of any workload, in milliseconds.
    pub fn deadlines_ms(&self) -> (u64, u64) {
        let of_each = self.workloads.iter().map(|info| self.cell_deadline_ms(&info.name));
        (of_each.min().unwrap_or(self.deadline_ms), self.deadline_ms)
    }

    /// The subjects that are wrong on purpose, each with its workload.
    pub fn controls(&self) -> impl Iterator<Item = (&str, &str)> {
        self.workloads.iter().flat_map(|workload| {
            let controls = workload.subjects.iter().filter(|subject| subject.control);
            controls.map(|subject| (workload.name.as_str(), subject.name.as_str()))
        })
    }
}

/// When a run has measured enough: rounds go where intervals are still wide.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    /// The time that measuring may take, in milliseconds; 0 where it may take any.
    pub time_ms: u64,
    /// How wide an interval may be, as a share of its median to either side: 0.02 is 2 %. 0 where no
    /// width is enough.
    pub precision: f64,
}

/// A workload, as it described itself when it was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// One parameter as a share of another: active of watched descriptors. Either may be the axis. A
/// parameter's value may be the share itself, as a percentage (`10%`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependence {
    /// The parameter: `position`.
    pub parameter: String,
    /// The parameter that it depends on: `activity`.
    pub depends_on: String,
    /// The values of that one with which it has an effect.
    pub values: Vec<Value>,
}

/// What works side by side: threads that share what is their process's, or processes that don't.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parallel {
    /// The parameter that says which: `by`.
    pub parameter: String,
    /// Its value for those that share: `threads`.
    pub sharing: String,
    /// Its value for those that don't: `processes`.
    pub separate: String,
}

/// One figure that a workload measures at each point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// What findings read in a metric besides its growth. The headline is the first metric of a workload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricRole {
    /// The CPU time of an operation: the cost of a rate.
    Cpu,
    /// The CPU time over the elapsed time, in percent.
    CpuShare,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

    /// The metric that `subject` is measured for: its own, or else the first of the workload.
    pub fn headline(&self, subject: &str) -> Option<&MetricInfo> {
        let own = self.subjects.iter().find(|info| info.name == subject);
        let own = own.map_or("", |info| info.headline.as_str());
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
        self.subjects.iter().find(|info| info.name == subject).map_or("", |info| &info.group)
    }
}

/// A subject, as reports name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// How a subject goes over a working set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryAccess {
    /// Bytes of the working set for each byte that it takes in a cache: 64 where of each page of 4 KiB one line of
    /// 64 bytes is used.
    pub spread: u64,
    /// The subject that does the same on huge pages; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub huge_page_subject: String,
}

/// A subject that can't be measured here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unavailable {
    /// Its workload.
    pub workload: String,
    /// Its name.
    pub subject: String,
    /// Why: `Solaris and illumos only`.
    pub reason: String,
}

/// One cell: planned, isolated, timed out, saved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Which cell it is.
    pub key: CellKey,
    /// Its place in the plan, counted from 0.
    pub sequence: u64,
    /// Whether its figures count.
    pub outcome: Outcome,
    /// Wall time from the start of its worker to its end, in nanoseconds.
    pub elapsed_ns: u64,
    /// How far it came, where that is not to the end of its axis; absent where it is.
    #[serde(default)]
    pub short: Option<Short>,
    /// Resources of the whole worker with its helpers, set-up included.
    pub usage: Usage,
    /// What was measured; empty when it failed.
    pub metrics: Vec<Metric>,
    /// What the workload says of this cell: `parked peers = 9000`.
    pub facts: BTreeMap<String, String>,
}

/// Where a trajectory ended before the point that it was to reach: what it measured up to there
/// counts. In JSON the sentence and the remedy follow the reason, as `because` and `remedy`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ShortJson", into = "ShortJson")]
pub struct Short {
    /// The last position on the axis that it reached; 0 if none.
    pub reached: u64,
    /// Why it went no further.
    pub reason: FailureReason,
}

#[derive(Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Outcome {
    /// They count.
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Its name, as in [`MetricInfo`].
    pub name: String,
    /// Per operation, in the metric's unit, in order of measurement.
    pub samples: Vec<f64>,
    /// For a trajectory: the place on the axis of each sample. Empty when all are at the point.
    pub positions: Vec<u64>,
    /// Operations in all samples together.
    pub operations: u64,
    /// Resources spent while these operations ran.
    pub usage: Usage,
    /// Every single operation's time in nanoseconds, where samples are quantiles of them: an
    /// `HdrHistogram`, V2, deflated, in base 64. Empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub histogram: String,
}

/// Resources that the kernel counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// The clock that timed a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// `tsc` or `CLOCK_MONOTONIC`.
    pub source: String,
    /// Smallest step that was seen, in nanoseconds.
    pub resolution_ns: f64,
    /// What one reading costs, in nanoseconds.
    pub overhead_ns: f64,
}

/// The state of a machine at one moment: facts by dotted key, such as `kernel.release`,
/// `cpu.model`, `load.1m`, `steal.percent`, `limit.descriptors`, `sysctl.fs.file-max`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// When it was read: RFC 3339 with offset.
    pub taken: String,
    /// The facts.
    pub facts: BTreeMap<String, String>,
    /// What used its CPUs while the run was measured; only in the last look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_use: Option<CpuUse>,
}

/// Something that a reader has to know, and what fixes it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Warning {
    /// What: `The machine was busy (load 4.1 on 2 CPUs)`.
    pub what: String,
    /// The remedy, best a command; empty when there is none.
    pub remedy: String,
}
