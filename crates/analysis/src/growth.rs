//! The verdict on how a series grows.

pub mod curves;
pub mod exponent;
pub mod growing_part;
pub mod levels;
pub mod thresholds;

use crate::growth::curves::{Explained, GROWING, explained};
use crate::growth::levels::Level;
use crate::growth::thresholds::{
    FLAT_FACTOR_MAX, ORDER_POINTS_MIN, ORDER_RANGE_MIN, SET_SHARE, SMOOTH_SHARE_MIN,
};
use crate::{Class, Estimate, Growth, GrowthReason};

/// How a series with these `levels` (ascending) grows. `exponent` is the slope over the whole range, with its interval.
///
/// One rule, on the 95 % interval of the factor from the first point to the last:
/// 1. *Constant*: all of it lies within ×1.3, either way.
/// 2. *Grows* or *falls*: all of it lies beyond 1, and its estimate beyond ×1.3.
/// 3. *Undecided* otherwise.
///
/// What grows has an order besides: the smallest set of neighbouring classes that holds [`SET_SHARE`] of what all curves
/// explain (see [`curves`]). With classes on both sides of linear the order is open, and the class is [`Class::Grows`].
pub fn classify(levels: &[Level], exponent: Option<Estimate>) -> Growth {
    let end = |level: Option<&Level>| level.map_or((0, f64::NAN), |l| (l.point, l.log));
    let ((from, first), (to, last)) = (end(levels.first()), end(levels.last()));
    let ratio = (last - first).exp();
    let factor = Estimate { value: ratio, low: ratio, high: ratio };
    let growth = Growth {
        class: Class::Undecided,
        classes: Vec::new(),
        factor,
        from,
        to,
        exponent,
        constant: None,
        reason: None,
    };
    if levels.iter().any(|level| !level.log.is_finite()) {
        return Growth { reason: Some(GrowthReason::NotPositive), ..growth };
    }
    if levels.len() < 2 {
        let points = levels.len();
        return Growth { reason: Some(GrowthReason::TooFewPoints { points }), ..growth };
    }
    let Explained { factor, shares, smooth_share } = explained(levels);
    let growth = Growth { class: verdict(factor), factor, ..growth };
    match growth.class {
        Class::Constant => Growth { classes: vec![Class::Constant], ..growth },
        Class::Grows => {
            let classes = order(&shares, smooth_share);
            let class = word(&classes);
            let reason = (class == Class::Grows).then(|| GrowthReason::order_open(levels));
            Growth { class, classes, reason, ..growth }
        }
        Class::Undecided => Growth { reason: Some(GrowthReason::FactorTooWide), ..growth },
        _ => growth,
    }
}

/// The one rule: constant, grows, falls or undecided.
fn verdict(factor: Estimate) -> Class {
    let Estimate { value, low, high } = factor;
    if low >= 1.0 / FLAT_FACTOR_MAX && high <= FLAT_FACTOR_MAX {
        Class::Constant
    } else if low > 1.0 && value > FLAT_FACTOR_MAX {
        Class::Grows
    } else if high < 1.0 && value < 1.0 / FLAT_FACTOR_MAX {
        Class::Falls
    } else {
        Class::Undecided
    }
}

/// The classes that are left of a series that grows.
fn order(shares: &[f64; GROWING.len()], smooth_share: f64) -> Vec<Class> {
    let classes = set(shares);
    // N log n and n² are claims about a smooth curve; caches bend that of a line upwards, one after the other.
    if classes[0] > Class::Linear && smooth_share < SMOOTH_SHARE_MIN {
        return GROWING.into_iter().filter(|class| *class >= Class::Linear).collect();
    }
    classes
}

/// The smallest set of neighbours that holds [`SET_SHARE`], of two equally small ones that with more.
fn set(shares: &[f64; GROWING.len()]) -> Vec<Class> {
    for size in 1..GROWING.len() {
        let share = |from: &usize| shares[*from..from + size].iter().sum::<f64>();
        let best = (0..=GROWING.len() - size).max_by(|a, b| share(a).total_cmp(&share(b)));
        if let Some(from) = best.filter(|from| share(from) >= SET_SHARE) {
            return GROWING[from..from + size].to_vec();
        }
    }
    GROWING.to_vec()
}

/// The plainest word for the classes that are left of one that grows.
fn word(classes: &[Class]) -> Class {
    match (classes[0], classes[classes.len() - 1]) {
        (lowest, highest) if lowest == highest => lowest,
        (_, highest) if highest < Class::Linear => Class::SlowerThanLinear,
        (_, Class::Linear) => Class::AtMostLinear,
        (Class::Linear, _) => Class::AtLeastLinear,
        (lowest, _) if lowest > Class::Linear => Class::FasterThanLinear,
        _ => Class::Grows,
    }
}

impl GrowthReason {
    /// Why the order of a series that grows is open: what most of such series lack.
    fn order_open(levels: &[Level]) -> Self {
        let above: Vec<u64> = levels.iter().map(|level| level.point).filter(|&n| n > 0).collect();
        let (points, ends) = (above.len(), above.first().zip(above.last()));
        let factor = ends.map_or(1.0, |(first, last)| *last as f64 / *first as f64);
        if points < ORDER_POINTS_MIN {
            Self::TooFewPoints { points }
        } else if factor < ORDER_RANGE_MIN {
            Self::RangeTooShort { factor }
        } else {
            Self::RivalClasses
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rule_on_the_interval_of_the_factor() {
        let judged = |low, value, high| verdict(Estimate { value, low, high });
        assert_eq!(judged(0.8, 1.0, 1.29), Class::Constant);
        assert_eq!(judged(1.1, 1.2, 1.29), Class::Constant, "it grows, and hardly");
        assert_eq!(judged(1.1, 1.2, 1.31), Class::Undecided);
        assert_eq!(judged(1.1, 1.31, 1.6), Class::Grows);
        assert_eq!(judged(0.99, 1.5, 2.0), Class::Undecided);
        assert_eq!(judged(0.5, 0.7, 0.9), Class::Falls);
    }

    #[test]
    fn the_smallest_set_has_the_plainest_word() {
        let named = |shares| {
            let classes = set(&shares);
            (word(&classes), classes.len())
        };
        assert_eq!(named([0.0, 0.0, 0.99, 0.01, 0.0]), (Class::Linear, 1));
        assert_eq!(named([0.0, 0.0, 0.5, 0.49, 0.01]), (Class::AtLeastLinear, 2));
        assert_eq!(named([0.5, 0.5, 0.0, 0.0, 0.0]), (Class::SlowerThanLinear, 2));
        assert_eq!(named([0.0, 0.4, 0.6, 0.0, 0.0]), (Class::AtMostLinear, 2));
        assert_eq!(named([0.0, 0.0, 0.0, 0.5, 0.5]), (Class::FasterThanLinear, 2));
        assert_eq!(named([0.0, 0.3, 0.4, 0.3, 0.0]), (Class::Grows, 3));
    }
}
