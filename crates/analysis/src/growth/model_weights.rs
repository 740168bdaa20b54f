//! How well each order of growth explains a series: the weights that a verdict is taken from.
//!
//! A candidate says that the logarithms of the medians follow ln(a + b·g(n)) with a ≥ 0 and b ≥ 0,
//! so errors are relative and a small figure counts as much as a large one. Its weight is its
//! likelihood averaged (not maximised) over all that is unknown about it:
//!
//! - the ratio of the intercept a to the growth b·g, over every order of magnitude that shows;
//! - the scale, all of them alike;
//! - the error of a median beyond its own interval (a disturbance, a place in memory), from 2 % to
//!   45 %;
//! - with a fifth of the prior weight, one step somewhere along the axis, by which all that follows
//!   costs more by a factor of 1.3 to 8: a data set that leaves a cache does that to a curve, and it
//!   stays of the same order.
//!
//! Averaging is the penalty for parameters: a candidate that fits only with one intercept out of a
//! thousand, or only with a step at the right place, pays for the choice. Unlike BIC it needs no
//! large number of points, and it takes the width of each median's interval into account.

use crate::Class;
use crate::growth::thresholds::{
    CERTAIN_ERRORS, DEVIANCE_EXCESS, EXCESS_ERRORS, INTERCEPTS_PER_DECADE, NEGLIGIBLE_LOG,
    STEP_LOG_RANGE, STEP_PRIOR,
};
use std::f64::consts::TAU;

/// What growth is judged by: a point of the axis, the median there, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrowthPoint {
    /// The point on the axis.
    pub point: u64,
    /// The median, above 0.
    pub median: f64,
    /// Standard error of the median's logarithm from sampling alone; 0 when it is not known.
    pub error: f64,
}

/// A candidate with its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// The order of growth.
    pub class: Class,
    /// Its share of all candidates' weight, 0 to 1.
    pub share: f64,
    /// The part of `share` that needs a step.
    pub step_share: f64,
    /// Its expected relative error beyond the medians' own intervals: a large one means that it
    /// explains little, whatever its share.
    pub misfit: f64,
    /// The least sum of squared deviations of its curve without a step, each in units of the
    /// median's own error with 3 % added: about the number of points less two where the curve
    /// passes through the medians, far more where it can't.
    pub deviance: f64,
    /// The logarithm of its averaged likelihood.
    pub log_evidence: f64,
}

/// The candidates, in the order of growth.
pub const CANDIDATES: [Class; 6] = [
    Class::Constant,
    Class::Logarithmic,
    Class::SquareRoot,
    Class::Linear,
    Class::Linearithmic,
    Class::Quadratic,
];

/// g(n) of one of the [`CANDIDATES`]; 1 for a constant. At zero a curve is its intercept.
pub fn growth_of(class: Class, n: f64) -> f64 {
    match class {
        Class::Constant => 1.0,
        _ if n <= 0.0 => 0.0,
        Class::Logarithmic => n.ln(),
        Class::SquareRoot => n.sqrt(),
        Class::Linear => n,
        Class::Linearithmic => n * n.ln(),
        Class::Quadratic => n * n,
        _ => 1.0,
    }
}

/// The weights of all candidates on `points` (ascending, figures above 0); empty with fewer than two.
pub fn model_weights(points: &[GrowthPoint]) -> Vec<Weight> {
    weights_by(points, &all_curves(points))
}

/// The same without each of `points` in turn.
pub(crate) fn model_weights_without_each(
    points: &[GrowthPoint],
) -> impl Iterator<Item = Vec<Weight>> {
    let all = all_curves(points);
    (0..points.len()).map(move |left_out| {
        let mut rest = points.to_vec();
        rest.remove(left_out);
        // What begins and ends as before has the same curves.
        let same = reach(&rest) == reach(points);
        let curves = if same {
            all.iter().map(|curves| curves.without(left_out)).collect()
        } else {
            all_curves(&rest)
        };
        weights_by(&rest, &curves)
    })
}

