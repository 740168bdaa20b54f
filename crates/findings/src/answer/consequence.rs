//! What is at stake in a finding: a factor, what it amounts to at the far end, and whether a choice avoids it.

use crate::finding::Finding;
use crate::kinds::Data;
use analysis::{Analysis, Table};
use schemars::JsonSchema;
use serde::Serialize;

/// What is at stake.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Consequence {
    /// As a factor of time or throughput; see [`crate::kinds::FindingKind::rank`].
    pub factor: f64,
    /// The point at which it is at stake: the last that the subjects have in common.
    pub point: Option<u64>,
    /// What it amounts to there, in `unit`: time that an operation takes longer, or what is done less.
    pub amount: Option<f64>,
    /// The metric's unit.
    pub unit: String,
    /// Whether another subject of the table avoids it.
    pub avoidable: bool,
}

impl Consequence {
    /// Of something that costs `subjects` of `table` this factor at the last point that all of them have.
    pub fn new(table: &Table, subjects: &[String], factor: f64) -> Self {
        let rows = || subjects.iter().filter_map(|subject| table.row(subject));
        let column = (0..table.points.len()).rev().find(|&column| {
            rows().next().is_some() && rows().all(|row| row.cells[column].is_some())
        });
        let medians = |column: usize| {
            rows().filter_map(move |row| Some(row.cells[column].as_ref()?.median.value))
        };
        let worst = column.map(|column| {
            let better = if table.metric.lower_is_better { f64::max } else { f64::min };
            medians(column).fold(f64::NAN, better)
        });
        let amount = worst.map(|level| {
            level * if table.metric.lower_is_better { 1.0 - 1.0 / factor } else { factor - 1.0 }
        });
        Self {
            factor,
            point: column.map(|column| table.points[column]),
            amount: amount.filter(|amount| amount.is_finite()),
            unit: table.metric.unit.clone(),
            avoidable: column.is_some_and(|column| {
                let is_behind = |subject: &String| {
                    let lead = table.lead(column, subject);
                    lead.is_some_and(|lead| *subject != lead.best && !lead.tied.contains(subject))
                };
                subjects.iter().any(is_behind)
            }),
        }
    }

    /// Of something that no table has the figures of.
    fn without_table(factor: f64) -> Self {
        Self { factor, point: None, amount: None, unit: String::new(), avoidable: false }
    }
}

impl Finding {
    /// What is at stake in it.
    pub fn consequence(&self, analysis: &Analysis) -> Consequence {
        let table = analysis.tables.iter().find(|table| self.is_about(table));
        let Some(table) = table else { return Consequence::without_table(self.rank()) };
        let consequence = Consequence::new(table, &self.subjects, self.rank());
        let Data::Modes(modes) = &self.data else { return consequence };
        // The median lies on one of the modes: what is at stake is the way to the other.
        let last = |mode: Option<&analysis::Mode>| Some(mode?.curve.last()?.1);
        let ends = last(modes.modes.last()).zip(last(modes.modes.first()));
        Consequence { amount: ends.map(|(upper, lower)| upper - lower), ..consequence }
    }
}
