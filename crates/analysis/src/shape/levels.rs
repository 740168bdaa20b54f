//! Levels of a staircase: where a curve stays the same over several points, between the climbs.
//!
//! The logarithms of the rounds' medians are cut into segments, each *flat* (of [`SEVERAL`] points at least) or a
//! *climb* (a straight line over the logarithm of the axis). The best way to cut has the least sum of squared
//! residuals, in standard errors, and of a price for each segment ([`SEGMENT_PRICE`]). A point counts up to
//! [`RESIDUAL_MAX`], so that a disturbed one doesn't cut a level in two. Its error is what its rounds scatter by, no
//! less than that of the middle point, and [`MODEL_ERROR`].
//!
//! A climb that is hardly one ([`LEVEL_SLOPE_MAX`]) is a level too. Neighbouring levels are one where they are closer
//! than [`FLAT_FACTOR_MAX`], or where the way from one to the next is not steep ([`STEEP_SLOPE_MIN`]).

use crate::Level;
use crate::gather::Samples;
use crate::stats::bootstrap::{REPLICATES, median_over_rounds};
use crate::stats::moments::sample_deviation;
use crate::stats::quantiles::{median, median_of};
use crate::thresholds::{
    CLEAR_ERRORS, FLAT_FACTOR_MAX, LEVEL_SLOPE_MAX, MODEL_ERROR, SEGMENT_PRICE, SEVERAL,
    STEEP_SLOPE_MIN,
};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;
use std::ops::RangeInclusive;

/// What one point counts at most, in squared standard errors.
const RESIDUAL_MAX: f64 = CLEAR_ERRORS * CLEAR_ERRORS;

/// The points of each level, as indices. `points` have the medians of the rounds there, all above zero.
fn segments(points: &[(u64, Vec<f64>)]) -> Vec<RangeInclusive<usize>> {
    let Some(curve) = Curve::new(points) else { return Vec::new() };
    let mut levels: Vec<RangeInclusive<usize>> =
        curve.flat_segments().into_iter().filter_map(|flat| curve.trimmed(flat)).collect();
    while let Some(index) = (1..levels.len()).find(|&n| curve.is_one(&levels[n - 1], &levels[n])) {
        let second = levels.remove(index);
        levels[index - 1] = *levels[index - 1].start()..=*second.end();
    }
    levels
}

/// The logarithms of a curve, with their standard errors.
struct Curve {
    x: Vec<f64>,
    y: Vec<f64>,
    errors: Vec<f64>,
}

impl Curve {
    /// `None` with too few points, or with one that has no logarithm.
    fn new(points: &[(u64, Vec<f64>)]) -> Option<Self> {
        if points.len() < SEVERAL {
            return None;
        }
        let mut curve = Self { x: Vec::new(), y: Vec::new(), errors: Vec::new() };
        for (point, rounds) in points {
            let mut logs: Vec<f64> = rounds.iter().map(|level| level.ln()).collect();
            let y = median_of(&mut logs).filter(|_| logs.iter().all(|log| log.is_finite()))?;
            curve.x.push((*point as f64).ln());
            curve.y.push(y);
            curve.errors.push(standard_error(&logs));
        }
        let usual = median(curve.errors.iter().copied())?;
        for error in &mut curve.errors {
            *error = error.max(usual).hypot(MODEL_ERROR);
        }
        curve.x.iter().all(|x| x.is_finite()).then_some(curve)
    }

    /// The flat segments of the best way to cut the curve.
    fn flat_segments(&self) -> Vec<RangeInclusive<usize>> {
        let count = self.y.len();
        // The best cut of the first n points: its cost, where its last segment begins, and whether that is flat.
        let mut best = vec![(0.0, 0, false)];
        for end in 1..=count {
            let mut cheapest = (f64::INFINITY, 0, false);
            for (start, before) in best.iter().enumerate() {
                for is_flat in [true, false] {
                    if is_flat && end - start < SEVERAL {
                        continue;
                    }
                    let own = if is_flat { self.flat(start, end) } else { self.climb(start, end) };
                    let cost = before.0 + own;
                    if cost < cheapest.0 {
                        cheapest = (cost, start, is_flat);
                    }
                }
            }
            best.push(cheapest);
        }
        let (mut flats, mut end) = (Vec::new(), count);
        while end > 0 {
            let (_, start, is_flat) = best[end];
            let is_gentle =
                || end - start >= SEVERAL && self.line(start, end).2.abs() <= LEVEL_SLOPE_MAX;
            if is_flat || is_gentle() {
                flats.push(start..=end - 1);
            }
            end = start;
        }
        flats.reverse();
        flats
    }

    /// What a flat segment costs.
    fn flat(&self, start: usize, end: usize) -> f64 {
        let level = self.level(start..=end - 1);
        SEGMENT_PRICE + self.residuals(start, end, |_| level)
    }

