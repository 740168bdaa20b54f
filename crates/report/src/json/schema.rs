//! The version of the JSON of a run.

/// Raised when a key changes its meaning or is removed.
pub const SCHEMA: u32 = 2;
/// The oldest version that is still read: schema 1 names the parameters `conditions`.
pub const SCHEMA_OLDEST: u32 = 1;
