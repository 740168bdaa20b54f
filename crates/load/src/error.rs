//! Why there is no load.

use crate::address::Address;

/// Why there is no load.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The target is not there; see [`Plan::ends_if_refused`](crate::Plan::ends_if_refused).
    #[error("{0} refuses connections")]
    Refused(Address),
    /// The processes of the load did not agree on a start: see [`run_share`](crate::run_share).
    #[error("the load was called off")]
    CalledOff,
    /// This machine as it is does not hold the load, or does not reach its target.
    #[error("{0}")]
    NotPossibleHere(String),
    /// Anything else, in one line.
    #[error("{0}")]
    Failed(String),
}