fn weights_by(points: &[GrowthPoint], curves: &[Curves]) -> Vec<Weight> {
    if points.len() < 2 {
        return Vec::new();
    }
    let scales: Vec<Scale> =
        EXCESS_ERRORS.iter().map(|&excess| Scale::new(points, excess)).collect();
    // Residuals about a common level, so that the sums keep their precision.
    let mut logs: Vec<f64> = points.iter().map(|p| p.median.ln()).collect();
    let level = logs.iter().sum::<f64>() / logs.len() as f64;
    for log in &mut logs {
        *log -= level;
    }
    let evidence: Vec<Evidence> =
        curves.iter().map(|curves| evidence(&curves.residuals(&logs), &scales)).collect();
    let top = evidence.iter().map(|e| e.log_total).fold(f64::NEG_INFINITY, f64::max);
    let all: f64 = evidence.iter().map(|e| (e.log_total - top).exp()).sum();
    CANDIDATES
        .iter()
        .zip(evidence)
        .map(|(&class, evidence)| {
            let share = (evidence.log_total - top).exp() / all;
            Weight {
                class,
                share,
                step_share: share * evidence.step,
                misfit: evidence.misfit,
                deviance: evidence.deviance,
                log_evidence: evidence.log_total,
            }
        })
        .collect()
}

/// One assumed size of the error, with what depends on nothing else.
struct Scale {
    excess: f64,
    /// 1/variance of each point.
    weights: Vec<f64>,
    /// Logarithm of the factors before the exponential, without a step.
    log_plain: f64,
    /// The gaps between neighbours, where a step can be.
    gaps: Vec<Gap>,
}

/// A gap between points, in which a step can be.
struct Gap {
    /// Logarithm of the factors before the exponential, with a step here.
    log_factor: f64,
    /// 1/weight of the points below and above.
    below: f64,
    above: f64,
    /// Standard error of the step's logarithm.
    error: f64,
}

impl Scale {
    fn new(points: &[GrowthPoint], excess: f64) -> Self {
        let weights: Vec<f64> =
            points.iter().map(|p| 1.0 / (p.error * p.error + excess * excess)).collect();
        let log_norm: f64 = weights.iter().map(|w| 0.5 * (w / TAU).ln()).sum();
        let all: f64 = weights.iter().sum();
        let mut weight_below = 0.0;
        let gap = |weight: &f64| {
            weight_below += weight;
            let (below, above) = (1.0 / weight_below, 1.0 / (all - weight_below));
            let choices = (STEP_LOG_RANGE.1 - STEP_LOG_RANGE.0) * (weights.len() - 1) as f64;
            let log_factor = log_norm + (TAU * (below * above).sqrt() / choices).ln();
            Gap { log_factor, below, above, error: (below + above).sqrt() }
        };
        let gaps = weights[..weights.len() - 1].iter().map(gap).collect();
        Self { excess, log_plain: log_norm + 0.5 * (TAU / all).ln(), gaps, weights }
    }

    /// The greatest logarithm that the likelihood of `sums` has, averaged over the scale of the curve.
    fn best_plain(&self, sums: &Sums) -> f64 {
        self.log_plain - 0.5 * sums.about_mean_min
    }

    /// The likelihoods of all curves, each averaged over its scale, added to `sum`. What is below `floor`
    /// is left out.
    fn add_plain(&self, sums: &Sums, floor: f64, sum: &mut LogSum) {
        for squares in &sums.about_mean {
            let log = self.log_plain - 0.5 * squares;
            if log >= floor {
                sum.add(log);
            }
        }
    }

    /// The same with a step somewhere.
    fn add_stepped(&self, z: &Residuals, sums: &Sums, floor: f64, sum: &mut LogSum) {
        let mut floor = floor;
        let mut below = vec![0.0; z.curves];
        let mut logs = vec![0.0; z.curves];
        for ((gap, &weight), z) in self.gaps.iter().zip(&self.weights).zip(z.by_point()) {
            // Without a branch, so that several curves are done at a time.
            for (below, z) in below.iter_mut().zip(z) {
                *below += weight * z;
            }
            let whole = sums.plain.iter().zip(&sums.squares);
            for ((log, &below), (&all, &squares)) in logs.iter_mut().zip(&below).zip(whole) {
                let above = all - below;
                let squares = squares - below * below * gap.below - above * above * gap.above;
                *log = gap.log_factor - 0.5 * squares.max(0.0);
            }
            for (curve, &log) in logs.iter().enumerate() {
                if log >= floor {
                    gap.add(log, below[curve], sums.plain[curve] - below[curve], floor, sum);
                }
            }
            floor = floor.max(sum.top - NEGLIGIBLE_LOG);
        }
    }
}

