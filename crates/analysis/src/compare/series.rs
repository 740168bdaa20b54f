//! Where two runs, each by itself, conclude differently of a series.

use super::results::{ChangeDetail, Direction};
use crate::pairs::notable::notable;
use crate::stats::quantiles::median_of;
use crate::thresholds::{PART_SHARE_MIN, ROUNDS_MIN};
use crate::{
    ComparisonOutcome, Division, Growth, MissingFigure, Mode, Modes, PointSummary, Row,
    SubjectComparison, Table,
};
use model::FailureReason;

/// Another growth class, where no class is left in both runs, and the factors differ by more than their intervals.
pub(super) fn growth(base: &Row, new: &Row) -> Option<(Direction, ChangeDetail)> {
    let (before, after) = (base.growth.as_ref()?, new.growth.as_ref()?);
    let is_above = |high: &Growth, low: &Growth| {
        high.factor.low > low.factor.high && high.classes.first() > low.classes.last()
    };
    let both_have = !before.classes.is_empty() && !after.classes.is_empty();
    let direction = match (is_above(after, before), is_above(before, after)) {
        _ if !both_have || (before.from, before.to) != (after.from, after.to) => return None,
        (true, _) => Direction::Worse,
        (_, true) => Direction::Better,
        _ => return None,
    };
    Some((direction, ChangeDetail::Growth { base: before.clone(), new: after.clone() }))
}

/// Another trend, where both runs are decided.
pub(super) fn trend(base: &Row, new: &Row) -> Option<(Direction, ChangeDetail)> {
    let (before, after) = (base.rate.as_ref()?, new.rate.as_ref()?);
    let (rank_before, rank_after) = (before.trend.rank()?, after.trend.rank()?);
    if rank_before == rank_after || before.to != after.to {
        return None;
    }
    let direction = if rank_after > rank_before { Direction::Better } else { Direction::Worse };
    Some((direction, ChangeDetail::Trend { base: before.trend, new: after.trend }))
}

