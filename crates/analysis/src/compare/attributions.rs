//! Where the CPU time is that a series takes more or less in one of two profiled runs, and which system calls it makes
//! more or fewer of.

use super::results::{CallsAt, Change, ChangeDetail, ComparedTable, RunAttribution};
use crate::calls::{self, CallsChange};
use crate::thresholds::SAME_MAX;
use crate::{Table, profile};
use model::Run;
use model::command_facts::SYSTEM_CALLS;

/// Adds to each change of a series where it is, by the profiles of both runs; and to those of a headline series the
/// system calls that changed with it, at the last point where it did. `sources` are tables of new.
pub(super) fn attribute(
    changes: &mut [Change],
    runs: [&Run; 2],
    compared: &[ComparedTable],
    sources: &[Table],
) {
    let are_profiled = runs.iter().all(|run| !run.profile.is_empty());
    for change in changes {
        let table = compared.iter().find(|table| table.key() == change.key());
        let source = sources.iter().find(|table| table.key() == change.key());
        let (Some(table), Some(source)) = (table, source) else { continue };
        if change.headline {
            change.calls = calls(change, runs, table, source);
        }
        if are_profiled {
            change.attribution = attribution(change, runs, table, source);
        }
    }
}

fn calls(
    change: &Change,
    runs: [&Run; 2],
    table: &ComparedTable,
    source: &Table,
) -> Option<CallsAt> {
    let points = match &change.detail {
        ChangeDetail::Series { .. } => &table.points,
        ChangeDetail::Points { points, .. } => points,
        _ => return None,
    };
    let (&point, subject) = (points.last()?, change.subjects.first()?);
    let calls = calls::change(source, subject, runs.map(|run| (run, point)));
    let is_more = |calls: &CallsChange| {
        let ratio = calls.after / calls.before;
        change.metric == SYSTEM_CALLS || ratio.max(1.0 / ratio) > SAME_MAX
    };
    calls.filter(is_more).map(|change| CallsAt { point, change })
}

fn attribution(
    change: &Change,
    runs: [&Run; 2],
    table: &ComparedTable,
    source: &Table,
) -> Option<RunAttribution> {
    let subject = change.subjects.first()?;
    let points: &[u64] = match &change.detail {
        ChangeDetail::Series { most_at: Some(point), .. } => &[*point],
        ChangeDetail::Series { .. } => &table.points,
        ChangeDetail::Points { points, .. } => points,
        ChangeDetail::Contention(contention) => std::slice::from_ref(&contention.point),
        _ => return None,
    };
    // The last of them that has a profile in both.
    points.iter().rev().find_map(|&point| {
        let ratio = table.ratio_at(subject, point)?.ratio;
        let factor = match source.metric.unit.as_str() {
            "ns" => ratio,
            rate if rate.ends_with("/s") => ratio.inverse(),
            _ => return None,
        };
        let difference = profile::between_runs(runs, source, subject, point, factor)?;
        Some(RunAttribution { point, difference })
    })
}
