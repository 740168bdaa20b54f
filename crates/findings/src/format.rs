//! How figures, classes and lists are written: one place, so that a table, a finding and a chart agree.

pub use analysis::words::*;
