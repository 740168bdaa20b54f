//! The verdict on how a series grows.

pub mod exponent;
pub mod model_weights;
pub mod thresholds;

use crate::growth::model_weights::{
    GrowthPoint, Weight, model_weights, model_weights_without_each,
};
use crate::growth::thresholds::{
    DECISIVE_WEIGHT, ERROR_MAX, ERROR_OF_MODES, FASTEST_TENTH_SAMPLES_MIN, POINTS_MIN,
};
use crate::stats::quantiles::Pooled;
use crate::{Basis, Class, Estimate, Growth, GrowthReason};

/// How `points` (ascending, at least two) grow. `exponent` is the slope over the whole range, with
/// its interval.
///
/// The rules, in turn:
/// 1. *Too little*: fewer than three points above zero, a range of them below ×8, or below ×30 with
///    fewer than [`POINTS_MIN`] points of which none is zero, is undecided, however clear it looks.
///    At zero there is only what does not grow: it counts as a point, and has no place in ranges and
///    exponents.
/// 2. *Flat*: constant when the exponent is within ±0.06 and its interval within ±0.1, no median is
///    further than a factor of 1.4 from their middle, and neither of last and first is more than 1.3
///    times the other (or they differ by less than noise). ±0.06 is ×1.3 over two decades: growth that nobody plans around.
/// 3. *Falling* is undecided, and so is *too wide*: where a median is less certain than [`ERROR_MAX`] and
///    the others can't carry a verdict alone ([`POINTS_MIN`] of them over ×30). A median that is
///    [`ERROR_OF_MODES`] rules out n log n, which is a claim about a smooth curve.
/// 4. *Few points* (three or four): n log n is not told from n there and only linear and quadratic
///    are named, by the slopes between neighbours; with zero among them, by their weights.
/// 5. *Bent*: where only linear and n log n are left (the others have less than 10 % of the weight
///    together, linear 5 % or more) and n log n passes nowhere near the medians' intervals, the curve
///    is linear. Caches bend the curves of linear mechanisms upwards, step by step, which n log n
///    imitates better than n does; but n log n is a claim about a smooth curve, and not made of a
///    bent one. This needs intervals, so it is not for single figures.
/// 6. *Too wide to choose*: where only linear and n log n are left, and one median is less certain
///    than [`ERROR_MAX`] among others that are not even [`ERROR_OF_MODES`], linear stands for both, and the reason
///    says so.
/// 7. Otherwise the candidate with [`DECISIVE_WEIGHT`] weight (see [`model_weights`](model_weights::model_weights)), if it explains the medians
///    within 25 %, and if leaving out any single point leaves no other candidate decisive.
pub fn classify(points: &[GrowthPoint], exponent: Option<Estimate>) -> Growth {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return Growth {
            class: Class::Undecided,
            factor: f64::NAN,
            from: 0,
            to: 0,
            exponent: None,
            reason: Some(GrowthReason::NoFigures),
            basis: Basis::Medians,
        };
    };
    let verdict = verdict(points, exponent).map(|class| (class, None)).or_else(|reason| {
        lenient(points).ok_or(reason).map(|reason| (Class::Linear, Some(reason)))
    });
    let (class, reason) = verdict.unwrap_or_else(|reason| (Class::Undecided, Some(reason)));
    Growth {
        class,
        factor: last.median / first.median,
        from: first.point,
        to: last.point,
        exponent,
        reason,
        basis: Basis::Medians,
    }
}

/// Where only linear and n log n are left and one median, among others that are sure, is too wide to
/// choose, linear stands for both and the finding says so: a second mode at one point hides a factor
/// of log n, not the order.
fn lenient(points: &[GrowthPoint]) -> Option<GrowthReason> {
    let (wide, sure): (Vec<GrowthPoint>, Vec<GrowthPoint>) =
        points.iter().copied().partition(|p| p.error > ERROR_MAX);
    let [wide] = wide.as_slice() else { return None };
    if sure.iter().any(|p| p.error > ERROR_OF_MODES) || !carry_alone(&sure) {
        return None;
    }
    let share =
        |class| model_weights(points).iter().find(|w| w.class == class).map_or(0.0, |w| w.share);
    if share(Class::Linear) + share(Class::Linearithmic) < DECISIVE_WEIGHT {
        return None;
    }
    Some(GrowthReason::LinearithmicPossible { wide_point: Some(wide.point) })
}

