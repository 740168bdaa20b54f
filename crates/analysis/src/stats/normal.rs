//! The normal distribution.

use std::f64::consts::TAU;

/// From a median distance to a standard deviation.
pub const MEDIAN_TO_DEVIATION: f64 = 1.482_602_2;

/// The share of a standard normal distribution above `z` (Abramowitz and Stegun 26.2.17, within 7.5e-8).
pub fn upper_tail(z: f64) -> f64 {
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
