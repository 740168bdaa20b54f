//! One execution of a plan on one machine.

use crate::{Cell, CellKey, CpuUse, Fact, FleetMember, Plan, Profile, WorkloadInfo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One execution of a plan on one machine, with all that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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

    /// Whether another program measured it: a table, with neither machine nor clock.
    pub fn is_foreign(&self) -> bool {
        self.host_before.facts.is_empty() && self.clock.source.is_empty()
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

    /// All of it but its cells and its profile.
    #[must_use]
    pub fn without_cells(&self) -> Run {
        Run {
            summary: self.summary.clone(),
            plan: self.plan.clone(),
            clock: self.clock.clone(),
            host_before: self.host_before.clone(),
            host_after: self.host_after.clone(),
            warnings: self.warnings.clone(),
            cells: Vec::new(),
            profile: Profile::default(),
        }
    }
}

/// What identifies a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunState {
    /// Not ended: it is running now, or its process was killed. It can be resumed.
    #[default]
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

/// The clock that timed a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// When it was read: RFC 3339 with offset.
    pub taken: String,
    /// The facts.
    pub facts: BTreeMap<String, Fact>,
    /// What used its CPUs while the run was measured; only in the last look at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_use: Option<CpuUse>,
}

/// Something that a reader has to know, and what fixes it.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct Warning {
    /// What: `The machine was busy (load 4.1 on 2 CPUs)`.
    pub what: String,
    /// The remedy, best a command; empty when there is none.
    pub remedy: String,
}

impl Warning {
    /// Both in a line: `… → knee run --resume=3`.
    pub fn line(&self) -> String {
        match self.remedy.as_str() {
            "" => self.what.clone(),
            remedy => format!("{} → {remedy}", self.what),
        }
    }
}

/// How a run ended.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Ending {
    /// Complete or interrupted.
    pub state: RunState,
    /// When: RFC 3339 with offset.
    pub ended: String,
    /// The machine at the end.
    pub host_after: Host,
    /// All warnings about the run as a whole, those of its beginning included.
    pub warnings: Vec<Warning>,
}

impl Ending {
    /// How `run` ended, if it has.
    pub fn from_run(run: &Run) -> Option<Ending> {
        if run.summary.state == RunState::Open {
            return None;
        }
        Some(Ending {
            state: run.summary.state,
            ended: run.summary.ended.clone()?,
            host_after: run.host_after.clone()?,
            warnings: run.warnings.clone(),
        })
    }
}
