//! Where the CPU time of an operation goes: tables of functions, and what of them grew.

use super::{Estimate, Growth};
use model::{Frame, MetricInfo, Parameters, WaitKind};
use schemars::JsonSchema;
use serde::Serialize;

/// The profiles of one metric of one workload under one set of parameters: subjects by points.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProfileTable {
    /// The workload.
    pub workload: String,
    /// The parameters that are the same in the whole table.
    pub parameters: Parameters,
    /// The metric whose timed regions were sampled.
    pub metric: MetricInfo,
    /// Whether it is the workload's headline metric.
    pub headline: bool,
    /// The quantity that grows: `watched descriptors`.
    pub axis: String,
    /// The points of all profiles, ascending; the positions of a trajectory.
    pub points: Vec<u64>,
    /// Whether each cell passes along the whole axis.
    pub trajectory: bool,
    /// One row per subject with a profile, in the workload's order.
    pub rows: Vec<ProfileRow>,
    /// Two subjects at the last point that both have, where one costs clearly more there: the dearer one second.
    pub contrasts: Vec<ProfileContrast>,
}

/// The profiles of one subject along the axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProfileRow {
    /// The subject's name.
    pub subject: String,
    /// Its name in reports.
    pub label: String,
    /// One entry per point of the table; `None` where there is no profile.
    pub cells: Vec<Option<ProfilePoint>>,
    /// The growth of the CPU time of an operation; absent with fewer than two points.
    pub growth: Option<Growth>,
    /// The functions with most CPU time at any point, the greatest change from the first point to the last
    /// first. Those with next to none are left out: figures of `cells` are of all.
    pub functions: Vec<ProfiledFunction>,
    /// The kinds of waits of its threads at any point.
    pub waits: Vec<ProfiledWait>,
    /// What changed from the first point to the last; absent where the timed rounds have no time or rate there.
    pub change: Option<ProfileChange>,
}

/// The profile of one subject at one point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProfilePoint {
    /// The value on the axis.
    pub point: u64,
    /// Operations in its timed regions.
    pub operations: u64,
    /// Samples in them.
    pub samples: u64,
    /// Elapsed time of an operation, in nanoseconds.
    pub elapsed_ns: f64,
    /// CPU time of an operation in all processes and threads together, in nanoseconds.
    pub cpu_ns: Estimate,
    /// The share of the samples in the kernel.
    pub kernel_share: f64,
    /// The share of the samples at an address without a symbol.
    pub unnamed_share: f64,
    /// The share of the samples in each process, by its program's name; the greatest first.
    pub processes: Vec<(String, f64)>,
}

/// One function of a row.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProfiledFunction {
    /// The function. Without a name it stands for all addresses of its module that have no symbol.
    pub frame: Frame,
    /// The time in the function itself; one entry per point of the table.
    pub itself: Vec<Option<FunctionTime>>,
    /// The time in it and in what it calls; likewise.
    pub inclusive: Vec<Option<FunctionTime>>,
    /// The growth of the time in the function itself; absent with fewer than two points.
    pub growth: Option<Growth>,
    /// The growth of the time in it and in what it calls; likewise.
    pub inclusive_growth: Option<Growth>,
    /// What the function itself adds over [`ProfileRow::change`]; absent where there is none.
    pub added: Option<AddedTime>,
    /// What it adds together with what it calls; likewise.
    pub inclusive_added: Option<AddedTime>,
}

/// How long the threads of an operation wait for something.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProfiledWait {
    /// For what.
    pub kind: WaitKind,
    /// The time of all threads together; one entry per point of the table. Its share is of all that they run and wait.
    pub times: Vec<Option<FunctionTime>>,
    /// The growth of that time; absent with fewer than two points.
    pub growth: Option<Growth>,
    /// What it adds from the first point of [`ProfileRow::change`] to the last, with its share of the added thread time:
    /// that of threads that run, or wait and are not idle. Absent where there is no change.
    pub added: Option<AddedTime>,
}

/// The time that an operation spends in a function.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FunctionTime {
    /// Samples in it.
    pub samples: u64,
    /// CPU time of an operation, in nanoseconds.
    pub ns: Estimate,
    /// Its share of all CPU time of an operation.
    pub share: Estimate,
}

/// What a function adds to an operation's CPU time, from one profile to another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AddedTime {
    /// The added CPU time, in nanoseconds; below zero where it falls.
    pub ns: Estimate,
    /// Its share of all added CPU time; absent where that is not significant.
    pub share: Option<Estimate>,
}

/// What changed from the first point of a row to the last.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProfileChange {
    /// The first point.
    pub from: u64,
    /// The last point.
    pub to: u64,
    /// How the profiles differ.
    #[serde(flatten)]
    pub difference: ProfileDifference,
}

