//! Many runs one after another: when the level of a series changed.
//!
//! [`measured`] takes from each run what counts, and [`history`] joins what is comparable into lines: the same
//! workload in the same version along the same axis, on the same machine. Whatever is left out is told with
//! the reason. In each line the logarithms of the medians are looked at, so that a change is a factor;
//! [`levels`] has the rules. All lines together are wrong with 5 % probability at most: the more there are,
//! the clearer each change has to be.

mod changes;
mod differences;
mod drift;
mod joined;
mod joint;
pub mod levels;
mod measured;
pub mod thresholds;

pub use measured::{Measured, Place, Wanted, measured};

use crate::Estimate;
use crate::compare::{Difference, Direction};
use crate::history::thresholds::{FALSE_ALARM, FIGURES_MIN};
use levels::{Asked, LevelChange, Reading};
use record::{MetricInfo, Parameters, RunSummary, Warning, WorkloadInfo};
use serde::Serialize;
use std::collections::BTreeMap;

/// How a history is to be looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// Changes of less than this share are not told: 0.02 is 2 %.
    pub margin: f64,
    /// The label that is named where a level changes; all that is known to be different where there is none.
    pub label: Option<String>,
}

/// The runs of one workload over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct History {
    /// The workload, as the newest run describes it.
    pub workload: WorkloadInfo,
    /// The machine: facts of the newest run by key.
    pub machine: BTreeMap<String, String>,
    /// The runs that are joined, the oldest first.
    pub runs: Vec<RunSummary>,
    /// What is not comparable with the newest run, or can't be judged.
    pub left_out: Vec<Warning>,
    /// See [`Terms::margin`].
    pub margin: f64,
    /// How many lines were judged at once.
    pub judged: usize,
    /// One for each series and point, in the order of tables.
    pub lines: Vec<Line>,
    /// What changed, the newest first.
    #[serde(rename = "told")]
    pub changes: Vec<Change>,
    /// What changed in most subjects at once, the newest first; `changes` has each of them as well.
    #[serde(rename = "together")]
    pub joint_changes: Vec<JointChange>,
}

/// One figure over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// The change in the middle of the line that would be seen as often as not, as a factor: by how its runs
    /// scatter and by their own errors. Absent where the line was not judged.
    pub visible: Option<f64>,
    /// Where its level changed, the oldest first.
    pub shifts: Vec<Shift>,
    /// Its change from the first run to the last, where it came bit by bit; it then has no shifts.
    pub drift: Option<Estimate>,
    /// Whether it is the newest run that brought the drift to light.
    pub drift_is_fresh: bool,
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
        if (factor > 1.0) == self.metric.lower_is_better {
            Direction::Worse
        } else {
            Direction::Better
        }
    }
}

/// A change of level between two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JointChange {
    /// Where the first of them changed, as a place in [`History::runs`].
    pub from: usize,
    /// Where the last of them changed.
    pub to: usize,
    /// Whether it is for the worse or the better.
    pub direction: Direction,
    /// How many subjects changed.
    pub subjects: usize,
    /// Of how many that were judged.
    pub of: usize,
    /// The lines, as their positions in [`History::lines`], each with its change.
    pub lines: Vec<(usize, Estimate)>,
    /// What differs from the run before the first of them to the last.
    pub differences: Vec<Difference>,
}

/// Something that changed, of one series at one or several points.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The first run after the change, as its place in [`History::runs`]; the first of all where it came
    /// bit by bit.
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

