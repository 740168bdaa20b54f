//! What a rank did of a load of several processes, as facts of a cell: a fact for each figure, `rank.0.replies` = 2500.

use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::str::FromStr;

const PREFIX: &str = "rank.";
/// How many ranks the load has: those without facts did not come to their end.
const RANKS: &str = "rank.count";

/// The parameters of a load without some of its ranks: how many ranks it has, and how many are missing.
pub const LOAD_RANKS: &str = "ranks";
/// See [`LOAD_RANKS`].
pub const LOAD_RANKS_MISSING: &str = "ranks_missing";

/// A rank of a load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rank {
    /// Its number, from 0 on.
    pub rank: u32,
    /// Absent where the rank did not come to its end.
    pub measured: Option<RankMeasured>,
}

/// What a rank did of the load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankMeasured {
    /// The name of its machine.
    pub host: String,
    /// Requests that it sent.
    pub requests: u64,
    /// Replies that it got.
    pub replies: u64,
    /// How long after the agreed start its last thread began, by its own reading of the common clock.
    pub start_late_ns: f64,
    /// How far that reading may be off: half of the fastest answer.
    pub clock_bound_ns: f64,
    /// Requests that it sent late.
    pub late: u64,
    /// The share of its time that its busiest thread was on a CPU.
    pub busy_share: f64,
}

impl Rank {
    /// Whether a fact of this name is one of a rank.
    pub fn is_fact(name: &str) -> bool {
        name.starts_with(PREFIX)
    }

    /// The facts of all ranks of a load; none of a load without ranks.
    pub fn facts(ranks: &[Rank]) -> BTreeMap<String, String> {
        let mut facts = BTreeMap::new();
        if !ranks.is_empty() {
            facts.insert(RANKS.to_owned(), ranks.len().to_string());
        }
        for Rank { rank, measured } in ranks {
            let Some(measured) = measured else { continue };
            let mut set = |name: &str, value: String| facts.insert(fact_name(*rank, name), value);
            set("host", measured.host.clone());
            set("requests", measured.requests.to_string());
            set("replies", measured.replies.to_string());
            set("start_late_ns", measured.start_late_ns.to_string());
            set("clock_bound_ns", measured.clock_bound_ns.to_string());
            set("late", measured.late.to_string());
            set("busy_share", measured.busy_share.to_string());
        }
        facts
    }

    /// The ranks that facts are of. One whose facts can not be read is none of them: it was there.
    pub fn from_facts(facts: &BTreeMap<&str, &str>) -> Vec<Rank> {
        /// Of an imported record it may be any number.
        const RANKS_MAX: u32 = 100_000;
        let count = number(facts, RANKS).unwrap_or(0).min(RANKS_MAX);
        let ranks = (0..count).filter_map(|rank| {
            let measured = RankMeasured::new(facts, rank);
            let is_missing = measured.is_none() && !has_facts(facts, rank);
            (measured.is_some() || is_missing).then_some(Rank { rank, measured })
        });
        ranks.collect()
    }
}

impl RankMeasured {
    /// None where one of its facts is missing, or is no number.
    fn new(facts: &BTreeMap<&str, &str>, rank: u32) -> Option<RankMeasured> {
        let name = |name| fact_name(rank, name);
        Some(RankMeasured {
            host: (*facts.get(&*name("host"))?).to_owned(),
            requests: number(facts, &name("requests"))?,
            replies: number(facts, &name("replies"))?,
            start_late_ns: number(facts, &name("start_late_ns"))?,
            clock_bound_ns: number(facts, &name("clock_bound_ns"))?,
            late: number(facts, &name("late"))?,
            busy_share: number(facts, &name("busy_share"))?,
        })
    }
}

fn has_facts(facts: &BTreeMap<&str, &str>, rank: u32) -> bool {
    let prefix = fact_name(rank, "");
    let from = (Bound::Included(&*prefix), Bound::Unbounded);
    facts.range::<str, _>(from).next().is_some_and(|(name, _)| name.starts_with(&prefix))
}

fn fact_name(rank: u32, name: &str) -> String {
    format!("{PREFIX}{rank}.{name}")
}

fn number<T: FromStr>(facts: &BTreeMap<&str, &str>, name: &str) -> Option<T> {
    facts.get(name)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_read_from_their_facts_as_they_were() {
        let measured = RankMeasured {
            host: "node1".to_owned(),
            requests: 2_501,
            replies: 2_500,
            start_late_ns: 104_250.0,
            clock_bound_ns: 48_120.5,
            late: 3,
            busy_share: 0.031_25,
        };
        let ranks = [Rank { rank: 0, measured: Some(measured) }, Rank { rank: 1, measured: None }];
        let facts = Rank::facts(&ranks);
        assert_eq!(facts["rank.0.start_late_ns"], "104250");
        assert!(facts.keys().all(|name| Rank::is_fact(name)), "{facts:?}");
        let mut read = facts.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(Rank::from_facts(&read), ranks);
        assert_eq!(Rank::facts(&[]), BTreeMap::new());

        read.insert("rank.0.late", "a few");
        assert_eq!(Rank::from_facts(&read), ranks[1..], "it was not missing");
        assert!(!Rank::is_fact("rank 0"));
    }
}
