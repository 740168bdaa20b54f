//! One table of a run: the run without its other workloads and metrics.

use printable::one_line;
use record::Run;

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
    if let Some(metric) = metric {
        run.plan
            .workloads
            .iter_mut()
            .for_each(|info| info.metrics.retain(|info| info.name == metric));
        run.cells.iter_mut().for_each(|cell| cell.metrics.retain(|info| info.name == metric));
    }
    Ok(run)
}

fn unknown(what: &str, name: &str, names: &[&str]) -> String {
    let (name, all) = (one_line(name), one_line(&names.join(", ")));
    format!("the run has no {what} `{name}`; it has {all}")
}
