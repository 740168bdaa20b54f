//! What a history hands to a report.

use super::left_out::LeftOut;
use crate::Estimate;
use crate::compare::{Difference, Direction};
use crate::history::levels::FIGURES_MIN;
use model::{Fact, MetricInfo, Parameters, RunSummary, WorkloadInfo};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The settings of a history.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// Smaller changes are not reported, as a share: 0.02 is 2 %.
    pub margin: f64,
    /// The label to report where a level changes; without it, all differences are reported.
    pub label: Option<String>,
}

/// The runs of one workload over time.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct History {
    /// The workload, as the newest run describes it.
    pub workload: WorkloadInfo,
    /// The machine: facts of the newest run by key.
    pub machine: BTreeMap<String, Fact>,
    /// The runs that are joined, the oldest first.
    pub runs: Vec<RunSummary>,
    /// Runs and lines that are not comparable with the newest run, or can't be judged.
    #[serde(skip)]
    pub left_out: Vec<LeftOut>,
    /// Smaller shares of change are left out.
    pub margin: f64,
    /// Number of lines that were judged.
    pub judged: usize,
    /// One for each series and point, in the order of tables.
    pub lines: Vec<Line>,
    /// The changes, the newest first.
    #[serde(skip)]
    pub changes: Vec<Change>,
    /// Changes in most subjects at once, the newest first; `changes` has each of them as well.
    #[serde(skip)]
    pub joint_changes: Vec<JointChange>,
}

/// One figure over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// The subject's name.
    pub subject: String,
    /// Its name in reports.
    pub label: String,
    /// The parameters that hold for it.
    pub parameters: Parameters,
    /// The metric.
    pub metric: MetricInfo,
    /// Whether it is the workload's headline metric.
    pub headline: bool,
    /// The quantity that grows: `watched descriptors`.
    pub axis: String,
    /// The value on the axis.
    pub point: u64,
    /// The median of each run that has one: the run's place in [`History::runs`], and the median.
    pub figures: Vec<(usize, Estimate)>,
    /// Places in [`History::runs`] whose figure stands apart from those on either side of it.
    pub apart: Vec<usize>,
    /// The change in the middle that would be seen as often as not, as a factor; absent where the line was not judged.
    pub visible: Option<f64>,
    /// Where its level changed, the oldest first.
    pub shifts: Vec<Shift>,
    /// Its change from the first run to the last, where it came bit by bit; it then has no shifts.
    pub drift: Option<Estimate>,
    /// Whether it is the newest run that brought the drift to light.
    pub drift_is_fresh: bool,
    /// What the newest run makes certain enough for a gate.
    pub alarms: Vec<Alarm>,
}

impl Line {
    /// Whether it was judged.
    pub fn is_judged(&self) -> bool {
        self.visible.is_some()
    }

    /// Whether there are too few runs to see a change.
    pub fn has_too_few(&self) -> bool {
        self.figures.len() < FIGURES_MIN
    }

    /// Whether its level changed, at once or bit by bit.
    pub fn has_changed(&self) -> bool {
        !self.shifts.is_empty() || self.drift.is_some()
    }

    /// Which way a `factor` goes.
    pub fn direction(&self, factor: f64) -> Direction {
        Direction::worse_if((factor > 1.0) == self.metric.lower_is_better)
    }
}

/// A change that fails a gate: it is certain since the newest run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Alarm {
    /// The first run of the new level, as its place in [`History::runs`]; for a drift the first of all.
    pub at: usize,
    /// Whether it is for the worse or the better.
    pub direction: Direction,
    /// What comes after over what was before.
    pub factor: Estimate,
}

/// A change of level between two runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Shift {
    /// The first run of the new level, as its place in [`History::runs`].
    pub at: usize,
    /// The level before, in the metric's unit.
    pub before: f64,
    /// The level after.
    pub after: f64,
    /// The level after over the level before.
    pub factor: Estimate,
    /// Whether it is for the worse or the better.
    pub direction: Direction,
    /// How likely a change at least as clear is in a line where there is none.
    pub chance: f64,
    /// Whether it is the newest run that brought it to light: without it there was nothing to tell.
    pub fresh: bool,
    /// What differs from that run on.
    pub differences: Vec<Difference>,
}

/// A change that most subjects have the same way, within a few runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JointChange {
    /// Where the first of them changed, as a place in [`History::runs`].
    pub from: usize,
    /// Where the last of them changed.
    pub to: usize,
    /// Whether it is for the worse or the better.
    pub direction: Direction,
    /// How many subjects changed.
    pub subjects: usize,
    /// How many subjects were judged.
    pub judged: usize,
    /// The lines, as their positions in [`History::lines`], each with its change.
    pub lines: Vec<(usize, Estimate)>,
    /// What differs from the run before the first of them to the last.
    pub differences: Vec<Difference>,
}

/// Something that changed, of one series at one or several points.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// The first run after the change, as its place in [`History::runs`]; for a drift the first of all.
    pub at: usize,
    /// The last run before the next change, where there is one.
    pub last: Option<usize>,
    /// Whether it is for the worse or the better.
    pub direction: Direction,
    /// Whether the newest run brought it to light.
    pub fresh: bool,
    /// Whether it came bit by bit.
    pub drift: bool,
    /// The subject it is about.
    pub subject: String,
    /// The parameters it holds under.
    pub parameters: Parameters,
    /// The metric it is about.
    pub metric: String,
    /// The points it is about, ascending.
    pub points: Vec<u64>,
    /// The lines, as their positions in [`History::lines`], each with its change.
    pub lines: Vec<(usize, Estimate)>,
    /// What differs from that run on.
    pub differences: Vec<Difference>,
}
