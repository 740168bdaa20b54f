//! What is known of a load as a whole: its intervals have only what ended in them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The parameters of a load without some of its ranks: how many ranks it has, and how many are missing.
pub const LOAD_RANKS: &str = "ranks";
/// See [`LOAD_RANKS`].
pub const LOAD_RANKS_MISSING: &str = "ranks_missing";

/// What became of a whole load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadOutcome {
    /// What became of its requests.
    pub counts: LoadCounts,
    /// Its ranks, where several processes did it together; empty otherwise.
    pub ranks: Vec<Rank>,
}

/// The counts of a whole load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoadCounts {
    /// Requests that were sent.
    pub requests: u64,
    /// Whole replies that are a success.
    pub replies: u64,
    /// Those that are none, by their status.
    pub failures: u64,
    /// Requests that were due and never sent.
    pub unsent: u64,
    /// Requests that were in flight at the end.
    pub unfinished: u64,
    /// Requests that waited for a free connection.
    pub waited: u64,
    /// Connections that were opened.
    pub connections: u64,
    /// Connections at a time that requests were sent over; none where they come and go.
    pub asked: u64,
    /// Those of them that never got a reply.
    pub unserved: u64,
    /// Errors by kind; none of a kind that did not occur.
    pub errors: BTreeMap<String, u64>,
}

impl LoadCounts {
    /// All errors.
    pub fn errors_total(&self) -> u64 {
        self.errors.values().sum()
    }

    /// Requests without any whole reply, those that were never sent among them.
    pub fn without_reply(&self) -> u64 {
        (self.requests + self.unsent).saturating_sub(self.replies + self.failures)
    }
}

/// A rank of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Rank {
    /// Its number, from 0 on.
    pub rank: u32,
    /// Absent where the rank did not come to its end.
    pub measured: Option<RankMeasured>,
}

/// What a rank did of the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankMeasured {
    /// The name of its machine.
    pub host: String,
    /// Requests that it sent.
    pub requests: u64,
    /// Replies that it got.
    pub replies: u64,
    /// How long after the agreed start its last thread began, by its own reading of the common clock.
    pub start_late_ns: u64,
    /// How far that reading may be off: half of the fastest answer.
    pub clock_bound_ns: u64,
    /// Requests that it sent late.
    pub late: u64,
    /// The share of its time that its busiest thread was on a CPU; finite.
    pub busy_share: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_was_never_sent_is_one_without_a_reply() {
        let errors = [("refused", 3), ("time-out", 2)];
        let errors = errors.map(|(kind, count)| (kind.to_owned(), count)).into();
        let counts =
            LoadCounts { requests: 90, replies: 80, unsent: 10, errors, ..Default::default() };
        assert_eq!((counts.errors_total(), counts.without_reply()), (5, 20));
    }
}
