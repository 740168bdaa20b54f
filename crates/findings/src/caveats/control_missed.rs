//! A subject that is wrong on purpose was not caught in each of its cells: the workload's check does not see what it is there
//! to see, or did not get to it.

use super::prelude::*;
use crate::format::count;
use model::{CellKey, Outcome, Run};

/// A control that failed, or did not finish.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ControlMissed {
    /// The workload.
    pub workload: String,
    /// The subject's label.
    pub label: String,
    /// How its cells ended.
    pub cells: Control,
}

/// How the cells of a control ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Control {
    /// Cells that failed, as they have to.
    pub caught: usize,
    /// Cells that did not finish, which proves nothing.
    pub unfinished: usize,
    /// Cells that were measured as if the subject were right.
    pub missed: usize,
}

impl CaveatKind for ControlMissed {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let missed = Control::all(context.run).filter(|(_, cells)| !cells.is_caught());
        let caveat = |([workload, subject], cells): ([&str; 2], Control)| Self {
            workload: workload.to_owned(),
            label: context.run.plan.label(workload, subject).to_owned(),
            cells,
        };
        missed.map(caveat).collect()
    }

    fn warning(&self) -> Warning {
        let Self { workload, label, cells } = self;
        let [caught, missed, all] =
            [cells.caught, cells.missed, cells.cells()].map(|cells| count(cells as u64));
        if cells.missed == 0 {
            return Warning {
                what: format!(
                    "The control of {workload} was caught in {caught} of {all} cells only: {label} did not \
                     finish in the others"
                ),
                remedy: "the same with a longer --deadline".into(),
            };
        }
        Warning {
            what: format!(
                "The control failed: {label}, which is wrong on purpose, was measured in {missed} of {all} \
                 cells as if it were right"
            ),
            remedy: format!("don't trust this run: {workload} does not see what it has to"),
        }
    }
}

impl Control {
    /// Each control of which cells ended, with its workload and its name.
    pub(crate) fn all(run: &Run) -> impl Iterator<Item = ([&str; 2], Self)> {
        run.plan.controls().filter_map(move |(workload, subject)| {
            let is_of = |key: &CellKey| key.workload == workload && key.subject == subject;
            let cells = run.cells.iter().filter(|cell| is_of(&cell.key));
            let control = cells.fold(Self::default(), |control, cell| control.with(&cell.outcome));
            (control.cells() > 0).then_some(([workload, subject], control))
        })
    }

    fn with(mut self, outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Measured => self.missed += 1,
            Outcome::Failed { reason, .. } if reason.is_unfinished() => self.unfinished += 1,
            Outcome::Failed { .. } => self.caught += 1,
        }
        self
    }

    /// Whether each of its cells failed, as it has to.
    pub(crate) fn is_caught(&self) -> bool {
        self.caught == self.cells()
    }

    fn cells(&self) -> usize {
        self.caught + self.unfinished + self.missed
    }
}
