//! One table of a run: the run without its other workloads and metrics.

use model::{CellKey, Run};
use printable::one_line;
use std::collections::BTreeSet;

/// The run with only the workload that `table` names, or with one metric of it: `poll`, `poll/loop`.
///
/// # Errors
/// With the names that there are, where none is this.
pub fn narrowed(mut run: Run, table: &str) -> Result<Run, String> {
    let (workload, metric) = match table.split_once('/') {
        Some((workload, metric)) => (workload, Some(metric)),
        None => (table, None),
    };
    let names: Vec<&str> = run.plan.workloads.iter().map(|info| info.name.as_str()).collect();
    let Some(info) = run.plan.workloads.iter().find(|info| info.name == workload) else {
        return Err(unknown("workload", workload, &names));
    };
    let metrics: Vec<&str> = info.metrics.iter().map(|metric| metric.name.as_str()).collect();
    if let Some(metric) = metric.filter(|metric| !metrics.contains(metric)) {
        return Err(unknown(&format!("metric of {}", one_line(workload)), metric, &metrics));
    }
    run.plan.workloads.retain(|info| info.name == workload);
    run.plan.cells.retain(|key| key.workload == workload);
    run.plan.unavailable.retain(|row| row.workload == workload);
    run.cells.retain(|cell| cell.key.workload == workload);
    run.profile.cells.retain(|cell| cell.key.workload == workload);
    if let Some(metric) = metric {
        run.plan
            .workloads
            .iter_mut()
            .for_each(|info| info.metrics.retain(|info| info.name == metric));
        run.cells.iter_mut().for_each(|cell| cell.metrics.retain(|info| info.name == metric));
        let profiled = run.profile.cells.iter_mut();
        profiled.for_each(|cell| cell.regions.retain(|region| region.metric == metric));
    }
    Ok(run)
}

/// The run with only these subjects at these points, in its cells or in its profile; with all where none is named.
///
/// # Errors
/// With the names or points that there are, where one is none of these.
pub fn selected(
    mut run: Run,
    subjects: &[String],
    points: &[u64],
    is_profile: bool,
) -> Result<Run, String> {
    let source = if is_profile { " in its profile" } else { "" };
    let in_profile = run.profile.cells.iter().filter(|_| is_profile).map(|cell| &cell.key);
    let keys = run.cells.iter().filter(|_| !is_profile).map(|cell| &cell.key).chain(in_profile);
    let names: BTreeSet<&str> = keys.clone().map(|key| key.subject.as_str()).collect();
    if let Some(subject) = subjects.iter().find(|subject| !names.contains(subject.as_str())) {
        let names: Vec<&str> = names.into_iter().collect();
        return Err(unknown(&format!("subject{source}"), subject, &names));
    }
    let is_trajectory = run.plan.workloads.iter().any(|info| info.trajectory);
    if is_trajectory && !is_profile && !points.is_empty() {
        return Err("the points of a trajectory are parts of its cells: all are written".to_owned());
    }
    let regions = run.profile.cells.iter().flat_map(|cell| &cell.regions);
    let positions: BTreeSet<u64> = if is_profile {
        regions.map(|region| region.position).collect()
    } else {
        keys.map(|key| key.point).collect()
    };
    if let Some(point) = points.iter().find(|point| !positions.contains(point)) {
        let all: Vec<String> = positions.iter().map(ToString::to_string).collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        return Err(unknown(&format!("point{source}"), &point.to_string(), &all));
    }
    let is_wanted = |subject: &String| subjects.is_empty() || subjects.contains(subject);
    let is_at = |point: &u64| points.is_empty() || points.contains(point);
    let is_selected = |key: &CellKey| is_wanted(&key.subject) && is_at(&key.point);
    run.cells.retain(|cell| is_selected(&cell.key));
    run.plan.cells.retain(is_selected);
    run.plan.unavailable.retain(|row| is_wanted(&row.subject));
    for workload in &mut run.plan.workloads {
        workload.subjects.retain(|subject| is_wanted(&subject.name));
    }
    run.profile.cells.retain(|cell| is_wanted(&cell.key.subject));
    for cell in &mut run.profile.cells {
        cell.regions.retain(|region| is_at(&region.position));
    }
    Ok(run)
}

fn unknown(what: &str, name: &str, names: &[&str]) -> String {
    let (name, all) = (one_line(name), one_line(&names.join(", ")));
    format!("the run has no {what} `{name}`; it has {all}")
}
