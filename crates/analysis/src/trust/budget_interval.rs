//! The interval of a run that stops when its intervals are narrow.

use crate::Estimate;
use crate::stats::bootstrap::interval_without;

/// Of a run that stops when its intervals are narrow, they are told as what holds 99 % of the replicates
/// and not 95: who stops when an interval looks narrow meets it when it looks too narrow by chance. So
/// they hold the true median as often as 95 % asks for.
const OUTSIDE: f64 = 0.01;

/// The median of a run with a budget, with the interval that is told of it.
pub fn budget_interval(value: f64, replicates: &[f64]) -> Estimate {
    interval_without(OUTSIDE, value, replicates)
}
