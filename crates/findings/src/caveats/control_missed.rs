//! A subject that is wrong on purpose was not caught in each of its cells.

use super::prelude::*;
use crate::format::count;
use crate::kinds::control::Control;
use model::CellKey;

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

impl CaveatKind for ControlMissed {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let missed = Control::all(context.run)
            .into_iter()
            .filter(|(_, control)| control.caught < control.cells());
        let caveat = |(key, cells): (&CellKey, Control)| Self {
            workload: key.workload.clone(),
            label: context.run.plan.label(&key.workload, &key.subject).to_owned(),
            cells,
        };
        missed.map(caveat).collect()
    }

    fn what(&self) -> String {
        let Self { workload, label, cells } = self;
        let [caught, missed, all] =
            [cells.caught, cells.missed, cells.cells()].map(|cells| count(cells as u64));
        if cells.missed == 0 {
            return format!(
                "The control of {workload} was caught in {caught} of {all} cells only: {label} did not \
                 finish in the others"
            );
        }
        format!(
            "The control failed: {label}, which is wrong on purpose, was measured in {missed} of {all} \
             cells as if it were right"
        )
    }

    fn remedy(&self) -> String {
        if self.cells.missed == 0 {
            return "the same with a longer --deadline".to_owned();
        }
        format!("don't trust this run: {} does not see what it has to", self.workload)
    }
}
