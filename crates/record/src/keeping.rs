//! What every archive requires of figures before it keeps them, and how it writes them as JSON.

pub use crate::rows::{check_clock, check_metric, clean, count, json};
