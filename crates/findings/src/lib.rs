//! What a run shows: typed findings and caveats, and the one place where they become sentences.
//!
//! `analysis` returns figures; this crate decides which of them say something, and says it in the fixed
//! vocabulary. [`format`] writes figures, so that a table, a finding and a chart agree.
#![forbid(unsafe_code)]

pub mod format;
