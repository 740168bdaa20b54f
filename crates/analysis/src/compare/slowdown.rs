//! What of a comparison is slower, and how that lies to the limit of a gate.

use super::results::{ComparedTable, Comparison, Ratio, Verdict};
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

/// A series or point, by how much slower it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Slowdown<'a> {
    /// The table that it is in.
    pub table: &'a ComparedTable,
    /// The subject's name in reports.
    pub label: &'a str,
    /// The point; absent for a series as a whole.
    pub point: Option<u64>,
    /// The factor by which it is slower: the ratio, or its inverse where more is better.
    pub factor: Estimate,
    /// The verdict on the ratio.
    pub verdict: Verdict,
}

/// Every series, and every point of those that have several: a single point says what its series says.
pub fn slowdowns(comparison: &Comparison) -> Vec<Slowdown<'_>> {
    let mut all = Vec::new();
    for table in &comparison.tables {
        for row in &table.rows {
            let slowdown = |ratio: &Ratio, point| Slowdown {
                table,
                label: &row.label,
                point,
                factor: factor(ratio.ratio, table.metric.lower_is_better),
                verdict: ratio.verdict,
            };
            all.push(slowdown(&row.overall, None));
            if row.cells.iter().flatten().count() > 1 {
                let cells = table.points.iter().zip(&row.cells);
                all.extend(cells.filter_map(|(&point, cell)| {
                    Some(slowdown(&cell.as_ref()?.ratio, Some(point)))
                }));
            }
        }
    }
    all
}

/// How many times longer an operation takes in new than in base.
pub(super) fn factor(ratio: Estimate, lower_is_better: bool) -> Estimate {
    if lower_is_better { ratio } else { ratio.inverse() }
}

/// How a slowdown by `factor` lies to a slowdown by the share `limit`.
pub fn bound(factor: Estimate, limit: f64) -> Bound {
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

    fn ratio(low: f64, high: f64) -> Estimate {
        Estimate { value: (low * high).sqrt(), low, high }
    }

    #[test]
    fn only_a_whole_interval_above_the_limit_is_above() {
        let bound = |low, high| bound(factor(ratio(low, high), true), 0.1);
        assert_eq!(bound(1.11, 1.3), Bound::Above);
        assert_eq!(bound(1.09, 1.3), Bound::Maybe);
        assert_eq!(bound(1.02, 1.05), Bound::Below, "slower, and by less");
        assert_eq!(bound(0.4, 0.5), Bound::Below, "faster");
        assert_eq!(bound(f64::NAN, f64::NAN), Bound::Maybe);
    }

    #[test]
    fn a_rate_is_slower_where_its_ratio_is_below_one() {
        let halved = factor(ratio(0.4, 0.5), false);
        assert!((halved.low - 2.0).abs() < 1e-12 && (halved.high - 2.5).abs() < 1e-12);
        assert_eq!(bound(halved, 0.1), Bound::Above);
        assert_eq!(bound(factor(ratio(1.2, 1.3), false), 0.1), Bound::Below);
    }
}
