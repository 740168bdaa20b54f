//! What cells that did not finish do to a rate.

use crate::tables::figure::Figure;
use crate::{Estimate, Halved, Rate, RateTrend, Unfinished};

/// `rate` from the point `one_each` on, where nothing finished beyond its last figure: it has collapsed
/// there, like the rate of a server that no longer answers.
pub(crate) fn beyond(
    rate: Option<Rate>,
    figures: &[Figure],
    one_each: u64,
    unfinished: &[Unfinished],
) -> Option<Rate> {
    let Some(last) = figures.last().map(Figure::point) else { return rate };
    let mut points = unfinished.iter().map(|unfinished| unfinished.point);
    let Some(dead) = points.find(|&point| point > last.max(one_each)) else { return rate };
    if last < one_each || rate.as_ref().is_some_and(|rate| rate.trend == RateTrend::Collapses) {
        return rate;
    }
    let none = Estimate { value: 0.0, low: 0.0, high: 0.0 };
    let has_figure = figures.iter().any(|figure| figure.point() == one_each);
    Some(Rate {
        trend: RateTrend::Collapses,
        from: if has_figure { one_each } else { last },
        to: dead,
        level: 0.0,
        factor: none,
        peak: None,
        halved: Some(Halved::between(last, dead)),
        reason: None,
    })
}
