//! Many runs one after another: when the level of a series changed.
//!
//! [`measured`] takes from each run what counts, and [`history`] joins what is comparable into lines. In each line the
//! logarithms of the medians are looked at ([`levels`]). All lines together are wrong with 5 % probability at most.

pub mod across;
mod changes;
mod differences;
pub mod gate;
mod joined;
mod left_out;
pub mod levels;
mod measured;
mod results;

pub use left_out::{Incomparable, LeftOut, Machine};
pub use levels::FIGURES_MIN;
pub use measured::{FigurePath, Measured, Wanted, measured};
pub use results::{Alarm, Change, History, JointChange, Line, Shift, Terms};

use crate::Estimate;
use crate::thresholds::FALSE_ALARM;
use gate::is_same_change;
use levels::{LevelChange, Levels, Reading, Requirement};

/// The history that `runs`, the oldest first, make; `None` of none. The newest says what is comparable.
pub fn history(runs: Vec<Measured>, terms: &Terms) -> Option<History> {
    let newest = joined::newest(&runs)?;
    let (workload, machine) = (newest.workload.clone(), newest.machine.facts.clone());
    let (runs, mut left_out) = joined::comparable(runs);
    let (mut lines, other_units) = joined::lines(&runs, &workload);
    left_out.extend(other_units);
    left_out.extend(joined::unfinished(&runs));
    left_out.extend(joined::failed(&runs, &lines));
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
    history.joint_changes = changes::joint_changes(&history, &runs, terms);
    Some(history)
}

/// Whether there are runs enough, and each figure has a ratio to the others.
fn can_be_judged(line: &Line) -> bool {
    !line.has_too_few() && readings(line).len() == line.figures.len()
}

fn readings(line: &Line) -> Vec<Reading> {
    line.figures.iter().filter_map(|(_, figure)| Reading::logarithm_of(*figure)).collect()
}

/// That lines are not judged, because a figure in them is not above zero.
fn without_ratio(lines: &[Line]) -> Option<LeftOut> {
    let is_without = |line: &&Line| !line.has_too_few() && !can_be_judged(line);
    let count = lines.iter().filter(is_without).count();
    (count > 0).then_some(LeftOut::NotPositive { lines: count, total: lines.len() })
}

fn judge(line: &mut Line, runs: &[Measured], judged: usize, terms: &Terms) {
    let readings = readings(line);
    let values: Vec<f64> = readings.iter().map(|reading| reading.value).collect();
    let requirement =
        Requirement { chance: FALSE_ALARM / judged as f64, size_min: terms.margin.ln_1p() };
    let levels = Levels::new(&readings);
    let changes = levels.changes(&requirement);
    let apart = levels::apart(&values);
    let figures = line.figures.iter().zip(apart);
    line.apart = figures.filter(|(_, apart)| *apart).map(|((run, _), _)| *run).collect();
    line.visible = Some(levels.visible(&requirement).exp());
    let newest = line.figures.last().is_some_and(|(run, _)| run + 1 == runs.len());
    if newest {
        let alarm = |(at, by): (usize, Estimate)| {
            let factor = by.map(f64::exp);
            Alarm { at: line.figures[at].0, direction: line.direction(factor.value), factor }
        };
        let raised = gate::raised(&readings, &levels, &requirement);
        line.alarms = raised.into_iter().map(alarm).collect();
    }
    // The changes that were seen before the newest run.
    let before = &readings[..readings.len() - usize::from(newest)];
    let earlier = if newest { levels::changes(before, &requirement) } else { changes.clone() };
    let was_seen = |change: &LevelChange| {
        earlier.iter().any(|before| is_same_change(before, change.at, change.by))
    };
    if let Some(rise) = levels::rise(&readings, &changes) {
        line.drift = Some(rise.map(f64::exp));
        line.drift_is_fresh =
            levels::rise(before, &earlier).is_none() && !changes.iter().all(was_seen);
        return;
    }
    let shift = |change: &LevelChange| shift(line, change, !was_seen(change), runs, terms);
    line.shifts = changes.iter().map(shift).collect();
}

fn shift(
    line: &Line,
    change: &LevelChange,
    fresh: bool,
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
        fresh,
        differences: differences::differences(&runs[last], &runs[at], terms.label.as_deref()),
    }
}
