//! How a rate goes along its axis: by the rule for costs ([`classify`]), since a rate is the inverse of one. It
//! *collapses* where all of the interval lies below half.
//!
//! Where it has halved is found in costs: what a reply costs is what grows evenly with what is watched. Between two
//! points the cost is taken to be straight on a plain axis, in every draw of the levels. But a rate may be held up by
//! what is offered, until the cost of all of it is too much: then the line bends between the two points, and the
//! interval is widened to where the line behind the second would lead, drawn back.

pub mod speedup;
pub mod usl;

use crate::growth::classify;
use crate::growth::curves::explained;
use crate::growth::levels::{Level, draws, levels};
use crate::stats::quantiles::{quantile, sorted};
use crate::thresholds::{COLLAPSE_MAX, CRUSHED_MAX, FALSE_ALARM, POSITION_RATIO_MAX};
use crate::{
    Best, Class, Estimate, FailedAt, Growth, GrowthReason, Halved, PointSummary, Rate, RateTrend,
    TrendReason,
};

/// The same of a rate that begins at one of the part for each of the whole (threads per CPU). Where it has halved by
/// the very next point, the position is somewhere between the two: nothing was measured between sharing nothing and
/// sharing.
pub fn rate_past(points: &[PointSummary]) -> Option<Rate> {
    let mut rate = rate(points)?;
    if let Some(halved) = &mut rate.halved
        && halved.after == rate.from
        && halved.at.high <= halved.before as f64
    {
        *halved = Halved::between(halved.after, halved.before);
    }
    Some(rate)
}

/// Whether a rate has surely fallen to a hundredth by the last of these points, the first ones being those of
/// less than one for each of the whole: then other programs have taken the CPUs, and the trend begins there.
pub(crate) fn is_crushed(points: &[PointSummary]) -> bool {
    rate(points)
        .is_some_and(|rate| rate.factor.high < COLLAPSE_MAX && rate.factor.value < CRUSHED_MAX)
}

/// How the rate at these `points` (ascending) goes; `None` with fewer than two.
pub fn rate(points: &[PointSummary]) -> Option<Rate> {
    let (first, last) = (points.first()?, points.last()?);
    if points.len() < 2 {
        return None;
    }
    // A server that no longer answers has a rate of zero, and log 0 is undefined.
    let is_dead =
        |point: &PointSummary| !(point.median.value > 0.0 && point.median.value.is_finite());
    let Some(dead) = points.iter().position(is_dead) else {
        return Some(Costs::new(points).rate());
    };
    let is_silent =
        |point: &PointSummary| point.log_cells.values().all(|log| *log == f64::NEG_INFINITY);
    let stays_dead = dead > 0 && points[dead..].iter().all(is_silent);
    let (trend, reason, halved) = if stays_dead {
        let before = Costs::new(&points[..dead]).halved(0);
        let halved = || Halved::between(points[dead - 1].point, points[dead].point);
        (RateTrend::Collapses, None, Some(before.unwrap_or_else(halved)))
    } else {
        let reason = TrendReason::NotPositive { point: points[dead].point };
        (RateTrend::Undecided, Some(reason), None)
    };
    let (from, to, level) = (first.point, last.point, last.median.value);
    let factor = Estimate::exact(level / first.median.value);
    Some(Rate { trend, from, to, level, factor, peak: None, halved, reason })
}

/// What one costs at each point of a rate above zero.
pub(crate) struct Costs<'a> {
    points: &'a [PointSummary],
    pub(crate) levels: Vec<Level>,
}

impl<'a> Costs<'a> {
    pub(crate) fn new(points: &'a [PointSummary]) -> Self {
        Self { points, levels: levels(points, false) }
    }

    fn rate(&self) -> Rate {
        let Growth { class, factor, from, best, reason, .. } = classify(&self.levels);
        let index = |point: u64| self.points.partition_point(|at| at.point < point);
        let (start, last) = (index(from), &self.points[self.points.len() - 1]);
        let factor = factor.inverse();
        let trend = match class {
            Class::Constant => RateTrend::Holds,
            Class::Falls => RateTrend::Rises,
            Class::Undecided => RateTrend::Undecided,
            _ if factor.high < COLLAPSE_MAX => RateTrend::Collapses,
            _ if start > 0 => RateTrend::Peaks,
            _ => RateTrend::Falls,
        };
        let peak = best.map(|best| Best {
            level: self.points[index(best.at)].median.value,
            factor: best.factor.inverse(),
            behind: best.behind.inverse(),
            ..best
        });
        let why = || match reason {
            Some(GrowthReason::GrowsAndFalls { point }) => {
                let fall = explained(&self.levels[start..=index(point)]).factor.value;
                TrendReason::FallsAndRises { fall, point }
            }
            _ => TrendReason::IntervalTooWide,
        };
        Rate {
            trend,
            from,
            to: last.point,
            level: last.median.value,
            factor,
            peak,
            halved: if trend == RateTrend::Collapses { self.halved(start) } else { None },
            reason: (trend == RateTrend::Undecided).then(why),
        }
    }

