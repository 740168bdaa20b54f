//! What identifies a cell.

use quantities::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Parameters other than the axis that hold for a whole series: `active = 1`, `object = pipe`, …
pub type Parameters = BTreeMap<String, Value>;

/// What identifies a cell within a run.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct CellKey {
    /// The workload: `poll`.
    pub workload: String,
    /// The subject: `epoll-level`.
    pub subject: String,
    /// The other parameters of its series.
    pub parameters: Parameters,
    /// The value on the axis.
    pub point: u64,
    /// The pass over all cells, counted from 0.
    pub round: u32,
}

impl CellKey {
    /// The same cell in the first round: what its cells of all rounds have in common.
    #[must_use]
    pub fn in_first_round(&self) -> CellKey {
        CellKey { round: 0, ..self.clone() }
    }
}
