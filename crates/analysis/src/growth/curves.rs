//! How well each curve explains the levels of a series, and how far each goes from the first point to the last.
//!
//! A curve says that the figures follow a + b·g(n) with a, b ≥ 0, or fall as such a curve rises. Each is taken with its
//! likelihood, averaged (not maximised) over all that is unknown about it: its scale; its factor from the first point
//! to the last, and so its constant part; the error of a level beyond its own (an address in memory, a disturbance of
//! all rounds); and up to two steps somewhere along the axis, as caches' edges make them. Averaging is the penalty for
//! parameters: a curve that fits only with one factor out of a thousand pays for the choice.

use crate::growth::levels::{ERROR_MIN, Level};
use crate::stats::normal::upper_tail;
use crate::thresholds::{
    EVEN, EXCESS_ERRORS, FALSE_ALARM, FLAT_FACTOR_MAX, NO_CONSTANT_PRIOR, RUN_ERROR,
    STEP_FACTOR_MAX, STEP_PRIORS,
};
use crate::{Class, Estimate};
use std::collections::BTreeMap;
use std::f64::consts::TAU;

/// The greatest factor of a curve from zero on.
const FACTOR_MAX: f64 = 1e9;

/// Weights this far below the largest, as logarithms, are dropped: less than a hundredth of the whole.
const NEGLIGIBLE_LOG: f64 = 10.0;

/// Curves stand for factors whose logarithms differ by this factor at most, and by [`NODE_WIDTH`]: half of the largest
/// error.
const NODE_RATIO: f64 = 1.25;

/// See [`NODE_RATIO`].
const NODE_WIDTH: f64 = 0.225;

/// The same for a smaller error, in units of it.
const NODE_WIDTH_MAX: f64 = 0.5;

/// The classes that grow, the slowest first.
pub const GROWING: [Class; 5] =
    [Class::Logarithmic, Class::SquareRoot, Class::Linear, Class::Linearithmic, Class::Quadratic];

/// g(n) of a class; 1 for a constant. At zero a curve is its constant part.
pub fn growth_of(class: Class, n: f64) -> f64 {
    match class {
        class if n <= 0.0 && GROWING.contains(&class) => 0.0,
        Class::Logarithmic => n.ln(),
        Class::SquareRoot => n.sqrt(),
        Class::Linear => n,
        Class::Linearithmic => n * n.ln(),
        Class::Quadratic => n * n,
        _ => 1.0,
    }
}

/// What the curves say together.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// The level at the last point over that at the first, with its 95 % CI. The figure is the ratio of what tables
    /// show, as far as the CI holds it: a reader can check what is judged.
    pub factor: Estimate,
    /// The share of each of the [`GROWING`] classes in what they explain together, 0 to 1.
    pub shares: [f64; GROWING.len()],
    /// The share of that in which the curve is smooth: it needs no step, and the levels lie near it.
    pub smooth_share: f64,
    /// How likely a step lies before each of the points, 0 to 1.
    pub step_shares: Vec<f64>,
}

