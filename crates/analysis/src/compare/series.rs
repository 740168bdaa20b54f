//! Where two runs, each by itself, conclude differently of a series.

use super::results::{ChangeDetail, Direction, Share, Unserved};
use crate::pairs::notable::notable;
use crate::stats::quantiles::median;
use crate::stats::student::two_sided_quantile;
use crate::thresholds::{FALSE_ALARM, PART_SHARE_MIN, ROUNDS_MIN, UNSERVED_SHARE_MIN};
use crate::{
    ComparisonOutcome as Outcome, Division, Growth, MissingFigure, Mode, Modes, PointSummary, Row,
    SubjectComparison, Table,
};
use model::{FailureReason, LoadCounts, Run};

/// Another growth class, where no class is left in both runs, and the factors differ by more than their intervals.
pub(super) fn growth([base, new]: [&Row; 2]) -> Option<(Direction, ChangeDetail)> {
    let (base, new) = (base.growth.as_ref()?, new.growth.as_ref()?);
    let is_above = |high: &Growth, low: &Growth| {
        high.factor.low > low.factor.high && high.classes.first() > low.classes.last()
    };
    let both_have = !base.classes.is_empty() && !new.classes.is_empty();
    let is_worse = is_above(new, base);
    let is_another = both_have
        && (base.from, base.to) == (new.from, new.to)
        && (is_worse || is_above(base, new));
    let change = || ChangeDetail::Growth { base: base.clone(), new: new.clone() };
    is_another.then(|| (Direction::worse_if(is_worse), change()))
}

