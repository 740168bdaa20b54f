//! The views of a workload: what the plot and the tables show at a time.

use ::findings::Conclusions;
use ::findings::grouping::{distinct, grouped};
use analysis::Table;
use model::{Run, WorkloadInfo};

/// A run with its conclusions.
pub(super) type Analysed = (Run, Conclusions);

/// One metric under one set of parameters: what the plot shows at a time.
pub(super) struct View<'a> {
    /// One table per run that measured it, with the index of the run.
    pub tables: Vec<(usize, &'a Table)>,
}

impl View<'_> {
    /// Whether its figures are of a whole load, and not of its intervals.
    pub fn is_of_whole(&self) -> bool {
        self.tables[0].1.metric.role.is_whole()
    }
}

/// The tables of one workload, each with the index of its run.
pub(super) fn tables<'a>(
    runs: &'a [Analysed],
    info: &WorkloadInfo,
) -> impl Iterator<Item = (usize, &'a Table)> {
    let of_run = move |(index, (_, conclusions)): (usize, &'a Analysed)| {
        let tables = conclusions.analysis.tables.iter().filter(|table| table.workload == info.name);
        tables.map(move |table| (index, table))
    };
    runs.iter().enumerate().flat_map(of_run)
}

/// The views of one workload over all runs, headline first, and figures of whole loads last.
pub(super) fn views<'a>(runs: &'a [Analysed], info: &WorkloadInfo) -> Vec<View<'a>> {
    let tables = tables(runs, info);
    let keyed = tables.map(|entry| ((&entry.1.metric.name, &entry.1.parameters), entry));
    let mut views: Vec<View<'a>> =
        grouped(keyed).into_iter().map(|(_, tables)| View { tables }).collect();
    views.sort_by_key(|view| (view.is_of_whole(), !view.tables[0].1.headline));
    views
}

/// The labels of all subjects with figures, each once, in table order: colours follow it.
pub(super) fn subjects(views: &[View]) -> Vec<String> {
    let rows = views.iter().flat_map(|view| &view.tables).flat_map(|(_, table)| &table.rows);
    let measured = rows.filter(|row| row.cells.iter().any(Option::is_some));
    distinct(measured.map(|row| row.label.clone()))
}

/// The id of a workload's section by its index on the page.
pub(super) fn anchor(index: usize) -> String {
    format!("workload-{index}")
}
