//! Pure statistics: samples in, findings out. No clock, no file, no process.
//!
//! [`analyse`] takes a run as the record holds it and returns tables, findings and caveats. The same
//! run gives the same result, on any machine: whatever is drawn at random is seeded by the plan. The
//! modules are the pieces that it is made of, for use on figures from elsewhere.
#![forbid(unsafe_code)]

pub mod advise;
pub mod compare;
pub mod findings;
pub mod gather;
pub mod growth;
pub mod history;
mod missing_figure;
mod model;
pub mod pairs;
pub mod rates;
pub mod shape;
pub mod stats;
pub mod tables;
pub mod trust;

pub use findings::{caveats, words};
pub use missing_figure::MissingFigure;
pub use model::*;

/// Everything that can be concluded from `run`.
pub fn analyse(run: &record::Run) -> Analysis {
    let tables = tables::tables(run);
    let maps = tables::maps::maps(&run.plan.workloads, &tables);
    let averages = tables::averages::averages(run);
    let mut findings = findings::controls::findings(run);
    findings.extend(findings::findings(&tables, &run.plan.workloads));
    let caveats = caveats::caveats(run, &tables);
    Analysis { tables, maps, averages, findings, caveats }
}

/// Whether nothing in it was measured: a model computed its figures, which the record says in the place of
/// the machine.
pub fn is_predicted(run: &record::Run) -> bool {
    run.host_before.facts.get("simulated").is_some_and(|simulated| simulated == "yes")
}
