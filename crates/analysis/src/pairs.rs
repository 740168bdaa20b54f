//! Two series against each other: the leader at each part of the axis, and the changes of the leader.

pub mod comparison;
pub(crate) mod comparisons;
mod crossover;
pub(crate) mod leads;
pub mod notable;
