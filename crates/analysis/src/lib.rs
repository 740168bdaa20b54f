//! Pure statistics: samples in, findings out. No clock, no file, no process.
//!
//! [`analyse`] takes a run as the record holds it and returns tables, findings and caveats. The same
//! run gives the same result, on any machine: whatever is drawn at random is seeded by the plan. The
//! modules are the pieces that it is made of, for use on figures from elsewhere.
#![forbid(unsafe_code)]

pub mod advise;
pub mod averages;
pub mod bootstrap;
pub mod caveats;
pub mod cloud;
pub mod compare;
mod contests;
mod controls;
pub mod crossover;
mod distributions;
pub mod drift;
pub mod exponent;
mod facts;
mod fairness;
pub mod findings;
mod gather;
pub mod growth;
pub mod history;
mod maps;
mod model;
pub mod modes;
mod overtakes;
pub mod parted;
mod past_words;
pub mod peaks;
pub mod places;
pub mod quantiles;
pub mod random;
mod rankings;
mod rate_words;
pub mod rates;
mod shape_words;
mod shapes;
mod shares;
pub mod signs;
pub mod steps;
pub mod student;
mod tables;
mod told;
mod trades;
mod unfinished;
pub mod usl;
pub mod weigh;
pub mod widths;
pub mod words;

pub use model::*;

/// Everything that can be concluded from `run`.
pub fn analyse(run: &record::Run) -> Analysis {
    let tables = tables::tables(run);
    let maps = maps::maps(&run.plan.workloads, &tables);
    let averages = averages::averages(run);
    let mut findings = controls::findings(run);
    findings.extend(findings::findings(&tables, &run.plan.workloads));
    let caveats = caveats::caveats(run, &tables);
    Analysis { tables, maps, averages, findings, caveats }
}

/// Whether nothing in it was measured: a model computed its figures, which the record says in the place of
/// the machine.
pub fn is_predicted(run: &record::Run) -> bool {
    run.host_before.facts.get("simulated").is_some_and(|simulated| simulated == "yes")
}