/// The history that `runs`, the oldest first, make; `None` of none. The newest says what is comparable.
pub fn history(runs: Vec<Measured>, terms: &Terms) -> Option<History> {
    let newest = joined::newest(&runs)?;
    let (workload, machine) = (newest.workload.clone(), newest.machine.clone());
    let (runs, mut left_out) = joined::comparable(runs);
    let (mut lines, other_units) = joined::lines(&runs, &workload);
    left_out.extend(other_units);
    left_out.extend(joined::interrupted(&runs));
    let judged = lines.iter().filter(|line| can_be_judged(line)).count();
    left_out.extend(without_ratio(&lines));
    for line in &mut lines {
        if can_be_judged(line) {
            judge(line, &runs, judged, terms);
        }
    }
    let mut history = History {
        workload,
        machine,
        runs: runs.iter().map(|run| run.summary.clone()).collect(),
        left_out,
        margin: terms.margin,
        judged,
        lines,
        changes: Vec::new(),
        joint_changes: Vec::new(),
    };
    history.changes = changes::changes(&history);
    history.joint_changes = joint::joint_changes(&history, &runs, terms);
    Some(history)
}

/// Whether there are runs enough, and each figure has a ratio to the others.
fn can_be_judged(line: &Line) -> bool {
    !line.has_too_few() && readings(line).len() == line.figures.len()
}

fn readings(line: &Line) -> Vec<Reading> {
    line.figures.iter().filter_map(|(_, figure)| Reading::logarithm_of(*figure)).collect()
}

const ZEROS: &str = "figures that are not above zero, which have no ratio";

/// Says which lines are not judged because of what is in them.
fn without_ratio(lines: &[Line]) -> Option<Warning> {
    let of = |line: &&Line| !line.has_too_few() && !can_be_judged(line);
    let count = lines.iter().filter(of).count();
    (count > 0).then(|| Warning {
        what: match (count, lines.len()) {
            (1, 1) => format!("The only line has {ZEROS}: it is not judged"),
            (1, all) => format!("1 of {all} lines has {ZEROS}: it is not judged"),
            (count, all) => format!("{count} of {all} lines have {ZEROS}: they are not judged"),
        },
        remedy: String::new(),
    })
}

/// Looks for the changes of one line of so many.
fn judge(line: &mut Line, runs: &[Measured], judged: usize, terms: &Terms) {
    let readings = readings(line);
    let values: Vec<f64> = readings.iter().map(|reading| reading.value).collect();
    let asked = Asked { chance: FALSE_ALARM / judged as f64, least: terms.margin.ln_1p() };
    let changes = levels::changes(&readings, &asked);
    let apart = levels::apart(&values);
    let figures = line.figures.iter().zip(apart);
    line.apart = figures.filter(|(_, apart)| *apart).map(|((run, _), _)| *run).collect();
    line.visible = Some(levels::visible(&readings, &asked).exp());
    // What there was to tell before the newest run.
    let newest = line.figures.last().is_some_and(|(run, _)| run + 1 == runs.len());
    let before = &readings[..readings.len() - usize::from(newest)];
    let earlier = if newest { levels::changes(before, &asked) } else { changes.clone() };
    if let Some(rise) = drift::rise(&readings, &changes) {
        line.drift = Some(rise.map(f64::exp));
        let known = |change: &LevelChange| earlier.iter().any(|known| is_same(known, change));
        line.drift_is_fresh = drift::rise(before, &earlier).is_none() && !changes.iter().all(known);
        return;
    }
    line.shifts = changes.iter().map(|change| shift(line, change, &earlier, runs, terms)).collect();
}

fn shift(
    line: &Line,
    change: &LevelChange,
    earlier: &[LevelChange],
    runs: &[Measured],
    terms: &Terms,
) -> Shift {
    let at = line.figures[change.at].0;
    let last = line.figures[change.at - 1].0;
    let factor = change.by.map(f64::exp);
    Shift {
        at,
        before: change.before.exp(),
        after: (change.before + change.by.value).exp(),
        factor,
        direction: line.direction(factor.value),
        chance: change.chance,
        fresh: !earlier.iter().any(|known| is_same(known, change)),
        differences: differences::differences(&runs[last], &runs[at], terms.label.as_deref()),
    }
}

/// Whether two changes are the same one: with one run more its place may move by a run.
fn is_same(known: &LevelChange, change: &LevelChange) -> bool {
    known.at.abs_diff(change.at) <= 1 && known.by.value * change.by.value > 0.0
}
