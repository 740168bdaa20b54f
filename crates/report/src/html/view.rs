//! The views of a workload: what the plot and the tables show at a time.

use ::findings::Conclusions;
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

/// The views of one workload over all runs, headline first, and figures of whole loads last.
pub(super) fn views<'a>(runs: &'a [Analysed], info: &WorkloadInfo) -> Vec<View<'a>> {
    let mut views: Vec<View<'a>> = Vec::new();
    for (index, (_, conclusions)) in runs.iter().enumerate() {
        for table in conclusions.analysis.tables.iter().filter(|table| table.workload == info.name)
        {
            let same = |view: &&mut View| {
                let first = view.tables[0].1;
                first.metric.name == table.metric.name && first.parameters == table.parameters
            };
            match views.iter_mut().find(same) {
                Some(view) => view.tables.push((index, table)),
                None => views.push(View { tables: vec![(index, table)] }),
            }
        }
    }
    views.sort_by_key(|view| (view.is_of_whole(), !view.tables[0].1.headline));
    views
}

/// The labels of all subjects with figures, each once, in table order: colours follow it.
pub(super) fn subjects(views: &[View]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for (_, table) in views.iter().flat_map(|view| &view.tables) {
        for row in table.rows.iter().filter(|row| row.cells.iter().any(Option::is_some)) {
            if !labels.contains(&row.label) {
                labels.push(row.label.clone());
            }
        }
    }
    labels
}

/// The id of a workload's section by its index on the page.
pub(super) fn anchor(index: usize) -> String {
    format!("workload-{index}")
}
