//! Tables whose axis is words (`half`, `optimal`), so that nothing grows along it.

use analysis::Analysis;

/// The words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedPoints {
    /// A point is the position of one of them, counted from 1.
    pub names: Vec<String>,
}

impl NamedPoints {
    /// The word at `point`.
    pub(crate) fn name(&self, point: u64) -> &str {
        let index = (point as usize).checked_sub(1);
        index.and_then(|index| self.names.get(index)).map_or("", String::as_str)
    }
}

/// Removes from `analysis` what only an axis of numbers has.
pub(crate) fn adapt(analysis: &mut Analysis) {
    analysis.maps.clear();
    for table in &mut analysis.tables {
        table.comparisons.clear();
        for row in &mut table.rows {
            (row.growth, row.rate, row.modes, row.drift) = (None, None, None, None);
            row.steps.clear();
        }
    }
}
