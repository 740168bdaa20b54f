//! Drift: a series that changed while it was measured, whatever its axis. Each round has one displacement from the
//! others, the median over the axis (see [`crate::gather::cloud::offsets`]). The rules:
//! 1. *At once.* The rounds split into two levels (see [`crate::shape::split`]), and all of one level come before all
//!    of the other.
//! 2. *Bit by bit.* The displacements follow a line through the rounds, by a slope that chance gives in at most two of
//!    a thousand series.
//! 3. Either way it is at least a factor of [`SAME_MAX`], and there are [`ROUNDS_MIN`] rounds. Where both rules hold,
//!    the one that leaves less unexplained is reported.

use crate::shape::split::{since, split};
use crate::stats::moments::{mean, squares_about};
use crate::stats::regression::least_squares;
use crate::stats::student;
use crate::thresholds::{DRIFT_P_VALUE, ROUNDS_MIN, SAME_MAX};
use crate::{Drift, Estimate};

/// How a series drifted whose rounds, by number, have these displacements as logarithms.
pub fn find(rounds: &[(u32, f64)]) -> Option<Drift> {
    if rounds.len() < ROUNDS_MIN || rounds.iter().any(|round| !round.1.is_finite()) {
        return None;
    }
    let drifts = [at_once(rounds), bit_by_bit(rounds)];
    let best = drifts.into_iter().flatten().min_by(|a, b| a.1.total_cmp(&b.1));
    best.map(|(drift, _)| drift)
}

/// Rule 1, with the sum of squares that it leaves.
fn at_once(rounds: &[(u32, f64)]) -> Option<(Drift, f64)> {
    let levels: Vec<f64> = rounds.iter().map(|round| round.1).collect();
    let since = since(&split(&levels, SAME_MAX.ln())?)?;
    let (first, last) = levels.split_at(since);
    let (before, after) = (mean(first), mean(last));
    let left = squares_about(before, first) + squares_about(after, last);
    let freedom = rounds.len() - 2;
    let counts = 1.0 / first.len() as f64 + 1.0 / last.len() as f64;
    let half = student::quantile_95(freedom) * (left / freedom as f64 * counts).sqrt();
    let factor = Estimate::around(after - before, half).map(f64::exp);
    Some((Drift { factor, since: Some(rounds[since].0) }, left))
}

/// Rule 2, with the sum of squares that it leaves.
fn bit_by_bit(rounds: &[(u32, f64)]) -> Option<(Drift, f64)> {
    let (x, y): (Vec<f64>, Vec<f64>) =
        rounds.iter().map(|&(number, level)| (f64::from(number), level)).unzip();
    let slope = least_squares(&x, &y)?;
    let (half, length) = (slope.high - slope.value, x[x.len() - 1] - x[0]);
    let freedom = rounds.len() - 2;
    let error = half / student::quantile_95(freedom);
    let rise = slope.value * length;
    let is_clear = slope.value.abs() >= student::two_sided_quantile(DRIFT_P_VALUE, freedom) * error;
    let left = error * error * squares_about(mean(&x), &x) * freedom as f64;
    let factor = Estimate::around(rise, half * length).map(f64::exp);
    (rise.abs() >= SAME_MAX.ln() && is_clear).then_some((Drift { factor, since: None }, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(levels: &[f64]) -> Vec<(u32, f64)> {
        (1..).zip(levels.iter().copied()).collect()
    }

    #[test]
    fn a_slope_and_a_change_are_distinguished() {
        let slope = find(&numbered(&[0.0, 0.051, 0.1, 0.149, 0.2])).unwrap();
        assert_eq!(slope.since, None);
        assert!((slope.factor.value - 0.199_2_f64.exp()).abs() < 1e-9, "{slope:?}");
        let change = find(&numbered(&[0.0, 0.01, 0.3, 0.31, 0.29])).unwrap();
        assert_eq!(change.since, Some(3));
        assert!((change.factor.value - 0.295_f64.exp()).abs() < 1e-9, "{change:?}");
        assert!(
            change.factor.low < change.factor.value && change.factor.value < change.factor.high
        );
    }

    #[test]
    fn what_does_not_change_has_not_drifted() {
        assert_eq!(find(&numbered(&[0.0, 0.31, 0.01, 0.3, 0.02])), None);
        assert_eq!(find(&numbered(&[0.0, 0.0, 0.0, 0.0, 0.0])), None);
        assert_eq!(find(&numbered(&[0.0, 0.01, 0.02, 0.03, 0.04])), None);
        assert_eq!(find(&numbered(&[0.0, 0.1, 0.2, 0.3])), None);
        assert_eq!(find(&numbered(&[0.0, 0.1, f64::NAN, 0.3, 0.4])), None);
    }
}
