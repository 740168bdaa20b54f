//! One table of a run: the run without its other workloads and metrics.

use super::material::Selection;
use model::Run;
use printable::one_line;

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
    let Some(info) = run.plan.workload(workload) else {
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

/// The run with only the samples of these subjects at these points in its profile; of all where none is named.
///
/// # Errors
/// With the names or points that there are, where one is none of these.
pub fn selected(mut run: Run, selection: &Selection) -> Result<Run, String> {
    let cells = &run.profile.cells;
    let names = cells.iter().map(|cell| cell.key.subject.as_str());
    let regions = cells.iter().flat_map(|cell| &cell.regions);
    selection.check(names, regions.map(|region| region.position), " in its profile")?;
    run.profile.cells.retain(|cell| selection.has_subject(&cell.key.subject));
    for cell in &mut run.profile.cells {
        cell.regions.retain(|region| selection.has_point(region.position));
    }
    Ok(run)
}

pub(super) fn unknown(what: &str, name: &str, names: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let (name, all) = (one_line(name), one_line(&names.join(", ")));
    format!("the run has no {what} `{name}`; it has {all}")
}
