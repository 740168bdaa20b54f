//! What is left out for want of figures, so that nothing is silent.

use crate::format::{count, list};
use crate::grouping::grouped;
use model::{Outcome, Run, RunState, Unavailable};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// What is left out for want of figures.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NotMeasured {
    /// The subjects that can't be measured here, by reason.
    pub unavailable: Vec<UnavailableSubjects>,
    /// Cells that failed, without those of controls.
    pub failed: usize,
    /// Cells that ended before their axis did.
    pub short: usize,
    /// Points that planning clamped or left out.
    pub changed: usize,
    /// Planned cells that did not run, where the run was cut off.
    pub missing: u64,
}

/// Subjects that can't be measured here for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct UnavailableSubjects {
    /// Why.
    pub reason: String,
    /// Their labels, each once.
    pub subjects: Vec<String>,
}

impl NotMeasured {
    pub(super) fn new(run: &Run) -> Self {
        let mut unavailable: Vec<(&String, String)> = Vec::new();
        for Unavailable { workload, subject, reason } in &run.plan.unavailable {
            let label = run.plan.label(workload, subject);
            if !unavailable.iter().any(|(_, listed)| *listed == label) {
                unavailable.push((reason, label.to_owned()));
            }
        }
        let group = |(reason, subjects): (&String, _)| UnavailableSubjects {
            reason: reason.clone(),
            subjects,
        };
        let cells = || run.cells.iter().filter(|cell| !run.is_control(&cell.key));
        let missing = match run.summary.state {
            RunState::Complete => 0,
            _ => run.summary.cells_planned.saturating_sub(run.summary.cells_ended),
        };
        Self {
            unavailable: grouped(unavailable).into_iter().map(group).collect(),
            failed: cells().filter(|cell| cell.outcome != Outcome::Measured).count(),
            short: cells()
                .filter(|cell| cell.short.is_some())
                .map(|cell| &cell.key.subject)
                .collect::<BTreeSet<_>>()
                .len(),
            changed: run.plan.warnings().count(),
            missing,
        }
    }

    /// A clause for each reason: `/dev/poll and event-ports: Solaris and illumos only`; the shortest first.
    pub(super) fn unavailable_clauses(&self) -> Vec<String> {
        let clause =
            |group: &UnavailableSubjects| format!("{}: {}", list(&group.subjects), group.reason);
        let mut clauses: Vec<String> = self.unavailable.iter().map(clause).collect();
        clauses.sort_by_key(String::len);
        clauses
    }

    /// `2 cells failed; 1 point was clamped or left out`; empty where every planned cell was measured.
    pub fn sentence(&self) -> String {
        let several = |number: u64, singular: &str, plural: &str| match number {
            0 => None,
            1 => Some(format!("1 {singular}")),
            _ => Some(format!("{} {plural}", count(number))),
        };
        let parts = [
            several(self.missing, "cell was not run", "cells were not run"),
            several(self.failed as u64, "cell failed", "cells failed"),
            several(self.short as u64, "subject ended early", "subjects ended early"),
            several(
                self.changed as u64,
                "point was clamped or left out",
                "points were clamped or left out",
            ),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}
