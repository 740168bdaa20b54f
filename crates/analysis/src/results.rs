//! What analysis returns, as data: tables of figures, and the verdicts about each series and pair.

mod profile;
mod tables;
mod verdicts;

pub use profile::*;
pub use tables::*;
pub use verdicts::*;
