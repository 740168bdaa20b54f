//! The exponent of a series: the slope of the logarithm of the figure over that of the axis.

use crate::Estimate;
use crate::growth::levels::Level;
use crate::stats::bootstrap::percentile_interval;
use crate::stats::regression::{least_squares, theil_sen};

/// The exponent of `levels`, with its 95 % CI: of those above zero, since log 0 is undefined.
///
/// `draws` are [`levels::draws`](super::levels::draws): then the exponent is [`theil_sen`]'s slope, and the interval that of the
/// draws. Without any it is [`least_squares`]' slope and interval, which judges by the scatter about the line; with three points
/// that interval is very wide, as it should be. `None` with fewer than three points, or a level that has no logarithm.
pub fn exponent(levels: &[Level], draws: &[Vec<f64>]) -> Option<Estimate> {
    let above = levels.iter().position(|level| level.point > 0).unwrap_or(levels.len());
    let levels = &levels[above..];
    if levels.len() < 3 || levels.iter().any(|level| !level.log.is_finite()) {
        return None;
    }
    let x: Vec<f64> = levels.iter().map(|level| (level.point as f64).ln()).collect();
    let y: Vec<f64> = levels.iter().map(|level| level.log).collect();
    if draws.is_empty() {
        return least_squares(&x, &y);
    }
    let slopes: Vec<f64> = draws.iter().filter_map(|logs| theil_sen(&x, &logs[above..])).collect();
    Some(percentile_interval(theil_sen(&x, &y)?, &slopes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(points: &[(u64, f64)], error: Option<f64>) -> Vec<Level> {
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
        let seven = exponent(&levels(&poll, None), &[]).unwrap();
        assert!((seven.value - 0.967_399_167_366_862_8).abs() < 1e-9, "{seven:?}");
        assert!((seven.low - 0.806_506_144).abs() < 1e-6, "{seven:?}");
        assert!((seven.high - 1.128_292_191).abs() < 1e-6, "{seven:?}");
        let three = [(100, 23.0), (1000, 890.0), (10_000, 11_333.0)];
        let three = exponent(&levels(&three, None), &[]).unwrap();
        assert!((three.value - 1.346_308_526_375_018_7).abs() < 1e-9, "{three:?}");
        assert!((three.low + 0.424_245_1).abs() < 1e-5 && (three.high - 3.116_862_1).abs() < 1e-5);
    }

    #[test]
    fn the_exponent_of_a_power_is_its_power() {
        let points: Vec<(u64, f64)> =
            [0, 10, 100, 1000].map(|n| (n, 3.0 * (n as f64).powf(1.5) + 1e-9)).to_vec();
        let levels = levels(&points, Some(0.01));
        let Estimate { value, low, high } =
            exponent(&levels, &crate::growth::levels::draws(&levels)).unwrap();
        assert!((value - 1.5).abs() < 1e-6 && low < value && value < high && high - low < 0.02);
    }

    #[test]
    fn figures_without_a_logarithm_have_no_exponent() {
        let of_figures = |points: &[(u64, f64)]| exponent(&levels(points, None), &[]);
        assert_eq!(of_figures(&[(1, 1.0), (10, 0.0), (100, 1.0)]), None);
        assert_eq!(of_figures(&[(0, 1.0), (10, 2.0), (100, 1.0)]), None);
        assert_eq!(of_figures(&[(1, 1.0), (10, 2.0)]), None);
    }
}
