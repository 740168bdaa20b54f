//! What gives the figures of a run more rounds.

use crate::thresholds::ROUNDS_MIN;
use analysis::trust;
use model::Run;
use schemars::JsonSchema;
use serde::Serialize;

/// What gives the figures more rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MoreRounds {
    /// More rows in the table that the run was read from.
    Rows,
    /// More rounds, which no budget limits.
    Rounds(u32),
    /// A longer budget: the rounds that it allows were not reached.
    LongerBudget,
    /// A longer load, whose rounds are intervals.
    LongerLoad,
    /// Both: some points had all the rounds that the budget allows.
    RoundsAndLongerBudget(u32),
}

impl MoreRounds {
    /// What gives `run` more: twice the rounds that it has, and [`ROUNDS_MIN`] at least. All that advises rounds advises these.
    pub fn new(run: &Run) -> Self {
        let rounds = trust::rounds(run, None);
        match run.plan.budget {
            _ if run.is_foreign() => Self::Rows,
            _ if run.is_load() => Self::LongerLoad,
            Some(budget) => Self::with_budget(budget.time_ms, run.plan.rounds, rounds),
            None => Self::Rounds((2 * rounds.1).max(ROUNDS_MIN)),
        }
    }

    /// What lets a run with a budget go on, of `rounds_max` at most: more rounds where a point had all of
    /// them, more time where another had not.
    pub fn with_budget(time_ms: u64, rounds_max: u32, (min, max): (u32, u32)) -> Self {
        let rounds = 2 * rounds_max;
        match time_ms {
            0 => Self::Rounds(rounds),
            _ if min >= rounds_max => Self::Rounds(rounds),
            _ if max >= rounds_max => Self::RoundsAndLongerBudget(rounds),
            _ => Self::LongerBudget,
        }
    }

    /// The remedy in words.
    pub fn remedy(self) -> String {
        match self {
            Self::Rows => "a row for each repetition of the measurement".to_owned(),
            Self::Rounds(rounds) => format!("the same with --rounds {rounds}"),
            Self::LongerBudget => "the same with a longer --budget".to_owned(),
            Self::LongerLoad => "the same with a longer --duration".to_owned(),
            Self::RoundsAndLongerBudget(rounds) => {
                format!("the same with --rounds {rounds} and a longer --budget")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_with_all_rounds_needs_more_of_them_and_not_more_time() {
        let remedy = |time_ms, rounds| MoreRounds::with_budget(time_ms, 200, rounds).remedy();
        assert_eq!(remedy(8_000, (200, 200)), "the same with --rounds 400");
        assert_eq!(remedy(8_000, (20, 60)), "the same with a longer --budget");
        assert_eq!(remedy(8_000, (20, 200)), "the same with --rounds 400 and a longer --budget");
        assert_eq!(remedy(0, (20, 60)), "the same with --rounds 400");
    }

    #[test]
    fn a_load_has_more_intervals_where_it_is_longer() {
        let mut run = fixtures::run(fixtures::workload("load")).complete();
        run.host_before.facts = [("cpu.count".to_owned(), 2.into())].into();
        assert!(matches!(MoreRounds::new(&run), MoreRounds::Rounds(_)));
        run.plan.workloads[0].role = model::WorkloadRole::Load;
        assert_eq!(MoreRounds::new(&run), MoreRounds::LongerLoad);
    }
}
