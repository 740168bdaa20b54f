//! Trajectories that ended before their axis did, those of one subject and reason together.

use super::prelude::*;
use super::with_parameters;
use crate::format::count;
use model::{FailureReason, Outcome, Parameters};
use std::collections::BTreeMap;

/// Trajectories of one subject that ended early for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ShortTrajectories {
    /// The workload.
    pub workload: String,
    /// The subject.
    pub subject: String,
    /// Their parameters.
    pub parameters: Parameters,
    /// The axis, for people.
    pub axis: String,
    /// The end of the axis.
    pub planned: u64,
    /// How far the shortest came.
    pub reached_min: u64,
    /// How far the longest of them came.
    pub reached_max: u64,
    /// How many rounds ended early.
    pub short_rounds: usize,
    /// Of how many that were measured.
    pub rounds: usize,
    /// The reason.
    pub because: String,
    /// The remedy; may be empty.
    pub remedy: String,
    /// What tells their parameters from others of the workload, or nothing.
    #[serde(skip)]
    qualifier: String,
}

impl CaveatKind for ShortTrajectories {
    fn find(context: &Context<'_>) -> Vec<Self> {
        type Group<'a> = (&'a str, &'a str, &'a Parameters, u64, &'a FailureReason);
        let run = context.run;
        let mut groups: BTreeMap<Group<'_>, Vec<u64>> = BTreeMap::new();
        for cell in &run.cells {
            let (Some(short), key) = (&cell.short, &cell.key) else { continue };
            let group: Group<'_> =
                (&key.workload, &key.subject, &key.parameters, key.point, &short.reason);
            groups.entry(group).or_default().push(short.reached);
        }
        let caveat = |(group, reached): (Group<'_>, Vec<u64>)| {
            let (workload, subject, parameters, planned, reason) = group;
            let alike = run.cells.iter().filter(|cell| {
                let key = &cell.key;
                let same = (&key.parameters, key.point) == (parameters, planned);
                same && key.workload == workload && key.subject == subject
            });
            let info = run.plan.workload(workload);
            Self {
                workload: workload.to_owned(),
                subject: subject.to_owned(),
                parameters: parameters.clone(),
                axis: info.map_or("points", |info| info.axis.as_str()).to_owned(),
                planned,
                reached_min: reached.iter().min().copied().unwrap_or(0),
                reached_max: reached.iter().max().copied().unwrap_or(0),
                short_rounds: reached.len(),
                rounds: alike.filter(|cell| cell.outcome == Outcome::Measured).count(),
                because: reason.cause(),
                remedy: reason.remedy().to_owned(),
                qualifier: with_parameters(run, workload, parameters),
            }
        };
        groups.into_iter().map(caveat).collect()
    }

    /// `fork vfork reached 498 to 512 of 10,000 processes in every round: …`.
    fn what(&self) -> String {
        let Self { workload, subject, qualifier, axis, because, .. } = self;
        let often = if self.short_rounds == self.rounds {
            "in every round".to_owned()
        } else {
            format!("in {} of {} rounds", self.short_rounds, self.rounds)
        };
        let reached = if self.reached_min == self.reached_max {
            count(self.reached_min)
        } else {
            format!("{} to {}", count(self.reached_min), count(self.reached_max))
        };
        let planned = count(self.planned);
        format!(
            "{workload} {subject}{qualifier} reached {reached} of {planned} {axis} {often}: {because}"
        )
    }

    fn remedy(&self) -> String {
        self.remedy.clone()
    }
}
