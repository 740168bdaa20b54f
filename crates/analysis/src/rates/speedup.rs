//! How a rate grows with those that work side by side, up to one for each of the whole.
//!
//! It is the trend of the points up to there, and so begins at one thread. A rate that rises *scales* where it reaches
//! four fifths of what all would do if each did as much as the first; else it *rises*. One that *holds* gains nothing: two do as much as one.

use crate::pairs::crossover::Figure;
use crate::rates::thresholds::{
    FALLS_BEHIND_CHANCE_MAX, FALLS_BEHIND_ROUNDS_MIN, SCALES_INTERVAL_MIN, SCALES_MIN,
};
use crate::rates::{Best, Levels, rate_by};
use crate::stats::student;
use crate::{Estimate, Rate, RateTrend, Speedup, SpeedupVerdict};

/// The speedup of these figures, in ascending order of their points, up to the point `one_each`; `best` is
/// [`best_tenth`](crate::rates::best_tenth) of the same. `None` where there is none before it.
pub fn speedup(figures: &[Figure<'_>], best: &[Option<Best>], one_each: u64) -> Option<Speedup> {
    let end = figures.iter().position(|figure| figure.point == one_each).filter(|&end| end > 0)?;
    let linear = one_each as f64 / figures[0].point as f64;
    let rate = rate_by(&figures[..=end], &best[..=end])?;
    let scales =
        rate.factor.value >= SCALES_MIN * linear && rate.factor.low >= SCALES_INTERVAL_MIN * linear;
    let verdict = match rate.trend {
        RateTrend::Rises if scales => SpeedupVerdict::Scales,
        RateTrend::Rises => SpeedupVerdict::Rises,
        RateTrend::Holds => SpeedupVerdict::Holds,
        RateTrend::Peaks => SpeedupVerdict::Peaks,
        RateTrend::Falls => SpeedupVerdict::Falls,
        RateTrend::Collapses => SpeedupVerdict::Collapses,
        RateTrend::HoldsOrFalls
        | RateTrend::HoldsOrRises
        | RateTrend::DoesNotCollapse
        | RateTrend::Undecided => SpeedupVerdict::Undecided,
    };
    let Rate { to, level, peak, .. } = rate;
    let (first, last) = (&figures[0], &figures[end]);
    // Behind a peak the trend is that from there; how many times more is done is over the first all the same.
    let (factor, after_peak) = match peak {
        Some(_) => (Levels::new(&figures[..=end], None).ratio(end, 0), Some(rate.factor)),
        None => (rate.factor, None),
    };
    let (from, rounds) = (first.point, first.rounds.min(last.rounds));
    Some(Speedup { verdict, from, to, level, factor, linear, peak, after_peak, rounds })
}

/// Whether what is done by those that share falls behind what is done by those that don't: how many times more is done at the same
/// last point, over the same first, is less, and by more than chance explains among so many `comparisons`.
pub fn falls_behind(sharing: &Speedup, separate: &Speedup, comparisons: usize) -> bool {
    let is_same = (sharing.from, sharing.to) == (separate.from, separate.to);
    let is_known = |speedup: &Speedup| speedup.factor.low < speedup.factor.high;
    let rounds = sharing.rounds.min(separate.rounds);
    if !is_same || !is_known(sharing) || !is_known(separate) || rounds < FALLS_BEHIND_ROUNDS_MIN {
        return false;
    }
    let chance = FALLS_BEHIND_CHANCE_MAX / comparisons.max(1) as f64;
    // Of four medians: the two ends of both.
    let asked = student::two_sided_quantile(chance, 4 * (rounds as usize - 1));
    let lead = (separate.factor.value / sharing.factor.value).ln();
    lead > asked * error(sharing.factor).hypot(error(separate.factor))
}

/// The standard error of the logarithm of an estimate with a 95 % interval.
fn error(estimate: Estimate) -> f64 {
    (estimate.high / estimate.low).ln() / (2.0 * 1.96)
}
