//! What became of dead connections.

use crate::results::counts::{Closings, Errors};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The outcome of the dead connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeadOutcome {
    /// How many were to be opened.
    pub asked: u64,
    /// How many were opened and had the reply to their request.
    pub opened: u64,
    /// Why the others were not.
    pub errors: Errors,
    /// Those that the server ended with the reply to their one request, or at once after it: they can't be held.
    pub closings: Closings,
    /// How many were not even tried, since too many before them had come to nothing.
    pub untried: u64,
    /// How many were open at the end, according to their holders.
    pub alive_at_end: u64,
    /// How long those had been idle that the server has ended since; absent where it ended none.
    pub closed_idle: Option<IdleTimes>,
    /// Connections that the server held more than before they were opened, as the kernel lists
    /// them; absent where the server is on another machine.
    pub seen_by_server_before: Option<u64>,
    /// The same when the load had ended.
    pub seen_by_server_at_end: Option<u64>,
}

/// How long connections had been idle when they were ended, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdleTimes {
    /// How many were ended.
    pub count: u64,
    /// The minimum.
    pub min_ms: u64,
    /// The median.
    pub median_ms: u64,
    /// The maximum.
    pub max_ms: u64,
}

impl DeadOutcome {
    /// Whether the server ended every one with its reply.
    pub fn can_not_be_held(&self) -> bool {
        self.closings.total() > 0 && self.opened <= self.closings.unannounced
    }
}

impl AddAssign<&DeadOutcome> for DeadOutcome {
    /// Adds those of another holder, when they were opened.
    fn add_assign(&mut self, more: &DeadOutcome) {
        self.asked += more.asked;
        self.opened += more.opened;
        self.errors += &more.errors;
        self.closings += &more.closings;
        self.untried += more.untried;
    }
}

impl IdleTimes {
    /// Of the times of each; none where there is none.
    pub(crate) fn new(mut times_ms: Vec<u64>) -> Option<IdleTimes> {
        times_ms.sort_unstable();
        let (&min_ms, &max_ms) = (times_ms.first()?, times_ms.last()?);
        let median_ms = times_ms[times_ms.len() / 2];
        Some(IdleTimes { count: times_ms.len() as u64, min_ms, median_ms, max_ms })
    }
}
