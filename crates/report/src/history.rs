//! The runs of a workload over time, for a terminal, as JSON and as a page.
//!
//! What changed comes first, in sentences; then the lines that changed, drawn; what did not change is one
//! sentence, with what would have been seen.

mod groups;
pub mod html;
pub mod json;
mod sentences;
pub mod terminal;

pub(crate) use groups::machine;
