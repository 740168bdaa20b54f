//! The verdict on how a series grows.

pub mod exponent;
pub mod growing_part;
pub mod model_weights;
pub mod thresholds;

use crate::growth::model_weights::{
    CANDIDATES, GrowthPoint, Weight, model_weights, model_weights_without_each,
};
use crate::growth::thresholds::{
    BENT_DEVIANCE_MIN, BENT_EXPONENTS, BENT_LINE_WEIGHT_MIN, BENT_WEIGHT_MIN, CLIMBING_GAPS,
    CLIMBING_SLOPE, DECISIVE_WEIGHT, ERROR_MAX, ERROR_OF_MODES, FALL_ERRORS, FASTEST_ERROR_MIN,
    FASTEST_FACTOR_RATIOS, FASTEST_TENTH_SAMPLES_MIN, FLAT_EXPONENT_CI_MAX, FLAT_EXPONENT_MAX,
    FROM_ZERO_MISFIT_MAX, INTERCEPT_MISFIT_MAX, INTERCEPT_SLOPE_LAST_MIN, INTERCEPT_SLOPE_MAX,
    LEVEL_FACTOR_MAX, LEVEL_SPREAD_MAX, LINEAR_EXPONENTS, LINEAR_SLOPE_MAX,
    LINEAR_SLOPE_MAX_OF_SINGLES, LINEAR_SLOPE_MIN, MISFIT_MAX, NEAR_FASTEST_TENTH, NOISE_ERRORS,
    POINTS_MIN, QUADRATIC_EXPONENTS, QUADRATIC_SLOPES, RANGE_MIN, RANGE_MIN_OF_FEW,
    SINGLE_FIGURE_ERROR, STEP_LOG_RANGE,
};
use crate::stats::quantiles::{Pooled, median_of};
use crate::{Basis, Class, Estimate, Growth, GrowthReason};
use std::ops::RangeInclusive;

/// How `points` (ascending, at least two) grow. `exponent` is the slope over the whole range, with
/// its interval.
///
/// The rules, in turn:
/// 1. *Too little*: fewer than three points above zero, a range of them below ×8, or below ×30 with
///    fewer than [`POINTS_MIN`] points of which none is zero, is undecided, however clear it looks.
///    At zero a series has its fixed cost alone: that counts as a point, but not in ranges and
///    exponents.
/// 2. *Flat*: constant when the exponent is within ±0.06 and its interval within ±0.1, no median is
///    further than a factor of 1.4 from their middle, and the factor from the first median to the last
///    is within ±30 % (or explained by noise). ±0.06 is ×1.3 over two decades: growth that nobody plans
///    around.
/// 3. *Falls*: the exponent is below zero with its whole interval, and the fall is ×1.3 or more.
/// 4. *Too wide*: undecided where a median is less certain than [`ERROR_MAX`] and the others can't carry
///    a verdict alone ([`POINTS_MIN`] of them over ×30).
/// 5. *Few points* (three or four): only linear and quadratic are named, by the slopes between
///    neighbours; with zero among them, by their weights. Linear covers n log n there.
/// 6. *Bent*: where only linear and n log n are left (the others have less than 10 % of the weight
///    together, linear 5 % or more) and n log n passes nowhere near the medians' intervals, the curve
///    is linear. Caches bend the curves of linear mechanisms upwards, step by step, which n log n
///    imitates better than n does; but n log n is a claim about a smooth curve. This needs intervals, so
///    it does not apply to single figures.
/// 7. Otherwise the verdict is the smallest set of neighbouring classes that holds [`DECISIVE_WEIGHT`] of
///    the weight (see [`model_weights`](model_weights::model_weights)). It is widened by a class that is
///    decisive once a single point is left out, and down to linear where all of it grows faster but the
///    curve is not smooth. It has a name unless it lies on both sides of linear.
/// 8. *Climbing*: what would be undecided because the evidence contradicts itself is at least linear where the
///    last [`CLIMBING_GAPS`] gaps are each steeper than [`CLIMBING_SLOPE`], and together by more than noise and
///    a cache's edge explain. Evidence that is too thin (rules 1 and 4) stays undecided.
pub fn classify(points: &[GrowthPoint], exponent: Option<Estimate>) -> Growth {
    let verdict = verdict(points, exponent).and_then(|left| left.named(points));
    let verdict = verdict.or_else(|reason| match at_least_linear(points) {
        Some(climbing) if contradicts_itself(&reason) => Ok(climbing),
        _ => Err(reason),
    });
    let (class, classes, reason) = match verdict {
        Ok((class, classes)) => (class, classes, None),
        Err(reason) => (Class::Undecided, Vec::new(), Some(reason)),
    };
    let end = |point: Option<&GrowthPoint>| point.map_or((0, f64::NAN), |p| (p.point, p.median));
    let ((from, first), (to, last)) = (end(points.first()), end(points.last()));
    Growth {
        class,
        classes,
        factor: last / first,
        from,
        to,
        exponent,
        constant: None,
        reason,
        basis: Basis::Medians,
    }
}

