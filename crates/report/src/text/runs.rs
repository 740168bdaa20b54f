//! A run as text: its cells, those that failed, the command that repeats it.

use findings::format::{factor, points, shell_word};
use findings::grouping::grouped;
use model::{CellKey, Outcome, ProfiledCell, Run, RunState};
use std::collections::BTreeSet;

/// How many cells were planned; where a budget ended the run, how many it measured.
pub(crate) fn cells_planned(run: &Run) -> u64 {
    match run.summary.state {
        RunState::Complete => run.summary.cells_ended,
        RunState::Open | RunState::Interrupted => run.summary.cells_planned,
    }
}

/// Cells of one subject that failed for the same reason.
pub(crate) struct FailedCells {
    /// `poll · ppoll at 1,000 (2 cells): killed by signal 9`.
    pub text: String,
    /// The worker's stacks or last words in the first of them; may be empty.
    pub detail: String,
}

/// The failed cells of a run by subject and reason, without those of controls.
pub(crate) fn failed(run: &Run) -> Vec<FailedCells> {
    by_reason(run, run.cells.iter().map(|cell| (&cell.key, &cell.outcome)))
}

/// The same of the cells that were profiled.
pub(crate) fn failed_profiles(run: &Run, workload: &str) -> Vec<FailedCells> {
    let cells = run.profile.cells.iter().filter(|cell| cell.key.workload == workload);
    by_reason(run, cells.map(|cell| (&cell.key, &cell.outcome)))
}

/// How much longer the operations of profiled cells took than in the timed rounds; nothing where none says.
pub(crate) fn slow_down<'a>(cells: impl IntoIterator<Item = &'a ProfiledCell>) -> Option<String> {
    let mut factors: Vec<f64> = cells.into_iter().filter_map(|cell| cell.slow_down).collect();
    factors.sort_by(f64::total_cmp);
    let (min, max) = (factors.first()?, factors.last()?);
    let middle = factor(factors[factors.len() / 2]);
    let range = match factors.len() {
        1 => String::new(),
        cells => format!(" ({} to {} in {cells} cells)", factor(*min), factor(*max)),
    };
    Some(format!("While sampled, operations took {middle} as long as in the timed rounds{range}."))
}

fn by_reason<'a>(
    run: &Run,
    cells: impl Iterator<Item = (&'a CellKey, &'a Outcome)>,
) -> Vec<FailedCells> {
    let failures = cells.filter(|(key, _)| !run.is_control(key)).filter_map(|(key, outcome)| {
        let Outcome::Failed { reason, detail } = outcome else { return None };
        Some(((&key.workload, &key.subject, reason), (key.point, detail)))
    });
    let text =
        |((workload, subject, reason), cells): ((&String, &String, _), Vec<(u64, &String)>)| {
            let at: BTreeSet<u64> = cells.iter().map(|(point, _)| *point).collect();
            let number = findings::format::quantity(cells.len() as u64, "cell");
            FailedCells {
                text: format!("{workload} · {subject} at {} ({number}): {reason}", points(&at)),
                detail: cells[0].1.clone(),
            }
        };
    grouped(failures).into_iter().map(text).collect()
}

/// The command that measures the same cells in the same order, quoted for a shell.
pub(crate) fn command(run: &Run) -> String {
    let mut words: Vec<String> = run.summary.command.iter().map(|word| shell_word(word)).collect();
    let has_seed =
        run.summary.command.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    // The figures of a foreign table do not depend on an order.
    if !has_seed && !run.is_foreign() {
        words.push(format!("--seed {}", run.plan.seed));
    }
    words.join(" ")
}
