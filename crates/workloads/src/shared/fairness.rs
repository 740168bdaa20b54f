//! How evenly several shared what they did together.

/// Operations of each that it takes to tell how evenly they are spread.
pub(crate) const FEWEST_EACH: u64 = 5;

/// Jain's index of fairness: 1 where all have the same, 1/n where one of n has everything.
pub(crate) fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_is_one_for_all_alike_and_a_share_for_one_alone() {
        let close = |left: f64, right: f64| (left - right).abs() < 1e-12;
        assert!(close(jain(&[5.0, 5.0, 5.0]), 1.0));
        assert!(close(jain(&[9.0, 0.0, 0.0, 0.0]), 0.25));
        // By hand: (1 + 2 + 3 + 4)² / (4 × (1 + 4 + 9 + 16)).
        assert!(close(jain(&[1.0, 2.0, 3.0, 4.0]), 100.0 / 120.0));
        assert!(close(jain(&[0.0, 0.0]), 1.0));
    }
}
