//! A workload, a lock and a readiness mechanism that knee does not have.

pub mod lookup;
pub mod nap;
pub mod spin;