/// As [`classify`]; but where that leaves it undecided and a median is [`ERROR_OF_MODES`], the verdict is
/// that of the `fastest` samples at the same points (see [`fastest_tenth`]), if they have one.
///
/// A median between two modes may fall on either, and then its interval spans both; the fast mode is
/// there at every point and has an order of its own. It is a verdict on the series only where the
/// median grew as it did, but for a step of the size of a cache's (×8): where the slow mode grows and
/// the fast one does not, the series is not constant, and nothing is claimed. The finding says which
/// samples it is from.
pub fn classify_by(
    medians: &[GrowthPoint],
    fastest: &[GrowthPoint],
    exponent: Option<Estimate>,
) -> Growth {
    let growth = classify(medians, exponent);
    if growth.class != Class::Undecided || medians.iter().all(|p| p.error <= ERROR_OF_MODES) {
        return growth;
    }
    let pairs: Vec<(u64, f64)> = fastest.iter().map(|p| (p.point, p.median)).collect();
    let slope = crate::growth::exponent::exponent(&pairs, &[]);
    let fast = classify(fastest, slope);
    let alike = (0.5..=8.0).contains(&(growth.factor / fast.factor));
    if matches!(fast.class, Class::Undecided | Class::Constant) || !alike {
        return growth;
    }
    Growth { class: fast.class, basis: Basis::FastestTenth, ..growth }
}

/// `growth` of a trajectory, or of a series from zero on: where only linear and n log n are left, and
/// linear explains `points` within a tenth, linear stands for both and the finding says so. Most of what
/// one call costs does not depend on the place, and under a large intercept a factor of log n does not
/// show.
pub fn or_linear(growth: Growth, points: &[GrowthPoint]) -> Growth {
    if growth.class != Class::Undecided || points.len() < POINTS_MIN {
        return growth;
    }
    let weights = model_weights(points);
    let of = |class| weights.iter().find(|w| w.class == class);
    let (Some(line), Some(rival)) = (of(Class::Linear), of(Class::Linearithmic)) else {
        return growth;
    };
    // From zero on most points may be so low that nothing has grown yet.
    let (rise, noise) = ends(points);
    let from_zero = points[0].point == 0 && rise > 1.3_f64.ln().max(noise);
    let rises = from_zero || growth.exponent.is_some_and(|exponent| exponent.low > 0.0);
    if !rises || line.share + rival.share < DECISIVE_WEIGHT || line.misfit > 0.1 || line.share < 0.1
    {
        return growth;
    }
    let reason = Some(GrowthReason::LinearithmicPossible { wide_point: None });
    Growth { class: Class::Linear, reason, ..growth }
}

/// The fastest tenth of the samples at `point`, rounds having equal say, as a figure to judge by:
/// its upper edge, known as well as it is near the fastest of all. It is not known at all from fewer
/// samples than [`FASTEST_TENTH_SAMPLES_MIN`], or where one round alone among several comes near it. `None`
/// without samples.
pub fn fastest_tenth(point: u64, rounds: &[&[f64]]) -> Option<GrowthPoint> {
    let pooled = Pooled::of(rounds);
    let (fastest, tenth) = (pooled.at(0.0)?, pooled.at(0.1)?);
    let comes_near = |round: &&&[f64]| round.iter().any(|&sample| sample <= 1.5 * tenth);
    let near = rounds.iter().filter(comes_near).count();
    let known =
        fastest > 0.0 && pooled.len() >= FASTEST_TENTH_SAMPLES_MIN && near >= rounds.len().min(2);
    // Where the two are equal a sample's own resolution is the limit.
    let error = if known { (tenth / fastest).ln().max(0.02) } else { f64::INFINITY };
    Some(GrowthPoint { point, median: tenth, error })
}

