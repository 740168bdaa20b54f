//! Pure statistics: samples in, typed figures out. No clock, no file, no process, no sentence.
//!
//! [`analyse`] takes a run as the record holds it and returns its tables, maps and averages. The same
//! run gives the same result, on any machine: whatever is drawn at random is seeded by the plan. The
//! modules are the pieces that it is made of, for use on figures from elsewhere.
#![forbid(unsafe_code)]

pub mod advise;
pub mod calls;
pub mod capacity;
pub mod compare;
pub mod gather;
pub mod growth;
pub mod history;
pub mod pairs;
pub mod profile;
pub mod rates;
mod results;
pub mod shape;
pub mod stats;
pub mod tables;
pub mod thresholds;
pub mod trust;

pub use results::*;

/// The figures of `run`. The crate `findings` states what they show.
pub fn analyse(run: &model::Run) -> Analysis {
    let tables = tables::tables(run);
    let maps = tables::shares::maps(&run.plan.workloads, &tables);
    let averages = tables::averages::averages(run);
    let profiles = profile::profiles(run, &tables);
    Analysis { tables, maps, averages, profiles }
}

/// Whether a model computed the figures of `run`: the record has the fact `simulated` in place of the machine's.
pub fn is_predicted(run: &model::Run) -> bool {
    run.host_before.fact("simulated") == Some("yes")
}
