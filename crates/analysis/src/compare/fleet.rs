//! The machines of a fleet: each compared with the median machine, and which of them differ from it.

use super::results::{ComparedRow, Comparison, Ratio, Terms, Verdict};
use super::several::{Several, factor};
use super::{TableCache, compare_with};
use crate::stats::quantiles::{median, median_of, quantile, sorted};
use crate::thresholds::SEVERAL;
use model::{
    Cell, CellKey, Fact, Host, HostFact, HostRole, Metric, Outcome, Parameters, Plan, Profile, Run,
    RunState, Unavailable,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The machines of a fleet, compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Fleet {
    /// The median machine.
    pub median: Run,
    /// Each machine compared with it, in the order of the runs.
    pub several: Several,
    /// The machines that differ from it, the largest ratio first; none with fewer than [`SEVERAL`] machines.
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
    /// How many there are without a verdict.
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
        factor(self.ratio.ratio, self.lower_is_better).value
    }

    fn size(&self) -> f64 {
        self.slowdown().ln().abs()
    }
}

/// Compares each of `runs` with the median machine, all ratios at once; `None` where there are fewer than two.
pub fn compare_fleet(runs: &[&Run], terms: &Terms) -> Option<Fleet> {
    let median = median_run(runs)?;
    let terms = Terms { across: true, ..*terms };
    let mut cache = TableCache::default();
    let mut compared = |run| {
        let mut comparison = compare_with(&median, run, &terms, runs.len(), &mut cache)?;
        // What most machines have each for itself differs from nothing.
        comparison.differences.retain(|difference| difference.base.is_some());
        Ok(comparison)
    };
    let comparisons: Vec<_> = runs.iter().map(|run| compared(run)).collect();
    let all = comparisons.iter().enumerate().filter(|_| runs.len() >= SEVERAL);
    let mut outliers: Vec<Outlier> =
        all.filter_map(|(run, comparison)| outlier(run, comparison.as_ref().ok()?)).collect();
    let largest = |outlier: &Outlier| outlier.series[0].size();
    outliers.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
    let several = Several { comparisons, pairs: runs.len(), best: Vec::new() };
    Some(Fleet { median, several, outliers })
}

fn outlier(run: usize, comparison: &Comparison) -> Option<Outlier> {
    let (mut series, mut same, mut undecided) = (Vec::new(), 0, 0);
    for table in &comparison.tables {
        for ComparedRow { subject, label, overall, .. } in &table.rows {
            match overall.verdict {
                Verdict::Same => same += 1,
                Verdict::Undecided => undecided += 1,
                Verdict::Faster | Verdict::Slower => series.push(OutlierSeries {
                    workload: table.workload.clone(),
                    parameters: table.parameters.clone(),
                    metric: table.metric.name.clone(),
                    subject: subject.clone(),
                    label: label.clone(),
                    lower_is_better: table.metric.lower_is_better,
                    ratio: overall.clone(),
                }),
            }
        }
    }
    series.sort_by(|a, b| b.size().total_cmp(&a.size()));
    (!series.is_empty()).then_some(Outlier { run, series, same, undecided })
}

// The median machine: in each cell the samples of each machine are sorted; the sample of each rank is the median of theirs. So
// both the median and the undisturbed part of a cell are those of the median machine, and its rounds scatter as a machine's do.

/// The id of a run that stands for the median machine; no recorded run has it.
pub const MEDIAN_ID: &str = "median machine";

/// Whether `run` stands for the median machine of a fleet.
pub fn is_median(run: &Run) -> bool {
    run.summary.id == MEDIAN_ID
}

/// The run of the median machine: its figures are the medians of those of `runs`, and its facts those that most of them
/// have. What fewer than half of them measured it lacks. `None` where there are fewer than two.
pub fn median_run(runs: &[&Run]) -> Option<Run> {
    let [first, _, ..] = runs else { return None };
    let mut summary = first.summary.clone();
    summary.number = 0;
    MEDIAN_ID.clone_into(&mut summary.id);
    summary.state = RunState::Complete;
    summary
        .labels
        .retain(|key, value| runs.iter().all(|run| run.summary.labels.get(key) == Some(value)));
    summary.command = Vec::new();
    summary.host = String::new();
    summary.fleet = None;
    let cells = median_cells(runs);
    summary.cells_ended = cells.len() as u64;
    summary.cells_planned = summary.cells_ended;
    let mut clock = first.clock.clone();
    let overhead_ns = median(runs.iter().map(|run| run.clock.overhead_ns));
    clock.overhead_ns = overhead_ns.unwrap_or(clock.overhead_ns);
    let host = usual_host(runs);
    Some(Run {
        summary,
        plan: plan(runs, &cells),
        clock,
        host_before: host.clone(),
        host_after: Some(host),
        warnings: Vec::new(),
        cells,
        profile: Profile::default(),
    })
}

/// Whether `count` of `all` are at least half of them, and no machine alone.
fn is_usual(count: usize, all: usize) -> bool {
    count >= 2 && 2 * count >= all
}