/// Those above zero: at zero a series is what does not grow.
fn above_zero(points: &[GrowthPoint]) -> &[GrowthPoint] {
    &points[points.iter().take_while(|p| p.point == 0).count()..]
}

/// The class, or why there is none.
fn verdict(points: &[GrowthPoint], exponent: Option<Estimate>) -> Result<Class, GrowthReason> {
    let above = above_zero(points);
    let from_zero = above.len() < points.len();
    if above.len() < 3 {
        return Err(GrowthReason::TooFewPoints { points: above.len(), above_zero: from_zero });
    }
    if points.iter().any(|p| !(p.median > 0.0 && p.median.is_finite())) {
        return Err(GrowthReason::NotPositive);
    }
    let range = above[above.len() - 1].point as f64 / above[0].point as f64;
    let few = points.len() < POINTS_MIN;
    if range < 8.0 || (few && !from_zero && range < 30.0) {
        return Err(GrowthReason::RangeTooShort { factor: range });
    }
    let Some(exponent) = exponent else {
        return Err(GrowthReason::NoExponent);
    };
    if is_flat(points, exponent) {
        return Ok(Class::Constant);
    }
    if falls(points, exponent) {
        return Err(GrowthReason::Falls);
    }
    let sure: Vec<GrowthPoint> = points.iter().copied().filter(|p| p.error <= ERROR_MAX).collect();
    if let Some(wide) = points.iter().find(|p| p.error > ERROR_MAX)
        && !carry_alone(&sure)
    {
        return Err(GrowthReason::IntervalTooWide { point: wide.point });
    }
    match (few, from_zero) {
        (true, true) => verdict_from_zero(points),
        (true, false) => verdict_of_few(points, exponent),
        (false, _) => verdict_of_many(points, exponent),
    }
}

/// Whether these points can tell the orders of growth apart without the others, which then weigh as
/// little as their intervals are wide.
fn carry_alone(sure: &[GrowthPoint]) -> bool {
    let above = above_zero(sure);
    let (Some(first), Some(last)) = (above.first(), above.last()) else { return false };
    sure.len() >= POINTS_MIN && last.point as f64 >= 30.0 * first.point as f64
}

/// Whether it ends lower than it began, by more than noise and a factor of 1.3, and climbs nowhere on
/// the whole.
fn falls(points: &[GrowthPoint], exponent: Estimate) -> bool {
    let (ends, noise) = ends(points);
    exponent.high <= 0.0 && (exponent.value < -0.06 || ends <= -(1.3_f64.ln().max(noise)))
}

/// Last over first as a logarithm, and what of it noise explains.
fn ends(points: &[GrowthPoint]) -> (f64, f64) {
    let (first, last) = (&points[0], &points[points.len() - 1]);
    ((last.median / first.median).ln(), 2.0 * first.error.hypot(last.error))
}

fn is_flat(points: &[GrowthPoint], exponent: Estimate) -> bool {
    let mut logs: Vec<f64> = points.iter().map(|p| p.median.ln()).collect();
    let (ends, noise) = ends(points);
    let middle = crate::stats::quantiles::median_of(&mut logs).unwrap_or(0.0);
    let near = logs.iter().all(|l| (l - middle).abs() <= 1.4_f64.ln());
    near && ends.abs() <= 1.3_f64.ln().max(noise)
        && exponent.value.abs() <= 0.06
        && exponent.low >= -0.1
        && exponent.high <= 0.1
}

