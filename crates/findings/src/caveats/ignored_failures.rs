//! Runs of a command that failed, and were to count all the same.

use super::{CaveatKind, with_parameters};
use crate::conclusions::context::Context;
use crate::format::{list, points};
use model::{Fact, Parameters, command_facts};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Runs of one subject that failed, and count.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct IgnoredFailures {
    /// The subject.
    pub subject: String,
    /// Its parameters.
    pub parameters: Parameters,
    /// How they ended: `exited with 3`.
    pub ends: BTreeSet<String>,
    /// Where on the axis.
    pub points: BTreeSet<u64>,
    /// What tells their parameters from others of the workload, or nothing.
    #[serde(skip)]
    qualifier: String,
}

impl CaveatKind for IgnoredFailures {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for cell in &context.run.cells {
            let ends = cell.facts.get(command_facts::IGNORED_ENDS);
            let Some(Fact::Texts(ends)) = ends else { continue };
            let key = &cell.key;
            let is_same =
                |group: &Self| group.subject == key.subject && group.parameters == key.parameters;
            let index = groups.iter().position(is_same).unwrap_or(groups.len());
            if index == groups.len() {
                groups.push(Self {
                    subject: key.subject.clone(),
                    parameters: key.parameters.clone(),
                    ends: BTreeSet::new(),
                    points: BTreeSet::new(),
                    qualifier: with_parameters(context.run, &key.workload, &key.parameters),
                });
            }
            groups[index].ends.extend(ends.iter().cloned());
            groups[index].points.insert(key.point);
        }
        groups
    }

    /// `false at 10 and 100 exited with 1, which was to be ignored`.
    fn what(&self) -> String {
        let at = points(&self.points.iter().copied().collect::<Vec<u64>>());
        let ends = list(&self.ends.iter().cloned().collect::<Vec<String>>());
        format!("{}{} at {at} {ends}, which was to be ignored", self.subject, self.qualifier)
    }

    fn remedy(&self) -> String {
        String::new()
    }
}