/// The facts that more than half of the machines have alike; none that says which machine it is.
fn usual_host(runs: &[&Run]) -> Host {
    let keys: BTreeSet<&String> =
        runs.iter().flat_map(|run| run.host_before.facts.keys()).collect();
    let usual = |key: &String| {
        let mut counts: BTreeMap<String, (usize, &Fact)> = BTreeMap::new();
        for value in runs.iter().filter_map(|run| run.host_before.facts.get(key)) {
            counts.entry(value.to_string()).or_insert((0, value)).0 += 1;
        }
        let (count, value) = counts.into_values().max_by_key(|(count, _)| *count)?;
        (2 * count > runs.len()).then(|| (key.clone(), value.clone()))
    };
    let is_identity = |key: &&String| HostFact::has_role(key, HostRole::Identity);
    let facts = keys.into_iter().filter(|key| !is_identity(key)).filter_map(usual).collect();
    Host { taken: runs[0].host_before.taken.clone(), facts, cpu_use: None }
}

/// The workloads of all runs, with the cells that the median machine has.
fn plan(runs: &[&Run], cells: &[Cell]) -> Plan {
    let mut plan = Plan { changes: Vec::new(), ..runs[0].plan.clone() };
    plan.paired_with = String::new();
    plan.budget = None;
    plan.profile = None;
    plan.cells = cells.iter().map(|cell| cell.key.clone()).collect();
    for info in runs[1..].iter().flat_map(|run| &run.plan.workloads) {
        if !plan.workloads.iter().any(|listed| listed.name == info.name) {
            plan.workloads.push(info.clone());
        }
    }
    plan.workloads.retain(|info| cells.iter().any(|cell| cell.key.workload == info.name));
    plan.unavailable.retain(|subject| {
        let Unavailable { workload, subject, .. } = subject;
        let lacks = |run: &&&Run| run.plan.unavailable(workload, subject).is_some();
        is_usual(runs.iter().filter(lacks).count(), runs.len())
    });
    plan
}

/// The cells that at least half of the runs measured, in the order of the first that has them.
fn median_cells(runs: &[&Run]) -> Vec<Cell> {
    let mut order: Vec<&CellKey> = Vec::new();
    let mut by_key: BTreeMap<&CellKey, Vec<&Cell>> = BTreeMap::new();
    for cell in runs.iter().flat_map(|run| &run.cells) {
        if cell.outcome != Outcome::Measured {
            continue;
        }
        let same = by_key.entry(&cell.key).or_default();
        if same.is_empty() {
            order.push(&cell.key);
        }
        same.push(cell);
    }
    let mut cells = Vec::new();
    for key in order {
        let same = &by_key[key];
        let metric = |metric: &Metric| {
            let all = same.iter().flat_map(|cell| &cell.metrics);
            let alike: Vec<&Metric> = all.filter(|rival| rival.name == metric.name).collect();
            let metric = is_usual(alike.len(), runs.len()).then(|| median_metric(&alike))?;
            (!metric.samples.is_empty()).then_some(metric)
        };
        let metrics: Vec<Metric> = same[0].metrics.iter().filter_map(metric).collect();
        if metrics.is_empty() {
            continue;
        }
        cells.push(Cell {
            key: key.clone(),
            sequence: cells.len() as u64,
            outcome: Outcome::Measured,
            elapsed_ns: middle(same.iter().map(|cell| cell.elapsed_ns).collect()),
            metrics,
            ..Cell::default()
        });
    }
    cells
}

/// The median of one metric of a cell on several machines.
fn median_metric(alike: &[&Metric]) -> Metric {
    let is_trajectory = alike.iter().any(|metric| !metric.positions.is_empty());
    let (samples, positions) =
        if is_trajectory { by_position(alike) } else { (by_rank(alike), Vec::new()) };
    Metric {
        name: alike[0].name.clone(),
        samples,
        positions,
        operations: middle(alike.iter().map(|metric| metric.operations).collect()),
        ..Metric::default()
    }
}

/// The samples of each rank, in the order in which the first machine has its own: sorted they would look like a drift.
fn by_rank(alike: &[&Metric]) -> Vec<f64> {
    let count = alike.iter().map(|metric| metric.samples.len()).min().unwrap_or(0);
    let ascending: Vec<Vec<f64>> = alike.iter().map(|metric| sorted(&metric.samples)).collect();
    let of_rank = |rank: usize| {
        let share = if count > 1 { rank as f64 / (count - 1) as f64 } else { 0.5 };
        let all = ascending.iter().filter_map(|samples| quantile(samples, share));
        median(all).unwrap_or(0.0)
    };
    let first = &alike[0].samples[..count];
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| first[a].total_cmp(&first[b]));
    let mut samples = vec![0.0; count];
    for (rank, index) in order.into_iter().enumerate() {
        samples[index] = of_rank(rank);
    }
    samples
}

/// The samples at each position that at least half of the machines came to.
fn by_position(alike: &[&Metric]) -> (Vec<f64>, Vec<u64>) {
    let mut at: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for metric in alike {
        for (&position, &sample) in metric.positions.iter().zip(&metric.samples) {
            at.entry(position).or_default().push(sample);
        }
    }
    let medians = at.into_iter().filter_map(|(position, mut samples)| {
        let median = median_of(&mut samples)?;
        is_usual(samples.len(), alike.len()).then_some((median, position))
    });
    medians.unzip()
}

/// The lower median.
fn middle(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(0)
}
