//! Cells that failed, those of one subject and reason together.

use super::prelude::*;
use crate::format::{count, counted, points};
use crate::grouping::grouped;
use model::{CellKey, FailureReason, Outcome, Parameters, Run, WorkloadInfo};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Cells of one subject that failed for one reason, or at the same points for several.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FailedCells {
    /// What they are of.
    #[serde(flatten)]
    pub series: AffectedSeries,
    /// What happened to them: the reasons without what differs from cell to cell.
    pub event: String,
    /// How many.
    pub cells: usize,
    /// Their points, ascending.
    pub points: BTreeSet<u64>,
    /// Whether every cell from the first of these points on failed so, and cells below it did not.
    pub onwards: bool,
}

impl CaveatKind for FailedCells {
    fn find(context: &Context<'_>) -> Vec<Self> {
        // Where x is words, a difference says what stands in the place of a figure.
        if context.named_points.is_some() {
            return Vec::new();
        }
        let run = context.run;
        let failed = run.cells.iter().filter_map(|cell| match &cell.outcome {
            Outcome::Failed { reason, .. } => Some((&cell.key, reason)),
            Outcome::Measured => None,
        });
        let shown = failed
            .filter(|(key, reason)| !run.is_control(key) && !is_finding(run, key, reason))
            .map(|(key, reason)| ((series(key), reason.event()), key));
        // Where rounds of the same points fail in several ways, that is one failure.
        let by_points = grouped(shown).into_iter().map(|((series, event), keys)| {
            let points: BTreeSet<u64> = keys.iter().map(|key| key.point).collect();
            ((series, points), (event, keys))
        });
        let group = |((_, points), mut ways): (_, Vec<(String, Vec<&CellKey>)>)| {
            ways.sort_by_key(|(_, keys)| Reverse(keys.len()));
            let (events, keys): (Vec<String>, Vec<Vec<&CellKey>>) = ways.into_iter().unzip();
            let keys = keys.concat();
            Self {
                series: AffectedSeries::new(run, keys[0]),
                event: in_ways(&events),
                cells: keys.len(),
                onwards: are_all_from_the_first(run, &keys),
                points,
            }
        };
        grouped(by_points).into_iter().map(group).collect()
    }

    /// `3 cells of select at 2,000 and 9,000 failed: killed by signal 9`, `sort fails from 1,000 on: exited with 22`.
    fn warning(&self) -> Warning {
        let Self { series, event, .. } = self;
        let what = if let Some(first) = self.points.first().filter(|_| self.onwards) {
            format!("{series} fails from {} on: {event}", count(*first))
        } else {
            let at = points(&self.points);
            let cells = counted(&count(self.cells as u64), "cells");
            format!("{cells} of {series} at {at} failed: {event}")
        };
        Warning { what, remedy: String::new() }
    }
}

/// In which ways cells failed: the first two of them, and how many more.
fn in_ways(events: &[String]) -> String {
    match events {
        [first, second, _, ..] => {
            let more = counted(&count(events.len() as u64 - 2), "more ways");
            format!("{first} or {second}, or in {more}")
        }
        _ => events.join(" or "),
    }
}

/// What a cell is of: its workload, its subject and its parameters.
type Series<'a> = (&'a str, &'a str, &'a Parameters);

fn series(key: &CellKey) -> Series<'_> {
    (&key.workload, &key.subject, &key.parameters)
}

/// Whether every cell of their series from the first of `failed` on is one of these, and others are below.
fn are_all_from_the_first(run: &Run, failed: &[&CellKey]) -> bool {
    let first = failed.iter().map(|key| key.point).min();
    let keys = run.cells.iter().map(|cell| &cell.key);
    let keys = keys.filter(|key| series(key) == series(failed[0]));
    let (from_first, below): (Vec<&CellKey>, Vec<&CellKey>) =
        keys.partition(|key| Some(key.point) >= first);
    !below.is_empty() && from_first.len() == failed.len()
}

/// Whether a finding says that the cell failed: that a series did not finish is what was to be found.
fn is_finding(run: &Run, key: &CellKey, reason: &FailureReason) -> bool {
    let workload = run.plan.workload(&key.workload);
    let has_finding = |workload: &WorkloadInfo| {
        workload.averages || workload.ratio.as_ref().is_some_and(|ratio| ratio.multiple)
    };
    reason.is_unfinished() && workload.is_some_and(has_finding)
}

#[cfg(test)]
mod tests {
    use crate::Caveat;
    use fixtures::{cell, metric, run, workload};

    #[test]
    fn rounds_that_fail_in_several_ways_at_the_same_points_are_one_failure() {
        let measured = |round| cell("w", "a", 1, round).metric(metric("call", vec![1.0])).build();
        let failed = |round, how: &str| cell("w", "a", 2, round).failed(how).build();
        let cells =
            [measured(0), failed(0, "exited with 3"), measured(1), failed(1, "exited with 4")];
        let run = run(workload("w").metric("call", "call", "ns")).cells(cells).complete();
        let all: Vec<String> = crate::conclude(&run)
            .caveats
            .iter()
            .filter(|caveat| matches!(caveat, Caveat::FailedCells(_)))
            .map(Caveat::line)
            .collect();
        assert_eq!(all, ["a fails from 2 on: exited with 3 or exited with 4"]);
        let ways = ["a", "b", "c", "d"].map(str::to_owned);
        assert_eq!(super::in_ways(&ways[..3]), "a or b, or in 1 more way");
        assert_eq!(super::in_ways(&ways), "a or b, or in 2 more ways");
    }
}
