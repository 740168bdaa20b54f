//! Sums of what only logarithms can hold.

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

#[cfg(test)]
mod tests {
    use super::*;

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
