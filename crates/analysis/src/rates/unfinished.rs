//! What cells that did not finish do to a rate.

use crate::tables::figure::Figure;
use crate::{Estimate, Halved, Rate, RateTrend, Unfinished};

/// `rate` from the point `one` on, where nothing finished any more beyond its last figure:
/// it has collapsed there, as one that answers nobody has.
pub(crate) fn beyond(
    rate: Option<Rate>,
    figures: &[Figure],
    one: u64,
    unfinished: &[Unfinished],
) -> Option<Rate> {
    let Some(last) = figures.last().map(Figure::point) else { return rate };
    let Some(dead) = unfinished.iter().map(|of| of.point).find(|&point| point > last.max(one))
    else {
        return rate;
    };
    if last < one || rate.as_ref().is_some_and(|rate| rate.trend == RateTrend::Collapses) {
        return rate;
    }
    let (low, high) = (last as f64, dead as f64);
    let at = Estimate { value: f64::midpoint(low, high), low, high };
    let none = Estimate { value: 0.0, low: 0.0, high: 0.0 };
    let has_one = figures.iter().any(|figure| figure.point() == one);
    Some(Rate {
        trend: RateTrend::Collapses,
        from: if has_one { one } else { last },
        to: dead,
        level: 0.0,
        factor: none,
        peak: None,
        halved: Some(Halved { at, after: last, before: dead, vague: true }),
        reason: None,
    })
}
