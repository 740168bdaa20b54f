//! The statistics kit: what a textbook has, under its textbook name.

pub mod bootstrap;
pub mod quantiles;
pub mod random;
pub mod signs;
pub mod student;
