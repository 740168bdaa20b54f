//! Several runs side by side.

use super::Show;
use super::named::Named;
use crate::commands::concluded_runs;
use crate::commands::read::fleet;
use crate::exit::{Exit, Trouble};
use crate::output::{print, print_json, style};
use ::model::Run;
use ::report::layout::Style;
use ::report::matrix::{Matrix, json, terminal};
use analysis::compare::{Terms, compare_several};
use analysis::thresholds::MARGIN;

pub(super) fn show(ask: &Show, runs: Vec<Run>, words: &[String]) -> Result<Exit, Trouble> {
    if ask.timing {
        return Err(Trouble::usage("--timing shows one run"));
    }
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
    let runs = concluded_runs(runs);
    let matrix = Matrix::several(&runs, &several, words);
    print_matrix(ask, &matrix, terminal::tables)
}

pub(super) fn show_fleet(ask: &Show, fleet: &str, named: &Named) -> Result<Exit, Trouble> {
    if named.has_runs {
        let what = "--fleet shows the runs of a fleet: leave out the name of a run";
        return Err(Trouble::usage(what));
    }
    let terms = Terms { margin: MARGIN, fail_above: None, across: true, all: ask.all };
    let narrow = |runs: &mut Vec<Run>| super::named::narrow(runs, &named.workloads);
    let machines = fleet::machines(fleet, &ask.record_file, &terms, narrow)?;
    print_matrix(ask, &machines.matrix(), terminal::text)
}

fn print_matrix(
    ask: &Show,
    matrix: &Matrix<'_>,
    text: impl FnOnce(&Matrix<'_>, &Style) -> String,
) -> Result<Exit, Trouble> {
    if ask.json {
        print_json(&json::matrix(matrix))?;
    } else {
        print(&text(matrix, &style(ask.all)))?;
    }
    Ok(Exit::Done)
}
