//! The interval of a median that order statistics alone give, carried over to a bootstrap's replicates.
//!
//! Where all noise is between rounds, replicates of the median fall on the few figures that the rounds have: their
//! plain 2.5 and 97.5 percentiles hold the true median in 87.5 % of all cases at 7 rounds. Hettmansperger and Sheather
//! (1986) blend the two of the sign test's intervals whose confidence lies around the wanted one. [`levels`] says which
//! percentiles of the replicates stand for their ends, so that noise within rounds still counts.

use crate::thresholds::FALSE_ALARM;

/// How often an interval is to hold the true median.
const CONFIDENCE: f64 = 1.0 - FALSE_ALARM;
/// With more rounds than this the figures are so close that percentiles do.
const ROUNDS_MAX: usize = 500;

/// What to blend for a median over that many rounds: two percentiles of the replicates, as shares, the outer one first,
/// and the part of the inner one in the blend, from 0 to 1. As much lies above the counterpart of each. None where no two
/// figures are far enough apart to hold it as often as that (fewer than six rounds), or so close that it makes no
/// difference.
pub fn levels(rounds: usize) -> Option<([f64; 2], f64)> {
    if rounds > ROUNDS_MAX {
        return None;
    }
    // The narrowest interval with enough coverage, and the next one, which has too little.
    let last = (1..=rounds / 2).take_while(|&k| coverage(rounds, k) >= CONFIDENCE).last()?;
    let (outer, inner) = (coverage(rounds, last), coverage(rounds, last + 1));
    let over = (outer - CONFIDENCE) / (outer - inner);
    let (n, k) = (rounds as f64, last as f64);
    let part = (n - k) * over / (k + (n - 2.0 * k) * over);
    // A figure's rank among the replicates is the middle of those that fall on it.
    let middle = |k| f64::midpoint(share_up_to(rounds, k - 1), share_up_to(rounds, k));
    Some(([last, last + 1].map(middle), part))
}

/// How often the true median lies between the `k`-th of `rounds` figures and the `k`-th from above.
fn coverage(rounds: usize, k: usize) -> f64 {
    1.0 - 2.0 * (1.0 - at_least(rounds, 0.5, k))
}

/// The share of replicates of the median that are no larger than the `k`-th of `rounds` figures. The median
/// of an even number lies between two, both of which have to be.
fn share_up_to(rounds: usize, k: usize) -> f64 {
    at_least(rounds, k as f64 / rounds as f64, rounds / 2 + 1)
}

/// The probability that at least `min` of `draws` draws come true, each with this `chance`.
fn at_least(draws: usize, chance: f64, min: usize) -> f64 {
    if chance <= 0.0 || chance >= 1.0 {
        return if chance <= 0.0 && min > 0 { 0.0 } else { 1.0 };
    }
    let odds = chance / (1.0 - chance);
    let (mut each, mut fewer) = ((1.0 - chance).powf(draws as f64), 0.0);
    for done in 0..min.min(draws + 1) {
        fewer += each;
        each *= odds * (draws - done) as f64 / (done + 1) as f64;
    }
    1.0 - fewer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_sums_are_those_of_the_closed_form() {
        assert!((at_least(3, 0.5, 2) - 0.5).abs() < 1e-12);
        assert!((at_least(7, 2.0 / 7.0, 4) - 0.108_4).abs() < 1e-3);
        assert!((at_least(2, 0.1, 2) - 0.01).abs() < 1e-12);
        assert!(at_least(5, 0.0, 1).abs() < 1e-12 && (at_least(5, 1.0, 5) - 1.0).abs() < 1e-12);
        assert!((at_least(5, 0.3, 0) - 1.0).abs() < 1e-12);
    }

    /// The sign test's confidences as printed in tables: 98.4 % and 87.5 % at 7, 97.9 % and 89.1 % at 10.
    #[test]
    fn the_sign_test_holds_as_often_as_its_tables_say() {
        let printed = [(6, 1, 0.969), (7, 1, 0.984), (7, 2, 0.875), (10, 2, 0.979), (10, 3, 0.891)];
        for (rounds, k, confidence) in printed {
            assert!((coverage(rounds, k) - confidence).abs() < 5e-4, "{rounds}, {k}");
        }
    }

    #[test]
    fn the_blend_lies_between_two_figures_whose_confidence_is_around_the_wanted_one() {
        assert_eq!(levels(5), None, "their whole range holds it in 93.8 %");
        for rounds in 6..=ROUNDS_MAX {
            let ([outer, inner], part) = levels(rounds).unwrap();
            assert!(0.0 < outer && outer < 0.03 && outer < inner && inner < 0.13, "{rounds}");
            assert!((0.0..=1.0).contains(&part), "{rounds}: {part}");
        }
        assert_eq!(levels(ROUNDS_MAX + 1), None);
    }
}
