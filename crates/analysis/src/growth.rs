//! The verdict on how a series grows.

pub mod curves;
pub mod exponent;
pub mod levels;
pub mod limit;

use crate::growth::curves::{Explained, GROWING, explained};
use crate::growth::exponent::{exponent, growing_part};
use crate::growth::levels::{Level, draws};
use crate::stats::normal::upper_tail;
use crate::thresholds::{
    CHANCE_MAX, EVEN, FALSE_ALARM, FLAT_FACTOR_MAX, LAW_POINTS_MIN, ORDER_RANGE_MIN, SET_SHARE,
    SURELY_GROWN_MIN,
};
use crate::{Best, Class, Estimate, Growth, GrowthReason};

/// How a series with these `levels` (ascending) grows; its exponent is not known here. `docs/method.md` has the rule.
///
/// The order of one that grows and falls again is open, and where its ends are flat it is undecided. With classes on
/// both sides of linear the order is open, and the class is [`Class::Grows`].
pub fn classify(levels: &[Level]) -> Growth {
    let end = |level: Option<&Level>| level.map_or((0, f64::NAN), |l| (l.point, l.log));
    let ((from, first), (to, last)) = (end(levels.first()), end(levels.last()));
    let growth = Growth {
        class: Class::Undecided,
        classes: Vec::new(),
        factor: Estimate::exact((last - first).exp()),
        from,
        to,
        best: None,
        exponent: None,
        constant: None,
        reason: None,
    };
    let is_undecided = |reason| Growth { reason: Some(reason), ..growth.clone() };
    if levels.iter().any(|level| !level.log.is_finite()) {
        return is_undecided(GrowthReason::NotPositive);
    }
    if levels.len() < 2 {
        return is_undecided(GrowthReason::TooFewPoints { points: levels.len() });
    }
    let lowest = turn(levels, 1.0);
    let is_valley = |turn: &Turn| is_beyond(turn.before.inverse()) && is_beyond(turn.behind);
    let valley = lowest.filter(is_valley);
    let start = valley.map_or(0, |valley| valley.at);
    let explained = explained(&levels[start..]);
    let is_hump = |turn: &Turn| is_beyond(turn.before) && is_beyond(turn.behind.inverse());
    let hump = turn(&levels[start..], -1.0).filter(is_hump);
    let falls_again =
        hump.map(|hump| GrowthReason::GrowsAndFalls { point: levels[start + hump.at].point });
    // Where both sides are verdicts, they bear witness, too.
    let is_best = |lowest: &Turn| valley.is_some() || lowest.chance < CHANCE_MAX;
    let best = lowest.filter(is_best).map(|Turn { at, before, behind, .. }| Best {
        at: levels[at].point,
        level: levels[at].log.exp(),
        factor: before,
        over: from,
        behind,
    });
    let (class, classes, reason) = match verdict(explained.factor) {
        Class::Constant if hump.is_none() => (Class::Constant, vec![Class::Constant], None),
        Class::Grows => {
            let classes = if hump.is_some() { GROWING.to_vec() } else { order(&explained) };
            let class = word(&classes);
            let points = levels[start..].iter().map(|level| level.point);
            let open = (class == Class::Grows).then(|| GrowthReason::order_open(points));
            (class, classes, falls_again.or(open))
        }
        Class::Falls => (Class::Falls, Vec::new(), falls_again),
        _ => {
            let wide = GrowthReason::FactorTooWide { falls: explained.factor.value < 1.0 };
            (Class::Undecided, Vec::new(), falls_again.or(Some(wide)))
        }
    };
    let from = levels[start].point;
    Growth { class, classes, factor: explained.factor, from, best, reason, ..growth }
}

/// An inner level beyond both ends: the factors from the first to it, and from it to the last.
#[derive(Clone, Copy)]
struct Turn {
    at: usize,
    before: Estimate,
    behind: Estimate,
    /// How likely chance makes it the lowest or the highest, among so many.
    chance: f64,
}

/// The lowest of `levels`, or with a `sign` of -1 the highest, if it is an inner one and beyond both ends by more than
/// chance explains among so many; where nothing was repeated, by more than ×1.3.
fn turn(levels: &[Level], sign: f64) -> Option<Turn> {
    let height = |index: &usize| sign * levels[*index].log;
    let last = levels.len().checked_sub(1)?;
    let at = (1..last).min_by(|a, b| height(a).total_cmp(&height(b)))?;
    let chance = |end: usize| {
        let lead = height(&end) - height(&at);
        match levels[at].error.zip(levels[end].error) {
            Some((a, b)) => (last - 1) as f64 * upper_tail(lead / a.hypot(b)),
            None if lead > FLAT_FACTOR_MAX.ln() => 0.0,
            None => 1.0,
        }
    };
    let chance = chance(0).max(chance(last));
    let factor = |part: &[Level]| explained(part).factor;
    let (before, behind) = (&levels[..=at], &levels[at..]);
    let turn = || Turn { at, before: factor(before), behind: factor(behind), chance };
    (chance < FALSE_ALARM).then(turn)
}

