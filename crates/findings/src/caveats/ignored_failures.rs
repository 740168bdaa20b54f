//! Runs of a command that failed, and were to count all the same.

use super::prelude::*;
use crate::format::{list, points};
use crate::grouping::grouped;
use model::{CellKey, Fact, command_facts};
use std::collections::BTreeSet;

/// Runs of one subject that failed, and count.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IgnoredFailures {
    /// What they are of.
    #[serde(flatten)]
    pub series: AffectedSeries,
    /// How they ended: `exited with 3`.
    pub ends: BTreeSet<String>,
    /// Where on the axis.
    pub points: BTreeSet<u64>,
}

impl CaveatKind for IgnoredFailures {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let ignored = context.run.cells.iter().filter_map(|cell| {
            let ends = cell.facts.get(command_facts::IGNORED_ENDS);
            let Some(Fact::Texts(ends)) = ends else { return None };
            Some(((&cell.key.subject, &cell.key.parameters), (&cell.key, ends)))
        });
        let group = |(_, cells): (_, Vec<(&CellKey, &Vec<String>)>)| Self {
            series: AffectedSeries::new(context.run, cells[0].0),
            ends: cells.iter().flat_map(|(_, ends)| ends.iter().cloned()).collect(),
            points: cells.iter().map(|(key, _)| key.point).collect(),
        };
        grouped(ignored).into_iter().map(group).collect()
    }

    /// `false at 10 and 100 exited with 1, which was to be ignored`.
    fn warning(&self) -> Warning {
        let at = points(&self.points);
        let ends = list(&self.ends);
        let what = format!("{} at {at} {ends}, which was to be ignored", self.series);
        Warning { what, remedy: String::new() }
    }
}
