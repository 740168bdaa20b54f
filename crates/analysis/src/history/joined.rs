//! Joins what is comparable into lines, and names what is not.

use super::left_out::{Incomparable, LeftOut, Machine};
use super::measured::{FigurePath, Measured};
use super::results::Line;
use model::{CPU_QUOTAS, HOST_NAME, MetricInfo, RunState, WorkloadInfo, fact_text};
use std::collections::{BTreeMap, BTreeSet};

/// The newest run, which decides what is comparable. Of two interleaved runs only the one by workers of this
/// knee counts; the other counts where there are no runs by workers of this knee.
pub(super) fn newest(runs: &[Measured]) -> Option<&Measured> {
    runs.iter().rfind(|run| run.workers.is_none()).or(runs.last())
}

/// The runs that are comparable with the newest, and the others with the reason.
pub(super) fn comparable(mut runs: Vec<Measured>) -> (Vec<Measured>, Vec<LeftOut>) {
    let Some(newest) = newest(&runs).cloned() else { return (runs, Vec::new()) };
    let mut groups: Vec<(Incomparable, Vec<i64>)> = Vec::new();
    runs.retain(|run| {
        let Some(reason) = difference(run, &newest) else { return true };
        match groups.iter_mut().find(|(group, _)| *group == reason) {
            Some((_, numbers)) => numbers.push(run.summary.number),
            None => groups.push((reason, vec![run.summary.number])),
        }
        false
    });
    let left_out = groups.into_iter().map(|(reason, runs)| LeftOut::Runs { runs, reason });
    (runs, left_out.collect())
}

/// The joined runs that did not end.
pub(super) fn unfinished(runs: &[Measured]) -> Option<LeftOut> {
    let unfinished = runs.iter().filter(|run| run.summary.state != RunState::Complete);
    let runs: Vec<i64> = unfinished.map(|run| run.summary.number).collect();
    (!runs.is_empty()).then_some(LeftOut::Unfinished { runs })
}

/// Where cells of the newest run failed, of which `lines` has figures.
pub(super) fn failed(runs: &[Measured], lines: &[Line]) -> Option<LeftOut> {
    let newest = runs.last()?;
    let mut failed = lines.iter().filter_map(|line| {
        let series = newest.failed.get(&(line.subject.clone(), line.parameters.clone()))?;
        Some((line, series.iter().find(|at| at.point == line.point)?))
    });
    let (line, at) = failed.next()?;
    Some(LeftOut::Failed {
        run: newest.summary.number,
        label: line.label.clone(),
        axis: line.axis.clone(),
        at: at.clone(),
        more: failed.count(),
    })
}

/// Why a run can't be joined with the newest.
fn difference(run: &Measured, newest: &Measured) -> Option<Incomparable> {
    if run.predicted != newest.predicted {
        return Some(if run.predicted { Incomparable::Predicted } else { Incomparable::Measured });
    }
    if run.workers != newest.workers {
        return Some(Incomparable::Workers { workers: run.workers.clone() });
    }
    let (old, new) = (&run.workload, &newest.workload);
    if old.version != new.version {
        let (workload, version, newest) = (new.name.clone(), old.version, new.version);
        return Some(Incomparable::Version { workload, version, newest });
    }
    if old.axis_parameter != new.axis_parameter || old.axis != new.axis {
        return Some(Incomparable::Axis { axis: old.axis.clone(), newest: new.axis.clone() });
    }
    let machine_match = run.machine.machine_match(&newest.machine);
    let quotas = [run, newest].map(|run| CPU_QUOTAS.iter().find_map(|key| fact(run, key)));
    let [machine, newest] = [run, newest].map(machine);
    // A table of another program knows of no CPU.
    let one_unknown = machine.cpu_model.is_some() != newest.cpu_model.is_some();
    if one_unknown || !machine_match.is_joinable() {
        return Some(Incomparable::Machine { machine, newest });
    }
    let differing = |pair: Option<(String, String)>| pair.filter(|(old, new)| old != new);
    if let Some((cpus, newest)) = differing(machine.cpu_count.zip(newest.cpu_count)) {
        return Some(Incomparable::UsableCpus { cpus, newest });
    }
    let [quota, newest] = quotas;
    let (quota, newest) = differing(quota.zip(newest))?;
    Some(Incomparable::CpuQuota { quota, newest })
}