impl Gap {
    /// Adds a term whose logarithm is `log`, but for the step's own share: the step that the weighted sums
    /// `below` and `above` need has to be one of those that are averaged over.
    fn add(&self, log: f64, below: f64, above: f64, floor: f64, sum: &mut LogSum) {
        let step = above * self.above - below * self.below;
        let ends = [(STEP_LOG_RANGE.0 - step) / self.error, (STEP_LOG_RANGE.1 - step) / self.error];
        if ends[0] < -CERTAIN_ERRORS && ends[1] > CERTAIN_ERRORS {
            sum.add(log);
            return;
        }
        // Of a normal distribution less than this lies beyond such an end.
        let outside = ends[0].max(-ends[1]).max(0.0);
        if log - 0.5 * outside * outside >= floor {
            sum.add(log + normal_share(ends[0], ends[1]).ln());
        }
    }
}

/// A sum of figures that are known by their logarithms, too far apart to be added as they are.
#[derive(Clone, Copy)]
struct LogSum {
    top: f64,
    sum: f64,
}

impl Default for LogSum {
    fn default() -> Self {
        Self { top: f64::NEG_INFINITY, sum: 0.0 }
    }
}

impl LogSum {
    fn add(&mut self, log: f64) {
        if log.is_infinite() {
            return;
        }
        if log <= self.top {
            self.sum += (log - self.top).exp();
        } else {
            self.sum = self.sum * (self.top - log).exp() + 1.0;
            self.top = log;
        }
    }

    fn log(self) -> f64 {
        self.top + self.sum.ln()
    }
}

/// How far the figures lie from each curve of a candidate.
struct Residuals {
    curves: usize,
    /// Those of the first point from all curves, then those of the next one.
    all: Vec<f64>,
}

impl Residuals {
    fn by_point(&self) -> impl Iterator<Item = &[f64]> {
        self.all.chunks_exact(self.curves)
    }
}

/// Weighted sums of residuals over all points, for each curve.
struct Sums {
    plain: Vec<f64>,
    squares: Vec<f64>,
    /// Of the squares about the mean.
    about_mean: Vec<f64>,
    /// The smallest of these.
    about_mean_min: f64,
}

impl Sums {
    fn new(weights: &[f64], z: &Residuals) -> Self {
        let (mut plain, mut squares) = (vec![0.0; z.curves], vec![0.0; z.curves]);
        for (weight, z) in weights.iter().zip(z.by_point()) {
            for ((sum, square), z) in plain.iter_mut().zip(&mut squares).zip(z) {
                *sum += weight * z;
                *square += weight * z * z;
            }
        }
        let all: f64 = weights.iter().sum();
        let sums = plain.iter().zip(&squares);
        let about_mean: Vec<f64> =
            sums.map(|(sum, squares)| (squares - sum * sum / all).max(0.0)).collect();
        let about_mean_min = about_mean.iter().copied().fold(f64::INFINITY, f64::min);
        Self { plain, squares, about_mean, about_mean_min }
    }
}

struct Evidence {
    log_total: f64,
    /// Share that needs a step.
    step: f64,
    misfit: f64,
    deviance: f64,
}