/// The factor and the classes of a series of two or more `levels`, by all curves.
pub fn explained(levels: &[Level]) -> Explained {
    let middle = levels.iter().map(|level| level.log).sum::<f64>() / levels.len() as f64;
    let logs = [1.0, -1.0]
        .map(|sign| levels.iter().map(|level| sign * (level.log - middle)).collect::<Vec<f64>>());
    let mut curves = vec![Curve::constant(levels)];
    for (falls, prior) in [(false, 1.0), (true, EVEN)] {
        for class in 0..GROWING.len() {
            curves.extend(Curve::all(class, falls, prior, levels));
        }
    }
    let mut parts = Vec::new();
    for (index, excess) in EXCESS_ERRORS.into_iter().enumerate() {
        let scale = Scale::new(levels, excess);
        let (mut top, mut added) = (f64::NEG_INFINITY, Vec::new());
        for curve in &mut curves {
            curve.explain(&scale, &logs, &mut top, &mut added);
        }
        let floor = top - NEGLIGIBLE_LOG;
        parts.extend(added.into_iter().filter(|part: &Part| part.log >= floor));
        // What is far below the best with a large error is further below with a smaller one.
        if let Some(next) = EXCESS_ERRORS.get(index + 1) {
            let width = NODE_WIDTH_MAX * next.hypot(scale.error_min);
            curves.retain(|curve| curve.best >= floor);
            curves = curves.into_iter().flat_map(|curve| curve.divided(width, levels)).collect();
        }
    }
    let mut explained = summary(&parts, levels.len());
    let Estimate { low, high, .. } = explained.factor;
    let shown = (levels[levels.len() - 1].shown_log - levels[0].shown_log).exp();
    if low <= high && shown.is_finite() {
        explained.factor.value = shown.clamp(low, high);
    }
    explained
}

/// A normal part of what is known of the factor's logarithm.
struct Part {
    /// The logarithm of its weight.
    log: f64,
    mean: f64,
    variance: f64,
    /// Which of the [`GROWING`] classes it is of; `None` where it is of a constant or falls.
    class: Option<usize>,
    /// The points that a step lies before; 0 for none.
    steps: [usize; 2],
    /// Whether the levels lie near its curve without a step.
    is_smooth: bool,
}

/// The curves of one class in one direction whose factors have a logarithm from `from` to `to`, by the one in the middle.
struct Curve {
    /// Which of the [`GROWING`] classes; `None` of a constant.
    class: Option<usize>,
    /// Whether it falls, as the mirror image of one that grows.
    falls: bool,
    from: f64,
    to: f64,
    logs: Vec<f64>,
    log_prior: f64,
    /// The logarithm of its greatest weight at the last size of the error.
    best: f64,
}

impl Curve {
    fn constant(levels: &[Level]) -> Self {
        let logs = vec![0.0; levels.len()];
        Self { class: None, falls: false, from: 0.0, to: 0.0, logs, log_prior: 0.0, best: 0.0 }
    }

    /// Factors are as likely in each octave of their logarithms, up to that of a curve without a constant part.
    fn all(class: usize, falls: bool, prior: f64, levels: &[Level]) -> Vec<Self> {
        let (first, last) = (levels[0].point, levels[levels.len() - 1].point);
        let growth = |point: u64| growth_of(GROWING[class], point as f64);
        // From zero on, or from the logarithm of one, a curve may grow by any factor.
        let whole = if growth(first) > 0.0 { growth(last) / growth(first) } else { FACTOR_MAX };
        let whole_log = whole.ln();
        let octaves = (whole_log / RUN_ERROR).ln();
        let mut curves = Vec::new();
        let mut from = RUN_ERROR;
        while from < whole_log {
            let to = (from * NODE_RATIO).min(from + NODE_WIDTH).min(whole_log);
            let share = (1.0 - NO_CONSTANT_PRIOR) * (to / from).ln() / octaves;
            curves.push(Self::new(class, falls, (from, to), (prior * share).ln(), levels));
            from = to;
        }
        let alone = (prior * NO_CONSTANT_PRIOR).ln();
        curves.push(Self::new(class, falls, (whole_log, whole_log), alone, levels));
        curves
    }

    fn new(
        class: usize,
        falls: bool,
        (from, to): (f64, f64),
        log_prior: f64,
        levels: &[Level],
    ) -> Self {
        let growth = |level: &Level| growth_of(GROWING[class], level.point as f64);
        let (first, last) = (growth(&levels[0]), growth(&levels[levels.len() - 1]));
        let more = f64::midpoint(from, to).exp_m1();
        let constant = ((last - first) / more - first).max(0.0);
        let mut logs: Vec<f64> =
            levels.iter().map(|level| (constant + growth(level)).ln()).collect();
        let middle = logs.iter().sum::<f64>() / logs.len() as f64;
        for log in &mut logs {
            *log -= middle;
        }
        Self { class: Some(class), falls, from, to, logs, log_prior, best: f64::NEG_INFINITY }
    }

