//! Processes that a command left running at its end: its time is not all of what it started.

use super::{CaveatKind, with_parameters};
use crate::conclusions::context::Context;
use crate::format::count;
use model::{Cell, Parameters, command_facts};
use printable::quantity;
use schemars::JsonSchema;
use serde::Serialize;

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
    fn find(context: &Context<'_>) -> Vec<Self> {
        let number = |cell: &Cell, name: &str| Some(cell.facts.get(name)?.number()? as u64);
        let mut groups: Vec<Self> = Vec::new();
        for cell in &context.run.cells {
            let Some(processes) = number(cell, command_facts::LEFT) else { continue };
            let cpu_ms = number(cell, command_facts::LEFT_CPU_MS).unwrap_or(0);
            let key = &cell.key;
            let is_same = |group: &&mut Self| {
                group.subject == key.subject && group.parameters == key.parameters
            };
            match groups.iter_mut().find(is_same) {
                Some(group) => {
                    group.processes = group.processes.max(processes);
                    group.cpu_ms = group.cpu_ms.max(cpu_ms);
                }
                None => groups.push(Self {
                    subject: key.subject.clone(),
                    parameters: key.parameters.clone(),
                    processes,
                    cpu_ms,
                    qualifier: with_parameters(context.run, &key.workload, &key.parameters),
                }),
            }
        }
        groups
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

    fn remedy(&self) -> String {
        "wait for them in the command".to_owned()
    }
}
