//! The recorded facts in which runs differ.

use super::{Matrix, Reference};
use analysis::compare::Difference;
use findings::grouping::distinct;

/// The value of a run whose comparison was refused.
const NOT_COMPARED: &str = "not compared";

/// A fact with its value in each run, in the order of the columns.
pub(super) struct FactRow<'a> {
    pub(super) what: &'a str,
    /// Absent where nothing is recorded.
    pub(super) values: Vec<Option<&'a str>>,
}

impl<'a> Matrix<'a> {
    /// The facts that differ, those of the first comparison first.
    pub(super) fn facts(&self) -> Vec<FactRow<'a>> {
        let comparisons = self.comparisons().filter(|(at, _)| !self.columns[*at].is_whole);
        let differences = comparisons.flat_map(|(_, comparison)| &comparison.differences);
        let names = distinct(differences.map(|difference| difference.what.as_str()));
        let row = |what: &'a str| FactRow { what, values: self.values(what) };
        names.into_iter().map(row).collect()
    }

    fn values(&self, what: &str) -> Vec<Option<&'a str>> {
        let runs = self.run_columns().count();
        let mut values: Vec<Option<Option<&str>>> = vec![None; runs];
        let compared = |at: usize| {
            let compared = self.columns[at].compared?;
            let mut differences = compared.result.ok()?.differences.iter();
            Some((compared.base, differences.find(|difference| difference.what == what)))
        };
        for at in 0..runs {
            if let Some((base, Some(Difference { base: before, new, .. }))) = compared(at) {
                values[base] = values[base].or(Some(before.as_deref()));
                values[at] = Some(new.as_deref());
            }
        }
        // A run that differs from its reference in nothing has the same value.
        for at in (0..runs).chain((0..runs).rev()) {
            if let Some((base, None)) = compared(at) {
                values[at] = values[at].or(values[base]);
                values[base] = values[base].or(values[at]);
            }
        }
        values.into_iter().map(|value| value.unwrap_or(Some(NOT_COMPARED))).collect()
    }

    /// `6.18.5 → 6.18.7`; of more runs the value of the first, and the runs that have another one.
    pub(super) fn values_text(&self, fact: &FactRow<'_>) -> String {
        let text = |value: Option<&str>| value.unwrap_or("none").to_owned();
        if self.is_pair() || matches!(self.reference, Reference::Before(_)) {
            let mut values: Vec<String> = fact.values.iter().copied().map(text).collect();
            values.dedup();
            return values.join(" → ");
        }
        let further = fact.values.iter().zip(&self.columns).skip(1);
        let apart = further.filter(|(value, _)| **value != fact.values[0]);
        let apart = apart.map(|(value, column)| match value {
            Some(value) if *value == column.name => column.name.clone(),
            value => format!("{} {}", column.name, text(*value)),
        });
        let all: Vec<String> = [text(fact.values[0])].into_iter().chain(apart).collect();
        all.join(", ")
    }
}