/// Two subjects at one point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProfileContrast {
    /// The subject with the lower cost.
    pub first: String,
    /// The subject with the higher cost.
    pub second: String,
    /// The point.
    pub point: u64,
    /// How the profile of the second differs from that of the first.
    #[serde(flatten)]
    pub difference: ProfileDifference,
}

/// How one profile of an operation differs from another: at another point, of another subject, or in another run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ProfileDifference {
    /// Samples in the first and in the second.
    pub samples: [u64; 2],
    /// CPU time of an operation in the first and in the second, in nanoseconds.
    pub cpu_ns: [Estimate; 2],
    /// Elapsed time of an operation in the first and in the second, in nanoseconds.
    pub elapsed_ns: [f64; 2],
    /// The second over the first in the timed rounds, as times of an operation: of a rate the inverse.
    pub timed_factor: Estimate,
    /// CPU time that the second adds, in nanoseconds; below zero where it has less.
    pub added_ns: Estimate,
    /// The share of the samples without a symbol, in the one that costs more.
    pub unnamed_share: f64,
    /// Whether one of them has no samples in the kernel, which hid itself.
    pub kernel_hidden: bool,
    /// What to make of it.
    pub verdict: DifferenceVerdict,
    /// The deepest function that holds nine tenths of the added CPU time with what it calls; absent where none does.
    pub container: Option<AddedFunction>,
    /// The functions that add most by themselves, the greatest share first; empty where nothing is attributed.
    pub leaders: Vec<AddedFunction>,
    /// The process that adds nine tenths of the CPU time, where several have samples.
    pub process: Option<AddedFunction>,
    /// The kinds of waits that hold a part of the added thread time, the greatest share first. Waits in which a thread
    /// is idle are neither a part nor of the whole.
    pub waits: Vec<AddedWait>,
    /// Whether they are instead those that hold a part of all thread time of the second.
    pub waits_of_all: bool,
}

/// What the waits of one kind add.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AddedWait {
    /// What threads wait for.
    pub kind: WaitKind,
    /// Its share of the added thread time.
    pub share: Estimate,
    /// Where it adds most; absent for a wait for a CPU, and where no program was seen.
    pub site: Option<WaitSite>,
    /// Where most of the waits there are ended by another thread; absent where the kernel ends them.
    pub waker: Option<WaitSite>,
}

/// A line of a program, with what the waits there add.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct WaitSite {
    /// The function.
    pub frame: Frame,
    /// `queue.c:41`, or without debug information the offset in the function.
    pub line: String,
    /// What calls it most often there; absent where that is no function of a program.
    pub caller: Option<Frame>,
    /// The share of the added thread time.
    pub share: Estimate,
}

impl ProfileDifference {
    /// Whether its verdict attributes CPU time to functions.
    pub fn is_attributed(&self) -> bool {
        matches!(self.verdict, DifferenceVerdict::Added | DifferenceVerdict::Saved)
    }
}

/// What a function adds, with the function.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AddedFunction {
    /// The function, or the process.
    pub frame: Frame,
    /// The line with most samples of the function itself: `src/queue.c:41`; absent without debug information.
    pub line: Option<String>,
    /// What calls it most often; absent where that is no function of a program.
    pub caller: Option<Frame>,
    /// Its share of the added CPU time.
    pub share: Estimate,
    /// The system call that it is, with all that it does; absent for one function.
    pub system_call: Option<SystemCall>,
}

/// A system call in which CPU time is added.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SystemCall {
    /// Its name.
    pub name: String,
    /// The one function of it, if there is one, that adds half of that or more by itself.
    pub mostly: Option<Frame>,
}

/// What to make of the difference between two profiles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "verdict")]
pub enum DifferenceVerdict {
    /// An operation takes more CPU time, and the functions are known.
    Added,
    /// An operation takes less CPU time, and the functions are known.
    Saved,
    /// An operation takes longer, and its CPU time does not explain it: it waits.
    Waiting {
        /// The share of the added elapsed time that is no CPU time.
        share: f64,
    },
    /// Neither the timed rounds nor the profiles differ.
    Same {
        /// No function's share of the CPU time differs by more than this, with 95 % confidence.
        bound: f64,
    },
    /// The timed rounds do not differ clearly, or not in CPU time: there is nothing to attribute.
    NotTimed,
    /// The timed rounds have the second slower, and the profiled operations are not: a cell was disturbed.
    NotReproduced,
    /// The CPU time that was seen does not explain the difference, and the kernel's was not seen.
    KernelHidden,
    /// There are too few samples to say.
    TooFewSamples,
    /// More workers gain less than they should, and leave CPUs idle: work is done one after the other. The functions are
    /// those of all CPU time of the second, not of what it adds.
    Serial {
        /// CPUs that they keep busy.
        busy_cpus: f64,
    },
}
