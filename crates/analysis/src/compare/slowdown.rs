//! What of a comparison is slower than a gate lets through, by the whole interval of its ratio.

use super::results::{Comparison, Ratio, Verdict};
use crate::Estimate;

/// How a slowdown lies to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The whole interval is above the limit: it is slower by more, with the comparison's confidence.
    Above,
    /// The interval holds the limit: it may be.
    Maybe,
    /// The whole interval is below the limit.
    Below,
}

/// A headline series or point, by how much slower it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Slowdown<'a> {
    /// The workload.
    pub workload: &'a str,
    /// The subject's name in reports.
    pub label: &'a str,
    /// The axis and the point on it; absent for a series as a whole.
    pub point: Option<(&'a str, u64)>,
    /// The factor by which it is slower: the ratio, or its inverse where more is better.
    pub factor: Estimate,
    /// How that lies to the limit.
    pub bound: Bound,
    /// The verdict on the ratio.
    pub verdict: Verdict,
    /// Whether it is the only point of its series, which says as much.
    pub is_only_point: bool,
}

/// Every headline series and point against a slowdown by the share `limit`, series before their points.
pub fn slowdowns(comparison: &Comparison, limit: f64) -> Vec<Slowdown<'_>> {
    let mut all = Vec::new();
    for table in comparison.tables.iter().filter(|table| table.headline) {
        let lower_is_better = table.metric.lower_is_better;
        for row in &table.rows {
            let slowdown = |ratio: &Ratio, point: Option<_>| {
                let factor = factor(ratio.ratio, lower_is_better);
                Slowdown {
                    workload: &table.workload,
                    label: &row.label,
                    point,
                    factor,
                    bound: bound(factor, limit),
                    verdict: ratio.verdict,
                    is_only_point: point.is_some() && table.points.len() == 1,
                }
            };
            all.push(slowdown(&row.overall, None));
            for (point, cell) in table.points.iter().zip(&row.cells) {
                let cell = cell.as_ref();
                all.extend(
                    cell.map(|cell| slowdown(&cell.ratio, Some((table.axis.as_str(), *point)))),
                );
            }
        }
    }
    all
}

/// How many times longer an operation takes in new than in base.
pub(super) fn factor(ratio: Estimate, lower_is_better: bool) -> Estimate {
    if lower_is_better { ratio } else { ratio.inverse() }
}

fn bound(factor: Estimate, limit: f64) -> Bound {
    let limit = 1.0 + limit;
    match () {
        () if factor.low > limit => Bound::Above,
        () if factor.high <= limit => Bound::Below,
        // An interval without ends holds everything.
        () => Bound::Maybe,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Verdict;

    fn ratio(low: f64, high: f64) -> Ratio {
        Ratio {
            ratio: Estimate { value: (low * high).sqrt(), low, high },
            verdict: Verdict::Undecided,
        }
    }

    #[test]
    fn only_a_whole_interval_above_the_limit_is_above() {
        let bound = |low, high| bound(factor(ratio(low, high).ratio, true), 0.1);
        assert_eq!(bound(1.11, 1.3), Bound::Above);
        assert_eq!(bound(1.09, 1.3), Bound::Maybe);
        assert_eq!(bound(1.02, 1.05), Bound::Below, "slower, and by less");
        assert_eq!(bound(0.4, 0.5), Bound::Below, "faster");
        assert_eq!(bound(f64::NAN, f64::NAN), Bound::Maybe);
    }

    #[test]
    fn a_rate_is_slower_where_its_ratio_is_below_one() {
        let halved = factor(ratio(0.4, 0.5).ratio, false);
        assert!((halved.low - 2.0).abs() < 1e-12 && (halved.high - 2.5).abs() < 1e-12);
        assert_eq!(bound(halved, 0.1), Bound::Above);
        assert_eq!(bound(factor(ratio(1.2, 1.3).ratio, false), 0.1), Bound::Below);
    }
}
