//! How a rate goes along its axis: whether it holds, and where it has fallen to half.
//!
//! The last point is compared with the first; or with the best on the way, where that is clearly better
//! than both ends. A rate *holds* while it changes by less than a tenth, and it *collapses* when it falls
//! to less than half, the whole interval of its fall included.
//!
//! Where the two are too uncertain, neighbours help: the last third of the points together (two at least)
//! against the first third may show that it holds; or the best tenth of the samples at either end may, where what
//! disturbs a machine has slowed some rounds by half. They never show that it falls, which is a claim about one
//! point, nor that a rate holds whose medians fall. But where rounds scatter by decades, as those of a lock
//! do that has collapsed, the last two points together may show that it collapses: both lie below half.
//!
//! Where the axis is given in multiples of a whole (threads per CPU), the way begins at 1
//! ([`rate_past`]). There the points beyond may scatter as those up to 1 do not, and neither is held to the
//! usual scatter of the other.
//!
//! Where it has halved is found in costs, one over the rate: what a reply costs is what grows evenly with
//! what is watched. Between two points the cost is taken to be straight on a plain axis, in every replicate
//! of the bootstrap. But a rate may be held up by what is offered, until the cost of all of it is too much:
//! then the line bends between the two points, and the interval is widened to where the line behind the
//! second would lead, drawn back.

pub mod speedup;
pub mod thresholds;
pub(crate) mod unfinished;
pub mod usl;

use crate::pairs::crossover::Figure;
use crate::pairs::thresholds::{ROUND_DRIFT, errors_asked};
use crate::rates::thresholds::{
    BEST_TENTH_SAMPLES_MIN, COLLAPSE_MAX, CRUSHED_MAX, HOLDS_BY_NEIGHBOURS_MIN, HOLDS_INTERVAL_MIN,
    HOLDS_MIN, NEAR_BEST_TENTH, POSITION_RATIO_MAX, widened,
};
use crate::stats::bootstrap::percentile_interval;
use crate::stats::moments::root_mean_square;
use crate::stats::quantiles::{Pooled, median_of, quantile, sort};
use crate::{Estimate, Halved, Peak, Rate, RateTrend, TrendReason};

/// The best tenth of the samples at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Best {
    /// Its lower edge.
    pub value: f64,
    /// Standard error of its logarithm, by how samples scatter within a round.
    pub error: f64,
}

/// The best tenth of the samples at a point, of all `pooled` and by `rounds`. `None` with few samples, and where
/// one round alone among several comes near it.
pub fn best_tenth(pooled: &Pooled, rounds: &[&[f64]]) -> Option<Best> {
    let value = pooled.at(0.9)?;
    let comes_near =
        |round: &&&[f64]| round.iter().any(|&sample| sample >= NEAR_BEST_TENTH * value);
    let near_rounds = rounds.iter().filter(comes_near).count();
    let enough = pooled.len() >= BEST_TENTH_SAMPLES_MIN && near_rounds >= rounds.len().min(2);
    if !enough || value <= 0.0 {
        return None;
    }
    let mut scatters: Vec<f64> = rounds.iter().filter_map(|round| scatter(round)).collect();
    let scatter = median_of(&mut scatters)?;
    // That of a normal distribution's ninth decile.
    Some(Best { value, error: 1.7 * scatter / (pooled.len() as f64).sqrt() })
}

/// Standard deviation of the logarithms, by the quarters.
fn scatter(round: &[f64]) -> Option<f64> {
    let mut logs: Vec<f64> = round.iter().map(|sample| sample.ln()).collect();
    sort(&mut logs);
    let (low, high) = (quantile(&logs, 0.25)?, quantile(&logs, 0.75)?);
    let scatter = (high - low) / 1.35;
    scatter.is_finite().then_some(scatter)
}

