//! The interval of a run that stops when its intervals are narrow.

use crate::Estimate;
use crate::stats::bootstrap::interval_without;
use crate::thresholds::CHANCE_MAX;

/// The median of a run with a budget, with its interval. A run that stops when its intervals look narrow stops
/// where they are too narrow by chance. So its intervals hold 99 % of the replicates, not 95 %: then they
/// cover the true median in 95 % of the cases.
pub fn budget_interval(value: f64, replicates: &[f64]) -> Estimate {
    interval_without(CHANCE_MAX, value, replicates)
}
