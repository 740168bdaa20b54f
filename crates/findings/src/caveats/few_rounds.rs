//! Figures from so few rounds that their intervals are narrower than they should be.

use super::more_rounds::MoreRounds;
use super::prelude::*;
use super::{figures, headline_tables};
use crate::format::counted;
use crate::thresholds::ROUNDS_MIN;

/// The fewest rounds of any figure.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FewRounds {
    /// The rounds.
    pub rounds: u32,
    /// What adds to them.
    pub more: MoreRounds,
}

impl CaveatKind for FewRounds {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let all = headline_tables(context).flat_map(|table| figures(table, &table.rows));
        let Some(rounds) = all.map(|figure| figure.rounds).min() else { return Vec::new() };
        let more = MoreRounds::new(context.run);
        let is_known = context.has_deviations() && more == MoreRounds::Rows;
        if rounds >= ROUNDS_MIN || is_known { Vec::new() } else { vec![Self { rounds, more }] }
    }

    fn warning(&self) -> Warning {
        let rounds = counted(&self.rounds.to_string(), "rounds");
        let what = format!("Some 95 % CIs are too narrow: {rounds} only");
        Warning { what, remedy: self.more.remedy() }
    }
}
