//! What findings and caveats are looked for in.

use analysis::{Analysis, Row, Table};
use model::{Host, MetricRole, Run, WorkloadInfo};
use std::path::PathBuf;

/// Who reads a run: what a command about it has to name, and the machine that would carry it out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reader {
    /// The record, where it is not the usual one.
    pub record: Option<PathBuf>,
    /// The machine; absent where it is that of the run.
    pub host: Option<Host>,
}

/// A run and its figures.
pub struct Context<'a> {
    /// The run.
    pub run: &'a Run,
    /// Its figures.
    pub analysis: &'a Analysis,
    /// Who reads it.
    pub reader: &'a Reader,
    /// The names of its points, where they are words.
    pub named_points: Option<&'a [String]>,
}

impl<'a> Context<'a> {
    /// The tables of workloads that measure a system, and not the harness itself.
    pub fn tables(&self) -> impl Iterator<Item = &'a Table> {
        self.all_tables().filter(|table| !self.is_control(table))
    }

    /// The tables of the workload that does nothing: its figures are the harness's own cost.
    pub fn control_tables(&self) -> impl Iterator<Item = &'a Table> {
        self.all_tables().filter(|table| self.is_control(table))
    }

    /// Every series of [`Self::tables`], with its table.
    pub fn rows(&self) -> impl Iterator<Item = (&'a Table, &'a Row)> {
        self.tables().flat_map(|table| table.rows.iter().map(move |row| (table, row)))
    }

    /// The series of headline metrics, with their tables.
    pub fn headline_rows(&self) -> impl Iterator<Item = (&'a Table, &'a Row)> {
        self.rows().filter(|(table, _)| table.headline)
    }

    /// The workload of `table`.
    pub fn workload(&self, table: &Table) -> Option<&'a WorkloadInfo> {
        self.run.plan.workload(&table.workload)
    }

    /// The pairs of subjects of which the workload of `table` always wants to know which is better.
    pub fn rivals(&self, table: &Table) -> &'a [(String, String)] {
        self.workload(table).map_or(&[], |workload| &workload.compared_pairs)
    }

    /// The table of the metric with this role of the same workload under the same parameters.
    pub fn sibling(&self, table: &Table, role: MetricRole) -> Option<&'a Table> {
        self.all_tables().find(|sibling| {
            let same =
                (&sibling.workload, &sibling.parameters) == (&table.workload, &table.parameters);
            same && sibling.metric.role == role
        })
    }

    /// The table of the same metric and workload that differs in nothing but the value of `parameter`, which is `value`
    /// there.
    pub fn sibling_with(&self, table: &Table, parameter: &str, value: &str) -> Option<&'a Table> {
        let mut wanted = table.parameters.clone();
        wanted.insert(parameter.to_owned(), value.into());
        self.all_tables().find(|sibling| {
            (&sibling.workload, &sibling.metric.name, &sibling.parameters)
                == (&table.workload, &table.metric.name, &wanted)
        })
    }

    /// Whether the deviations of the figures are known from elsewhere than from their rounds.
    pub(crate) fn has_deviations(&self) -> bool {
        let metrics = self.run.cells.iter().flat_map(|cell| &cell.metrics);
        metrics.filter(|metric| metric.deviation.is_some()).count() > 1
    }

    fn all_tables(&self) -> std::slice::Iter<'a, Table> {
        self.analysis.tables.iter()
    }

    fn is_control(&self, table: &Table) -> bool {
        self.workload(table).is_some_and(WorkloadInfo::is_control)
    }
}