/// The same with the exponent of what grows, whose interval holds an error of each level `beyond` its own, as a
/// logarithm.
pub(crate) fn growth(levels: &[Level], beyond: f64) -> Growth {
    let growth = classify(levels);
    // What falls before is no part of what grows.
    let levels = &levels[levels.partition_point(|level| level.point < growth.from)..];
    let less_sure =
        |level: &Level| Level { error: level.error.map(|error| error.hypot(beyond)), ..*level };
    let draws = draws(&levels.iter().map(less_sure).collect::<Vec<_>>());
    match growing_part(&growth, levels, &draws) {
        Some((exponent, constant)) => {
            Growth { exponent: Some(exponent), constant: Some(constant), ..growth }
        }
        None => Growth { exponent: exponent(levels, &draws), ..growth },
    }
}

/// The one rule: constant, grows, falls or undecided.
fn verdict(factor: Estimate) -> Class {
    let grows = |factor: Estimate| is_beyond(factor) || factor.low > SURELY_GROWN_MIN;
    if factor.low >= 1.0 / FLAT_FACTOR_MAX && factor.high <= FLAT_FACTOR_MAX {
        Class::Constant
    } else if grows(factor) {
        Class::Grows
    } else if grows(factor.inverse()) {
        Class::Falls
    } else {
        Class::Undecided
    }
}

/// Whether it is above what is flat, and surely above 1.
fn is_beyond(factor: Estimate) -> bool {
    factor.low > 1.0 && factor.value > FLAT_FACTOR_MAX
}

/// The classes that are left of a series that grows.
fn order(explained: &Explained) -> Vec<Class> {
    let classes = set(&explained.shares);
    // N log n and n² are claims about a smooth curve; caches bend that of a line upwards, one after the other.
    if classes[0] > Class::Linear && explained.smooth_share < EVEN {
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
    pub(crate) fn order_open(points: impl Iterator<Item = u64>) -> Self {
        let above: Vec<u64> = points.filter(|&n| n > 0).collect();
        let (points, ends) = (above.len(), above.first().zip(above.last()));
        let factor = ends.map_or(1.0, |(first, last)| *last as f64 / *first as f64);
        if points < LAW_POINTS_MIN + 1 {
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
        assert_eq!(judged(1.26, 1.28, 1.31), Class::Grows, "no more rounds would make it flat");
        assert_eq!(judged(0.766, 0.778, 0.791), Class::Falls);
        assert_eq!(judged(1.1, 1.31, 1.6), Class::Grows);
        assert_eq!(judged(0.99, 1.5, 2.0), Class::Undecided);
        assert_eq!(judged(0.5, 0.7, 0.9), Class::Falls);
    }

    fn series(logs: [f64; 7]) -> Growth {
        let points = [1, 2, 4, 8, 16, 32, 64];
        let level = |(point, log)| Level::new(point, log, Some(0.01));
        classify(&points.into_iter().zip(logs).map(level).collect::<Vec<_>>())
    }

    #[test]
    fn what_falls_first_grows_from_its_lowest_point_on() {
        let valley = series([0.7, 0.35, 0.0, 0.7, 1.4, 2.1, 2.8]);
        let best = valley.best.unwrap();
        assert_eq!((valley.class, valley.from, best.at, best.over), (Class::Linear, 4, 4, 1));
        assert!((best.factor.value - 0.5).abs() < 0.02 && best.behind.value > 14.0, "{best:?}");
        // A dent is one, and no verdict.
        let dent = series([0.06, 0.05, 0.0, 0.06, 0.07, 0.05, 0.06]);
        assert_eq!((dent.class, dent.from, dent.best.unwrap().at), (Class::Constant, 1, 4));
        assert_eq!(series([0.0, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5]).best, None);
    }

    #[test]
    fn what_grows_and_falls_again_has_no_order() {
        let reason = Some(GrowthReason::GrowsAndFalls { point: 8 });
        let hump = series([0.0, 0.4, 0.8, 1.2, 0.8, 0.4, 0.0]);
        assert_eq!((hump.class, hump.reason), (Class::Undecided, reason));
        let higher = series([0.0, 0.8, 1.6, 2.4, 2.0, 1.6, 1.2]);
        assert_eq!((higher.class, higher.reason), (Class::Grows, reason));
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