/// What is left of the classes.
enum Left {
    /// The cost is constant.
    Flat,
    /// The cost falls.
    Falls,
    /// Neighbours among the [`CANDIDATES`].
    Classes(RangeInclusive<usize>),
}

impl Left {
    fn single(class: Class) -> Self {
        let index = index_of(class);
        Self::Classes(index..=index)
    }

    /// The plainest word for what is left, with the classes.
    fn named(self, points: &[GrowthPoint]) -> Result<(Class, Vec<Class>), GrowthReason> {
        let range = match self {
            Self::Flat => return Ok((Class::Constant, vec![Class::Constant])),
            Self::Falls => return Ok((Class::Falls, Vec::new())),
            Self::Classes(range) => range,
        };
        let classes = CANDIDATES[range].to_vec();
        let (lowest, highest) = (classes[0], classes[classes.len() - 1]);
        let several = classes.len() > 1;
        let class = if (several || lowest == Class::Constant) && is_level(points) {
            Class::DoesNotGrow
        } else if !several {
            lowest
        } else if highest < Class::Linear {
            Class::SlowerThanLinear
        } else if highest == Class::Linear {
            Class::AtMostLinear
        } else if lowest == Class::Linear {
            Class::AtLeastLinear
        } else if lowest > Class::Linear {
            Class::FasterThanLinear
        } else {
            return Err(GrowthReason::RivalClasses { classes });
        };
        Ok((class, classes))
    }
}

/// Where each of the last gaps is steeper than a root, and all of them together rise by more than noise and a
/// cache's edge explain, the cost grows at least linearly, whatever the curve: a busy machine may bend it
/// beyond all classes.
fn at_least_linear(points: &[GrowthPoint]) -> Option<(Class, Vec<Class>)> {
    let upper = &points[points.len().checked_sub(CLIMBING_GAPS + 1)?..];
    let (first, last) = (&upper[0], &upper[CLIMBING_GAPS]);
    if first.point == 0 || last.point < RANGE_MIN * first.point {
        return None;
    }
    let excess = |from: &GrowthPoint, to: &GrowthPoint| {
        (to.median / from.median).ln() - CLIMBING_SLOPE * (to.point as f64 / from.point as f64).ln()
    };
    let noise = NOISE_ERRORS * known_error(first).hypot(known_error(last));
    let climbs = excess(first, last) >= noise + STEP_LOG_RANGE.1
        && upper.windows(2).all(|pair| excess(&pair[0], &pair[1]) >= 0.0);
    climbs.then(|| (Class::AtLeastLinear, CANDIDATES[index_of(Class::Linear)..].to_vec()))
}

/// Whether there is enough evidence for a verdict, and only no class that explains it.
const fn contradicts_itself(reason: &GrowthReason) -> bool {
    match reason {
        GrowthReason::SeveralClasses { .. }
        | GrowthReason::RivalClasses { .. }
        | GrowthReason::NoClassFits
        | GrowthReason::FlatExceptStep => true,
        GrowthReason::NoFigures
        | GrowthReason::TooFewPoints { .. }
        | GrowthReason::NotPositive
        | GrowthReason::RangeTooShort { .. }
        | GrowthReason::NoExponent
        | GrowthReason::IntervalTooWide { .. } => false,
    }
}

fn index_of(class: Class) -> usize {
    CANDIDATES.iter().position(|&candidate| candidate == class).unwrap_or(0)
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
    let is_open = growth.class == Class::Undecided
        || (growth.classes.len() > 1 && growth.class != Class::DoesNotGrow);
    if !is_open || medians.iter().all(|p| p.error <= ERROR_OF_MODES) {
        return growth;
    }
    let pairs: Vec<(u64, f64)> = fastest.iter().map(|p| (p.point, p.median)).collect();
    let slope = crate::growth::exponent::exponent(&pairs, &[]);
    let fast = classify(fastest, slope);
    let alike = FASTEST_FACTOR_RATIOS.contains(&(growth.factor / fast.factor));
    let narrower = fast.classes.len() == 1
        && fast.class != Class::Constant
        && (growth.classes.is_empty() || growth.classes.contains(&fast.class));
    if !narrower || !alike {
        return growth;
    }
    Growth { class: fast.class, classes: fast.classes, basis: Basis::FastestTenth, ..growth }
}

