//! Several runs: each compared with the first, and which of them is the best where that is significant.

use super::left_out::Refusal;
use super::results::{ComparedTable, Comparison, Ratio, Terms, Verdict};
use super::{TableCache, compare_with};
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
    let mut verdicts = Verdicts { by_pair: BTreeMap::new() };
    for (index, comparison) in comparisons.iter().enumerate() {
        verdicts.add((0, index + 1), comparison.as_ref().ok());
    }
    let mut best = Vec::new();
    let levels = levels(&comparisons).into_iter();
    // A run without a ratio may be the better one.
    for (position, levels) in levels.filter(|(_, levels)| levels.len() == runs.len()) {
        let Some(run) = levels.first().map(|(run, _)| *run) else { continue };
        let rivals: Vec<usize> = levels[1..].iter().map(|(rival, _)| *rival).collect();
        for &rival in &rivals {
            let pair = (run.min(rival), run.max(rival));
            if !verdicts.by_pair.contains_key(&pair) {
                let [base, new] = [runs[pair.0], runs[pair.1]];
                let comparison = compare_with(base, new, terms, pairs, &mut cache);
                verdicts.add(pair, comparison.as_ref().ok());
            }
        }
        if !rivals.is_empty()
            && rivals.iter().all(|&rival| verdicts.is_better(run, rival, &position))
        {
            let (workload, parameters, metric, subject, point) = position;
            best.push(Best { workload, parameters, metric, subject, point, run });
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

/// The verdicts of the pairs that were compared, the first run of each being the base.
struct Verdicts {
    by_pair: BTreeMap<(usize, usize), BTreeMap<Position, Verdict>>,
}

impl Verdicts {
    fn add(&mut self, pair: (usize, usize), comparison: Option<&Comparison>) {
        let tables = comparison.into_iter().flat_map(|comparison| &comparison.tables);
        let ratios = tables.flat_map(ratios).map(|(position, ratio)| (position, ratio.verdict));
        self.by_pair.insert(pair, ratios.collect());
    }

    /// Whether `run` is significantly better than `other`.
    fn is_better(&self, run: usize, rival: usize, position: &Position) -> bool {
        let verdict = self.by_pair.get(&(run.min(rival), run.max(rival)));
        let wanted = if run < rival { Verdict::Slower } else { Verdict::Faster };
        verdict.and_then(|verdicts| verdicts.get(position)) == Some(&wanted)
    }
}

/// The ratios of a table: those of its series, and of their points.
fn ratios(table: &ComparedTable) -> Vec<(Position, &Ratio)> {
    let mut all = Vec::new();
    for row in &table.rows {
        let position = |point: Option<u64>| {
            let (workload, parameters) = (table.workload.clone(), table.parameters.clone());
            (workload, parameters, table.metric.name.clone(), row.subject.clone(), point)
        };
        all.push((position(None), &row.overall));
        for (&point, cell) in table.points.iter().zip(&row.cells) {
            all.extend(cell.as_ref().map(|cell| (position(Some(point)), &cell.ratio)));
        }
    }
    all
}

/// The runs that have a figure at each position, the best first. The level of a series is its ratio to the base.
fn levels(comparisons: &[Result<Comparison, Refusal>]) -> BTreeMap<Position, Vec<(usize, f64)>> {
    let mut all: BTreeMap<Position, (bool, Vec<(usize, f64)>)> = BTreeMap::new();
    for (index, comparison) in comparisons.iter().enumerate() {
        let tables = comparison.iter().flat_map(|comparison| &comparison.tables);
        for table in tables {
            for (position, ratio) in ratios(table) {
                let (_, levels) = all
                    .entry(position)
                    .or_insert_with(|| (table.metric.lower_is_better, vec![(0, 1.0)]));
                levels.push((index + 1, ratio.ratio.value));
            }
        }
    }
    let sorted =
        |(position, (lower_is_better, mut levels)): (Position, (bool, Vec<(usize, f64)>))| {
            levels.sort_by(
                |(_, a), (_, b)| if lower_is_better { a.total_cmp(b) } else { b.total_cmp(a) },
            );
            (position, levels)
        };
    all.into_iter().map(sorted).collect()
}
