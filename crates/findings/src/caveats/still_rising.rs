//! Servers whose replies still came faster and faster when they were measured.

use super::prelude::*;
use crate::format::list;
use model::{Outcome, server_facts};
use std::collections::BTreeSet;

/// Subjects whose rate was not level after the longest warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StillRising {
    /// The subjects.
    pub subjects: BTreeSet<String>,
}

impl CaveatKind for StillRising {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let cells = context.run.cells.iter().filter(|cell| {
            cell.outcome == Outcome::Measured && cell.facts.contains_key(server_facts::IS_RISING)
        });
        let subjects: BTreeSet<String> = cells.map(|cell| cell.key.subject.clone()).collect();
        if subjects.is_empty() { Vec::new() } else { vec![Self { subjects }] }
    }

    /// `The rate of node still rose at the end of the warm-up`.
    fn warning(&self) -> Warning {
        Warning {
            what: format!(
                "The rate of {} still rose at the end of the warm-up",
                list(&self.subjects)
            ),
            remedy: "the same with --deadline 2m, which warms up for longer".into(),
        }
    }
}
