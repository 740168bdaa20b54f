//! Figures from so few rounds that their intervals are narrower than they should be.

use super::more_rounds::MoreRounds;
use super::prelude::*;
use super::{figures, headline_tables};
use crate::format::number_word;
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

    fn what(&self) -> String {
        match self.rounds {
            1 => {
                "Some figures are from a single round: their 95 % CIs know nothing of what changes \
                  from round to round"
                    .to_owned()
            }
            few => format!(
                "Some figures are from {} rounds: their 95 % CIs are too narrow",
                number_word(few as usize)
            ),
        }
    }

    fn remedy(&self) -> String {
        self.more.remedy()
    }
}