fn evidence(z: &Residuals, scales: &[Scale]) -> Evidence {
    let sums: Vec<Sums> = scales.iter().map(|scale| Sums::new(&scale.weights, z)).collect();
    let each = || scales.iter().zip(&sums);
    let best = each().map(|(scale, sums)| scale.best_plain(sums)).fold(f64::NEG_INFINITY, f64::max);
    let mut top = best;
    let totals: Vec<(LogSum, LogSum)> = each()
        .map(|(scale, sums)| {
            let (mut plain, mut stepped) = (LogSum::default(), LogSum::default());
            scale.add_plain(sums, top - NEGLIGIBLE_LOG, &mut plain);
            scale.add_stepped(z, sums, top - NEGLIGIBLE_LOG, &mut stepped);
            top = top.max(stepped.top);
            (plain, stepped)
        })
        .collect();
    let (mut all, mut step, mut misfit) = (0.0, 0.0, 0.0);
    for (scale, (plain, stepped)) in scales.iter().zip(totals) {
        let stepped = STEP_PRIOR * (stepped.log() - top).exp();
        let both = (1.0 - STEP_PRIOR) * (plain.log() - top).exp() + stepped;
        all += both;
        step += stepped;
        misfit += both * scale.excess;
    }
    let count = (z.curves * scales.len()) as f64;
    let log_total = top + (all / count).ln();
    let deviance = sums[DEVIANCE_EXCESS].about_mean_min;
    Evidence { log_total, step: step / all, misfit: misfit / all, deviance }
}

/// The first point above zero, and the last one: the curves of a candidate reach over these.
fn reach(points: &[GrowthPoint]) -> Option<[u64; 2]> {
    let above = points.iter().find(|p| p.point > 0).or(points.first())?;
    Some([above.point, points.last()?.point])
}

/// The curves of each of the [`CANDIDATES`].
fn all_curves(points: &[GrowthPoint]) -> Vec<Curves> {
    CANDIDATES.iter().map(|&class| Curves::new(class, points)).collect()
}

/// The curves of a candidate, one per ratio of intercept to growth, as logarithms with a mean of about 0.
struct Curves {
    count: usize,
    /// The logarithms of all curves at the first point, then those at the next one.
    logs: Vec<f64>,
}

impl Curves {
    fn new(class: Class, points: &[GrowthPoint]) -> Self {
        let Some([first, last]) = reach(points).filter(|_| class != Class::Constant) else {
            return Self { count: 1, logs: vec![0.0; points.len()] };
        };
        // At zero there is the intercept alone, so the scale begins behind it.
        let (first, last) = (growth_of(class, first as f64), growth_of(class, last as f64));
        // From a tenth of the first point's growth, which is next to none, to ten times the last's,
        // beyond which the curve is flat. The logarithm of one is 0, and no scale to begin at.
        let first = if first > 0.0 { first } else { last * 1e-3 };
        let decades = (100.0 * last / first).log10();
        let ratios = (decades * INTERCEPTS_PER_DECADE).ceil() as usize;
        let intercepts: Vec<f64> = (0..=ratios)
            .map(|i| 0.1 * first * 10.0_f64.powf(decades * i as f64 / ratios as f64))
            .collect();
        let count = intercepts.len();
        let mut logs = Vec::with_capacity(count * points.len());
        let mut means = vec![0.0; count];
        for point in points {
            let growth = growth_of(class, point.point as f64);
            for (intercept, mean) in intercepts.iter().zip(&mut means) {
                let log = (intercept + growth).ln();
                *mean += log / points.len() as f64;
                logs.push(log);
            }
        }
        for at_point in logs.chunks_exact_mut(count) {
            for (log, mean) in at_point.iter_mut().zip(&means) {
                *log -= mean;
            }
        }
        Self { count, logs }
    }

    /// The same but at one point, which is neither the first above zero nor the last.
    fn without(&self, point: usize) -> Self {
        let mut logs = self.logs.clone();
        logs.drain(point * self.count..(point + 1) * self.count);
        Self { count: self.count, logs }
    }

    fn residuals(&self, logs: &[f64]) -> Residuals {
        let at_points = logs.iter().zip(self.logs.chunks_exact(self.count));
        let all = at_points.flat_map(|(log, curves)| curves.iter().map(move |curve| log - curve));
        Residuals { curves: self.count, all: all.collect() }
    }
}

/// The share of a standard normal distribution between `low` and `high`.
fn normal_share(low: f64, high: f64) -> f64 {
    (upper_tail(low) - upper_tail(high)).max(0.0)
}

