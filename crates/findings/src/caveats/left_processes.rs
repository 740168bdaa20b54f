//! Processes that a command left running at its end: its time is not all of what it started.

use super::prelude::*;
use crate::format::count;
use crate::grouping::grouped;
use model::{Cell, command_facts};
use printable::quantity;

/// Processes that the runs of one subject left, the most of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LeftProcesses {
    /// What left them.
    #[serde(flatten)]
    pub series: AffectedSeries,
    /// How many.
    pub processes: u64,
    /// CPU time that those of a run had used, in milliseconds.
    pub cpu_ms: u64,
}

impl CaveatKind for LeftProcesses {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let number = |cell: &Cell, name: &str| Some(cell.facts.get(name)?.number()? as u64);
        let left = context.run.cells.iter();
        let left = left.filter(|cell| cell.facts.contains_key(command_facts::LEFT));
        let keyed = left.map(|cell| ((&cell.key.subject, &cell.key.parameters), cell));
        let group = |(_, cells): (_, Vec<&Cell>)| {
            let max_of =
                |name| cells.iter().filter_map(|cell| number(cell, name)).max().unwrap_or(0);
            Self {
                series: AffectedSeries::new(context.run, &cells[0].key),
                processes: max_of(command_facts::LEFT),
                cpu_ms: max_of(command_facts::LEFT_CPU_MS),
            }
        };
        grouped(keyed).into_iter().map(group).collect()
    }

    /// `sleep left 1 process running at its end, with 0 ms of CPU: its time is not that of all that it started`.
    fn warning(&self) -> Warning {
        let Self { series, processes, cpu_ms } = self;
        let processes = quantity(*processes, "process");
        let cpu = count(*cpu_ms);
        let what = format!(
            "{series} left {processes} running at its end, with {cpu} ms of CPU: its time is not that \
             of all that it started"
        );
        Warning { what, remedy: "wait for them in the command".into() }
    }
}
