//! The exponent of a series: the slope of the logarithm of the figure over that of the axis.

use crate::Estimate;
use crate::stats::bootstrap::percentile_interval;
use crate::stats::regression::{least_squares, theil_sen};

/// The exponent of a series of `points`, with its 95 % interval: of those above zero, since log 0 is
/// undefined.
///
/// `replicates` holds the bootstrap's replicates of the median at each point, or nothing for a point
/// that could not be resampled. Where every point has some, the exponent is [`theil_sen`]'s slope and
/// the interval its bootstrap. Where one has none, it is [`least_squares`]' slope and interval, which
/// judges by the scatter about the line; with three points that interval is very wide, as it should
/// be. `None` with fewer than three points, or a figure or replicate that has no logarithm.
pub fn exponent(points: &[(u64, f64)], replicates: &[&[f64]]) -> Option<Estimate> {
    let all_resampled = replicates.len() == points.len();
    let above = points.iter().position(|&(n, _)| n > 0).unwrap_or(points.len());
    let points = &points[above..];
    let replicates = if all_resampled { &replicates[above..] } else { &[] };
    if points.len() < 3 || points.iter().any(|&(_, y)| !(y > 0.0 && y.is_finite())) {
        return None;
    }
    let x: Vec<f64> = points.iter().map(|&(n, _)| (n as f64).ln()).collect();
    let y: Vec<f64> = points.iter().map(|&(_, y)| y.ln()).collect();
    let count = replicates.iter().map(|r| r.len()).min().unwrap_or(0);
    if count == 0 {
        return least_squares(&x, &y);
    }
    let mut drawn = vec![0.0; y.len()];
    let mut slopes = Vec::with_capacity(count);
    for replicate in 0..count {
        for (slot, figures) in drawn.iter_mut().zip(replicates) {
            *slot = figures[replicate].ln();
        }
        if !drawn.iter().all(|log| log.is_finite()) {
            return None;
        }
        slopes.extend(theil_sen(&x, &drawn));
    }
    Some(percentile_interval(theil_sen(&x, &y)?, &slopes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLL: [(u64, f64); 7] = [
        (10, 1.44),
        (30, 2.53),
        (100, 6.4),
        (300, 16.5),
        (1000, 59.9),
        (3000, 214.5),
        (10_000, 1150.0),
    ];

    fn is_close(got: f64, expected: f64) -> bool {
        (got - expected).abs() < 1e-9
    }

    /// Reference: `scipy` 1.17, `linregress` of the logarithms: slope ± `t.ppf(.975, n - 2)` · stderr.
    #[test]
    fn least_squares_equals_scipy() {
        let seven = exponent(&POLL, &[]).unwrap();
        assert!(is_close(seven.value, 0.967_399_167_366_862_8), "{seven:?}");
        assert!((seven.low - 0.806_506_144).abs() < 1e-6, "{seven:?}");
        assert!((seven.high - 1.128_292_191).abs() < 1e-6, "{seven:?}");
        let three = exponent(&[(100, 23.0), (1000, 890.0), (10_000, 11_333.0)], &[]).unwrap();
        assert!(is_close(three.value, 1.346_308_526_375_018_7), "{three:?}");
        assert!((three.low + 0.424_245_1).abs() < 1e-5 && (three.high - 3.116_862_1).abs() < 1e-5);
    }

    #[test]
    fn the_exponent_of_a_power_is_its_power() {
        let points: Vec<(u64, f64)> =
            [10, 100, 1000].map(|n| (n, 3.0 * (n as f64).powf(1.5))).to_vec();
        let replicates: Vec<Vec<f64>> = points
            .iter()
            .map(|&(_, y)| (0..100).map(|i| y * (1.0 + f64::from(i) * 1e-4)).collect())
            .collect();
        let slices: Vec<&[f64]> = replicates.iter().map(Vec::as_slice).collect();
        let Estimate { value, low, high } = exponent(&points, &slices).unwrap();
        assert!(is_close(value, 1.5) && low <= value && value <= high && high - low < 0.01);
    }

    #[test]
    fn figures_without_a_logarithm_have_no_exponent() {
        assert_eq!(exponent(&[(1, 1.0), (10, 0.0), (100, 1.0)], &[]), None);
        assert_eq!(exponent(&[(0, 1.0), (10, 2.0), (100, 1.0)], &[]), None);
        assert_eq!(exponent(&[(1, 1.0), (10, 2.0)], &[]), None);
        let replicates: [&[f64]; 3] = [&[1.0, 1.0], &[2.0, 0.0], &[3.0, 3.0]];
        assert_eq!(exponent(&[(1, 1.0), (10, 2.0), (100, 3.0)], &replicates), None);
    }
}
