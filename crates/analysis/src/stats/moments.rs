//! Means and deviations, and sums of what only logarithms can hold.

/// The logarithm of the sum of what `logs` are the logarithms of.
pub fn log_sum(logs: &[f64]) -> f64 {
    let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Nothing but zeros.
    if top == f64::NEG_INFINITY {
        return top;
    }
    top + logs.iter().map(|log| (log - top).exp()).sum::<f64>().ln()
}

/// What `logs` are the logarithms of, each as a share of their sum.
pub fn shares(logs: &[f64]) -> Vec<f64> {
    let sum = log_sum(logs);
    logs.iter().map(|log| (log - sum).exp()).collect()
}

/// The arithmetic mean; not a number without figures.
pub fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len() as f64
}

/// The sum of the squared distances from `center`.
pub fn squares_about(center: f64, figures: &[f64]) -> f64 {
    figures.iter().map(|figure| (figure - center).powi(2)).sum()
}

/// The standard deviation of a sample (n − 1); `None` with fewer than two figures.
pub fn sample_deviation(figures: &[f64]) -> Option<f64> {
    let squares = squares_about(mean(figures), figures);
    (figures.len() > 1).then(|| (squares / (figures.len() as f64 - 1.0)).sqrt())
}

/// The standard deviation of figures that are all there are (n), such as a bootstrap's replicates.
pub fn deviation(figures: &[f64]) -> f64 {
    (squares_about(mean(figures), figures) / figures.len() as f64).sqrt()
}

/// The root mean square: the deviation from zero. Zero without figures.
pub fn root_mean_square(figures: &[f64]) -> f64 {
    (squares_about(0.0, figures) / figures.len().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference: `numpy` 2.3, `std(ddof=1)` and `std()` of 2, 4, 4, 4, 5, 5, 7, 9.
    #[test]
    fn deviations_equal_numpy() {
        let figures = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert!((mean(&figures) - 5.0).abs() < 1e-15);
        assert!((deviation(&figures) - 2.0).abs() < 1e-15);
        assert!((sample_deviation(&figures).unwrap() - 2.138_089_935_299_395).abs() < 1e-12);
        assert!((root_mean_square(&[3.0, -4.0]) - 12.5_f64.sqrt()).abs() < 1e-15);
        assert_eq!(sample_deviation(&[1.0]), None);
    }

    #[test]
    fn what_no_float_holds_has_a_sum() {
        let logs = [-2_000.0, -2_000.0 + 3_f64.ln(), f64::NEG_INFINITY];
        assert!((log_sum(&logs) + 2_000.0 - 4_f64.ln()).abs() < 1e-12);
        let shares = shares(&logs);
        assert!((shares[0] - 0.25).abs() < 1e-12 && (shares[1] - 0.75).abs() < 1e-12);
        assert!(shares[2] < 1e-12);
        assert!(log_sum(&[f64::NEG_INFINITY; 2]) < -1e300);
    }
}