/// Another trend, where both runs are decided.
pub(super) fn trend([base, new]: [&Row; 2]) -> Option<(Direction, ChangeDetail)> {
    let (base, new) = (base.rate.as_ref()?, new.rate.as_ref()?);
    let (before, after) = (base.trend.rank()?, new.trend.rank()?);
    let change = ChangeDetail::Trend { base: base.trend, new: new.trend };
    (before != after && base.to == new.to).then(|| (Direction::worse_if(after < before), change))
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
fn is_another(before: &Outcome, after: &Outcome) -> bool {
    match (before, after) {
        (Outcome::Crosses { crossovers: then }, Outcome::Crosses { crossovers: now }) => {
            let apart = then.iter().zip(now).any(|(then, now)| {
                let have_intervals = then.at.low < then.at.high && now.at.low < now.at.high;
                let moved = then.at.high < now.at.low || now.at.high < then.at.low;
                then.overtakes != now.overtakes || (have_intervals && moved)
            });
            then.len() != now.len() || apart
        }
        (Outcome::Crosses { .. }, Outcome::Throughout { .. })
        | (Outcome::Throughout { .. }, Outcome::Crosses { .. }) => true,
        (Outcome::Throughout { better: then, .. }, Outcome::Throughout { better: now, .. }) => {
            then != now
        }
        _ => false,
    }
}

/// Several modes in one of the two runs only.
pub(super) fn modes([base, new]: [&Row; 2]) -> Option<ChangeDetail> {
    let has_rounds =
        |row: &Row| row.cells.iter().flatten().any(|cell| cell.rounds >= ROUNDS_MIN as u32);
    if !has_rounds(base) || !has_rounds(new) {
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

/// Whether modes of one run would have been seen in the `rival` run, if it had them: every round lies on all modes,
/// enough of the samples lie above the lowest mode, and wherever there are several, nine tenths of the rival's are
/// nearer to the lowest.
fn is_sure(modes: &Modes, rival: &Row) -> bool {
    let [lowest, next, ..] = modes.modes.as_slice() else { return false };
    let level = |mode: &Mode| median(mode.curve.iter().map(|knot| knot.1));
    let (Some(low), Some(high)) = (level(lowest), level(next)) else { return false };
    let half_way = (high / low).sqrt();
    let within = |cell: &&PointSummary| (modes.from..=modes.to).contains(&cell.point);
    let mut there = rival.cells.iter().flatten().filter(within).peekable();
    modes.division != Division::ByRound
        && 1.0 - lowest.share >= PART_SHARE_MIN
        && there.peek().is_some()
        && there.all(|cell| cell.p90 < half_way * cell.median.value)
}

/// What was measured and failed, or the other way round, and what came less far.
pub(super) fn outcomes(base: &Row, new: &Row) -> Vec<(Direction, ChangeDetail)> {
    let mut all = Vec::new();
    if let Some(reason) = new.unavailable.clone().filter(|_| base.has_figures()) {
        all.push((Direction::Worse, ChangeDetail::Unavailable { reason }));
    }
    if let Some(reason) = base.unavailable.clone().filter(|_| new.has_figures()) {
        all.push((Direction::Better, ChangeDetail::Available { reason }));
    }
    if let Some((points, reason)) = failed_where_measured(base, new) {
        all.push((Direction::Worse, ChangeDetail::Failed { points, reason: reason.clone() }));
    }
    if let Some((points, reason)) = failed_where_measured(new, base) {
        all.push((Direction::Better, ChangeDetail::Measured { points, reason: reason.clone() }));
    }
    match (&base.short, &new.short) {
        (None, Some(short)) if base.has_figures() => {
            all.push((Direction::Worse, ChangeDetail::CutShort { short: short.clone() }));
        }
        (Some(short), None) if new.has_figures() => {
            all.push((Direction::Better, ChangeDetail::Completed { short: short.clone() }));
        }
        _ => {}
    }
    all
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

/// Where a lesser or a larger share of the requests or connections of `subject`, or of its rounds, is served than in base:
/// a rate and a latency count successes only. Rounds that fail now are a change of no direction where chance may be why.
pub(super) fn served(
    runs: [&Run; 2],
    tables: [&Table; 2],
    subject: &str,
) -> Vec<(Option<Direction>, ChangeDetail)> {
    let counts = |side: usize, point: u64| {
        let mut cells = tables[side].cells(runs[side], subject);
        cells.find_map(|cell| Some(&cell.load.as_ref().filter(|_| cell.key.point == point)?.counts))
    };
    let mut pairs = Vec::new();
    for &point in &tables[1].points {
        if let (Some(base), Some(new)) = (counts(0, point), counts(1, point)) {
            pairs.extend(shares([base, new]).map(|(what, both)| (point, what, both)));
        }
        if let [Some(base), Some(new)] = tables.map(|table| failed_rounds(table, subject, point)) {
            pairs.push((point, Unserved::Rounds, [base, new]));
        }
    }
    // Where nothing fails, nothing can be another by chance.
    pairs.retain(|(_, _, both)| both.iter().any(|share| share.count > 0));
    let chance = FALSE_ALARM / pairs.len().max(1) as f64;
    let change = |(point, what, [base, new]): (u64, Unserved, [Share; 2])| {
        let direction = direction([base, new], chance);
        let is_new = what == Unserved::Rounds && new.share() > base.share();
        let change = (direction, ChangeDetail::Served { what, point, base, new });
        (direction.is_some() || is_new).then_some(change)
    };
    pairs.into_iter().filter_map(change).collect()
}

/// The rounds in which `subject` failed at `point`, where it has a figure of others.
fn failed_rounds(table: &Table, subject: &str, point: u64) -> Option<Share> {
    let row = table.row(subject)?;
    let failed = row.failed.iter().filter(|at| at.point == point);
    let count = failed.map(|at| u64::from(at.cells)).sum();
    Some(Share { count, all: count + u64::from(row.at(point)?.rounds) })
}

/// The shares of requests and of connections that were not served, in base and in new.
fn shares(counts: [&LoadCounts; 2]) -> [(Unserved, [Share; 2]); 2] {
    let of_requests = counts.map(|counts| Share {
        count: counts.failures + counts.without_reply(),
        all: counts.requests + counts.unsent,
    });
    let of_connections = counts.map(|counts| Share { count: counts.unserved, all: counts.asked });
    [(Unserved::Requests, of_requests), (Unserved::Connections, of_connections)]
}

/// Which way a share changed: by more than chance and by more than [`UNSERVED_SHARE_MIN`], if it did.
fn direction([base, new]: [Share; 2], chance: f64) -> Option<Direction> {
    let more = new.share()? - base.share()?;
    let pooled = (base.count + new.count) as f64 / (base.all + new.all) as f64;
    let error = (pooled * (1.0 - pooled) * (1.0 / base.all as f64 + 1.0 / new.all as f64)).sqrt();
    // Beyond a hundred Student's t is the normal distribution.
    let freedom = (base.all + new.all).clamp(3, 102) as usize - 2;
    let change_min = (two_sided_quantile(chance, freedom) * error).max(UNSERVED_SHARE_MIN);
    (more.abs() > change_min).then(|| Direction::worse_if(more > 0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_another_beyond_chance_only() {
        let share = |count, all| Share { count, all };
        let direction = |base, new| direction([base, new], 0.025);
        assert_eq!(direction(share(0, 30_000), share(18_000, 30_000)), Some(Direction::Worse));
        assert_eq!(direction(share(18_000, 30_000), share(0, 30_000)), Some(Direction::Better));
        // A few of many, a few more of few, and the connections of a load that asked none.
        assert_eq!(direction(share(0, 30_000), share(20, 30_000)), None);
        assert_eq!(direction(share(3, 100), share(7, 100)), None);
        assert_eq!(direction(share(0, 0), share(6, 10)), None);
        assert_eq!(direction(share(0, 10), share(6, 10)), Some(Direction::Worse));
    }
}
