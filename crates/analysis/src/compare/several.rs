//! Several runs: each compared with the first, which of them is the best where that is significant, and what of a comparison
//! is slower, and how that lies to the limit of a gate.

use super::left_out::Refusal;
use super::results::{ComparedRow, ComparedTable, Comparison, Ratio, Terms, Verdict};
use super::{TableCache, compare_with};
use crate::Estimate;
use model::{Parameters, Run};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// Several runs, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Several {
    /// Each run but the first, compared with the first, or with the one before; or why it can't be.
    pub comparisons: Vec<Result<Comparison, Refusal>>,
    /// How many pairs of runs there are: the ratios of all of them hold at once.
    pub pairs: usize,
    /// Where a run is better than each of the others; nowhere that one of them has no ratio.
    pub best: Vec<Best>,
}

/// A run that is better than each of the others.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Best {
    /// The workload.
    pub workload: String,
    /// The parameters that it holds under.
    pub parameters: Parameters,
    /// The metric.
    pub metric: String,
    /// The subject.
    pub subject: String,
    /// The point; absent for the series as a whole.
    pub point: Option<u64>,
    /// The index of the run.
    pub run: usize,
}

/// A series of a table, or one of its points.
type Position = (String, Parameters, String, String, Option<u64>);

/// Compares each of `runs` with the first, and finds where one is better than all others.
pub fn compare_several(runs: &[&Run], terms: &Terms) -> Several {
    let pairs = runs.len() * runs.len().saturating_sub(1) / 2;
    let Some((base, further)) = runs.split_first() else {
        return Several { comparisons: Vec::new(), pairs, best: Vec::new() };
    };
    let mut cache = TableCache::default();
    let comparisons: Vec<_> =
        further.iter().map(|new| compare_with(base, new, terms, pairs, &mut cache)).collect();
    let of_base = comparisons.iter().enumerate();
    let mut by_pair: BTreeMap<(usize, usize), BTreeMap<Position, Verdict>> =
        of_base.map(|(index, comparison)| ((0, index + 1), verdicts(comparison))).collect();
    let mut best = Vec::new();
    let levels = levels(&comparisons).into_iter();
    // A run without a ratio may be the better one.
    for (position, levels) in levels.filter(|(_, levels)| levels.len() == runs.len()) {
        let [(run, _), rivals @ ..] = levels.as_slice() else { continue };
        let is_better = |(rival, _): &(usize, f64)| {
            let pair = (*run.min(rival), *run.max(rival));
            let verdicts = by_pair.entry(pair).or_insert_with(|| {
                verdicts(&compare_with(runs[pair.0], runs[pair.1], terms, pairs, &mut cache))
            });
            let wanted = if run < rival { Verdict::Slower } else { Verdict::Faster };
            verdicts.get(&position) == Some(&wanted)
        };
        if !rivals.is_empty() && rivals.iter().all(is_better) {
            let (workload, parameters, metric, subject, point) = position;
            best.push(Best { workload, parameters, metric, subject, point, run: *run });
        }
    }
    Several { comparisons, pairs, best }
}

/// Compares each of `runs` with the one before it; and the last with the first, where that is another pair.
pub fn compare_in_order(
    runs: &[&Run],
    terms: &Terms,
) -> (Several, Option<Result<Comparison, Refusal>>) {
    let steps = runs.len().saturating_sub(1);
    let pairs = if steps > 1 { steps + 1 } else { steps };
    let mut cache = TableCache::default();
    let mut compared = |base, new| compare_with(base, new, terms, pairs, &mut cache);
    let comparisons = runs.windows(2).map(|pair| compared(pair[0], pair[1])).collect();
    let whole = match runs {
        [first, _, .., last] if steps > 1 => Some(compared(first, last)),
        _ => None,
    };
    (Several { comparisons, pairs, best: Vec::new() }, whole)
}

fn verdicts(comparison: &Result<Comparison, Refusal>) -> BTreeMap<Position, Verdict> {
    let tables = comparison.iter().flat_map(|comparison| &comparison.tables);
    tables.flat_map(ratios).map(|(position, ratio)| (position, ratio.verdict)).collect()
}

/// The ratios of a table: those of its series, and of their points.
fn ratios(table: &ComparedTable) -> impl Iterator<Item = (Position, &Ratio)> {
    table.ratios().map(|(row, point, ratio)| {
        let (workload, parameters) = (table.workload.clone(), table.parameters.clone());
        ((workload, parameters, table.metric.name.clone(), row.subject.clone(), point), ratio)
    })
}

/// The runs that have a figure at each position, the best first, each with by how many times it is slower than the base.
fn levels(comparisons: &[Result<Comparison, Refusal>]) -> BTreeMap<Position, Vec<(usize, f64)>> {
    let mut all: BTreeMap<Position, Vec<(usize, f64)>> = BTreeMap::new();
    for (index, comparison) in comparisons.iter().enumerate() {
        for table in comparison.iter().flat_map(|comparison| &comparison.tables) {
            for (position, ratio) in ratios(table) {
                let cost = factor(ratio.ratio, table.metric.lower_is_better).value;
                all.entry(position).or_insert_with(|| vec![(0, 1.0)]).push((index + 1, cost));
            }
        }
    }
    for levels in all.values_mut() {
        levels.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    }
    all
}

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
        let counts = |row: &ComparedRow| row.cells.iter().flatten().count() > 1;
        let listed = table.ratios().filter(|(row, point, _)| point.is_none() || counts(row));
        all.extend(listed.map(|(row, point, ratio)| Slowdown {
            table,
            label: &row.label,
            point,
            factor: factor(ratio.ratio, table.metric.lower_is_better),
            verdict: ratio.verdict,
        }));
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
