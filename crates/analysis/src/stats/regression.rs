//! Straight lines through points.

use crate::Estimate;
use crate::stats::moments::{mean, squares_about};
use crate::stats::quantiles::median_of;
use crate::stats::student;

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

/// The slope of the least-squares line with its 95 % CI by Student's t. `None` with fewer than
/// three points or two distinct `x`: then nothing is left to judge the scatter by.
pub fn least_squares(x: &[f64], y: &[f64]) -> Option<Estimate> {
    let count = x.len().min(y.len());
    let freedom = count.checked_sub(2).filter(|&f| f > 0)?;
    let (x, y) = (&x[..count], &y[..count]);
    let (x_mean, y_mean) = (mean(x), mean(y));
    let spread = squares_about(x_mean, x);
    if spread <= 0.0 {
        return None;
    }
    let value = x.iter().zip(y).map(|(x, y)| (x - x_mean) * (y - y_mean)).sum::<f64>() / spread;
    let squares: f64 =
        x.iter().zip(y).map(|(x, y)| (y - y_mean - value * (x - x_mean)).powi(2)).sum();
    let half = student::quantile_95(freedom) * (squares / freedom as f64 / spread).sqrt();
    Some(Estimate::around(value, half))
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

    /// Reference: `scipy` 1.17, `theilslopes(log y, log x)[0]`.
    #[test]
    fn theil_sen_equals_scipy() {
        let (x, y): (Vec<f64>, Vec<f64>) =
            POLL.iter().map(|&(n, y)| ((n as f64).ln(), y.ln())).unzip();
        assert!((theil_sen(&x, &y).unwrap() - 0.967_445_116_086_120_7).abs() < 1e-9);
        assert_eq!(theil_sen(&[1.0, 1.0], &[2.0, 3.0]), None);
    }
}
