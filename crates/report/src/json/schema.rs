//! The version of the JSON of a run.

/// Raised when a key changes its meaning or is removed.
pub const SCHEMA: u32 = 2;
