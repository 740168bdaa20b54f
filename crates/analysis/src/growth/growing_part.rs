//! The exponent of what grows in a series of which much is constant: with its constant part a quadratic curve
//! has a slope of 1.5 on the whole, and the slope of what grows is 2.

use crate::growth::curves::growth_of;
use crate::growth::thresholds::{
    CONSTANT_RATIO_MIN, CONSTANT_RATIOS_PER_DECADE, GROWING_SHARE_MIN, REPLICATES_OF_PART,
};
use crate::stats::bootstrap::percentile_interval;
use crate::stats::quantiles::median_of;
use crate::stats::regression::{least_squares, theil_sen};
use crate::{Class, Estimate, Growth};

/// What grows in a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrowingPart {
    /// The slope of its logarithm over that of the axis, with its 95 % interval.
    pub exponent: Estimate,
    /// The constant part, which was taken off.
    pub constant: f64,
}

/// What grows in the series of `points` whose verdict is `growth`; `None` where its constant part is small, or
/// too few points rise from it. `replicates` are as for [`exponent`](super::exponent::exponent).
pub fn growing_part(
    growth: &Growth,
    points: &[(u64, f64)],
    replicates: &[&[f64]],
) -> Option<GrowingPart> {
    let curve = Curve::new(growth, points)?;
    let medians: Vec<f64> = points.iter().map(|&(_, median)| median).collect();
    let (constant, ratio) = curve.constant(&medians)?;
    if ratio < CONSTANT_RATIO_MIN {
        return None;
    }
    let is_growing = |&(point, median): &(u64, f64)| {
        point > 0 && median - constant >= GROWING_SHARE_MIN * median
    };
    let growing: Vec<usize> =
        (0..points.len()).filter(|&index| is_growing(&points[index])).collect();
    if growing.len() < 3 {
        return None;
    }
    let rest = |figures: &[f64], constant: f64| -> (Vec<f64>, Vec<f64>) {
        let part = growing.iter().map(|&index| (points[index].0, figures[index] - constant));
        part.filter(|(_, part)| *part > 0.0).map(|(n, part)| ((n as f64).ln(), part.ln())).unzip()
    };
    let (x, y) = rest(&medians, constant);
    let count = replicates.iter().map(|replicates| replicates.len()).min().unwrap_or(0);
    if count == 0 || replicates.len() != points.len() {
        return Some(GrowingPart { exponent: least_squares(&x, &y)?, constant });
    }
    let drawn = (0..count).step_by(count.div_ceil(REPLICATES_OF_PART));
    let slopes: Vec<f64> = drawn
        .filter_map(|replicate| {
            let figures: Vec<f64> = replicates.iter().map(|figures| figures[replicate]).collect();
            let (constant, _) = curve.constant(&figures)?;
            let (x, y) = rest(&figures, constant);
            theil_sen(&x, &y)
        })
        .collect();
    Some(GrowingPart { exponent: percentile_interval(theil_sen(&x, &y)?, &slopes), constant })
}

/// The curve of a growth class at each point, in units of its first value above zero.
struct Curve(Vec<f64>);

impl Curve {
    /// That of the slowest class that the verdict leaves, where all that it leaves grow.
    fn new(growth: &Growth, points: &[(u64, f64)]) -> Option<Self> {
        let class = *growth.classes.first()?;
        let is_positive = points.iter().all(|&(_, y)| y > 0.0 && y.is_finite());
        if !is_positive
            || [Class::Constant, Class::Logarithmic].contains(&class)
            || growth.class == Class::Grows
        {
            return None;
        }
        let values: Vec<f64> = points.iter().map(|&(n, _)| growth_of(class, n as f64)).collect();
        let first = values.iter().copied().find(|value| *value > 0.0)?;
        Some(Self(values.iter().map(|value| value / first).collect()))
    }

