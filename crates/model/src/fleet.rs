//! Runs that were started together, on several machines.
//!
//! Which fleet a run is of stands among the facts of its host: it is known before the first cell, never changes, and goes
//! wherever the run goes.

use crate::{HOST_NAME, Host, RunSummary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The key of the id of a run's fleet: all its runs have the same.
pub const FLEET_ID: &str = "fleet.id";
/// The key of a run's rank, counted from 0.
pub const FLEET_RANK: &str = "fleet.rank";
/// The key of the number of ranks that were started.
pub const FLEET_SIZE: &str = "fleet.size";
/// The key of what started the ranks: `slurm`.
pub const FLEET_LAUNCHER: &str = "fleet.launcher";

/// A run's place in its fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetMember {
    /// The fleet's id.
    pub id: String,
    /// Its rank; `None` where nothing numbered the runs.
    pub rank: Option<u32>,
    /// The number of ranks that were started; `None` where nothing says.
    pub size: Option<u32>,
}

impl Host {
    /// The place in its fleet of a run that was measured here; `None` where it was started alone.
    pub fn fleet(&self) -> Option<FleetMember> {
        let number = |key| self.number(key).map(|number| number as u32);
        let (rank, size) = (number(FLEET_RANK), number(FLEET_SIZE));
        Some(FleetMember { id: self.fact(FLEET_ID)?.to_owned(), rank, size })
    }
}

impl RunSummary {
    /// Fills in what an archive says of the machine that the run was measured on.
    pub fn set_host(&mut self, host: &Host) {
        host.fact(HOST_NAME).unwrap_or_default().clone_into(&mut self.host);
        self.fleet = host.fleet();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::tests::numbers;

    #[test]
    fn a_fleet_is_read_from_the_facts() {
        let [rank, size] = [(FLEET_RANK, 1.0), (FLEET_SIZE, 3.0)];
        assert_eq!(numbers(&[], &[rank]).fleet(), None);
        let member = |rank, size| FleetMember { id: "slurm-7.0".into(), rank, size };
        let id = [(FLEET_ID, "slurm-7.0")];
        assert_eq!(numbers(&id, &[rank, size]).fleet(), Some(member(Some(1), Some(3))));
        assert_eq!(numbers(&id, &[]).fleet(), Some(member(None, None)));
    }
}
