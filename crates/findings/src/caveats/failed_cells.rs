//! Cells that failed, those of one subject and reason together.

use super::{CaveatKind, with_parameters};
use crate::conclusions::context::Context;
use crate::format::{count, counted, points};
use model::{CellKey, FailureReason, Outcome, Parameters, Run, WorkloadInfo};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Cells of one subject that failed for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FailedCells {
    /// The workload.
    pub workload: String,
    /// The subject.
    pub subject: String,
    /// Their parameters.
    pub parameters: Parameters,
    /// What happened to all of them: the reason without what differs from cell to cell.
    pub event: String,
    /// How many.
    pub cells: usize,
    /// Their points, ascending.
    pub points: BTreeSet<u64>,
    /// Whether every cell from the first of these points on failed so, and cells below it did not.
    pub onwards: bool,
    /// What tells their parameters from others of the workload, or nothing.
    #[serde(skip)]
    qualifier: String,
}

impl CaveatKind for FailedCells {
    fn find(context: &Context<'_>) -> Vec<Self> {
        // Where x is words, a difference says what stands in the place of a figure.
        if context.named_points.is_some() {
            return Vec::new();
        }
        let run = context.run;
        let mut groups: Vec<Self> = Vec::new();
        for cell in &run.cells {
            let Outcome::Failed { reason, .. } = &cell.outcome else { continue };
            let key = &cell.key;
            if run.is_control(key) || is_finding(run, key, reason) {
                continue;
            }
            let event = reason.event();
            let group = groups.iter_mut().find(|group| group.is_of(key, &event));
            if let Some(group) = group {
                group.cells += 1;
                group.points.insert(key.point);
                continue;
            }
            groups.push(Self {
                workload: key.workload.clone(),
                subject: key.subject.clone(),
                parameters: key.parameters.clone(),
                event,
                cells: 1,
                points: BTreeSet::from([key.point]),
                onwards: false,
                qualifier: with_parameters(run, &key.workload, &key.parameters),
            });
        }
        for group in &mut groups {
            group.onwards = group.has_all_from_its_first(run);
        }
        groups
    }

    /// `3 cells of select at 2,000 and 9,000 failed: killed by signal 9`, `sort fails from 1,000 on: exited with 22`.
    fn what(&self) -> String {
        let Self { subject, qualifier, event, .. } = self;
        if let Some(first) = self.points.first().filter(|_| self.onwards) {
            return format!("{subject}{qualifier} fails from {} on: {event}", count(*first));
        }
        let at = points(&self.points.iter().copied().collect::<Vec<u64>>());
        let cells = counted(&count(self.cells as u64), "cells");
        format!("{cells} of {subject}{qualifier} at {at} failed: {event}")
    }

    fn remedy(&self) -> String {
        String::new()
    }
}

impl FailedCells {
    fn has_all_from_its_first(&self, run: &Run) -> bool {
        let cells = run.cells.iter().filter(|cell| {
            (&cell.key.workload, &cell.key.subject, &cell.key.parameters)
                == (&self.workload, &self.subject, &self.parameters)
        });
        let Some(first) = self.points.first() else { return false };
        let (mut from_first, mut below) = (0, 0);
        for cell in cells {
            let counted = if cell.key.point < *first { &mut below } else { &mut from_first };
            *counted += 1;
        }
        below > 0 && from_first == self.cells
    }

    fn is_of(&self, key: &CellKey, event: &str) -> bool {
        let series = (&self.workload, &self.subject, &self.parameters);
        series == (&key.workload, &key.subject, &key.parameters) && self.event == event
    }
}

/// Whether a finding says that the cell failed: that a series did not finish is what was to be found.
fn is_finding(run: &Run, key: &CellKey, reason: &FailureReason) -> bool {
    let workload = run.plan.workloads.iter().find(|workload| workload.name == key.workload);
    let has_finding = |workload: &WorkloadInfo| {
        workload.averages || workload.ratio.as_ref().is_some_and(|ratio| ratio.multiple)
    };
    reason.is_unfinished() && workload.is_some_and(has_finding)
}
