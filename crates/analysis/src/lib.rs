//! Pure statistics: samples in, findings out. No clock, no file, no process.
#![forbid(unsafe_code)]

mod model;

pub use model::*;