    /// The rate at one point over that at an earlier one.
    pub(crate) fn factor(&self, from: usize, to: usize) -> Estimate {
        explained(&self.levels[from..=to]).factor.inverse()
    }

    /// Where the rate has fallen to half of what it is at the point `from`.
    fn halved(&self, from: usize) -> Option<Halved> {
        let costs: Vec<f64> = self.levels.iter().map(|level| level.log.exp()).collect();
        let (index, value) = self.half(&costs, from)?;
        let end = self.x(self.levels.len() - 1);
        let drawn = |logs: &Vec<f64>| {
            let costs: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
            self.half(&costs, from).map_or(end, |(_, position)| position)
        };
        let positions = sorted(&draws(&self.levels).iter().map(drawn).collect::<Vec<f64>>());
        let edge = |share, bend: f64| quantile(&positions, share).map_or(value, |edge| edge + bend);
        let tail = FALSE_ALARM / 2.0;
        let bend = self.bend(&costs, (index, value), from);
        let low = edge(tail, bend.min(0.0)).min(value).max(self.x(0));
        let high = edge(1.0 - tail, bend.max(0.0)).max(value).min(end);
        // Near zero the first step of the axis is the finest position.
        let step = self.points.iter().map(|at| at.point).find(|point| *point > 0).unwrap_or(1);
        let vague = high > (POSITION_RATIO_MAX * low).max(step as f64);
        let (after, before) = (self.points[index].point, self.points[index + 1].point);
        Some(Halved { at: Estimate { value, low, high }, after, before, vague })
    }

    /// The last point above half, and the position behind it on a straight line between `costs`.
    fn half(&self, costs: &[f64], from: usize) -> Option<(usize, f64)> {
        let half = costs[from] / COLLAPSE_MAX;
        let next = (from + 1..costs.len()).find(|&index| costs[index] > half)?;
        let share = (half - costs[next - 1]) / (costs[next] - costs[next - 1]);
        let (start, end) = (self.x(next - 1), self.x(next));
        Some((next - 1, start + share.clamp(0.0, 1.0) * (end - start)))
    }

    /// How far the position behind the point `index` would be from `position`, were the costs before the next
    /// point on the line that they are on behind it.
    fn bend(&self, costs: &[f64], (index, position): (usize, f64), from: usize) -> f64 {
        let (next, second) = (index + 1, index + 2);
        if second >= costs.len() || costs[second] <= costs[next] {
            return 0.0;
        }
        let slope = (costs[second] - costs[next]) / (self.x(second) - self.x(next));
        let back = self.x(next) - (costs[next] - costs[from] / COLLAPSE_MAX) / slope;
        back.clamp(self.x(index), self.x(next)) - position
    }

    fn x(&self, index: usize) -> f64 {
        self.points[index].point as f64
    }
}

/// `rate` from the point `one_each` on, where nothing finished beyond its last figure: it has collapsed
/// there, like the rate of a server that no longer answers.
pub(crate) fn beyond(
    rate: Option<Rate>,
    points: &[PointSummary],
    one_each: u64,
    failed: &[FailedAt],
) -> Option<Rate> {
    let Some(last) = points.last().map(|at| at.point) else { return rate };
    let mut unfinished = failed.iter().filter(|at| at.reason.is_unfinished()).map(|at| at.point);
    let dead = unfinished.find(|&point| point > last.max(one_each));
    let collapses = |rate: &Rate| rate.trend == RateTrend::Collapses;
    let Some(dead) = dead.filter(|_| last >= one_each && !rate.as_ref().is_some_and(collapses))
    else {
        return rate;
    };
    let has_figure = points.iter().any(|at| at.point == one_each);
    Some(Rate {
        trend: RateTrend::Collapses,
        from: if has_figure { one_each } else { last },
        to: dead,
        level: 0.0,
        factor: Estimate::exact(0.0),
        peak: None,
        halved: Some(Halved::between(last, dead)),
        reason: None,
    })
}

impl Halved {
    /// Somewhere between two points.
    pub(crate) fn between(after: u64, before: u64) -> Self {
        let (low, high) = (after as f64, before as f64);
        let at = Estimate { value: f64::midpoint(low, high), low, high };
        Self { at, after, before, vague: true }
    }
}