/// The pairs that compare otherwise, of those that are notable in either table.
pub(super) fn comparisons<'a>(
    tables: [&'a Table; 2],
    rivals: &[(String, String)],
) -> Vec<([&'a str; 2], ChangeDetail)> {
    let [notable_before, notable_after] = tables.map(|table| notable(table, rivals));
    let mut changed = Vec::new();
    for after in &tables[1].comparisons {
        let pair = [after.first.as_str(), after.second.as_str()];
        let same = |comparison: &&SubjectComparison| {
            [comparison.first.as_str(), &comparison.second] == pair
        };
        let Some(before) = tables[0].comparisons.iter().find(same) else { continue };
        let is_notable = notable_after.contains(&after) || notable_before.contains(&before);
        if is_notable && is_another(&before.outcome, &after.outcome) {
            let (base, new) = (before.clone(), after.clone());
            changed.push((pair, ChangeDetail::Crossover { base, new }));
        }
    }
    changed
}

/// Whether a crossover moved, vanished or appeared. Where either outcome is uncertain, it is the same.
fn is_another(before: &ComparisonOutcome, after: &ComparisonOutcome) -> bool {
    match (before, after) {
        (
            ComparisonOutcome::Crosses { crossovers: then },
            ComparisonOutcome::Crosses { crossovers: now },
        ) => {
            let apart = then.iter().zip(now).any(|(then, now)| {
                let have_intervals = then.at.low < then.at.high && now.at.low < now.at.high;
                let moved = then.at.high < now.at.low || now.at.high < then.at.low;
                then.overtakes != now.overtakes || (have_intervals && moved)
            });
            then.len() != now.len() || apart
        }
        (ComparisonOutcome::Crosses { .. }, ComparisonOutcome::Throughout { .. })
        | (ComparisonOutcome::Throughout { .. }, ComparisonOutcome::Crosses { .. }) => true,
        (
            ComparisonOutcome::Throughout { better: then, .. },
            ComparisonOutcome::Throughout { better: now, .. },
        ) => then != now,
        _ => false,
    }
}

/// Several modes in one of the two runs only.
pub(super) fn modes(base: &Row, new: &Row) -> Option<ChangeDetail> {
    let rounds = [base, new]
        .map(|row| row.cells.iter().flatten().map(|cell| cell.rounds).max().unwrap_or(0));
    if rounds.iter().any(|&rounds| rounds < ROUNDS_MIN as u32) {
        return None;
    }
    match (&base.modes, &new.modes) {
        (None, Some(modes)) if is_sure(modes, base) => {
            Some(ChangeDetail::ModesAppeared { modes: modes.clone() })
        }
        (Some(modes), None) if is_sure(modes, new) => {
            Some(ChangeDetail::ModesVanished { modes: modes.clone() })
        }
        _ => None,
    }
}

/// Whether modes of one run would have been seen in the `rival` run, if it had them: every round lies on all modes, enough of
/// the samples lie above the lowest mode, and fewer than a tenth of the rival's samples do. A mode at the limit of detection is
/// reported in one run and not in the next: a timer's ticks, a neighbour. Which rounds lie on the upper one is chance.
fn is_sure(modes: &Modes, rival: &Row) -> bool {
    let [lowest, next, ..] = modes.modes.as_slice() else { return false };
    modes.division != Division::ByRound
        && 1.0 - lowest.share >= PART_SHARE_MIN
        && lies_below(modes, lowest, next, rival)
}

/// Whether nine tenths of the samples of `row` are nearer to `lowest` than to `next`, wherever there are
/// several modes in the other run.
fn lies_below(modes: &Modes, lowest: &Mode, next: &Mode, row: &Row) -> bool {
    let level =
        |mode: &Mode| median_of(&mut mode.curve.iter().map(|knot| knot.1).collect::<Vec<f64>>());
    let (Some(low), Some(high)) = (level(lowest), level(next)) else { return false };
    let half_way = (high / low).sqrt();
    let within = |cell: &&PointSummary| (modes.from..=modes.to).contains(&cell.point);
    let mut there = row.cells.iter().flatten().filter(within).peekable();
    there.peek().is_some() && there.all(|cell| cell.p90 < half_way * cell.median.value)
}

/// What was measured and failed, or the other way round, and what came less far.
pub(super) fn outcomes(base: &Row, new: &Row) -> Vec<(Direction, ChangeDetail)> {
    let mut all = Vec::new();
    if let Some(reason) = new.unavailable.clone().filter(|_| is_measured(base)) {
        all.push((Direction::Worse, ChangeDetail::Unavailable { reason }));
    }
    if let Some(reason) = base.unavailable.clone().filter(|_| is_measured(new)) {
        all.push((Direction::Better, ChangeDetail::Available { reason }));
    }
    if let Some((points, reason)) = failed_where_measured(base, new) {
        all.push((Direction::Worse, ChangeDetail::Failed { points, reason: reason.clone() }));
    }
    if let Some((points, reason)) = failed_where_measured(new, base) {
        all.push((Direction::Better, ChangeDetail::Measured { points, reason: reason.clone() }));
    }
    match (&base.short, &new.short) {
        (None, Some(short)) if is_measured(base) => {
            all.push((Direction::Worse, ChangeDetail::CutShort { short: short.clone() }));
        }
        (Some(short), None) if is_measured(new) => {
            all.push((Direction::Better, ChangeDetail::Completed { short: short.clone() }));
        }
        _ => {}
    }
    all
}

fn is_measured(row: &Row) -> bool {
    row.cells.iter().any(Option::is_some)
}

/// The points at which `measured` has figures and all cells of `row` failed, with the first reason.
fn failed_where_measured<'a>(
    measured: &Row,
    row: &'a Row,
) -> Option<(Vec<u64>, &'a FailureReason)> {
    let failed = row.missing.iter().filter_map(|(point, gap)| match gap {
        MissingFigure::Failed { reason } if measured.at(*point).is_some() => Some((*point, reason)),
        _ => None,
    });
    let (points, reasons): (Vec<u64>, Vec<&FailureReason>) = failed.unzip();
    Some((points, *reasons.first()?))
}
