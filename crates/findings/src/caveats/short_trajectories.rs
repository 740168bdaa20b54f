//! Trajectories that ended before their axis did, those of one subject and reason together.

use super::prelude::*;
use crate::format::count;
use model::{Cell, CellKey, FailureReason, Outcome, Parameters};
use std::collections::BTreeMap;

/// Trajectories of one subject that ended early for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ShortTrajectories {
    /// What they are of.
    #[serde(flatten)]
    pub series: AffectedSeries,
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
}

impl CaveatKind for ShortTrajectories {
    fn find(context: &Context<'_>) -> Vec<Self> {
        type Group<'a> = (&'a str, &'a str, &'a Parameters, u64, &'a FailureReason);
        let run = context.run;
        let mut groups: BTreeMap<Group<'_>, Vec<(&CellKey, u64)>> = BTreeMap::new();
        for cell in &run.cells {
            let (Some(short), key) = (&cell.short, &cell.key) else { continue };
            let group: Group<'_> =
                (&key.workload, &key.subject, &key.parameters, key.point, &short.reason);
            groups.entry(group).or_default().push((key, short.reached));
        }
        let caveat = |((.., planned, reason), short): (Group<'_>, Vec<(&CellKey, u64)>)| {
            let key = short[0].0;
            let is_alike = |cell: &&Cell| CellKey { round: key.round, ..cell.key.clone() } == *key;
            let alike = run.cells.iter().filter(is_alike);
            let reached = || short.iter().map(|(_, reached)| *reached);
            let info = run.plan.workload(&key.workload);
            Self {
                series: AffectedSeries::new(run, key),
                axis: info.map_or("points", |info| info.axis.as_str()).to_owned(),
                planned,
                reached_min: reached().min().unwrap_or(0),
                reached_max: reached().max().unwrap_or(0),
                short_rounds: short.len(),
                rounds: alike.filter(|cell| cell.outcome == Outcome::Measured).count(),
                because: reason.cause(),
                remedy: reason.remedy().to_owned(),
            }
        };
        groups.into_iter().map(caveat).collect()
    }

    /// `fork vfork reached 498 to 512 of 10,000 processes in every round: …`.
    fn warning(&self) -> Warning {
        let Self { series, axis, because, .. } = self;
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
        let workload = &series.workload;
        let reached = format!("reached {reached} of {planned} {axis} {often}");
        let what = format!("{workload} {series} {reached}: {because}");
        Warning { what, remedy: self.remedy.clone() }
    }
}
