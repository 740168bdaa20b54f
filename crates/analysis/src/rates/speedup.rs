//! How a rate grows with those that work side by side, up to one for each of the whole.
//!
//! It is the trend of the points up to there, and so begins at one thread. A rate that rises *scales* where it reaches
//! four fifths of what all would do if each did as much as the first; else it *rises*. One that *holds* gains nothing: two do as much as one.

use crate::pairs::crossover::Figure;
use crate::rates::thresholds::{SCALES_INTERVAL_MIN, SCALES_MIN};
use crate::rates::{Best, rate_by};
use crate::{Rate, RateTrend, Speedup, SpeedupVerdict};

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
    let Rate { from, to, level, factor, peak, .. } = rate;
    Some(Speedup { verdict, from, to, level, factor, linear, peak })
}

/// Whether what is done by those that share falls behind what is done by those that don't: the intervals of how many times more is done
/// at the same last point, over the same first, lie apart.
pub fn falls_behind(sharing: &Speedup, separate: &Speedup) -> bool {
    let is_same = (sharing.from, sharing.to) == (separate.from, separate.to);
    let is_known = |speedup: &Speedup| speedup.factor.low < speedup.factor.high;
    is_same && is_known(sharing) && is_known(separate) && sharing.factor.high < separate.factor.low
}
