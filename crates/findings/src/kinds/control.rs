//! Whether a subject that is wrong on purpose was caught: each of its cells has to fail. One that is
//! measured as if it were right says that the workload's check does not see what it is there to see.

use super::prelude::*;
use crate::format::{count, counted};
use model::{CellKey, Outcome, Run};

/// How the cells of a control ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Control {
    /// Cells that failed, as they have to.
    pub caught: usize,
    /// Cells that did not finish, which proves nothing.
    pub unfinished: usize,
    /// Cells that were measured as if the subject were right.
    pub missed: usize,
}

impl FindingKind for Control {
    const TAG: Tag = Tag::new("control", Tone::Open);
    const SECTION: Section = Section::ListOnly;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let finding = |(key, control): (&CellKey, Self)| {
            let workload = context.run.plan.workload(&key.workload);
            let metric = workload.and_then(|workload| workload.headline(&key.subject));
            let scope = (key.workload.clone(), key.parameters.clone());
            let metric = metric.map_or_else(String::new, |metric| metric.name.clone());
            Finding::new(scope, metric, vec![key.subject.clone()], control)
        };
        Self::all(context.run).into_iter().map(finding).collect()
    }

    fn rank(&self) -> f64 {
        if self.missed > 0 { f64::INFINITY } else { 1.0 }
    }

    /// `broken, which is wrong on purpose, was caught in 5 of 5 cells`
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let control = &all[0];
        let cells = counted(&count(control.cells() as u64), "cells");
        let caught = count(control.caught as u64);
        let unfinished = match control.unfinished {
            0 => String::new(),
            many => format!("; {} did not finish", count(many as u64)),
        };
        let rest =
            format!(", which is wrong on purpose, was caught in {caught} of {cells}{unfinished}");
        names.claim(rest)
    }
}

impl Control {
    /// Each control of which cells ended, by the key of the first.
    pub(crate) fn all(run: &Run) -> Vec<(&CellKey, Self)> {
        let mut all = Vec::new();
        for workload in &run.plan.workloads {
            for subject in workload.subjects.iter().filter(|subject| subject.control) {
                let mut first = None;
                let mut control = Self { caught: 0, unfinished: 0, missed: 0 };
                for cell in run.cells.iter().filter(|cell| {
                    cell.key.workload == workload.name && cell.key.subject == subject.name
                }) {
                    first.get_or_insert(&cell.key);
                    match &cell.outcome {
                        Outcome::Measured => control.missed += 1,
                        Outcome::Failed { reason, .. } if reason.is_unfinished() => {
                            control.unfinished += 1;
                        }
                        Outcome::Failed { .. } => control.caught += 1,
                    }
                }
                all.extend(first.map(|key| (key, control)));
            }
        }
        all
    }

    /// All of its cells.
    pub fn cells(&self) -> usize {
        self.caught + self.unfinished + self.missed
    }
}