    /// Adds what it says with one size of the error to `parts`. `top` is the greatest weight so far. `logs` are those of
    /// the levels, and the same mirrored.
    fn explain(
        &mut self,
        scale: &Scale,
        logs: &[Vec<f64>; 2],
        top: &mut f64,
        parts: &mut Vec<Part>,
    ) {
        let class = self.class.filter(|_| !self.falls);
        let (logs, sign) = if self.falls { (&logs[1], -1.0) } else { (&logs[0], 1.0) };
        let explained = scale.explain(self, logs, *top - NEGLIGIBLE_LOG);
        self.best = f64::NEG_INFINITY;
        for (log, [mean, variance], steps) in explained {
            self.best = self.best.max(log);
            let is_smooth = scale.is_small && steps == [0; 2];
            parts.push(Part { log, mean: sign * mean, variance, class, steps, is_smooth });
        }
        *top = top.max(self.best);
    }

    /// The same as several, if it stands for a wider stretch of factors than `width`.
    fn divided(self, width: f64, levels: &[Level]) -> Vec<Self> {
        let Some(class) = self.class.filter(|_| self.to - self.from > width) else {
            return vec![self];
        };
        let count = ((self.to - self.from) / width).ceil() as usize;
        let ratio = (self.to / self.from).powf(1.0 / count as f64);
        let log_prior = self.log_prior - (count as f64).ln();
        let edge = |index: usize| self.from * ratio.powf(index as f64);
        let part =
            |at: usize| Self::new(class, self.falls, (edge(at), edge(at + 1)), log_prior, levels);
        (0..count).map(part).collect()
    }
}

/// One assumed size of the error beyond the levels' own, with what depends on nothing else.
struct Scale {
    /// A curve that is off the levels by half of the least step is smooth.
    is_small: bool,
    /// 1/variance of each point about a curve.
    weights: Vec<f64>,
    /// Without a step, and with one or two in any gaps.
    stretches: Vec<Stretches>,
    /// How much of what the first and the last level are off the curve is theirs, and no error.
    trust: [f64; 2],
    /// The variance of the factor's logarithm that comes from these two levels.
    own_variance: f64,
    /// The least error of a level.
    error_min: f64,
}

impl Scale {
    fn new(levels: &[Level], excess: f64) -> Self {
        let square = excess * excess;
        let variance = |level: &Level| level.error.map_or(square, |error| error * error + square);
        let weights: Vec<f64> = levels.iter().map(|level| 1.0 / variance(level)).collect();
        // Of a single figure half of what lies beyond the curve is taken for noise.
        let trust = |level: &Level| level.error.map_or(1.0, |_| square / variance(level));
        let own =
            |level: &Level| level.error.map_or(square / 2.0, |error| error * error * trust(level));
        let ends = [&levels[0], &levels[levels.len() - 1]];
        let log_norm = weights.iter().map(|weight| 0.5 * (weight / TAU).ln()).sum::<f64>()
            - (EXCESS_ERRORS.len() as f64).ln();
        let gaps = (levels.len() - 1) as f64;
        let positions = [1.0, gaps, gaps * (gaps - 1.0) / 2.0];
        let range = (STEP_FACTOR_MAX / FLAT_FACTOR_MAX).ln();
        let log_norms = [0, 1, 2].map(|steps: usize| {
            let choices = positions[steps].max(1.0) * range.powf(steps as f64);
            log_norm + (STEP_PRIORS[steps] / choices).ln() + 0.5 * (steps + 1) as f64 * TAU.ln()
        });
        let errors = levels.iter().map(|level| level.error.unwrap_or_default());
        Self {
            is_small: excess <= EVEN * FLAT_FACTOR_MAX.ln(),
            stretches: Stretches::all(&weights, log_norms),
            trust: ends.map(trust),
            own_variance: ends.map(own).iter().sum(),
            error_min: errors.fold(f64::INFINITY, f64::min),
            weights,
        }
    }

