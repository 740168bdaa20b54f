//! Pure statistics: samples in, findings out. No clock, no file, no process.
//!
//! [`analyse`] takes a run as the record holds it and returns tables, findings and caveats. The same
//! run gives the same result, on any machine: whatever is drawn at random is seeded by the plan. The
//! modules are the pieces that it is made of, for use on figures from elsewhere.
#![forbid(unsafe_code)]

pub mod bootstrap;
pub mod caveats;
pub mod exponent;
pub mod findings;
mod gather;
pub mod growth;
mod model;
pub mod quantiles;
pub mod random;
mod tables;
pub mod weigh;
pub mod words;

pub use model::*;

/// Everything that can be concluded from `run`.
pub fn analyse(run: &record::Run) -> Analysis {
    let tables = tables::tables(run);
    let findings = findings::findings(&tables);
    let caveats = caveats::caveats(run, &tables);
    Analysis { tables, findings, caveats }
}
