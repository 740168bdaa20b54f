//! The machines of a fleet: each compared with the median machine, and which of them differ from it.

use super::median::median_run;
use super::results::{ComparedTable, Comparison, Ratio, Terms, Verdict};
use super::several::Several;
use super::{TableCache, compare_with};
use crate::thresholds::SEVERAL;
use model::{Parameters, Run};
use schemars::JsonSchema;
use serde::Serialize;

/// The machines of a fleet, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    /// The median machine.
    pub median: Run,
    /// Each machine compared with it, in the order of the runs.
    pub several: Several,
    /// The machines that differ from it, the one with the largest ratio first; none with fewer than [`SEVERAL`]
    /// machines.
    pub outliers: Vec<Outlier>,
}

/// A machine that is significantly slower or faster than the median machine, in some series.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Outlier {
    /// The index of its run.
    pub run: usize,
    /// The series, the largest ratio first.
    pub series: Vec<OutlierSeries>,
    /// How many further series there are that are the same.
    pub same: usize,
    /// How many there are of which nothing can be said.
    pub undecided: usize,
}

/// A series in which a machine differs from the median machine.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct OutlierSeries {
    /// The workload.
    pub workload: String,
    /// The parameters that it holds under.
    pub parameters: Parameters,
    /// The metric.
    pub metric: String,
    /// The subject's name.
    pub subject: String,
    /// Its name in reports.
    pub label: String,
    /// Whether less of the metric is better.
    pub lower_is_better: bool,
    /// To the median machine.
    pub ratio: Ratio,
}

impl OutlierSeries {
    /// By how much it is slower: above 1. Below, it is faster.
    pub fn slowdown(&self) -> f64 {
        let ratio = self.ratio.ratio.value;
        if self.lower_is_better { ratio } else { 1.0 / ratio }
    }
}

/// Compares each of `runs` with the median machine; `None` where there are fewer than two. The ratios of all machines hold at
/// once: the probability that chance alone makes any machine differ in any series is 5 % at most.
pub fn compare_fleet(runs: &[&Run], terms: &Terms) -> Option<Fleet> {
    let median = median_run(runs)?;
    let terms = Terms { across: true, ..*terms };
    let mut cache = TableCache::default();
    let comparisons: Vec<_> = runs
        .iter()
        .map(|run| {
            let mut comparison = compare_with(&median, run, &terms, runs.len(), &mut cache)?;
            // What most machines have each for itself differs from nothing.
            comparison.differences.retain(|difference| difference.base.is_some());
            Ok(comparison)
        })
        .collect();
    let mut outliers: Vec<Outlier> = Vec::new();
    if runs.len() >= SEVERAL {
        let compared = comparisons.iter().enumerate();
        outliers.extend(
            compared.filter_map(|(run, comparison)| outlier(run, comparison.as_ref().ok()?)),
        );
    }
    let largest = |outlier: &Outlier| outlier.series[0].slowdown().ln().abs();
    outliers.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    let several = Several { comparisons, pairs: runs.len(), best: Vec::new() };
    Some(Fleet { median, several, outliers })
}

fn outlier(run: usize, comparison: &Comparison) -> Option<Outlier> {
    let rows = || {
        comparison.tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)))
    };
    let count = |verdict: Verdict| rows().filter(|(_, row)| row.overall.verdict == verdict).count();
    let differs = |ratio: &Ratio| matches!(ratio.verdict, Verdict::Slower | Verdict::Faster);
    let mut series: Vec<OutlierSeries> = rows()
        .filter(|(_, row)| differs(&row.overall))
        .map(|(table, row)| {
            let ComparedTable { workload, parameters, metric, .. } = table;
            OutlierSeries {
                workload: workload.clone(),
                parameters: parameters.clone(),
                metric: metric.name.clone(),
                subject: row.subject.clone(),
                label: row.label.clone(),
                lower_is_better: metric.lower_is_better,
                ratio: row.overall.clone(),
            }
        })
        .collect();
    series.sort_by(|a, b| b.slowdown().ln().abs().total_cmp(&a.slowdown().ln().abs()));
    (!series.is_empty()).then(|| Outlier {
        run,
        series,
        same: count(Verdict::Same),
        undecided: count(Verdict::Undecided),
    })
}
