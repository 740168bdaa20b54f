//! What an answer is made of: a run with its conclusions, and how to look things up in them.

use crate::conclusions::Conclusions;
use crate::finding::Finding;
use crate::kinds::Section;
use analysis::Table;
use model::Run;

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
            let workload = self.run.plan.workload(&table.workload);
            !workload.is_some_and(|workload| workload.averages || workload.is_control())
        })
    }

    /// The findings about headline metrics, or listed with these, about one of [`Self::tables`].
    pub fn findings(&self) -> impl Iterator<Item = &'a Finding> {
        let findings = self.conclusions.findings.iter().filter(|finding| finding.headline);
        findings.filter(|finding| self.tables().any(|table| finding.is_about(table)))
    }

    /// Those of `section`, the greatest rank first; equal ones stay in order.
    pub fn of_section(&self, section: Section) -> Vec<Finding> {
        let of_section = self.findings().filter(|finding| finding.data.section() == section);
        let mut all: Vec<Finding> = of_section.cloned().collect();
        all.sort_by(|a, b| b.rank.total_cmp(&a.rank));
        all
    }
}
