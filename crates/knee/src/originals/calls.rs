//! Single calls as gatling's programs printed them: a line a call, a column a figure, a block a round.
//! All else stands behind `#`, so that gnuplot reads the whole as it is.

use super::differing;
use model::{Cell, CellKey, Outcome, Parameters, Run, Unavailable};
use std::collections::BTreeSet;
use std::fmt::Write;

/// One metric of one workload: what it counts, once for each call.
type Column = (&'static str, &'static str);

/// The original printed one subject in one round at a time. The order of fields is that of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Block<'a> {
    index: usize,
    subject: &'a str,
    parameters: &'a Parameters,
    point: u64,
    round: u32,
}

/// Blocks are two blank lines apart: for gnuplot each is an `index`, by its number or its name.
pub fn calls(out: &mut String, name: &str, columns: &[Column], run: &Run) {
    let _ = writeln!(out, "# {name}: a line for each call, microseconds with one decimal.");
    for (number, column) in columns.iter().enumerate() {
        let _ = writeln!(out, "# Column {}: {}.", number + 1, meaning(run, *column));
    }
    unavailable(out, columns, run);
    let blocks = blocks(run, columns);
    for (number, block) in blocks.iter().enumerate() {
        out.push_str(if number == 0 { "#\n" } else { "\n\n" });
        let _ = writeln!(out, "# {}", title(run, block, &blocks));
        let cells: Vec<Option<&Cell>> =
            columns.iter().map(|&(workload, _)| cell(run, workload, block)).collect();
        let samples: Vec<&[f64]> =
            columns.iter().zip(&cells).map(|(column, cell)| samples(*cell, column.1)).collect();
        lines(out, &samples);
        gaps(out, columns, &cells);
    }
    out.push('\n');
}

/// What a column says: `fork (fork + first byte of the child)`.
fn meaning(run: &Run, (workload, metric): Column) -> String {
    let workload = run.plan.workload(workload);
    let metrics = workload.map_or(&[][..], |info| &info.metrics);
    let about = metrics.iter().find(|info| info.name == metric);
    about.map_or_else(|| metric.to_owned(), |info| format!("{metric} ({})", info.about))
}

/// The subjects without a block, since they can't be measured here.
fn unavailable(out: &mut String, columns: &[Column], run: &Run) {
    let mut printed = BTreeSet::new();
    for Unavailable { workload, subject, reason } in &run.plan.unavailable {
        let ours = columns.iter().any(|(name, _)| name == workload);
        if ours && printed.insert((subject, reason)) {
            let _ = writeln!(out, "# {}: unavailable: {reason}", label(run, subject));
        }
    }
}

/// Every block of which a cell has ended.
fn blocks<'a>(run: &'a Run, columns: &[Column]) -> Vec<Block<'a>> {
    let ours = |key: &CellKey| columns.iter().any(|(workload, _)| *workload == key.workload);
    let keys = run.cells.iter().map(|cell| &cell.key).filter(|key| ours(key));
    let block = |key: &'a CellKey| Block {
        index: subjects(run).position(|(name, _)| name == key.subject).unwrap_or(usize::MAX),
        subject: &key.subject,
        parameters: &key.parameters,
        point: key.point,
        round: key.round,
    };
    keys.map(block).collect::<BTreeSet<Block>>().into_iter().collect()
}

fn subjects(run: &Run) -> impl Iterator<Item = (&str, &str)> {
    let all = run.plan.workloads.iter().flat_map(|workload| &workload.subjects);
    all.map(|subject| (subject.name.as_str(), subject.label.as_str()))
}

fn label<'a>(run: &'a Run, subject: &'a str) -> &'a str {
    let row = subjects(run).find(|(name, _)| *name == subject);
    row.map_or(subject, |(_, label)| label)
}

/// Which block this is: its subject, what else differs among the blocks, its round counted from 1.
fn title(run: &Run, block: &Block, blocks: &[Block]) -> String {
    let mut words = vec![label(run, block.subject).to_owned()];
    words.extend(differing(block.parameters, blocks.iter().map(|block| block.parameters)));
    if blocks.iter().any(|sibling| sibling.point != block.point) {
        words.push(format!("to {}", block.point));
    }
    words.push(format!("round {}", block.round + 1));
    words.join(", ")
}

fn cell<'a>(run: &'a Run, workload: &str, block: &Block) -> Option<&'a Cell> {
    run.cells.iter().find(|cell| {
        let key = &cell.key;
        (key.workload.as_str(), key.subject.as_str()) == (workload, block.subject)
            && (&key.parameters, key.point, key.round)
                == (block.parameters, block.point, block.round)
    })
}

/// In the order in which the calls were made; none where they don't count.
fn samples<'a>(cell: Option<&'a Cell>, metric: &str) -> &'a [f64] {
    let measured = cell.filter(|cell| cell.outcome == Outcome::Measured);
    let metric =
        measured.and_then(|cell| cell.metrics.iter().find(|recorded| recorded.name == metric));
    metric.map_or(&[], |metric| &metric.samples)
}

/// `NaN`, which gnuplot leaves out, where a column ended before another.
fn lines(out: &mut String, columns: &[&[f64]]) {
    let last = columns.iter().map(|samples| samples.len()).max().unwrap_or(0);
    for call in 0..last {
        for (number, samples) in columns.iter().enumerate() {
            out.push_str(if number == 0 { "" } else { " " });
            let _ = match samples.get(call) {
                Some(ns) => write!(out, "{:.1}", ns / 1e3),
                None => write!(out, "NaN"),
            };
        }
        out.push('\n');
    }
}

fn gaps(out: &mut String, columns: &[Column], cells: &[Option<&Cell>]) {
    let mut explained = BTreeSet::new();
    for ((workload, _), cell) in columns.iter().zip(cells) {
        if !explained.insert(workload) {
            continue;
        }
        let why = match cell {
            None => "no figures here".to_owned(),
            Some(Cell { outcome: Outcome::Failed { reason, .. }, .. }) => {
                format!("failed: {reason}")
            }
            Some(Cell { short: Some(short), .. }) => {
                format!("ended at {}: {}", short.reached, short.reason.cause())
            }
            Some(_) => continue,
        };
        let why = why.replace('\n', " ");
        let _ = writeln!(out, "# {workload}: {why}");
    }
}
