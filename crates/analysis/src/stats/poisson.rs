//! Counts: what may have been expected where so many were seen, and shares of them.

use super::NORMAL_95;
use crate::Estimate;

/// The exact 95 % CI of a Poisson mean of which `count` were seen (Garwood 1936), by the approximation of
/// Wilson and Hilferty, which is off by less than 1 % of its width.
pub fn interval(count: u64) -> Estimate {
    let quantile =
        |shape: f64, z: f64| shape * (1.0 - 1.0 / (9.0 * shape) + z / (3.0 * shape.sqrt())).powi(3);
    let count = count as f64;
    let low = if count > 0.0 { quantile(count, -NORMAL_95).max(0.0) } else { 0.0 };
    Estimate { value: count, low, high: quantile(count + 1.0, NORMAL_95) }
}

/// The 95 % CI of a share of which `part` in `whole` were seen (Wilson 1927); all of it where there is nothing.
pub fn share(part: u64, whole: u64) -> Estimate {
    if whole == 0 {
        return Estimate { value: 0.0, low: 0.0, high: 1.0 };
    }
    let n = whole as f64;
    let value = part as f64 / n;
    let z = NORMAL_95.powi(2) / n;
    let middle = value + z / 2.0;
    let half = (z * value * (1.0 - value) + z * z / 4.0).sqrt();
    let end = |end: f64| (end / (1.0 + z)).clamp(0.0, 1.0);
    Estimate { value, low: end(middle - half), high: end(middle + half) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference: the Poisson distribution itself, summed and solved for tails of 2.5 %.
    #[test]
    fn intervals_of_counts_are_exact() {
        let expected = [
            (0, 0.0, 3.688_879),
            (1, 0.025_318, 5.571_643),
            (10, 4.795_389, 18.390_356),
            (100, 81.363_987, 121.626_794),
        ];
        for (count, low, high) in expected {
            let interval = interval(count);
            assert!((interval.low - low).abs() < 0.03, "{count}: {interval:?}");
            assert!((interval.high - high).abs() < 0.03, "{count}: {interval:?}");
        }
    }

    /// Reference: Wilson's formula for 10 in 100.
    #[test]
    fn intervals_of_shares_are_wilsons() {
        let ten = share(10, 100);
        assert!((ten.low - 0.055_229).abs() < 1e-4 && (ten.high - 0.174_365).abs() < 1e-4);
        assert_eq!(share(0, 0).high.to_bits(), 1.0_f64.to_bits());
        assert!(share(0, 20).low < 1e-12 && share(20, 20).high > 1.0 - 1e-12);
    }
}
