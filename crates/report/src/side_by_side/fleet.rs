//! The machines of a fleet for a terminal: what is unlike the others first, then the series down and the machines across,
//! each with its ratio to the median machine.

use super::compared::margin;
use super::{SideBySide, confidence, legend};
use crate::layout::{BOLD, DIM, Detail, INDENT, PLAIN, Pen, Style};
use analysis::compare::{Fleet, Outlier, is_median};
use schemars::JsonSchema;
use serde::Serialize;

/// What a fleet is called, and what is said of it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FleetHead {
    /// Its id, and how many machines there are: `slurm-1234.0: 8 machines`.
    pub title: String,
    /// What the median machine and each machine are called, in the order of the runs.
    pub names: Vec<String>,
    /// Which machines are unlike the others, and what is missing.
    pub sentences: Vec<String>,
    /// The machines that are unlike the others; in `run` the index among all runs, the median machine included.
    pub outliers: Vec<Outlier>,
}

impl FleetHead {
    /// The head of `fleet`, whose machines are called by `names`; `missing` says what it lacks.
    pub fn new(title: String, fleet: &Fleet, names: &[String], missing: Vec<String>) -> Self {
        let sentences =
            findings::fleet::sentences(fleet, names).into_iter().chain(missing).collect();
        let names = ["median".to_owned()].into_iter().chain(names.iter().cloned()).collect();
        let after_median = |outlier: &Outlier| Outlier { run: outlier.run + 1, ..outlier.clone() };
        let outliers = fleet.outliers.iter().map(after_median).collect();
        Self { title, names, sentences, outliers }
    }
}

/// The machines as lines that end in a line feed.
pub fn text(side: &SideBySide<'_>, head: &FleetHead, style: &Style) -> String {
    let pen = Pen::new(style);
    let all = style.detail == Detail::All;
    let mut out = String::new();
    pen.paragraph(&mut out, BOLD, &head.title, (0, INDENT));
    for sentence in &head.sentences {
        pen.paragraph(&mut out, PLAIN, sentence, (INDENT, 2 * INDENT));
    }
    for table in side.tables(all).iter().filter(|table| !table.rows.is_empty()) {
        out.push('\n');
        pen.side_table(&mut out, &head.names, table, all);
    }
    pen.aside(&mut out, &legend(side, margin(side), ""));
    pen.aside(&mut out, &format!("{}.", confidence(side)));
    for refusal in side.refusals() {
        pen.aside(&mut out, &format!("{refusal}."));
    }
    let differing: Vec<_> = side
        .comparisons()
        .filter_map(|(run, result)| Some((run, result.as_ref().ok()?)))
        .filter(|(_, comparison)| !comparison.differences.is_empty())
        .collect();
    if !differing.is_empty() {
        out.push('\n');
        pen.heading(&mut out, "Facts that differ from those of most machines");
        for (run, comparison) in differing {
            pen.facts_of_run(&mut out, (&head.names[run], comparison), all);
        }
    }
    if all {
        out.push('\n');
        pen.heading(&mut out, "Runs");
        let runs = side.identities().into_iter().zip(side.runs);
        for (identity, _) in runs.filter(|(_, (run, _))| !is_median(run)) {
            pen.paragraph(&mut out, DIM, &identity, (INDENT, 2 * INDENT));
        }
    }
    out
}
