//! Two series against each other: the leader at each part of the axis, and the changes of the leader.

pub(crate) mod comparisons;
pub mod crossover;
pub mod notable;
pub(crate) mod rankings;
pub(crate) mod series;
pub mod thresholds;