/// Three or four points. The curve of a higher order with an intercept rises late and steeply; a
/// linear one never rises faster than n, but for the step of a cache, which is at most ×8.
fn verdict_of_few(points: &[GrowthPoint], exponent: Estimate) -> Result<Class, GrowthReason> {
    let slopes: Vec<f64> = points
        .windows(2)
        .map(|pair| {
            (pair[1].median / pair[0].median).ln()
                / (pair[1].point as f64 / pair[0].point as f64).ln()
        })
        .collect();
    let (first, last) = (slopes[0], slopes[slopes.len() - 1]);
    let steepest = slopes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = slopes.iter().copied().fold(f64::INFINITY, f64::min);
    // Single figures may be off by a fifth; 2 less that is what a quadratic curve could show.
    let steepest_line = if points.iter().all(|p| p.error > 0.0) { 1.75 } else { 1.62 };
    let near_line = lowest >= 0.8 && steepest <= steepest_line;
    if (0.85..=1.45).contains(&exponent.value) && near_line {
        return Ok(Class::Linear);
    }
    if (1.8..=2.2).contains(&exponent.value) && lowest >= 1.65 && steepest <= 2.35 {
        return Ok(Class::Quadratic);
    }
    let fits_line =
        model_weights(points).iter().any(|w| w.class == Class::Linear && w.misfit < 0.1);
    if first <= last && last >= 0.6 && steepest <= 1.1 && fits_line {
        return Ok(Class::Linear);
    }
    Err(GrowthReason::SeveralClasses { points: points.len() })
}

/// Three points and zero, which says what does not grow: the others can be weighed with it, but as
/// few as that don't tell n log n from n.
fn verdict_from_zero(points: &[GrowthPoint]) -> Result<Class, GrowthReason> {
    let weights = model_weights(points);
    let share = |class| weights.iter().find(|w| w.class == class).map_or(0.0, |w| w.share);
    let misfit = |class| weights.iter().find(|w| w.class == class).map_or(1.0, |w| w.misfit);
    let line = share(Class::Linear) + share(Class::Linearithmic);
    if line >= DECISIVE_WEIGHT && misfit(Class::Linear) < 0.15 {
        return Ok(Class::Linear);
    }
    if share(Class::Quadratic) >= DECISIVE_WEIGHT && misfit(Class::Quadratic) < 0.15 {
        return Ok(Class::Quadratic);
    }
    Err(GrowthReason::SeveralClasses { points: points.len() })
}

fn verdict_of_many(points: &[GrowthPoint], exponent: Estimate) -> Result<Class, GrowthReason> {
    let weights = model_weights(points);
    let best = heaviest(&weights);
    if is_bent_line(points, &weights, exponent) {
        return Ok(Class::Linear);
    }
    if best.share < DECISIVE_WEIGHT {
        return Err(GrowthReason::RivalClasses { classes: rivals(&weights) });
    }
    if best.misfit > 0.25 {
        return Err(GrowthReason::NoClassFits);
    }
    if best.class == Class::Constant {
        return Err(GrowthReason::FlatExceptStep);
    }
    if best.class == Class::Linearithmic && points.iter().any(|p| p.error > ERROR_OF_MODES) {
        return Err(GrowthReason::BentLineOrLinearithmic);
    }
    for (point, weights) in points.iter().zip(model_weights_without_each(points)) {
        let other = heaviest(&weights);
        if other.class != best.class && other.share >= DECISIVE_WEIGHT {
            return Err(GrowthReason::SinglePointDecides { point: point.point });
        }
    }
    Ok(best.class)
}

fn is_bent_line(points: &[GrowthPoint], weights: &[Weight], exponent: Estimate) -> bool {
    let of = |class| weights.iter().find(|w| w.class == class).copied();
    let (Some(line), Some(rival)) = (of(Class::Linear), of(Class::Linearithmic)) else {
        return false;
    };
    let freedom = points.len() as f64 - 2.0;
    (0.05..DECISIVE_WEIGHT).contains(&line.share)
        && line.share + rival.share >= 0.9
        && rival.deviance > 6.0 * freedom
        && (0.6..=1.5).contains(&exponent.value)
        && points.iter().all(|p| p.error > 0.0)
}

fn heaviest(weights: &[Weight]) -> Weight {
    let mut best = weights[0];
    for weight in weights {
        if weight.share > best.share {
            best = *weight;
        }
    }
    best
}

/// Which orders explain the figures about as well as each other.
fn rivals(weights: &[Weight]) -> Vec<Class> {
    let mut left: Vec<&Weight> =
        weights.iter().filter(|w| w.share > 1.0 - DECISIVE_WEIGHT).collect();
    left.sort_by(|a, b| b.share.total_cmp(&a.share));
    left.iter().take(2).map(|w| w.class).collect()
}
