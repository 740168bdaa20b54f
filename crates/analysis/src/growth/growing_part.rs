//! The exponent of what grows in a series of which much is constant: with its constant part a quadratic curve
//! has a slope of 1.5 on the whole, and the slope of what grows is 2.

use crate::growth::curves::growth_of;
use crate::growth::levels::Level;
use crate::stats::bootstrap::percentile_interval;
use crate::stats::quantiles::median_of;
use crate::stats::regression::{least_squares, theil_sen};
use crate::thresholds::{EVEN, PART_SHARE_MIN};
use crate::{Class, Estimate, Growth};

/// Density of the ratios among which the best is taken.
const CONSTANT_RATIOS_PER_DECADE: f64 = 12.0;

/// Replicates that the interval of the growing part's exponent is made of, at most: each is fitted.
const REPLICATES_OF_PART: usize = 200;

/// What grows in a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GrowingPart {
    /// The slope of its logarithm over that of the axis, with its 95 % CI.
    pub exponent: Estimate,
    /// The constant part, which was taken off.
    pub constant: f64,
}

/// What grows in the series of `levels` whose verdict is `growth`; `None` where its constant part is small, or
/// too few points rise from it. `draws` are as for [`exponent`](super::exponent::exponent).
pub fn growing_part(growth: &Growth, levels: &[Level], draws: &[Vec<f64>]) -> Option<GrowingPart> {
    let curve = Curve::new(growth, levels)?;
    let logs: Vec<f64> = levels.iter().map(|level| level.log).collect();
    let (constant, ratio) = curve.constant(&logs)?;
    if ratio < EVEN {
        return None;
    }
    let is_growing = |index: &usize| {
        levels[*index].point > 0 && 1.0 - constant / logs[*index].exp() >= PART_SHARE_MIN
    };
    let growing: Vec<usize> = (0..levels.len()).filter(is_growing).collect();
    if growing.len() < 3 {
        return None;
    }
    let rest = |logs: &[f64], constant: f64| -> (Vec<f64>, Vec<f64>) {
        let part = growing.iter().map(|&index| (levels[index].point, logs[index].exp() - constant));
        part.filter(|(_, part)| *part > 0.0).map(|(n, part)| ((n as f64).ln(), part.ln())).unzip()
    };
    let (x, y) = rest(&logs, constant);
    if draws.is_empty() {
        return Some(GrowingPart { exponent: least_squares(&x, &y)?, constant });
    }
    let drawn = draws.iter().step_by(draws.len().div_ceil(REPLICATES_OF_PART));
    let slope = |logs: &Vec<f64>| {
        let (constant, _) = curve.constant(logs)?;
        let (x, y) = rest(logs, constant);
        theil_sen(&x, &y)
    };
    let slopes: Vec<f64> = drawn.filter_map(slope).collect();
    Some(GrowingPart { exponent: percentile_interval(theil_sen(&x, &y)?, &slopes), constant })
}

/// The curve of a growth class at each point, in units of its first value above zero.
struct Curve(Vec<f64>);

impl Curve {
    /// That of the slowest class that the verdict leaves, where all that it leaves grow.
    fn new(growth: &Growth, levels: &[Level]) -> Option<Self> {
        let class = *growth.classes.first()?;
        if [Class::Constant, Class::Logarithmic].contains(&class) || growth.class == Class::Grows {
            return None;
        }
        let values: Vec<f64> =
            levels.iter().map(|level| growth_of(class, level.point as f64)).collect();
        let first = values.iter().copied().find(|value| *value > 0.0)?;
        Some(Self(values.iter().map(|value| value / first).collect()))
    }

    /// The constant below the figures with these `logs`, and its ratio to what grows at the first point above zero: those at
    /// which the curve comes closest, by the logarithms of most points. A step at a cache's edge doesn't move it.
    fn constant(&self, logs: &[f64]) -> Option<(f64, f64)> {
        let decades = self.0.last()?.log10() + 1.0;
        let steps = (decades * CONSTANT_RATIOS_PER_DECADE).ceil().max(0.0) as usize;
        let ratio =
            |step: usize| EVEN / 10.0 * 10_f64.powf(step as f64 / CONSTANT_RATIOS_PER_DECADE);
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
    use crate::growth::levels::draws;

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

    fn levels(error: Option<f64>, curve: impl Fn(f64) -> f64) -> Vec<Level> {
        SIZES.map(|point| Level::new(point, curve(point as f64).ln(), error)).to_vec()
    }

    fn part(class: Class, curve: impl Fn(f64) -> f64) -> Option<GrowingPart> {
        growing_part(&growth(class), &levels(None, curve), &[])
    }

    #[test]
    fn a_large_constant_part_does_not_flatten_the_exponent() {
        let curve = |n: f64| 100.0 + 1e-4 * n * n;
        let plain = exponent(&levels(None, curve), &[]).unwrap();
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
        let levels = levels(Some(0.02), |n| 100.0 + 1e-3 * n.powi(2));
        let Estimate { value, low, high } =
            growing_part(&growth(Class::Quadratic), &levels, &draws(&levels)).unwrap().exponent;
        assert!(low < 2.0 && 2.0 < high && high - low < 0.3, "{low} {value} {high}");
    }

    #[test]
    fn a_small_constant_part_is_left_in() {
        assert_eq!(part(Class::Linear, |n| 10.0 + 105.0 * n), None);
        assert_eq!(part(Class::Constant, |_| 10.0), None);
        assert_eq!(part(Class::Quadratic, |n| 1e6 + 1e-3 * n * n), None, "hardly a point rises");
    }
}
