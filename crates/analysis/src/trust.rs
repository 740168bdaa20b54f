//! How far the figures can be trusted.

pub mod budget_interval;
pub mod widths;
