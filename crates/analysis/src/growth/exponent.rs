//! The exponent of a series: the slope of the logarithm of the figure over that of the axis. Where much is constant, it
//! is that of what grows: with its constant part a quadratic curve has a slope of 1.5 on the whole, and the slope of
//! what grows is 2.

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

/// The exponent of what grows in the series of `levels` whose verdict is `growth`, with its 95 % CI, and the constant part
/// that was taken off; `None` where that is small, or too few points rise from it. `draws` are as for [`exponent`].
pub fn growing_part(
    growth: &Growth,
    levels: &[Level],
    draws: &[Vec<f64>],
) -> Option<(Estimate, f64)> {
    let curve = slowest(growth, levels)?;
    let logs: Vec<f64> = levels.iter().map(|level| level.log).collect();
    let (constant, ratio) = constant_part(&curve, &logs)?;
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
    let drawn = draws.iter().step_by(draws.len().div_ceil(REPLICATES_OF_PART).max(1));
    let drawn = drawn.filter_map(|logs| Some(rest(logs, constant_part(&curve, logs)?.0)));
    Some((slope(&rest(&logs, constant), drawn)?, constant))
}

/// The exponent of `levels`, with its 95 % CI: of those above zero, since log 0 is undefined. `None` with fewer than
/// three points, or a level that has no logarithm.
///
/// With `draws`, which are [`levels::draws`](super::levels::draws), it is [`theil_sen`]'s slope; without any
/// [`least_squares`]'.
pub fn exponent(levels: &[Level], draws: &[Vec<f64>]) -> Option<Estimate> {
    let above = levels.iter().position(|level| level.point > 0).unwrap_or(levels.len());
    let levels = &levels[above..];
    if levels.len() < 3 || levels.iter().any(|level| !level.log.is_finite()) {
        return None;
    }
    let x: Vec<f64> = levels.iter().map(|level| (level.point as f64).ln()).collect();
    let y = levels.iter().map(|level| level.log).collect();
    let drawn = draws.iter().map(|logs| (x.clone(), logs[above..].to_vec()));
    slope(&(x.clone(), y), drawn)
}

/// The slope of a line, and of the same where it was drawn at random.
fn slope(
    (x, y): &(Vec<f64>, Vec<f64>),
    drawn: impl Iterator<Item = (Vec<f64>, Vec<f64>)>,
) -> Option<Estimate> {
    let mut drawn = drawn.peekable();
    if drawn.peek().is_none() {
        return least_squares(x, y);
    }
    let slopes: Vec<f64> = drawn.filter_map(|(x, y)| theil_sen(&x, &y)).collect();
    Some(percentile_interval(theil_sen(x, y)?, &slopes))
}

/// The curve of the slowest class that the verdict leaves, where all that it leaves grow: at each point, in units of its
/// first value above zero.
fn slowest(growth: &Growth, levels: &[Level]) -> Option<Vec<f64>> {
    let class = *growth.classes.first()?;
    if [Class::Constant, Class::Logarithmic].contains(&class) || growth.class == Class::Grows {
        return None;
    }
    let values: Vec<f64> =
        levels.iter().map(|level| growth_of(class, level.point as f64)).collect();
    let first = values.iter().copied().find(|value| *value > 0.0)?;
    Some(values.iter().map(|value| value / first).collect())
}

/// The constant below the figures with these `logs`, and its ratio to what grows at the first point above zero: those at
/// which the `curve` comes closest, by the logarithms of most points. A step at a cache's edge doesn't move it.
fn constant_part(curve: &[f64], logs: &[f64]) -> Option<(f64, f64)> {
    let decades = curve.last()?.log10() + 1.0;
    let steps = (decades * CONSTANT_RATIOS_PER_DECADE).ceil().max(0.0) as usize;
    let ratio = |step: usize| EVEN / 10.0 * 10_f64.powf(step as f64 / CONSTANT_RATIOS_PER_DECADE);
    let start = if curve[0] > 0.0 { Some(0.0) } else { None };
    let ratios = start.into_iter().chain((0..steps + 12).map(ratio));
    let fitted = ratios.filter_map(|ratio| {
        let mut distances: Vec<f64> =
            logs.iter().zip(curve).map(|(log, value)| log - (ratio + value).ln()).collect();
        let level = median_of(&mut distances)?;
        let off: f64 = distances.iter().map(|distance| (distance - level).abs()).sum();
        Some((off, level.exp() * ratio, ratio))
    });
    let (_, constant, ratio) = fitted.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((constant, ratio))
}

