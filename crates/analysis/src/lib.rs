//! Pure statistics: samples in, findings out. No clock, no file, no process.
//!
//! [`analyse`] takes a run as the record holds it and returns tables, findings and caveats. The same
//! run gives the same result, on any machine: whatever is drawn at random is seeded by the plan. The
//! modules are the pieces that it is made of, for use on figures from elsewhere.
#![forbid(unsafe_code)]

pub mod advise;
pub mod bootstrap;
pub mod caveats;
pub mod cloud;
mod contests;
pub mod crossover;
pub mod drift;
pub mod exponent;
mod facts;
pub mod findings;
mod gather;
pub mod growth;
mod maps;
mod model;
pub mod modes;
mod overtakes;
pub mod parted;
pub mod peaks;
pub mod places;
pub mod quantiles;
pub mod random;
mod rate_words;
pub mod rates;
mod shape_words;
mod shapes;
mod shares;
pub mod steps;
mod tables;
pub mod weigh;
pub mod words;

pub use model::*;

/// Everything that can be concluded from `run`.
pub fn analyse(run: &record::Run) -> Analysis {
    let tables = tables::tables(run);
    let maps = maps::maps(&run.plan.workloads, &tables);
    let findings = findings::findings(&tables, &run.plan.workloads);
    let caveats = caveats::caveats(run, &tables);
    Analysis { tables, maps, findings, caveats }
}
