//! Runs that were started together, on several machines.
//!
//! Which fleet a run is of stands among the facts of its host: it is known before the first cell, never changes, and goes
//! wherever the run goes.

use crate::{HOST_NAME, Host, RunSummary};
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FleetMember {
    /// The fleet's id.
    pub id: String,
    /// Its rank; `None` where nothing numbered the runs.
    pub rank: Option<u32>,
    /// The number of ranks that were started; `None` where nothing says.
    pub size: Option<u32>,
}

impl FleetMember {
    /// From the values of [`FLEET_ID`], [`FLEET_RANK`] and [`FLEET_SIZE`].
    pub(crate) fn new(id: &str, rank: Option<&str>, size: Option<&str>) -> Self {
        let number = |text: Option<&str>| text?.parse().ok();
        Self { id: id.to_owned(), rank: number(rank), size: number(size) }
    }
}

impl Host {
    /// The place in its fleet of a run that was measured here; `None` where it was started alone.
    pub fn fleet(&self) -> Option<FleetMember> {
        let id = self.fact(FLEET_ID)?;
        Some(FleetMember::new(id, self.fact(FLEET_RANK), self.fact(FLEET_SIZE)))
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
    use crate::host::tests::host;

    #[test]
    fn a_fleet_is_read_from_the_facts() {
        assert_eq!(host(&[(FLEET_RANK, "1")]).fleet(), None);
        let member = |rank, size| FleetMember { id: "slurm-7.0".into(), rank, size };
        let facts = [(FLEET_ID, "slurm-7.0"), (FLEET_RANK, "1"), (FLEET_SIZE, "3")];
        assert_eq!(host(&facts).fleet(), Some(member(Some(1), Some(3))));
        assert_eq!(host(&facts[..1]).fleet(), Some(member(None, None)));
        assert_eq!(host(&[facts[0], (FLEET_RANK, "one")]).fleet(), Some(member(None, None)));
    }
}
