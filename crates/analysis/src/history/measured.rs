//! What of one run a history is made from: its medians, and what has to be known of it.

use crate::gather::Gathered;
use crate::stats::bootstrap::{self, budget_interval, median_over_rounds};
use crate::stats::random::generator;
use crate::{Estimate, FailedAt, is_predicted};
use model::{Host, Parameters, Run, RunSummary, SubjectInfo, WorkloadInfo};
use std::collections::BTreeMap;

/// Replicates of a median: fewer than a table's, since weights need no second digit.
const REPLICATES: usize = 200;

/// The label that says how the workers of a run were started, and what it says of the knee at hand's own.
pub(super) const WORKERS: &str = "workers";
pub(super) const OWN: &str = "of this knee";

/// One run's part of a history. The samples stay behind, so that a whole record can be gone through.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// What identifies the run.
    pub summary: RunSummary,
    /// The workload, as it described itself then.
    pub workload: WorkloadInfo,
    /// What is known of the machine.
    pub machine: Host,
    /// How it was measured, in the same form: CPUs that workers were pinned to, the clock.
    pub setting: BTreeMap<String, String>,
    /// Whether a model computed the figures.
    pub predicted: bool,
    /// What started its workers, where it took turns with a run by workers of the knee at hand: `--interleave`.
    pub workers: Option<String>,
    /// The medians, in the order of tables.
    pub figures: Vec<(FigurePath, Estimate)>,
    /// Where cells failed, by subject and parameters.
    pub failed: BTreeMap<(String, Parameters), Vec<FailedAt>>,
}

/// The metric, series and point of a figure.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FigurePath {
    /// The metric's name.
    pub metric: String,
    /// The parameters.
    pub parameters: Parameters,
    /// The subject's name.
    pub subject: String,
    /// The value on the axis.
    pub point: u64,
}

/// Which figures are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Of these subjects; of all where there are none.
    pub subjects: Vec<String>,
    /// At these points; at all where there are none.
    pub points: Vec<u64>,
    /// Of all metrics, and not of the headline metric of each subject alone.
    pub all: bool,
}

/// What `run` adds to the history of `workload`; `None` where it has nothing of it.
pub fn measured(run: &Run, workload: &str, wanted: &Wanted) -> Option<Measured> {
    let info = run.plan.workload(workload)?;
    let gathered = Gathered::new(run, &info.name);
    let cpus: Vec<String> = run.plan.pinned_cpus.iter().map(usize::to_string).collect();
    let setting = [("clock", run.clock.source.clone()), ("pinned to", cpus.join(","))];
    let stated = setting.into_iter().filter(|(_, value)| !value.is_empty());
    Some(Measured {
        summary: run.summary.clone(),
        workload: info.clone(),
        machine: run.host_before.clone(),
        setting: stated.map(|(key, value)| (key.to_owned(), value)).collect(),
        predicted: is_predicted(run),
        workers: workers(run),
        figures: figures(run, info, &gathered, wanted),
        failed: failed(info, &gathered),
    })
}

/// See [`Measured::workers`]. A run that stands alone may have a label of that name, which says nothing here.
fn workers(run: &Run) -> Option<String> {
    let by = run.summary.labels.get(WORKERS).filter(|_| !run.plan.paired_with.is_empty())?;
    (by != OWN).then(|| by.clone())
}

fn failed(
    info: &WorkloadInfo,
    gathered: &Gathered<'_>,
) -> BTreeMap<(String, Parameters), Vec<FailedAt>> {
    let series = info.subjects.iter().flat_map(|subject| {
        let parameters = gathered.parameters.iter();
        parameters.map(|&parameters| (subject.name.clone(), parameters.clone()))
    });
    series
        .map(|(subject, parameters)| {
            let failed = gathered.failed(&subject, &parameters);
            ((subject, parameters), failed)
        })
        .collect()
}

fn figures(
    run: &Run,
    info: &WorkloadInfo,
    gathered: &Gathered<'_>,
    wanted: &Wanted,
) -> Vec<(FigurePath, Estimate)> {
    let is_wanted = |point: &u64| wanted.points.is_empty() || wanted.points.contains(point);
    let is_taken = |subject: &SubjectInfo, metric: &str| {
        let named = wanted.subjects.is_empty() || wanted.subjects.contains(&subject.name);
        let is_headline = info.headline(&subject.name).is_some_and(|own| own.name == metric);
        named && !subject.control && (wanted.all || is_headline)
    };
    let mut all = Vec::new();
    for metric in &info.metrics {
        for &parameters in &gathered.parameters {
            let mut axis = gathered.axis(parameters, &metric.name);
            axis.retain(is_wanted);
            let subjects = info.subjects.iter().filter(|subject| is_taken(subject, &metric.name));
            for subject in subjects.map(|subject| &subject.name) {
                let series = gathered.series(subject, parameters, &metric.name);
                for &point in &axis {
                    let samples = series.and_then(|series| series.get(&point));
                    let (metric, subject) = (metric.name.clone(), subject.clone());
                    let path =
                        FigurePath { metric, parameters: parameters.clone(), subject, point };
                    let figure = samples.and_then(|samples| median(run, &path, &samples.slices()));
                    all.extend(figure.map(|figure| (path, figure)));
                }
            }
        }
    }
    all
}

/// The median with the interval that tables show. That of a run with a budget may be looked at again and
/// again: its ends are rare among replicates, so it takes more of them.
fn median(run: &Run, path: &FigurePath, rounds: &[&[f64]]) -> Option<Estimate> {
    let words = [path.subject.as_str(), path.metric.as_str(), &path.point.to_string()];
    let mut random = generator(run.plan.seed, &words);
    let replicates = if run.plan.budget.is_some() { bootstrap::REPLICATES } else { REPLICATES };
    let resampled = median_over_rounds(rounds, replicates, &mut random)?;
    if run.plan.budget.is_some() && !resampled.replicates.is_empty() {
        return Some(budget_interval(resampled.estimate.value, &resampled.replicates));
    }
    Some(resampled.estimate)
}