#[cfg(test)]
mod tests {
    use super::*;
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

    fn part(class: Class, curve: impl Fn(f64) -> f64) -> Option<(Estimate, f64)> {
        growing_part(&growth(class), &levels(None, curve), &[])
    }

    #[test]
    fn a_large_constant_part_does_not_flatten_the_exponent() {
        let curve = |n: f64| 100.0 + 1e-4 * n * n;
        let plain = exponent(&levels(None, curve), &[]).unwrap();
        assert!(plain.value < 1.3, "{plain:?}");
        let (quadratic, constant) = part(Class::Quadratic, curve).unwrap();
        assert!((quadratic.value - 2.0).abs() < 0.05, "{quadratic:?}");
        assert!((constant - 100.0).abs() < 5.0, "{constant}");
        let (line, _) = part(Class::Linear, |n| 1_750.0 + 105.0 * n).unwrap();
        assert!((line.value - 1.0).abs() < 0.03, "{line:?}");
        // A cache's edge at the last point.
        let bent = part(Class::Linear, |n| if n > 5e3 { 420.0 * n } else { 1_750.0 + 105.0 * n });
        assert!((bent.unwrap().0.value - 1.0).abs() < 0.15, "{bent:?}");
    }

    #[test]
    fn its_interval_covers_the_noise_of_the_constant_part() {
        let levels = levels(Some(0.02), |n| 100.0 + 1e-3 * n.powi(2));
        let Estimate { value, low, high } =
            growing_part(&growth(Class::Quadratic), &levels, &draws(&levels)).unwrap().0;
        assert!(low < 2.0 && 2.0 < high && high - low < 0.3, "{low} {value} {high}");
    }

    #[test]
    fn a_small_constant_part_is_left_in() {
        assert_eq!(part(Class::Linear, |n| 10.0 + 105.0 * n), None);
        assert_eq!(part(Class::Constant, |_| 10.0), None);
        assert_eq!(part(Class::Quadratic, |n| 1e6 + 1e-3 * n * n), None, "hardly a point rises");
    }

    fn levels_of(points: &[(u64, f64)], error: Option<f64>) -> Vec<Level> {
        points.iter().map(|&(point, y)| Level::new(point, y.ln(), error)).collect()
    }

    /// Reference: `scipy` 1.17, `linregress` of the logarithms: slope ± `t.ppf(.975, n - 2)` · stderr.
    #[test]
    fn least_squares_equals_scipy() {
        let poll = [
            (10, 1.44),
            (30, 2.53),
            (100, 6.4),
            (300, 16.5),
            (1000, 59.9),
            (3000, 214.5),
            (10_000, 1150.0),
        ];
        let seven = exponent(&levels_of(&poll, None), &[]).unwrap();
        assert!((seven.value - 0.967_399_167_366_862_8).abs() < 1e-9, "{seven:?}");
        assert!((seven.low - 0.806_506_144).abs() < 1e-6, "{seven:?}");
        assert!((seven.high - 1.128_292_191).abs() < 1e-6, "{seven:?}");
        let three = [(100, 23.0), (1000, 890.0), (10_000, 11_333.0)];
        let three = exponent(&levels_of(&three, None), &[]).unwrap();
        assert!((three.value - 1.346_308_526_375_018_7).abs() < 1e-9, "{three:?}");
        assert!((three.low + 0.424_245_1).abs() < 1e-5 && (three.high - 3.116_862_1).abs() < 1e-5);
    }

    #[test]
    fn the_exponent_of_a_power_is_its_power() {
        let points: Vec<(u64, f64)> =
            [0, 10, 100, 1000].map(|n| (n, 3.0 * (n as f64).powf(1.5) + 1e-9)).to_vec();
        let levels = levels_of(&points, Some(0.01));
        let Estimate { value, low, high } = exponent(&levels, &draws(&levels)).unwrap();
        assert!((value - 1.5).abs() < 1e-6 && low < value && value < high && high - low < 0.02);
    }

    #[test]
    fn figures_without_a_logarithm_have_no_exponent() {
        let of_figures = |points: &[(u64, f64)]| exponent(&levels_of(points, None), &[]);
        assert_eq!(of_figures(&[(1, 1.0), (10, 0.0), (100, 1.0)]), None);
        assert_eq!(of_figures(&[(0, 1.0), (10, 2.0), (100, 1.0)]), None);
        assert_eq!(of_figures(&[(1, 1.0), (10, 2.0)]), None);
    }
}
