//! What is left out for want of figures, so that nothing is silent.

use crate::format::{count, list};
use model::{Outcome, Run, RunState};
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
        let label = |unavailable: &model::Unavailable| {
            let mut workloads = run.plan.workloads.iter();
            let workload = workloads.find(|workload| workload.name == unavailable.workload);
            let mut subjects = workload.into_iter().flat_map(|workload| &workload.subjects);
            let subject = subjects.find(|subject| subject.name == unavailable.subject);
            subject.map_or(&unavailable.subject, |subject| &subject.label).clone()
        };
        let mut by_reason: Vec<UnavailableSubjects> = Vec::new();
        for subject in &run.plan.unavailable {
            let (label, reason) = (label(subject), &subject.reason);
            if by_reason.iter().any(|group| group.subjects.contains(&label)) {
                continue;
            }
            match by_reason.iter_mut().find(|group| group.reason == *reason) {
                Some(group) => group.subjects.push(label),
                None => by_reason
                    .push(UnavailableSubjects { reason: reason.clone(), subjects: vec![label] }),
            }
        }
        let cells = || run.cells.iter().filter(|cell| !run.is_control(&cell.key));
        let missing = match run.summary.state {
            RunState::Complete => 0,
            _ => run.summary.cells_planned.saturating_sub(run.summary.cells_ended),
        };
        Self {
            unavailable: by_reason,
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
    pub fn unavailable_clauses(&self) -> Vec<String> {
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
