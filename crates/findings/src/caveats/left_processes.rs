//! Processes that a command left running at its end: its time is not all of what it started.

use super::prelude::*;
use super::with_parameters;
use crate::format::count;
use crate::grouping::grouped;
use model::{Cell, Parameters, command_facts};
use printable::quantity;

/// Processes that the runs of one subject left, the most of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LeftProcesses {
    /// The subject.
    pub subject: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// How many.
    pub processes: u64,
    /// CPU time that those of a run had used, in milliseconds.
    pub cpu_ms: u64,
    /// What tells their parameters from others of the workload, or nothing.
    #[serde(skip)]
    qualifier: String,
}

impl CaveatKind for LeftProcesses {
    const REMEDY: &str = "wait for them in the command";

    fn find(context: &Context<'_>) -> Vec<Self> {
        let number = |cell: &Cell, name: &str| Some(cell.facts.get(name)?.number()? as u64);
        let left = context.run.cells.iter();
        let left = left.filter(|cell| cell.facts.contains_key(command_facts::LEFT));
        let keyed = left.map(|cell| ((&cell.key.subject, &cell.key.parameters), cell));
        let group = |((subject, parameters), cells): ((&String, &Parameters), Vec<&Cell>)| {
            let max_of =
                |name| cells.iter().filter_map(|cell| number(cell, name)).max().unwrap_or(0);
            Self {
                subject: subject.clone(),
                parameters: parameters.clone(),
                processes: max_of(command_facts::LEFT),
                cpu_ms: max_of(command_facts::LEFT_CPU_MS),
                qualifier: with_parameters(context.run, &cells[0].key.workload, parameters),
            }
        };
        grouped(keyed).into_iter().map(group).collect()
    }

    /// `sleep left 1 process running at its end, with 0 ms of CPU: its time is not that of all that it started`.
    fn what(&self) -> String {
        let Self { subject, qualifier, processes, cpu_ms, .. } = self;
        let processes = quantity(*processes, "process");
        let cpu = count(*cpu_ms);
        format!(
            "{subject}{qualifier} left {processes} running at its end, with {cpu} ms of CPU: its time is not that \
             of all that it started"
        )
    }
}