/// The fastest tenth of the samples at `point`, of all `pooled` and by `rounds`, as a figure to judge by:
/// its upper edge, whose error is its distance from the fastest of all. The error is infinite with fewer
/// samples than [`FASTEST_TENTH_SAMPLES_MIN`], or where one round alone among several comes near the edge.
/// `None` without samples.
pub fn fastest_tenth(point: u64, pooled: &Pooled, rounds: &[&[f64]]) -> Option<GrowthPoint> {
    let (fastest, tenth) = (pooled.at(0.0)?, pooled.at(0.1)?);
    let comes_near =
        |round: &&&[f64]| round.iter().any(|&sample| sample <= NEAR_FASTEST_TENTH * tenth);
    let near_rounds = rounds.iter().filter(comes_near).count();
    let enough = pooled.len() >= FASTEST_TENTH_SAMPLES_MIN && near_rounds >= rounds.len().min(2);
    // Where the two are equal a sample's own resolution is the limit.
    let error = if enough && fastest > 0.0 {
        (tenth / fastest).ln().max(FASTEST_ERROR_MIN)
    } else {
        f64::INFINITY
    };
    Some(GrowthPoint { point, median: tenth, error })
}

/// Those above zero: at zero a series is what does not grow.
fn above_zero(points: &[GrowthPoint]) -> &[GrowthPoint] {
    &points[points.iter().take_while(|p| p.point == 0).count()..]
}

/// The classes that are left, or why nothing can be stated.
fn verdict(points: &[GrowthPoint], exponent: Option<Estimate>) -> Result<Left, GrowthReason> {
    if points.is_empty() {
        return Err(GrowthReason::NoFigures);
    }
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
    if range < RANGE_MIN as f64 || (few && !from_zero && range < RANGE_MIN_OF_FEW) {
        return Err(GrowthReason::RangeTooShort { factor: range });
    }
    let Some(exponent) = exponent else {
        return Err(GrowthReason::NoExponent);
    };
    if is_flat(points, exponent) {
        return Ok(Left::Flat);
    }
    if falls(points, exponent) {
        return Ok(Left::Falls);
    }
    let sure: Vec<GrowthPoint> = points.iter().copied().filter(|p| p.error <= ERROR_MAX).collect();
    if let Some(wide) = points.iter().find(|p| p.error > ERROR_MAX)
        && !carry_alone(&sure)
    {
        return Err(GrowthReason::IntervalTooWide { point: wide.point });
    }
    match (few, from_zero) {
        (true, true) => verdict_from_zero(points).map(Left::single),
        (true, false) => verdict_of_few(points, exponent).map(Left::single),
        (false, _) => verdict_of_many(points, exponent).map(Left::Classes),
    }
}

/// Whether these points can tell the orders of growth apart without the others, which then weigh as
/// little as their intervals are wide.
fn carry_alone(sure: &[GrowthPoint]) -> bool {
    let above = above_zero(sure);
    let (Some(first), Some(last)) = (above.first(), above.last()) else { return false };
    sure.len() >= POINTS_MIN && last.point as f64 >= RANGE_MIN_OF_FEW * first.point as f64
}

/// Whether it ends lower than it began by a factor of 1.3, both by its exponent, which is surely below
/// zero, and by its ends, three times as much as noise explains.
fn falls(points: &[GrowthPoint], exponent: Estimate) -> bool {
    let (first, last) = (&points[0], &points[points.len() - 1]);
    let noise = FALL_ERRORS * known_error(first).hypot(known_error(last));
    let range = (last.point as f64 / above_zero(points)[0].point as f64).ln();
    exponent.high <= 0.0
        && exponent.value * range <= -LEVEL_FACTOR_MAX.ln()
        && (last.median / first.median).ln() <= -(LEVEL_FACTOR_MAX.ln().max(noise))
}

/// The standard error of a median's logarithm; of a single figure, the usual one.
fn known_error(point: &GrowthPoint) -> f64 {
    if point.error > 0.0 { point.error } else { SINGLE_FIGURE_ERROR }
}

/// Last over first as a logarithm, and what of it noise explains.
fn ends(points: &[GrowthPoint]) -> (f64, f64) {
    let (first, last) = (&points[0], &points[points.len() - 1]);
    ((last.median / first.median).ln(), NOISE_ERRORS * first.error.hypot(last.error))
}

/// Whether the factor from the first median to the last is within ±30 %, or explained by noise, and no
/// median is further than a factor of 1.4 from their middle.
fn is_level(points: &[GrowthPoint]) -> bool {
    let mut logs: Vec<f64> = points.iter().map(|p| p.median.ln()).collect();
    let (ends, noise) = ends(points);
    let middle = median_of(&mut logs).unwrap_or(0.0);
    logs.iter().all(|l| (l - middle).abs() <= LEVEL_SPREAD_MAX.ln())
        && ends.abs() <= LEVEL_FACTOR_MAX.ln().max(noise)
}