    /// What a climb costs: three figures where a level has two.
    fn climb(&self, start: usize, end: usize) -> f64 {
        let (x, y, slope) = self.line(start, end);
        SEGMENT_PRICE * 3.0 / 2.0 + self.residuals(start, end, |n| y + slope * (self.x[n] - x))
    }

    /// The straight line through these points: its middle, and its slope.
    fn line(&self, start: usize, end: usize) -> (f64, f64, f64) {
        let all = start..end;
        let weight = |index: usize| self.errors[index].powi(-2);
        let sum: f64 = all.clone().map(weight).sum();
        let mean = |logs: &[f64]| all.clone().map(|n| weight(n) * logs[n]).sum::<f64>() / sum;
        let (x, y) = (mean(&self.x), mean(&self.y));
        let across: f64 = all.clone().map(|n| weight(n) * (self.x[n] - x).powi(2)).sum();
        let along: f64 = all.clone().map(|n| weight(n) * (self.x[n] - x) * (self.y[n] - y)).sum();
        (x, y, if across > 0.0 { along / across } else { 0.0 })
    }

    fn residuals(&self, start: usize, end: usize, fit: impl Fn(usize) -> f64) -> f64 {
        let residual = |n: usize| ((self.y[n] - fit(n)) / self.errors[n]).powi(2).min(RESIDUAL_MAX);
        (start..end).map(residual).sum()
    }

    /// The middle of the points of a level.
    fn level(&self, level: RangeInclusive<usize>) -> f64 {
        median(self.y[level].iter().copied()).unwrap_or(f64::NAN)
    }

    /// The level without points at its ends that are beyond it; `None` where too few are left.
    fn trimmed(&self, flat: RangeInclusive<usize>) -> Option<RangeInclusive<usize>> {
        let level = self.level(flat.clone());
        // Where it climbs a little, its ends are as far from its middle as they have to be.
        let (x, y, slope) = self.line(*flat.start(), *flat.end() + 1);
        let slope = if slope.abs() <= LEVEL_SLOPE_MAX { slope } else { 0.0 };
        let mut within = flat.filter(|&n| {
            let from_line = (self.y[n] - y - slope * (self.x[n] - x)).abs();
            let residual = from_line.min((self.y[n] - level).abs());
            (residual / self.errors[n]).powi(2) < RESIDUAL_MAX
        });
        let first = within.next()?;
        let last = within.next_back()?;
        (last - first + 1 >= SEVERAL).then_some(first..=last)
    }

    /// Whether two neighbouring levels are one.
    fn is_one(&self, first: &RangeInclusive<usize>, second: &RangeInclusive<usize>) -> bool {
        let difference = self.level(second.clone()) - self.level(first.clone());
        let (last, next) = (*first.end(), *second.start());
        let slope = (self.y[next] - self.y[last]) / (self.x[next] - self.x[last]);
        difference.abs() < FLAT_FACTOR_MAX.ln() || slope.abs() < STEEP_SLOPE_MIN
    }
}

/// The standard error of the median of these values, were they drawn from a normal distribution; 0 of a single one.
fn standard_error(values: &[f64]) -> f64 {
    // The median's error is √(π/2) times the mean's.
    let of_one = |deviation: f64| deviation * (FRAC_PI_2 / values.len() as f64).sqrt();
    sample_deviation(values).map_or(0.0, of_one)
}

