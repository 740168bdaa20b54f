//! Several runs side by side.

use super::Show;
use super::named::Named;
use crate::commands::read::fleet;
use crate::exit::{Exit, Trouble};
use crate::output::{print, print_json, style};
use ::model::Run;
use ::report::side_by_side::{self, SideBySide};
use analysis::compare::thresholds::MARGIN;
use analysis::compare::{Terms, compare_several};

/// Shows `runs`, which were named by these `words`, side by side: ratios to the first of them.
pub(super) fn show(ask: &Show, runs: Vec<Run>, words: &[String]) -> Result<Exit, Trouble> {
    if ask.profile.is_some() {
        return Err(Trouble::usage(
            "--profile shows one run; `knee compare` compares the profiles of two",
        ));
    }
    let ids: Vec<&str> = runs.iter().map(|run| run.summary.id.as_str()).collect();
    if let Some(at) = (1..ids.len()).find(|&at| ids[..at].contains(&ids[at])) {
        let run = &runs[at].summary;
        return Err(Trouble::usage(format!("run {} ({}) is named twice", run.number, run.id)));
    }
    let terms = Terms { margin: MARGIN, fail_above: None, across: true, all: ask.all };
    let several = compare_several(&runs.iter().collect::<Vec<_>>(), &terms);
    let analysed = runs.into_iter().map(|run| {
        let conclusions = findings::conclude(&run);
        (run, conclusions)
    });
    let runs: Vec<_> = analysed.collect();
    let side = SideBySide { runs: &runs, several: &several, words, fleet: None };
    if ask.json {
        print_json(&side_by_side::json(&side))?;
    } else {
        print(&side_by_side::machines(&side, &style(ask.all)))?;
    }
    Ok(Exit::Done)
}

/// Shows the machines of a fleet: their ratios to the median machine.
pub(super) fn show_fleet(ask: &Show, fleet: &str, named: &Named) -> Result<Exit, Trouble> {
    let given = [
        (ask.profile.is_some(), "--profile"),
        (ask.like.is_some(), "--like"),
        (named.has_runs, "the name of a run"),
    ];
    if let Some((_, what)) = given.into_iter().find(|(given, _)| *given) {
        return Err(Trouble::usage(format!("--fleet shows the runs of a fleet: leave out {what}")));
    }
    let terms = Terms { margin: MARGIN, fail_above: None, across: true, all: ask.all };
    let narrow = |runs: &mut Vec<Run>| super::named::narrow(runs, &named.workloads);
    let machines = fleet::machines(fleet, &ask.record_file, &terms, narrow)?;
    let side = machines.side();
    if ask.json {
        print_json(&side_by_side::json(&side))?;
    } else {
        print(&side_by_side::fleet(&side, &machines.head, &style(ask.all)))?;
    }
    Ok(Exit::Done)
}
