//! What the harness itself costs: the figures of the workload that does nothing.

use super::prelude::*;
use crate::format::ci;
use analysis::Row;

/// The cost of an operation that does nothing.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HarnessCost {
    /// The medians of all points.
    pub medians: Range,
    /// The ends of their 95 % CIs.
    pub ends: Range,
}

impl FindingKind for HarnessCost {
    const TAG: Tag = Tag::new("control", Tone::Open);
    const SECTION: Section = Section::ListOnly;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let tables = context.control_tables();
        let rows = tables.flat_map(|table| table.rows.iter().map(move |row| (table, row)));
        Finding::of_rows(rows, |_, row| Self::new(row))
    }

    fn rank(&self) -> f64 {
        1.0
    }

    /// `The harness itself costs 1.20 to 1.40 ns per operation (nothing, 95 % CI 1.19 to 1.43).`
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let Self { medians, ends } = all[0];
        let unit = names.unit(&[medians.0, medians.1]);
        let span = medians.format(|figure| unit.figure(figure));
        let [low, high] = [ends.0, ends.1].map(|end| unit.figure(end));
        let metric =
            if names.is_headline() { String::new() } else { format!("{}, ", names.metric()) };
        let head =
            format!("The harness itself costs {span} {} per operation ({metric}", unit.symbol);
        let ci = text(format!(", {})", ci(&low, &high)));
        Sentence::new([text(head), names.label(&names.subjects[0]), ci])
    }
}

impl HarnessCost {
    fn new(row: &Row) -> Option<Self> {
        let figures = || row.cells.iter().flatten().map(|figure| figure.median);
        let ends = figures().flat_map(|median| [median.low, median.high]);
        let medians = Range::new(figures().map(|median| median.value));
        figures().next().map(|_| Self { medians, ends: Range::new(ends) })
    }
}