/// As [`rate`]; but where that is undecided since its interval is too wide, `best` ([`best_tenth`] of the
/// same points) may show that it holds.
pub fn rate_by(figures: &[Figure<'_>], best: &[Option<Best>]) -> Option<Rate> {
    Some(by_interval(by_best(rate(figures)?, best)))
}

/// The same of figures whose first one is that at one of the part for each of the whole: see the head of
/// this module. Where the rate has halved by the very next point, the position is somewhere between the two:
/// nothing was measured between sharing nothing and sharing.
pub fn rate_past(figures: &[Figure<'_>], best: &[Option<Best>]) -> Option<Rate> {
    let mut rate = by_interval(by_best(trend_beyond(figures, Some(figures.first()?.point))?, best));
    if let Some(halved) = &mut rate.halved
        && halved.after == rate.from
        && halved.at.high <= halved.before as f64
    {
        let (low, high) = (halved.after as f64, halved.before as f64);
        *halved = Halved {
            at: Estimate { value: f64::midpoint(low, high), low, high },
            vague: true,
            ..*halved
        };
    }
    Some(rate)
}

/// `rate`, or that it holds by the best tenth, where that is surer than the medians.
fn by_best(rate: Rate, best: &[Option<Best>]) -> Rate {
    let (Some(Some(first)), Some(Some(last))) = (best.first(), best.last()) else { return rate };
    let factor = last.value / first.value;
    let width = (2.0 * first.error.hypot(last.error)).exp();
    let Estimate { value, high, .. } = rate.factor;
    let open = high > HOLDS_MIN && (HOLDS_INTERVAL_MIN..=1.0 / HOLDS_INTERVAL_MIN).contains(&value);
    let unsure =
        rate.trend == RateTrend::Undecided && rate.reason == Some(TrendReason::IntervalTooWide);
    if !unsure || !open || !surely_small(factor, factor / width, factor * width) {
        return rate;
    }
    let reason = TrendReason::BestTenth { from: rate.from, to: rate.to, ratio: factor };
    Rate { trend: RateTrend::Holds, reason: Some(reason), ..rate }
}

/// `rate`, or where its interval is too wide to say whether it holds, what the interval excludes.
fn by_interval(rate: Rate) -> Rate {
    let Estimate { low, high, .. } = rate.factor;
    let open =
        rate.trend == RateTrend::Undecided && rate.reason == Some(TrendReason::IntervalTooWide);
    if !open || low >= high {
        return rate;
    }
    let trend = if low >= HOLDS_MIN {
        RateTrend::HoldsOrRises
    } else if low <= COLLAPSE_MAX {
        RateTrend::Undecided
    } else if high <= 1.0 / HOLDS_MIN {
        RateTrend::HoldsOrFalls
    } else {
        RateTrend::DoesNotCollapse
    };
    Rate { trend, ..rate }
}

/// Whether a rate has surely fallen to a hundredth by the last of these figures, the first ones being those of
/// less than one for each of the whole: then other programs have taken the CPUs, and the trend begins there.
pub(crate) fn is_crushed(figures: &[Figure<'_>]) -> bool {
    rate(figures)
        .is_some_and(|rate| rate.factor.high < COLLAPSE_MAX && rate.factor.value < CRUSHED_MAX)
}

/// How the rate with these figures, in ascending order of their points, goes; `None` with fewer than two.
pub fn rate(figures: &[Figure<'_>]) -> Option<Rate> {
    trend_beyond(figures, None)
}

/// The same, where points beyond `split` may scatter otherwise than those up to it.
fn trend_beyond(figures: &[Figure<'_>], split: Option<u64>) -> Option<Rate> {
    let (first, last) = (figures.first()?, figures.last()?);
    if figures.len() < 2 {
        return None;
    }
    let is_positive =
        |figure: &Figure<'_>| figure.median.value > 0.0 && figure.median.value.is_finite();
    // A server that no longer answers has a rate of zero, and log 0 is undefined.
    let Some(dead) = figures.iter().position(|figure| !is_positive(figure)) else {
        return Some(Levels::new(figures, split).rate());
    };
    let stays_dead = dead > 0 && figures[dead..].iter().all(|figure| figure.median.high <= 0.0);
    let level = last.median.value;
    let factor = level / first.median.value;
    let (trend, reason, halved) = if stays_dead {
        (
            RateTrend::Collapses,
            None,
            Some(Levels::new(&figures[..dead], split).halved_before(&figures[dead])),
        )
    } else {
        let reason = TrendReason::NotPositive { point: figures[dead].point };
        (RateTrend::Undecided, Some(reason), None)
    };
    let factor = Estimate { value: factor, low: factor, high: factor };
    let (from, to) = (first.point, last.point);
    Some(Rate { trend, from, to, level, factor, peak: None, halved, reason })
}

/// The logarithms of a rate, point by point.
pub(crate) struct Levels<'a> {
    figures: &'a [Figure<'a>],
    pub(crate) logs: Vec<f64>,
    /// Standard errors.
    pub(crate) errors: Vec<f64>,
    /// The replicates of each.
    pub(crate) draws: Vec<Vec<f64>>,
    /// How many replicates all of them have.
    pub(crate) count: usize,
}

impl<'a> Levels<'a> {
    /// Those of `figures`; beyond the point `split` rounds may scatter otherwise.
    pub(crate) fn new(figures: &'a [Figure<'a>], split: Option<u64>) -> Self {
        let logs: Vec<f64> = figures.iter().map(|figure| figure.median.value.ln()).collect();
        let drawn: Vec<Vec<f64>> = figures.iter().zip(&logs).map(deviations).collect();
        let own: Vec<f64> = drawn.iter().map(|drawn| root_mean_square(drawn)).collect();
        let beyond = |index: usize| split.is_some_and(|split| figures[index].point > split);
        let usual = [false, true].map(|side| {
            let alike = (0..own.len()).filter(|&index| beyond(index) == side && own[index] > 0.0);
            median_of(&mut alike.map(|index| own[index]).collect::<Vec<f64>>()).unwrap_or(0.0)
        });
        let pattern = own.iter().position(|error| *error >= usual[0].max(usual[1])).unwrap_or(0);
        let mut errors = Vec::with_capacity(logs.len());
        let mut draws = Vec::with_capacity(logs.len());
        for (index, figure) in figures.iter().enumerate() {
            // A point whose rounds agree by luck is held to the usual error, and takes the pattern of
            // another where its own has no width.
            let usual = usual[usize::from(beyond(index))];
            let error = if drawn[index].is_empty() { 0.0 } else { own[index].max(usual) };
            let error = error.hypot(unseen(figure));
            let from = if own[index] > 0.0 { index } else { pattern };
            let stretch =
                if own[from] > 0.0 { widened(figure.rounds) * error / own[from] } else { 0.0 };
            draws.push(drawn[from].iter().map(|d| logs[index] + d * stretch).collect());
            errors.push(error);
        }
        let count = draws.iter().map(Vec::len).min().unwrap_or(0);
        Self { figures, logs, errors, draws, count }
    }

    fn rate(&self) -> Rate {
        let last = self.figures.len() - 1;
        let peak = self.summit(1.0);
        let from = peak.unwrap_or(0);
        let factor = self.ratio(last, from);
        let (trend, reason) = match self.summit(-1.0) {
            // Where it collapses in the end, what it does on the way matters little.
            Some(dip) if factor.high >= COLLAPSE_MAX && self.collapse_of_two(from).is_none() => {
                let fall = 1.0 / self.ratio(dip, 0).value;
                let reason = TrendReason::FallsAndRises { fall, point: self.figures[dip].point };
                (RateTrend::Undecided, Some(reason))
            }
            _ => self.trend(factor, from),
        };
        let peak = peak.map(|peak| Peak {
            at: self.figures[peak].point,
            level: self.figures[peak].median.value,
            factor: self.ratio(peak, 0),
            over: self.figures[0].point,
        });
        Rate {
            trend,
            from: self.figures[from].point,
            to: self.figures[last].point,
            level: self.figures[last].median.value,
            factor,
            peak,
            halved: if trend == RateTrend::Collapses { self.halved(from) } else { None },
            reason,
        }
    }

    /// Where a change by `factor` leads, from the point `from` on; behind the first that is a peak.
    fn trend(&self, factor: Estimate, from: usize) -> (RateTrend, Option<TrendReason>) {
        let Estimate { value, low, high } = factor;
        let peaks = from > 0;
        if high < COLLAPSE_MAX {
            return (RateTrend::Collapses, None);
        }
        if let Some(reason) = self.collapse_of_two(from) {
            return (RateTrend::Collapses, Some(reason));
        }
        let is_sure = self.count == 0 || high < 1.0 || low > 1.0;
        let (changes, narrow) =
            (!is_small(value), low >= HOLDS_INTERVAL_MIN && high <= 1.0 / HOLDS_INTERVAL_MIN);
        let trend = match value < 1.0 {
            true if changes && is_sure && peaks => RateTrend::Peaks,
            true if changes && is_sure => RateTrend::Falls,
            false if changes && is_sure => RateTrend::Rises,
            _ if !changes && narrow => RateTrend::Holds,
            _ => {
                let is_near =
                    (HOLDS_BY_NEIGHBOURS_MIN..=1.0 / HOLDS_BY_NEIGHBOURS_MIN).contains(&value);
                let holds = if is_near { self.by_thirds() } else { None };
                return holds.map_or(
                    (RateTrend::Undecided, Some(TrendReason::IntervalTooWide)),
                    |reason| (RateTrend::Holds, Some(reason)),
                );
            }
        };
        (trend, None)
    }

    /// That it collapses from the point `from` on, by the last two points together, where each lies below
    /// half on its own.
    fn collapse_of_two(&self, from: usize) -> Option<TrendReason> {
        let two = [self.logs.len().checked_sub(2)?, self.logs.len() - 1];
        let half = self.logs[from] + COLLAPSE_MAX.ln();
        if self.count == 0 || two[0] <= from || two.iter().any(|&at| self.logs[at] >= half) {
            return None;
        }
        let fall = |log: &dyn Fn(usize) -> f64| {
            (log(from) - f64::midpoint(log(two[0]), log(two[1]))).exp()
        };
        let each = (0..self.count).map(|replicate| fall(&|index| self.draws[index][replicate]));
        let value = fall(&|index| self.logs[index]);
        let fall = percentile_interval(value, &each.collect::<Vec<f64>>());
        (fall.low > 1.0 / COLLAPSE_MAX).then_some(TrendReason::LastTwo { fall })
    }

    /// That it holds, by the last third of the points against the first, or the last two against the first
    /// two, if these are surer.
    fn by_thirds(&self) -> Option<TrendReason> {
        let third = (self.logs.len() / 3).max(2);
        if 2 * third > self.logs.len() || self.count == 0 {
            return None;
        }
        let rise = |log: &dyn Fn(usize) -> f64| {
            let last: f64 = (self.logs.len() - third..self.logs.len()).map(log).sum();
            (last - (0..third).map(log).sum::<f64>()) / third as f64
        };
        let value = rise(&|index| self.logs[index]).exp();
        let each =
            (0..self.count).map(|replicate| rise(&|index| self.draws[index][replicate]).exp());
        let ratio = percentile_interval(value, &each.collect::<Vec<f64>>());
        // Of two points together the last has half the weight: only the root of its fall shows.
        let asked = if self.logs.len() < 6 { HOLDS_MIN.sqrt() } else { HOLDS_MIN };
        let small = value > asked && value < 1.0 / asked;
        let holds = small && surely_small(value, ratio.low, ratio.high);
        holds.then_some(TrendReason::LastAgainstFirst { points: third, ratio })
    }

    /// The highest point between the ends, or with a `sign` of -1 the lowest, if it is clearly beyond
    /// both: by a tenth, and by what chance does not explain among so many.
    fn summit(&self, sign: f64) -> Option<usize> {
        let last = self.logs.len() - 1;
        let better =
            |a: &usize, b: &usize| (sign * self.logs[*a]).total_cmp(&(sign * self.logs[*b]));
        let top = (1..last).max_by(better)?;
        let clear = |end: usize| {
            let (summit, base) = (&self.figures[top], &self.figures[end]);
            let asked =
                errors_asked(summit.rounds.min(base.rounds), summit.samples.min(base.samples));
            let error = self.errors[top].hypot(self.errors[end]);
            sign * (self.logs[top] - self.logs[end]) >= (asked * error).max(-HOLDS_MIN.ln())
        };
        (clear(0) && clear(last)).then_some(top)
    }

    /// The rate at one point over that at another.
    pub(crate) fn ratio(&self, at: usize, base: usize) -> Estimate {
        let value = self.logs[at] - self.logs[base];
        let each = self.draws[at].iter().zip(&self.draws[base]).take(self.count);
        let leads: Vec<f64> = each.map(|(at, base)| at - base).collect();
        percentile_interval(value, &leads).map(f64::exp)
    }

    /// Where the rate has fallen to half of what it is at the point `from`.
    fn halved(&self, from: usize) -> Option<Halved> {
        let (index, value) = self.half(&self.logs, from)?;
        let end = self.figures[self.figures.len() - 1].point as f64;
        let mut drawn = self.logs.clone();
        let mut positions = Vec::with_capacity(self.count);
        for replicate in 0..self.count {
            for (slot, draws) in drawn.iter_mut().zip(&self.draws) {
                *slot = draws[replicate];
            }
            positions.push(self.half(&drawn, from).map_or(end, |(_, position)| position));
        }
        sort(&mut positions);
        let bend = self.bend(index, from, value);
        let edge = |p| quantile(&positions, p).unwrap_or(value);
        let (first, next) = (self.figures[0].point as f64, self.figures[index + 1].point);
        let low = (edge(0.025).min(value) + bend.min(0.0)).max(first);
        let high = (edge(0.975).max(value) + bend.max(0.0)).min(end);
        // A figure that was measured once has no interval, however its curve may bend.
        let (low, high) = if self.count == 0 { (value, value) } else { (low, high) };
        // Near zero the first step of the axis is the finest position.
        let step = self.figures.iter().map(|figure| figure.point).find(|point| *point > 0);
        let vague = high > (POSITION_RATIO_MAX * low).max(step.unwrap_or(1) as f64);
        let after = self.figures[index].point;
        Some(Halved { at: Estimate { value, low, high }, after, before: next, vague })
    }

    /// The last point above half, and the position between it and the next, by a straight line between
    /// the costs at both.
    fn half(&self, logs: &[f64], from: usize) -> Option<(usize, f64)> {
        let half = logs[from] + COLLAPSE_MAX.ln();
        let next = (from + 1..logs.len()).find(|&index| logs[index] < half)?;
        let cost = |index: usize| (-logs[index]).exp();
        let (start, end) = (self.x(next - 1), self.x(next));
        let share = ((-half).exp() - cost(next - 1)) / (cost(next) - cost(next - 1));
        Some((next - 1, start + share.clamp(0.0, 1.0) * (end - start)))
    }

    /// How far the position behind the point `index` would be from `position`, were the costs before the next
    /// point on the line that they are on behind it.
    fn bend(&self, index: usize, from: usize, position: f64) -> f64 {
        let (next, second) = (index + 1, index + 2);
        if second >= self.logs.len() || self.logs[second] >= self.logs[next] {
            return 0.0;
        }
        let cost = |index: usize| (-self.logs[index]).exp();
        let slope = (cost(second) - cost(next)) / (self.x(second) - self.x(next));
        let target = cost(from) / COLLAPSE_MAX;
        let back = self.x(next) - (cost(next) - target) / slope;
        back.clamp(self.x(index), self.x(next)) - position
    }

    fn x(&self, index: usize) -> f64 {
        self.figures[index].point as f64
    }

    /// The same where nothing answers any more from `dead` on: somewhere before that.
    fn halved_before(&self, dead: &Figure<'_>) -> Halved {
        if let Some(halved) = self.halved(0) {
            return halved;
        }
        let after = self.figures[self.figures.len() - 1].point;
        let (low, high) = (after as f64, dead.point as f64);
        let at = Estimate { value: f64::midpoint(low, high), low, high };
        Halved { at, after, before: dead.point, vague: true }
    }
}

/// Whether a change by `factor` is less than a tenth.
fn is_small(factor: f64) -> bool {
    factor > HOLDS_MIN && factor < 1.0 / HOLDS_MIN
}

/// The same, where it is known to lie between `low` and `high`.
fn surely_small(factor: f64, low: f64, high: f64) -> bool {
    is_small(factor) && low >= HOLDS_MIN * HOLDS_MIN && high <= 1.0 / (HOLDS_MIN * HOLDS_MIN)
}

/// How far the replicates of a figure are from its logarithm; none where one has none.
fn deviations((figure, log): (&Figure<'_>, &f64)) -> Vec<f64> {
    let drawn: Vec<f64> = figure.replicates.iter().map(|replicate| replicate.ln() - log).collect();
    if drawn.iter().all(|deviation| deviation.is_finite()) { drawn } else { Vec::new() }
}

/// What a single round does not show.
fn unseen(figure: &Figure<'_>) -> f64 {
    if figure.rounds < 2 && figure.samples > 1 { ROUND_DRIFT } else { 0.0 }
}
