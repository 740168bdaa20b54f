//! Where the CPU time is that a series takes more or less in one of two profiled runs.

use super::results::{Change, ChangeDetail, ComparedTable, RunAttribution};
use crate::{Table, profile};
use model::{Parameters, Run};

/// Adds to each change of a series where it is, by the profiles of both runs.
pub(super) fn attribute(
    changes: &mut [Change],
    runs: [&Run; 2],
    compared: &[ComparedTable],
    sources: &[Table],
) {
    if runs.iter().any(|run| run.profile.is_empty()) {
        return;
    }
    for change in changes {
        let is_of = |workload: &str, parameters: &Parameters, metric: &str| {
            (workload, metric) == (&*change.workload, &*change.metric)
                && *parameters == change.parameters
        };
        let table = compared.iter().find(|t| is_of(&t.workload, &t.parameters, &t.metric.name));
        let source = sources.iter().find(|t| is_of(&t.workload, &t.parameters, &t.metric.name));
        if let (Some(table), Some(source)) = (table, source) {
            change.attribution = attribution(change, runs, table, source);
        }
    }
}

fn attribution(
    change: &Change,
    runs: [&Run; 2],
    table: &ComparedTable,
    source: &Table,
) -> Option<RunAttribution> {
    let subject = change.subjects.first()?;
    let row = table.rows.iter().find(|row| row.subject == *subject)?;
    let points: &[u64] = match &change.detail {
        ChangeDetail::Series { most_at: Some(point), .. } => &[*point],
        ChangeDetail::Series { .. } => &table.points,
        ChangeDetail::Points { points, .. } => points,
        ChangeDetail::Contention(contention) => std::slice::from_ref(&contention.point),
        _ => return None,
    };
    // The last of them that has a profile in both.
    points.iter().rev().find_map(|&point| {
        let index = table.points.iter().position(|&listed| listed == point)?;
        let ratio = row.cells.get(index)?.as_ref()?.ratio.ratio;
        let factor = match source.metric.unit.as_str() {
            "ns" => ratio,
            rate if rate.ends_with("/s") => ratio.inverse(),
            _ => return None,
        };
        let difference = profile::between_runs(runs, source, subject, point, factor)?;
        Some(RunAttribution { point, difference })
    })
}