    /// The logarithm of the weight, the mean and the variance of the factor's logarithm by `curve`, averaged over its
    /// scale: without a step, and with one or two before any points. Skips what is below `floor`.
    fn explain(&self, curve: &Curve, logs: &[f64], floor: f64) -> Vec<(f64, [f64; 2], [usize; 2])> {
        let mut sums = Vec::with_capacity(logs.len() + 1);
        let (mut sum, mut squares) = (0.0, 0.0);
        sums.push(sum);
        for ((log, curve), weight) in logs.iter().zip(&curve.logs).zip(&self.weights) {
            let off = log - curve;
            squares += weight * off * off;
            sum += weight * off;
            sums.push(sum);
        }
        let last = logs.len() - 1;
        let ends = [logs[0], logs[last], curve.logs[0], curve.logs[last]];
        let explained = |stretches: &Stretches| {
            let (log, levels) = stretches.explain(&sums, squares, floor - curve.log_prior)?;
            let factor = self.factor(ends, levels, stretches.steps > 0);
            let cut =
                |step: usize| if step < stretches.steps { stretches.cuts[step + 1] } else { 0 };
            Some((curve.log_prior + log, factor, [cut(0), cut(1)]))
        };
        self.stretches.iter().filter_map(explained).collect()
    }

    /// The mean and the variance of the factor's logarithm, by the logarithms of the first and the last figure and of
    /// the curve there, and by how far the curve lies from the figures at either end.
    fn factor(&self, ends: [f64; 4], levels: [[f64; 2]; 2], is_stepped: bool) -> [f64; 2] {
        let [first, last, first_curve, last_curve] = ends;
        let [first_trust, last_trust] = self.trust;
        let [[before, before_variance], [behind, behind_variance]] = levels;
        let mean = last_trust * last + (1.0 - last_trust) * (behind + last_curve)
            - first_trust * first
            - (1.0 - first_trust) * (before + first_curve);
        // Without a step both ends have the same level, and what is unknown of it cancels out.
        let apart = if is_stepped {
            (1.0 - last_trust).powi(2) * behind_variance
                + (1.0 - first_trust).powi(2) * before_variance
        } else {
            (last_trust - first_trust).powi(2) * before_variance
        };
        [mean, self.own_variance + apart]
    }
}

/// The axis cut at steps: what no curve changes.
struct Stretches {
    /// Where each stretch begins, and where the last one ends.
    cuts: [usize; 4],
    steps: usize,
    variances: [f64; 3],
    errors: [f64; 2],
    /// The logarithm of the factors before the exponential.
    log_norm: f64,
}

impl Stretches {
    /// Those of points with these `weights`; `log_norms` are without a step, with one and with two.
    fn all(weights: &[f64], log_norms: [f64; 3]) -> Vec<Self> {
        let points = weights.len();
        let new = |cuts: [usize; 4], steps: usize| {
            let mut variances = [1.0; 3];
            for (variance, ends) in variances.iter_mut().zip(cuts.windows(2)).take(steps + 1) {
                *variance = 1.0 / weights[ends[0]..ends[1]].iter().sum::<f64>();
            }
            let log_norm = log_norms[steps] + 0.5 * variances.iter().product::<f64>().ln();
            let error = |step: usize| (variances[step] + variances[step + 1]).sqrt();
            Self { cuts, steps, variances, errors: [error(0), error(1)], log_norm }
        };
        let mut all = vec![new([0, points, points, points], 0)];
        for first in 1..points {
            all.push(new([0, first, points, points], 1));
            // Three levels have two points each.
            for second in first + 1..if points < 6 { 0 } else { points } {
                all.push(new([0, first, second, points], 2));
            }
        }
        all
    }