/// The levels of `series`, ascending; `random` is a generator for the one that begins at this point.
pub(crate) fn levels(
    series: &BTreeMap<u64, Samples<'_>>,
    random: impl Fn(u64) -> Rng,
) -> Vec<Level> {
    let medians = |samples: &Samples<'_>| {
        samples.rounds.iter().filter_map(|(_, round)| median(round.iter().copied())).collect()
    };
    let curve: Vec<(u64, Vec<f64>)> =
        series.iter().map(|(&point, samples)| (point, medians(samples))).collect();
    let level = |points: RangeInclusive<usize>| {
        let (from, to) = (curve[*points.start()].0, curve[*points.end()].0);
        let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for (_, samples) in series.range(from..=to) {
            for (number, round) in &samples.rounds {
                rounds.entry(*number).or_default().extend(round.iter());
            }
        }
        let rounds: Vec<&[f64]> = rounds.values().map(Vec::as_slice).collect();
        let median = median_over_rounds(&rounds, REPLICATES, &mut random(from))?.estimate;
        Some(Level { from, to, median })
    };
    segments(&curve).into_iter().filter_map(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    type Curve = fn(f64) -> f64;

    /// Sizes as a run has them: powers of two, and one between each two.
    fn sizes() -> Vec<u64> {
        (2..20).flat_map(|n| [1 << n, 3 << (n - 1)]).chain([1 << 20]).collect()
    }

    fn powers() -> Vec<u64> {
        (2..19).map(|n| 1 << n).collect()
    }

    /// Five rounds of a curve with errors of this standard deviation; one figure in fifty is disturbed.
    fn drawn(
        sizes: &[u64],
        noise: f64,
        random: &mut Rng,
        curve: impl Fn(f64) -> f64,
    ) -> Vec<(u64, Vec<f64>)> {
        let mut figure = |size: u64| {
            let normal: f64 = (0..12).map(|_| random.f64()).sum::<f64>() - 6.0;
            let disturbed = if random.f64() < 0.02 { 1.0 + random.f64() } else { 1.0 };
            curve(size as f64) * (noise * normal).exp() * disturbed
        };
        sizes.iter().map(|&size| (size, (0..5).map(|_| figure(size)).collect())).collect()
    }

    #[test]
    fn smooth_curves_and_noise_have_no_step() {
        let mut random = Rng::with_seed(1);
        let curves: [(&str, Curve); 8] = [
            ("flat", |_| 4.0),
            ("x^0.05", |n| n.powf(0.05)),
            ("x^0.1", |n| n.powf(0.1)),
            ("x^0.25", |n| n.powf(0.25)),
            ("x^0.5", |n| n.powf(0.5)),
            ("x", |n| n),
            ("log", |n| (1.0 + n).ln()),
            ("log²", |n| (1.0 + n).ln().powi(2)),
        ];
        for sizes in [sizes(), powers()] {
            for (name, curve) in curves {
                for noise in [0.01, 0.03, 0.1, 0.25] {
                    let wrong = (0..200)
                        .filter(|_| segments(&drawn(&sizes, noise, &mut random, curve)).len() > 1)
                        .count();
                    let count = sizes.len();
                    println!("{count} points, {name}, noise {noise}: {wrong} of 200");
                    assert!(wrong <= 10, "{count} points, {name}, noise {noise}: {wrong} of 200");
                }
            }
        }
    }

    /// Four levels: sharp steps at 48 KiB and at 1 MiB, and a climb from 2 to 16 MiB.
    fn staircase(size: f64) -> f64 {
        match size {
            size if size <= 48.0 => 1.2,
            size if size <= 1_024.0 => 4.0,
            size if size <= 2_048.0 => 20.0,
            size if size <= 16_384.0 => 20.0 * (size / 2_048.0).powf(0.7),
            size if size <= 131_072.0 => 20.0 * 8_f64.powf(0.7),
            _ => 170.0,
        }
    }

    #[test]
    fn the_levels_of_a_staircase_are_found_within_a_point() {
        let mut random = Rng::with_seed(2);
        for sizes in [sizes(), powers()] {
            let at = |size: u64| sizes.iter().rposition(|&point| point <= size).unwrap();
            let ends = [at(48), at(1_024), at(131_072), sizes.len() - 1];
            for noise in [0.01, 0.03, 0.08] {
                let is_right = |_: &i32| {
                    let curve = |size: f64| if size > 131_072.0 { 250.0 } else { staircase(size) };
                    let levels = segments(&drawn(&sizes, noise, &mut random, curve));
                    // Of the powers, two points are no level.
                    let expected = if sizes.len() < 20 { &ends[..3] } else { &ends[..] };
                    levels.len() == expected.len()
                        && levels.iter().zip(expected).all(|(l, &end)| l.end().abs_diff(end) <= 1)
                };
                let right = (0..200).filter(is_right).count();
                println!("{} points, noise {noise}: {right} of 200", sizes.len());
                assert!(right >= 190, "{} points, noise {noise}: {right} of 200", sizes.len());
            }
        }
    }

    #[test]
    fn a_level_that_climbs_a_little_is_a_level() {
        // What one run had, in nanoseconds.
        let figures =
            [1.22, 1.35, 1.25, 1.32, 1.48, 4.0, 4.45, 4.3, 4.83, 5.39, 19.0, 36.0, 82.6, 128.0];
        let sizes = [4, 8, 16, 32, 48, 64, 128, 256, 512, 1_024, 2_048, 4_096, 8_192, 16_384];
        let rounds = |level: f64| vec![level, level * 0.98, level * 1.02];
        let points: Vec<(u64, Vec<f64>)> = sizes.into_iter().zip(figures.map(rounds)).collect();
        assert_eq!(segments(&points), [0..=4, 5..=9]);
    }

    #[test]
    fn what_has_no_logarithm_or_too_few_points_has_no_level() {
        let three = |level: f64| vec![(1, vec![1.0]), (2, vec![level]), (4, vec![1.0])];
        assert_eq!(segments(&three(1.0)), [0..=2]);
        assert_eq!(segments(&three(0.0)), []);
        assert_eq!(segments(&three(1.0)[..2]), []);
        assert_eq!(segments(&[]), []);
    }

    #[test]
    fn a_disturbed_point_cuts_no_level() {
        let mut points: Vec<(u64, Vec<f64>)> =
            sizes().into_iter().map(|size| (size, vec![2.0; 5])).collect();
        points[9].1 = vec![9.0; 5];
        assert_eq!(segments(&points), [0..=36]);
    }
}
