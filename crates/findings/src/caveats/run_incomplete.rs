//! The run did not come to its end.

use super::prelude::*;
use crate::format::{count, counted, resume_command};
use crate::resuming::obstacle;
use model::{HOST_NAME, RunState};
use std::path::Path;

/// How far it came.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunIncomplete {
    /// The state that it is recorded in.
    pub state: RunState,
    /// Cells that ended.
    pub cells: usize,
    /// Planned cells; unknown with a budget.
    pub planned: Option<usize>,
    /// Cells of its profile, where only that is incomplete.
    pub profiled: Option<usize>,
    /// What completes it.
    pub completion: Completion,
    /// Its number in the record.
    pub run: i64,
    /// The record, where a command has to name it.
    pub record: Option<String>,
    /// The name of the machine that it began on, where it is known.
    pub host: Option<String>,
}

/// What completes a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Completion {
    /// It can be resumed here.
    Resume,
    /// It began on another machine, and is resumed there.
    ResumeOnHost,
    /// It came from another record, and is resumed in that one.
    ResumeElsewhere,
    /// It took turns with another run, and neither goes on alone.
    MeasureBoth,
    /// It is not recorded, or not as it was, or its machine has changed.
    MeasureAgain,
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
        vec![Self {
            state: run.summary.state,
            cells,
            planned: run.plan.budget.is_none().then_some(planned),
            profiled: run.is_cut_off_in_profile().then_some(run.profile.cells.len()),
            completion: completion(context),
            run: run.summary.number,
            record: context.reader.record.as_ref().map(|path| path.to_string_lossy().into_owned()),
            host: run.host_before.fact(HOST_NAME).map(str::to_owned),
        }]
    }

    fn warning(&self) -> Warning {
        Warning { what: self.what(), remedy: self.remedy() }
    }
}

impl RunIncomplete {
    fn what(&self) -> String {
        let cells = count(self.cells as u64);
        let planned = self.planned.map(|planned| format!(" of {}", count(planned as u64)));
        let planned = planned.unwrap_or_default();
        if let Some(profiled) = self.profiled {
            let profiled = counted(&count(profiled as u64), "cells");
            return format!("The run was cut off in its profile, of which {profiled} ended");
        }
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
        let host = self.host.as_ref().map_or_else(
            || "where it began".to_owned(),
            |host| format!("on {host}, where it began"),
        );
        match self.completion {
            Completion::Resume => resume_command(self.run, self.record.as_ref().map(Path::new)),
            Completion::ResumeOnHost => format!("resume it {host}"),
            Completion::ResumeElsewhere => format!("resume it {host}, then bring it in again"),
            Completion::MeasureBoth => "measure both again".to_owned(),
            Completion::MeasureAgain => "it can't go on here: measure again".to_owned(),
            Completion::Nothing => String::new(),
        }
    }
}

/// What completes the run of `context`.
fn completion(context: &Context<'_>) -> Completion {
    let run = context.run;
    match obstacle(run, context.reader.host.as_ref()) {
        _ if run.summary.state == RunState::Complete => Completion::Nothing,
        Some((_, completion)) => completion,
        None if run.summary.number == 0 => Completion::MeasureAgain,
        None => Completion::Resume,
    }
}