    /// The constant below `figures`, and its ratio to what grows at the first point above zero: those at which
    /// the curve comes closest, by the logarithms of most points. A step at a cache's edge doesn't move it.
    fn constant(&self, figures: &[f64]) -> Option<(f64, f64)> {
        if figures.iter().any(|&figure| !(figure > 0.0 && figure.is_finite())) {
            return None;
        }
        let logs: Vec<f64> = figures.iter().map(|figure| figure.ln()).collect();
        let decades = self.0.last()?.log10() + 1.0;
        let steps = (decades * CONSTANT_RATIOS_PER_DECADE).ceil().max(0.0) as usize;
        let ratio = |step: usize| {
            CONSTANT_RATIO_MIN / 10.0 * 10_f64.powf(step as f64 / CONSTANT_RATIOS_PER_DECADE)
        };
        let start = if self.0[0] > 0.0 { Some(0.0) } else { None };
        let ratios = start.into_iter().chain((0..steps + 12).map(ratio));
        let fitted = ratios.filter_map(|ratio| {
            let mut distances: Vec<f64> =
                logs.iter().zip(&self.0).map(|(log, value)| log - (ratio + value).ln()).collect();
            let level = median_of(&mut distances)?;
            let off: f64 = distances.iter().map(|distance| (distance - level).abs()).sum();
            Some((off, level.exp() * ratio, ratio))
        });
        let best = fitted.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((best.1, best.2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::growth::exponent::exponent;

    const SIZES: [u64; 7] = [10, 30, 100, 300, 1000, 3000, 10_000];

    fn growth(class: Class) -> Growth {
        let (from, to) = (10, 10_000);
        let classes = vec![class];
        Growth {
            class,
            classes,
            factor: Estimate { value: 1.0, low: 1.0, high: 1.0 },
            from,
            to,
            best: None,
            exponent: None,
            constant: None,
            reason: None,
        }
    }

    fn part(class: Class, curve: impl Fn(f64) -> f64) -> Option<GrowingPart> {
        let points = SIZES.map(|n| (n, curve(n as f64)));
        growing_part(&growth(class), &points, &[])
    }

    #[test]
    fn a_large_constant_part_does_not_flatten_the_exponent() {
        let curve = |n: f64| 100.0 + 1e-4 * n * n;
        let plain = exponent(&SIZES.map(|n| (n, curve(n as f64))), &[]).unwrap();
        assert!(plain.value < 1.3, "{plain:?}");
        let quadratic = part(Class::Quadratic, curve).unwrap();
        assert!((quadratic.exponent.value - 2.0).abs() < 0.05, "{quadratic:?}");
        assert!((quadratic.constant - 100.0).abs() < 5.0, "{quadratic:?}");
        let line = part(Class::Linear, |n| 1_750.0 + 105.0 * n).unwrap();
        assert!((line.exponent.value - 1.0).abs() < 0.03, "{line:?}");
        // A cache's edge at the last point.
        let bent = part(Class::Linear, |n| if n > 5e3 { 420.0 * n } else { 1_750.0 + 105.0 * n });
        assert!((bent.unwrap().exponent.value - 1.0).abs() < 0.15, "{bent:?}");
    }

    #[test]
    fn its_interval_covers_the_noise_of_the_constant_part() {
        let mut random = fastrand::Rng::with_seed(3);
        let points = SIZES.map(|n| (n, 100.0 + 1e-3 * (n as f64).powi(2)));
        let replicates = points.map(|(_, median)| -> Vec<f64> {
            let noise = |random: &mut fastrand::Rng| crate::stats::random::normal(random);
            (0..400).map(|_| median * (0.02 * noise(&mut random)).exp()).collect()
        });
        let slices: Vec<&[f64]> = replicates.iter().map(Vec::as_slice).collect();
        let Estimate { value, low, high } =
            growing_part(&growth(Class::Quadratic), &points, &slices).unwrap().exponent;
        assert!(low < 2.0 && 2.0 < high && high - low < 0.3, "{low} {value} {high}");
    }

    #[test]
    fn a_small_constant_part_is_left_in() {
        assert_eq!(part(Class::Linear, |n| 10.0 + 105.0 * n), None);
        assert_eq!(part(Class::Constant, |_| 10.0), None);
        assert_eq!(part(Class::Quadratic, |n| 1e6 + 1e-3 * n * n), None, "hardly a point rises");
    }
}
