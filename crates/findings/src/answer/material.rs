//! What an answer is made of: a run with its conclusions, and how to look things up in them.

use crate::conclusions::Conclusions;
use crate::finding::Finding;
use crate::finding::names::Names;
use analysis::Table;
use model::{Run, WorkloadInfo};

/// A run and what was concluded from it.
pub(super) struct Material<'a> {
    pub run: &'a Run,
    pub conclusions: &'a Conclusions,
}

impl<'a> Material<'a> {
    /// The headline tables that verdicts are given of: no control, and none that is shown as averages.
    pub fn tables(&self) -> impl Iterator<Item = &'a Table> {
        let tables = self.conclusions.analysis.tables.iter().filter(|table| table.headline);
        tables.filter(|table| {
            let workload = self.workload(&table.workload);
            !workload.is_some_and(|workload| workload.averages || workload.is_control())
        })
    }

    /// The findings about headline metrics, or listed with these.
    pub fn findings(&self) -> impl Iterator<Item = &'a Finding> {
        self.conclusions.findings.iter().filter(|finding| finding.headline)
    }

    /// The findings about one of [`Self::tables`], each with its table.
    pub fn table_findings(&self) -> impl Iterator<Item = (&'a Table, &'a Finding)> {
        self.findings().filter_map(|finding| {
            Some((self.tables().find(|table| finding.is_about(table))?, finding))
        })
    }

    /// How `subjects` of `table` are named.
    pub fn names<'n>(&self, table: &'n Table, subjects: &'n [String]) -> Names<'n>
    where
        'a: 'n,
    {
        let (workload, metric) = (self.workload(&table.workload), &table.metric.name);
        Names::new(subjects, workload, metric, Some(table), &self.conclusions.analysis.tables)
    }

    fn workload(&self, name: &str) -> Option<&'a WorkloadInfo> {
        self.run.plan.workloads.iter().find(|workload| workload.name == name)
    }
}