/// The share of a standard normal distribution above `z` (Abramowitz and Stegun 26.2.17, within
/// 7.5e-8).
fn upper_tail(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    // Further out there is nothing left that a figure could hold.
    if z.abs() > 38.7 {
        return if z < 0.0 { 1.0 } else { 0.0 };
    }
    let series = t
        * (0.319_381_530
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = series * (-0.5 * z * z).exp() / TAU.sqrt();
    if z < 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share_of(weights: &[Weight], class: Class) -> Weight {
        *weights.iter().find(|w| w.class == class).unwrap()
    }

    /// Reference: the same integrals by Simpson's rule on dense grids (`numpy` 2.4, `scipy` 1.17
    /// `integrate.simpson` over the scale and over the step, `stats.norm.logpdf` for the errors),
    /// averaged over the same intercepts and errors; the deviance by `optimize.minimize_scalar`.
    #[test]
    fn evidence_equals_brute_force_integration() {
        let at = |point, median, error| GrowthPoint { point, median, error };
        let points = [at(10, 1.44, 0.03), at(100, 2.4, 0.02), at(1000, 3.3, 0.05)];
        let weights = model_weights(&points);
        for (class, log_evidence) in [
            (Class::Constant, -2.864_486),
            (Class::Logarithmic, 0.997_511),
            (Class::SquareRoot, -1.902_895),
        ] {
            let got = share_of(&weights, class).log_evidence;
            assert!(
                (got - log_evidence).abs() < 2e-4,
                "{class:?}: {got} instead of {log_evidence}"
            );
        }
        let deviance = share_of(&weights, Class::SquareRoot).deviance;
        assert!((deviance / 22.084_887 - 1.0).abs() < 0.02, "{deviance}");
        let sum: f64 = weights.iter().map(|w| w.share).sum();
        assert!((sum - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_step_is_distinguished_from_a_bend() {
        let sizes = [10, 30, 100, 300, 1000, 3000, 10_000];
        let points = sizes.map(|n| {
            let step = if n >= 3000 { 2.5 } else { 1.0 };
            GrowthPoint { point: n, median: step * n as f64, error: 0.01 }
        });
        let line = share_of(&model_weights(&points), Class::Linear);
        assert!(line.share > 0.98 && line.step_share > 0.99 * line.share, "{line:?}");
        assert!(line.misfit < 0.05 && line.deviance > 50.0, "{line:?}");
    }

    #[test]
    fn one_watched_descriptor_is_a_point_too() {
        let points =
            [1, 10, 100, 1000].map(|n| GrowthPoint { point: n, median: n as f64, error: 0.01 });
        assert!(model_weights(&points).iter().all(|w| w.share.is_finite()));
        assert!(model_weights(&points[..1]).is_empty());
    }

    #[test]
    fn leaving_out_a_point_is_as_if_it_had_never_been() {
        for sizes in [[10_u64, 30, 100, 300, 1000, 3000], [0, 50, 100, 1000, 5000, 15_000]] {
            let points = sizes.map(|n| {
                let median = 20.0 + n as f64 * if n >= 1000 { 1.6 } else { 1.0 };
                GrowthPoint { point: n, median, error: 0.02 }
            });
            for (left_out, weights) in model_weights_without_each(&points).enumerate() {
                let mut rest = points.to_vec();
                rest.remove(left_out);
                for (got, expected) in weights.iter().zip(model_weights(&rest)) {
                    assert!((got.share - expected.share).abs() < 1e-9, "{got:?} {expected:?}");
                    assert!((got.log_evidence - expected.log_evidence).abs() < 1e-9);
                    assert!((got.deviance / expected.deviance - 1.0).abs() < 1e-9);
                }
            }
        }
    }

    /// Reference: `scipy` 1.17, `stats.norm.sf`.
    #[test]
    fn normal_tails_equal_scipy() {
        let expected =
            [(-1.5, 0.933_192_799), (0.0, 0.5), (0.7, 0.241_963_652), (3.0, 0.001_349_898)];
        for (z, tail) in expected {
            assert!((upper_tail(z) - tail).abs() < 1e-7, "{z}: {}", upper_tail(z));
        }
    }
}
