//! Where the CPU time is that a series takes more or less in one of two profiled runs.

use super::results::{CallsAt, Change, ChangeDetail, ComparedTable, RunAttribution};
use crate::calls::Counted;
use crate::thresholds::SAME_MAX;
use crate::{Table, profile};
use model::command_facts::SYSTEM_CALLS;
use model::{Parameters, Run};

/// Adds to each change of a headline series the system calls that changed with it, at the last point where it did.
pub(super) fn name_calls(changes: &mut [Change], runs: [&Run; 2], compared: &[ComparedTable]) {
    for change in changes.iter_mut().filter(|change| change.headline) {
        let Change { workload, parameters, metric, .. } = &*change;
        let is_of = |t: &&ComparedTable| {
            (&t.workload, &t.parameters, &t.metric.name) == (workload, parameters, metric)
        };
        let points = match &change.detail {
            ChangeDetail::Series { .. } => compared.iter().find(is_of).map(|table| &table.points),
            ChangeDetail::Points { points, .. } => Some(points),
            _ => None,
        };
        let (Some(&point), Some(subject)) =
            (points.and_then(|points| points.last()), change.subjects.first())
        else {
            continue;
        };
        let calls = Counted { workload, parameters, subject }.change(runs.map(|run| (run, point)));
        let is_more = |calls: &crate::calls::CallsChange| {
            let ratio = calls.after / calls.before;
            metric == SYSTEM_CALLS || ratio.max(1.0 / ratio) > SAME_MAX
        };
        change.calls = calls.filter(is_more).map(|change| CallsAt { point, change });
    }
}

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
