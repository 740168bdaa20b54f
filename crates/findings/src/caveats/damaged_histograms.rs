//! Histograms that can't be read: their operations are in no distribution.

use super::prelude::*;
use crate::format::quantity;
use analysis::tables::distributions::unreadable;

/// How many.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DamagedHistograms {
    /// How many.
    pub histograms: usize,
}

impl CaveatKind for DamagedHistograms {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let metrics = context.run.cells.iter().flat_map(|cell| &cell.metrics);
        let histograms = metrics.filter(|metric| unreadable(&metric.histogram)).count();
        if histograms > 0 { vec![Self { histograms }] } else { Vec::new() }
    }

    fn warning(&self) -> Warning {
        let are = if self.histograms == 1 { "is" } else { "are" };
        let histograms = quantity(self.histograms as u64, "histogram");
        let what = format!("{histograms} can't be read and {are} in no distribution");
        Warning { what, remedy: "measure again: the record is damaged".into() }
    }
}
