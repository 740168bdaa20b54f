//! Two series against each other: which one leads where, and where that changes.

pub(crate) mod comparisons;
pub mod crossover;
pub mod notable;
pub(crate) mod rankings;
pub mod thresholds;
