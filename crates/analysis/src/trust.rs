//! How far the figures can be trusted.

pub mod widths;