fn machine(run: &Measured) -> Machine {
    let fact = |key| fact(run, key);
    Machine { name: fact(HOST_NAME), cpu_model: fact("cpu.model"), cpu_count: fact("cpu.count") }
}

fn fact(run: &Measured, key: &str) -> Option<String> {
    run.machine.facts.get(key).map(|fact| fact_text(key, fact))
}

/// A line for each subject and point at which any run has a figure, and the figures in other units.
pub(super) fn lines(runs: &[Measured], workload: &WorkloadInfo) -> (Vec<Line>, Vec<LeftOut>) {
    let mut lines: BTreeMap<FigurePath, Line> = BTreeMap::new();
    let mut other_units: BTreeMap<(&str, &str), BTreeSet<i64>> = BTreeMap::new();
    for (index, run) in runs.iter().enumerate() {
        for (path, figure) in &run.figures {
            let Some(old) = metric(&run.workload, &path.metric) else { continue };
            // What the newest run does not measure is shown as it was.
            let new = metric(workload, &path.metric).unwrap_or(old);
            if old.unit != new.unit || old.lower_is_better != new.lower_is_better {
                let numbers = other_units.entry((&old.name, &old.unit)).or_default();
                numbers.insert(run.summary.number);
                continue;
            }
            let line = lines.entry(path.clone()).or_insert_with(|| empty(path, new, workload));
            let info = run.workload.subject(&path.subject);
            info.map_or(&path.subject, |info| &info.label).clone_into(&mut line.label);
            line.figures.push((index, *figure));
        }
    }
    let left_out = |((metric, unit), runs): ((&str, &str), BTreeSet<i64>)| LeftOut::Unit {
        runs: runs.into_iter().collect(),
        metric: metric.to_owned(),
        unit: unit.to_owned(),
    };
    (in_order(lines, runs), other_units.into_iter().map(left_out).collect())
}

fn metric<'a>(info: &'a WorkloadInfo, name: &str) -> Option<&'a MetricInfo> {
    info.metrics.iter().find(|metric| metric.name == name)
}

/// A line that has no figures yet.
fn empty(path: &FigurePath, metric: &MetricInfo, workload: &WorkloadInfo) -> Line {
    Line {
        subject: path.subject.clone(),
        parameters: path.parameters.clone(),
        metric: metric.clone(),
        headline: workload.headline(&path.subject).is_some_and(|first| first.name == metric.name),
        axis: workload.axis.clone(),
        point: path.point,
        ..Line::default()
    }
}

/// In the order of the newest run's tables; what it does not have any more comes after.
fn in_order(lines: BTreeMap<FigurePath, Line>, runs: &[Measured]) -> Vec<Line> {
    let mut metrics: Vec<&str> = Vec::new();
    let mut parameters = Vec::new();
    let mut subjects: Vec<&str> = Vec::new();
    for run in runs.iter().rev() {
        metrics.extend(run.workload.metrics.iter().map(|metric| metric.name.as_str()));
        subjects.extend(run.workload.subjects.iter().map(|subject| subject.name.as_str()));
        for (path, _) in &run.figures {
            if !parameters.contains(&&path.parameters) {
                parameters.push(&path.parameters);
            }
        }
    }
    let rank = |path: &FigurePath| {
        (
            metrics.iter().position(|name| *name == path.metric),
            parameters.iter().position(|set| **set == path.parameters),
            subjects.iter().position(|name| *name == path.subject),
            path.point,
        )
    };
    let mut ranked: Vec<_> = lines.into_iter().map(|(path, line)| (rank(&path), line)).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, line)| line).collect()
}