    /// The logarithm of the weight of a curve with these steps, and its levels before the first and behind the last,
    /// each with its variance; `None` below `floor`. `sums` are those of the weighted deviations before each point.
    fn explain(&self, sums: &[f64], squares: f64, floor: f64) -> Option<(f64, [[f64; 2]; 2])> {
        let (mut rest, mut levels) = (squares, [0.0; 3]);
        for (index, ends) in self.cuts.windows(2).take(self.steps + 1).enumerate() {
            let sum = sums[ends[1]] - sums[ends[0]];
            levels[index] = sum * self.variances[index];
            rest -= sum * levels[index];
        }
        let mut log = self.log_norm - 0.5 * rest.max(0.0);
        for step in 0..self.steps {
            if log < floor {
                return None;
            }
            log += step_share(levels[step + 1] - levels[step], self.errors[step]).ln();
        }
        let level = |index: usize| [levels[index], self.variances[index]];
        (log >= floor).then(|| (log, [level(0), level(self.steps)]))
    }
}

/// The share of a step with this error that is one of those that are averaged over.
fn step_share(step: f64, error: f64) -> f64 {
    let (low, high) = (FLAT_FACTOR_MAX.ln(), STEP_FACTOR_MAX.ln());
    (upper_tail((low - step) / error) - upper_tail((high - step) / error)).max(0.0)
}

/// The median and the 95 % CI of all parts, and the shares of the classes and of steps between so many points.
fn summary(parts: &[Part], points: usize) -> Explained {
    let top = parts.iter().map(|part| part.log).fold(f64::NEG_INFINITY, f64::max);
    let (mut shares, mut smooth) = ([0.0; GROWING.len()], 0.0);
    let (mut steps, mut all) = (vec![0.0; points], 0.0);
    let error = |variance: f64| variance.max(ERROR_MIN * ERROR_MIN).sqrt();
    // Parts that hardly differ are taken together: their weight, mean and square.
    let mut together: BTreeMap<(i64, i64), [f64; 3]> = BTreeMap::new();
    for part in parts.iter().filter(|part| part.log >= top - NEGLIGIBLE_LOG) {
        let weight = (part.log - top).exp();
        all += weight;
        for step in part.steps.into_iter().filter(|step| *step > 0) {
            steps[step] += weight;
        }
        if let Some(class) = part.class {
            shares[class] += weight;
            smooth += if part.is_smooth { weight } else { 0.0 };
        }
        let error = error(part.variance);
        let width = (4.0 * error.log2()).round();
        let position = (10.0 * part.mean / (width / 4.0).exp2()).round();
        let sums = together.entry((width as i64, position as i64)).or_default();
        let square = part.mean * part.mean + error * error;
        for (sum, more) in sums.iter_mut().zip([1.0, part.mean, square]) {
            *sum += weight * more;
        }
    }
    let normal = |[weight, mean, square]: [f64; 3]| {
        let mean = mean / weight;
        [weight, mean, error(square / weight - mean * mean)]
    };
    let normals: Vec<[f64; 3]> = together.into_values().map(normal).collect();
    let growing: f64 = shares.iter().sum();
    let share_of = |part: f64| if growing > 0.0 { part / growing } else { 0.0 };
    let quantile = |share| quantile(&normals, share).exp();
    let tail = FALSE_ALARM / 2.0;
    Explained {
        factor: Estimate { value: quantile(0.5), low: quantile(tail), high: quantile(1.0 - tail) },
        shares: shares.map(share_of),
        smooth_share: share_of(smooth),
        step_shares: steps.into_iter().map(|step| step / all).collect(),
    }
}