fn is_flat(points: &[GrowthPoint], exponent: Estimate) -> bool {
    is_level(points)
        && exponent.value.abs() <= FLAT_EXPONENT_MAX
        && exponent.low >= -FLAT_EXPONENT_CI_MAX
        && exponent.high <= FLAT_EXPONENT_CI_MAX
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
    let has_intervals = points.iter().all(|p| p.error > 0.0);
    let linear_max = if has_intervals { LINEAR_SLOPE_MAX } else { LINEAR_SLOPE_MAX_OF_SINGLES };
    let near_line = lowest >= LINEAR_SLOPE_MIN && steepest <= linear_max;
    if LINEAR_EXPONENTS.contains(&exponent.value) && near_line {
        return Ok(Class::Linear);
    }
    let near_square = QUADRATIC_SLOPES.contains(&lowest) && QUADRATIC_SLOPES.contains(&steepest);
    if QUADRATIC_EXPONENTS.contains(&exponent.value) && near_square {
        return Ok(Class::Quadratic);
    }
    let fits_line = model_weights(points)
        .iter()
        .any(|w| w.class == Class::Linear && w.misfit < INTERCEPT_MISFIT_MAX);
    let bends_up = first <= last && last >= INTERCEPT_SLOPE_LAST_MIN;
    if bends_up && steepest <= INTERCEPT_SLOPE_MAX && fits_line {
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
    if line >= DECISIVE_WEIGHT && misfit(Class::Linear) < FROM_ZERO_MISFIT_MAX {
        return Ok(Class::Linear);
    }
    if share(Class::Quadratic) >= DECISIVE_WEIGHT && misfit(Class::Quadratic) < FROM_ZERO_MISFIT_MAX
    {
        return Ok(Class::Quadratic);
    }
    Err(GrowthReason::SeveralClasses { points: points.len() })
}

fn verdict_of_many(
    points: &[GrowthPoint],
    exponent: Estimate,
) -> Result<RangeInclusive<usize>, GrowthReason> {
    let weights = model_weights(points);
    let best = heaviest(&weights);
    let linear = index_of(Class::Linear);
    if is_bent_line(points, &weights, exponent) {
        return Ok(linear..=linear);
    }
    if best.misfit > MISFIT_MAX {
        return Err(GrowthReason::NoClassFits);
    }
    let (mut low, mut high) = decisive_neighbours(&weights).into_inner();
    if high == 0 && !is_level(points) {
        return Err(GrowthReason::FlatExceptStep);
    }
    if low < linear && high > linear {
        return Ok(low..=high);
    }
    for without in model_weights_without_each(points) {
        let heaviest = heaviest(&without);
        if heaviest.share >= DECISIVE_WEIGHT {
            let class = index_of(heaviest.class);
            (low, high) = (low.min(class), high.max(class));
        }
    }
    if low > linear && !is_smooth(points, &best) {
        low = linear;
    }
    Ok(low..=high)
}

/// The smallest set of neighbouring classes that holds [`DECISIVE_WEIGHT`]; of several the heaviest.
fn decisive_neighbours(weights: &[Weight]) -> RangeInclusive<usize> {
    let share = |range: &RangeInclusive<usize>| -> f64 {
        weights[range.clone()].iter().map(|w| w.share).sum()
    };
    let last = weights.len() - 1;
    (0..=last)
        .find_map(|width| {
            (0..=last - width)
                .map(|low| low..=low + width)
                .filter(|range| share(range) >= DECISIVE_WEIGHT)
                .max_by(|a, b| share(a).total_cmp(&share(b)))
        })
        .unwrap_or(0..=last)
}

/// Whether the curve of a class passes near all medians without a step. N log n is so close to a bent line
/// that no median may lie between two modes.
fn is_smooth(points: &[GrowthPoint], best: &Weight) -> bool {
    let freedom = points.len() as f64 - 2.0;
    let sure = best.class == Class::Quadratic || points.iter().all(|p| p.error <= ERROR_OF_MODES);
    sure && (best.deviance <= BENT_DEVIANCE_MIN * freedom || points.iter().any(|p| p.error <= 0.0))
}

fn is_bent_line(points: &[GrowthPoint], weights: &[Weight], exponent: Estimate) -> bool {
    let weight = |class| weights.iter().find(|w| w.class == class).copied();
    let (Some(line), Some(rival)) = (weight(Class::Linear), weight(Class::Linearithmic)) else {
        return false;
    };
    let freedom = points.len() as f64 - 2.0;
    (BENT_LINE_WEIGHT_MIN..DECISIVE_WEIGHT).contains(&line.share)
        && line.share + rival.share >= BENT_WEIGHT_MIN
        && rival.deviance > BENT_DEVIANCE_MIN * freedom
        && BENT_EXPONENTS.contains(&exponent.value)
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
