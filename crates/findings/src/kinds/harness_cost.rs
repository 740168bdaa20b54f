//! What the harness itself costs: the figures of the workload that does nothing.

use super::prelude::*;
use crate::format::ci;
use analysis::{PointSummary, Row};

/// The cost of an operation that does nothing.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct HarnessCost {
    /// The lowest median of all points.
    pub min: f64,
    /// The highest.
    pub max: f64,
    /// The lower end of the lowest 95 % CI.
    pub low: f64,
    /// The upper end of the highest.
    pub high: f64,
}

impl FindingKind for HarnessCost {
    const TAG: Tag = Tag { word: "control", tone: Tone::Open };
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
        let Self { min, max, low, high } = all[0];
        let unit = names.unit(&[min, max]);
        let span = Range(min, max).format(|figure| unit.figure(figure));
        let [low, high] = [low, high].map(|figure| unit.figure(figure));
        let metric =
            if names.is_headline() { String::new() } else { format!("{}, ", names.metric) };
        let head =
            format!("The harness itself costs {span} {} per operation ({metric}", unit.symbol);
        let ci = text(format!(", {})", ci(&low, &high)));
        Sentence::new([text(head), names.label(&names.subjects[0]), ci])
    }
}

impl HarnessCost {
    fn new(row: &Row) -> Option<Self> {
        let figures: Vec<&PointSummary> = row.cells.iter().flatten().collect();
        if figures.is_empty() {
            return None;
        }
        let min = |figure: fn(&PointSummary) -> f64| {
            figures.iter().map(|point| figure(point)).fold(f64::INFINITY, f64::min)
        };
        let max = |figure: fn(&PointSummary) -> f64| {
            figures.iter().map(|point| figure(point)).fold(f64::NEG_INFINITY, f64::max)
        };
        Some(Self {
            min: min(|point| point.median.value),
            max: max(|point| point.median.value),
            low: min(|point| point.median.low),
            high: max(|point| point.median.high),
        })
    }
}