/// The quantile of a mixture of normals, each with its weight, mean and standard deviation.
fn quantile(normals: &[[f64; 3]], share: f64) -> f64 {
    let all: f64 = normals.iter().map(|[weight, ..]| weight).sum();
    let below = |position: f64| -> f64 {
        let tail =
            |[weight, mean, error]: &[f64; 3]| weight * upper_tail((mean - position) / error);
        normals.iter().map(tail).sum()
    };
    let ends = |side: f64| normals.iter().map(move |[_, mean, error]| mean + side * 10.0 * error);
    let mut low = ends(-1.0).fold(f64::INFINITY, f64::min);
    let mut high = ends(1.0).fold(f64::NEG_INFINITY, f64::max);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        *(if below(middle) < share * all { &mut low } else { &mut high }) = middle;
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(error: Option<f64>, curve: impl Fn(f64) -> f64) -> Vec<Level> {
        let points = [10_u64, 30, 100, 300, 1000, 3000, 10_000];
        points.map(|point| Level::new(point, curve(point as f64).ln(), error)).to_vec()
    }

    #[test]
    fn the_curve_that_fits_has_the_weight_and_the_factor() {
        for (index, class) in GROWING.into_iter().enumerate() {
            for (error, constant) in [(Some(0.01), 0.0), (Some(0.01), 0.5), (None, 0.0)] {
                let curve = |n: f64| constant * growth_of(class, 100.0) + growth_of(class, n);
                let explained = explained(&levels(error, curve));
                assert!(explained.shares[index] > 0.9, "{class:?} {error:?} {explained:?}");
                let factor = curve(10_000.0) / curve(10.0);
                let Estimate { low, high, .. } = explained.factor;
                assert!(low <= factor && factor <= high, "{class:?} ×{factor} {explained:?}");
            }
        }
    }

    #[test]
    fn a_step_is_distinguished_from_a_bend() {
        let step = |n: f64| n * if n >= 3000.0 { 2.5 } else { 1.0 };
        let explained = explained(&levels(Some(0.01), step));
        assert!(explained.shares[2] > 0.9, "{explained:?}");
        assert!((explained.factor.value / 2_500.0 - 1.0).abs() < 0.02, "{explained:?}");
    }

    #[test]
    fn what_falls_has_a_factor_below_one_and_what_is_level_has_one() {
        let fallen = explained(&levels(Some(0.01), |n| 1.0 + 30.0 / n)).factor;
        assert!((fallen.value - 0.25).abs() < 0.01 && fallen.high < 0.27, "{fallen:?}");
        let level = explained(&levels(Some(0.01), |_| 7.0)).factor;
        assert!(level.low > 0.95 && level.high < 1.05, "{level:?}");
    }

    /// A cliff downwards is the mirror image of a step.
    #[test]
    fn what_falls_by_a_step_is_known_as_well_as_what_rises_by_one() {
        let at = |sign: f64| {
            let cliff = |n: f64| if n >= 300.0 { 4_f64.powf(sign) } else { 1.0 };
            explained(&levels(Some(0.01), cliff)).factor
        };
        let (rises, falls) = (at(1.0), at(-1.0));
        assert!((falls.value * rises.value - 1.0).abs() < 0.01, "{rises:?} {falls:?}");
        assert!(falls.high < 0.27 && falls.low > 0.23, "{falls:?}");
    }

    #[test]
    fn two_points_and_a_point_at_zero_are_points_too() {
        let all = levels(Some(0.01), |n| n);
        let two = explained(&all[..2]);
        assert!((two.factor.value - 3.0).abs() < 0.1, "{two:?}");
        let zero = Level::new(0, 5_f64.ln(), Some(0.01));
        let from_zero = explained(&[&[zero], &levels(Some(0.01), |n| 5.0 + n)[..]].concat());
        assert!((from_zero.factor.value / 2_001.0 - 1.0).abs() < 0.05, "{from_zero:?}");
        assert!(from_zero.shares[2] > 0.9, "{from_zero:?}");
        let from_one = [1, 10, 100].map(|point| Level::new(point, point as f64, None));
        assert!(explained(&from_one).factor.value.is_finite());
    }
}
