//! Runs in the output format of a classic benchmark.

use crate::exit::Trouble;
use crate::originals;
use crate::output::print;
use ::model::Run;
use analysis::Analysis;
use findings::format::list;

pub(super) fn show(name: &str, runs: &[Run]) -> Result<(), Trouble> {
    let Some((about, original)) = originals::named(name) else {
        return Err(Trouble::usage(format!("--like {name}: `knee list` has the names")));
    };
    let workloads = original.workloads(&about.info.name);
    for run in runs {
        let has = |name: &&str| run.plan.workloads.iter().any(|info| info.name == **name);
        if !workloads.iter().any(has) {
            return Err(Trouble::usage(format!(
                "--like {name}: run {} ({}) has no figures of {}",
                run.summary.number,
                run.summary.id,
                list(workloads)
            )));
        }
    }
    if let [only] = runs {
        let conclusions = findings::conclude(only);
        return print(&originals::output(name, only, &conclusions, ""));
    }
    if !matches!(original.print, engine::Print::Summary) {
        return Err(Trouble::usage(format!("--like {name} shows one run, and not {}", runs.len())));
    }
    let analysed: Vec<Analysis> = runs.iter().map(analysis::analyse).collect();
    let rows: Vec<(&Run, &Analysis)> = runs.iter().zip(&analysed).collect();
    print(&originals::summary::summary(&rows).unwrap_or_default())
}
