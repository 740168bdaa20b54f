//! The exponent of a series: the slope of the logarithm of the figure over that of the axis.

use crate::Estimate;
use crate::stats::bootstrap::percentile_interval;
use crate::stats::quantiles::median_of;

/// The median of the slopes between all pairs of points (Theil and Sen): one bad point of seven does
/// not move it. `None` with fewer than two distinct `x`.
pub fn theil_sen(x: &[f64], y: &[f64]) -> Option<f64> {
    let mut slopes = Vec::with_capacity(x.len() * x.len() / 2);
    for i in 0..x.len().min(y.len()) {
        for j in 0..i {
            if (x[i] - x[j]).abs() > 0.0 {
                slopes.push((y[i] - y[j]) / (x[i] - x[j]));
            }
        }
    }
    median_of(&mut slopes)
}

/// The slope of the least-squares line with its 95 % interval by Student's t. `None` with fewer than
/// three points or two distinct `x`: then nothing is left to judge the scatter by.
pub fn least_squares(x: &[f64], y: &[f64]) -> Option<Estimate> {
    let count = x.len().min(y.len());
    let freedom = count.checked_sub(2).filter(|&f| f > 0)?;
    let size = count as f64;
    let (x_mean, y_mean) = (x.iter().sum::<f64>() / size, y.iter().sum::<f64>() / size);
    let spread: f64 = x.iter().map(|x| (x - x_mean).powi(2)).sum();
    if spread <= 0.0 {
        return None;
    }
    let value = x.iter().zip(y).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum::<f64>() / spread;
    let squares: f64 =
        x.iter().zip(y).map(|(x, y)| (y - y_mean - value * (x - x_mean)).powi(2)).sum();
    let half = student_t(freedom) * (squares / freedom as f64 / spread).sqrt();
    Some(Estimate { value, low: value - half, high: value + half })
}

/// The exponent of a series of `points`, with its 95 % interval: of those above zero, since nothing has
/// no logarithm.
///
/// `replicates` holds the bootstrap's replicates of the median at each point, or nothing for a point
/// that could not be resampled. Where every point has some, the exponent is [`theil_sen`]'s slope and
/// the interval its bootstrap. Where one has none, it is [`least_squares`]' slope and interval, which
/// judges by the scatter about the line; with three points that interval is very wide, as it should
/// be. `None` with fewer than three points, or a figure or replicate that has no logarithm.
pub fn exponent(points: &[(u64, f64)], replicates: &[&[f64]]) -> Option<Estimate> {
    let all_known = replicates.len() == points.len();
    let above = points.iter().position(|&(n, _)| n > 0).unwrap_or(points.len());
    let points = &points[above..];
    let replicates = if all_known { &replicates[above..] } else { &[] };
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

/// The 97.5 percentile of Student's t for `freedom` degrees, which are at least 1.
///
/// Tabulated to 10 degrees; beyond, Cornish and Fisher's expansion in the normal deviate, which is
/// then within 0.0002.
pub fn student_t(freedom: usize) -> f64 {
    const TABLE: [f64; 10] = [
        12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582, 2.446_912, 2.364_624, 2.306_004,
        2.262_157, 2.228_139,
    ];
    if let Some(&value) = TABLE.get(freedom.max(1) - 1) {
        return value;
    }
    let (z, f) = (1.959_964_f64, freedom as f64);
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / f + second / f.powi(2) + third / f.powi(3)
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

    fn near(got: f64, expected: f64) -> bool {
        (got - expected).abs() < 1e-9
    }

    /// Reference: `scipy` 1.17, `theilslopes(log y, log x)[0]`.
    #[test]
    fn theil_sen_equals_scipy() {
        let (x, y): (Vec<f64>, Vec<f64>) =
            POLL.iter().map(|&(n, y)| ((n as f64).ln(), y.ln())).unzip();
        assert!(near(theil_sen(&x, &y).unwrap(), 0.967_445_116_086_120_7));
        assert_eq!(theil_sen(&[1.0, 1.0], &[2.0, 3.0]), None);
    }

    /// Reference: `scipy` 1.17, `linregress` of the logarithms: slope ± `t.ppf(.975, n - 2)` · stderr.
    #[test]
    fn least_squares_equals_scipy() {
        let seven = exponent(&POLL, &[]).unwrap();
        assert!(near(seven.value, 0.967_399_167_366_862_8), "{seven:?}");
        assert!((seven.low - 0.806_506_144).abs() < 1e-6, "{seven:?}");
        assert!((seven.high - 1.128_292_191).abs() < 1e-6, "{seven:?}");
        let three = exponent(&[(100, 23.0), (1000, 890.0), (10_000, 11_333.0)], &[]).unwrap();
        assert!(near(three.value, 1.346_308_526_375_018_7), "{three:?}");
        assert!((three.low + 0.424_245_1).abs() < 1e-5 && (three.high - 3.116_862_1).abs() < 1e-5);
    }

    /// Reference: `scipy` 1.17, `t.ppf(0.975, k)`.
    #[test]
    fn student_t_equals_scipy() {
        let expected = [
            (1, 12.706_205),
            (5, 2.570_582),
            (10, 2.228_139),
            (11, 2.200_985),
            (15, 2.131_450),
            (30, 2.042_272),
            (100, 1.983_972),
        ];
        for (freedom, value) in expected {
            assert!((student_t(freedom) - value).abs() < 2e-4, "{freedom}: {}", student_t(freedom));
        }
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
        assert!(near(value, 1.5) && low <= value && value <= high && high - low < 0.01);
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
