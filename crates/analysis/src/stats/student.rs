//! Student's t: two-sided p-values and quantiles.

use crate::thresholds::FALSE_ALARM;
use std::f64::consts::FRAC_2_PI;

/// The two-sided p-value of `t` at `freedom` degrees: the finite series (Abramowitz and Stegun 1964, 26.7.3 and
/// 26.7.4). One below about 10⁻¹⁴ comes out as zero, or not much above it.
pub fn p_value(t: f64, freedom: usize) -> f64 {
    if !t.is_finite() {
        return if t.is_nan() { 1.0 } else { 0.0 };
    }
    let freedom = freedom.max(1);
    let angle = (t.abs() / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    // Of odd degrees the series begins at cos θ and takes 2/3, 4/5, …; of even ones at 1 and takes 1/2,
    // 3/4, ….
    let (mut term, first) = if odd { (cosine, 2) } else { (1.0, 1) };
    let terms = if odd { (freedom - 1) / 2 } else { freedom / 2 };
    let mut sum = 0.0;
    for step in 0..terms {
        sum += term;
        let over = (first + 2 * step) as f64;
        term *= cosine * cosine * over / (over + 1.0);
    }
    let within = if odd { FRAC_2_PI * (angle + sine * sum) } else { sine * sum };
    (1.0 - within).clamp(0.0, 1.0)
}

/// The value whose two-sided p-value is `p`: the inverse of [`p_value`].
pub fn two_sided_quantile(p: f64, freedom: usize) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while p_value(high, freedom) > p && high < 1e9 {
        high *= 2.0;
    }
    loop {
        let middle = f64::midpoint(low, high);
        // No number lies between the two.
        if middle <= low || middle >= high {
            return high;
        }
        *(if p_value(middle, freedom) > p { &mut low } else { &mut high }) = middle;
    }
}

/// Half the width of a 95 % CI in standard errors. At least one degree of freedom counts.
pub fn quantile_95(freedom: usize) -> f64 {
    two_sided_quantile(FALSE_ALARM, freedom)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Percentiles from the table of Abramowitz and Stegun (26.10), which has three to five digits.
    #[test]
    fn chances_are_those_of_the_printed_table() {
        let table = [
            (12.706, 1, 0.05),
            (63.657, 1, 0.01),
            (4.303, 2, 0.05),
            (31.598, 2, 0.001),
            (3.182, 3, 0.05),
            (5.841, 3, 0.01),
            (2.571, 5, 0.05),
            (6.869, 5, 0.001),
            (2.228, 10, 0.05),
            (4.587, 10, 0.001),
            (2.042, 30, 0.05),
            (3.646, 30, 0.001),
            (1.980, 120, 0.05),
        ];
        for (t, freedom, chance) in table {
            let p = p_value(t, freedom);
            assert!((p / chance - 1.0).abs() < 3e-3, "{t} at {freedom}: {p}");
            assert!(
                (two_sided_quantile(chance, freedom) / t - 1.0).abs() < 1e-3,
                "{t} at {freedom}"
            );
        }
    }

    /// Closed forms: 1 − 2/π·atan t of one degree, 1 − t/√(2 + t²) of two.
    #[test]
    fn one_and_two_degrees_have_closed_forms() {
        for t in [0.0_f64, 0.3, 1.0, 7.5, 250.0] {
            let of_one_degree = 1.0 - FRAC_2_PI * t.atan();
            let of_two_degrees = 1.0 - t / (2.0 + t * t).sqrt();
            assert!((p_value(t, 1) - of_one_degree).abs() < 1e-14, "{t}");
            assert!((p_value(-t, 2) - of_two_degrees).abs() < 1e-14, "{t}");
        }
        assert!(p_value(f64::INFINITY, 5) <= 0.0 && p_value(f64::NAN, 5) >= 1.0);
    }

    /// Tables of Student's t, two-sided: R's `qt(1 - share / 2, freedom)`.
    #[test]
    fn as_many_errors_as_the_tables_say() {
        let table = [
            (0.05, 1, 12.706_2),
            (0.05, 2, 4.302_65),
            (0.05, 8, 2.306_00),
            (0.05, 16, 2.119_91),
            (0.01, 5, 4.032_14),
            (0.01, 10, 3.169_27),
            (0.001, 8, 5.041_31),
            (0.001, 16, 4.014_99),
            (0.001, 30, 3.645_96),
        ];
        for (share, freedom, t) in table {
            let quantile = two_sided_quantile(share, freedom);
            assert!((quantile / t - 1.0).abs() < 1e-4, "{share} at {freedom}: {quantile}, not {t}");
        }
    }

    #[test]
    fn less_doubt_takes_more_errors() {
        for freedom in [1, 2, 7, 16, 200] {
            let asked = [0.2, 0.05, 1e-3, 1e-6].map(|share| two_sided_quantile(share, freedom));
            assert!(asked.is_sorted(), "{freedom}: {asked:?}");
        }
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
            assert!(
                (quantile_95(freedom) - value).abs() < 1e-6,
                "{freedom}: {}",
                quantile_95(freedom)
            );
        }
    }
}
