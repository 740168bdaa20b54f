//! The run did not come to its end.

use super::CaveatKind;
use crate::context::Context;
use crate::format::count;
use record::RunState;
use serde::Serialize;

/// How far it came.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunIncomplete {
    /// The state that it is recorded in.
    pub state: RunState,
    /// Cells that ended.
    pub cells: usize,
    /// Planned cells; unknown with a budget.
    pub planned: Option<usize>,
    /// What completes it.
    pub completion: Completion,
}

/// What completes a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Completion {
    /// It can be resumed here.
    Resume,
    /// It began elsewhere, and is resumed there.
    ResumeElsewhere,
    /// It took turns with another run, and neither goes on alone.
    MeasureBoth,
    /// Nothing.
    Nothing,
}

impl CaveatKind for RunIncomplete {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let run = context.run;
        let (cells, planned) = (run.cells.len(), run.plan.cells.len());
        let is_complete = run.summary.state == RunState::Complete;
        // No knee ends a run with fewer cells than planned; a file that was changed may hold one.
        if is_complete && (run.plan.budget.is_some() || cells >= planned) {
            return Vec::new();
        }
        let completion = if is_complete {
            Completion::Nothing
        } else if !run.plan.paired_with.is_empty() {
            Completion::MeasureBoth
        } else if run.summary.origin.is_empty() {
            Completion::Resume
        } else {
            Completion::ResumeElsewhere
        };
        let planned = run.plan.budget.is_none().then_some(planned);
        vec![Self { state: run.summary.state, cells, planned, completion }]
    }

    fn what(&self) -> String {
        let cells = count(self.cells as u64);
        let planned = self.planned.map(|planned| format!(" of {}", count(planned as u64)));
        let planned = planned.unwrap_or_default();
        match self.state {
            RunState::Complete => {
                format!("The run calls itself complete with {cells}{planned} cells")
            }
            RunState::Interrupted => {
                format!("The run was interrupted: {cells}{planned} cells ended")
            }
            RunState::Open => format!("The run has not ended: {cells}{planned} cells ended"),
        }
    }

    fn remedy(&self) -> String {
        let remedy = match self.completion {
            Completion::Resume => "knee run --resume",
            Completion::ResumeElsewhere => "resume it where it began, then bring it in again",
            Completion::MeasureBoth => "measure both again",
            Completion::Nothing => "",
        };
        remedy.to_owned()
    }
}
