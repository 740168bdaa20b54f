//! Tables whose axis is words (`half`, `optimal`), so that nothing grows along it.

use analysis::stats::student;
use analysis::{Analysis, Estimate};
use model::Parameters;
use std::collections::HashMap;

/// The words, and what is known of how much the means vary.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedPoints {
    /// The words: a point is the position of one of them, counted from 1.
    pub names: Vec<String>,
    /// How many figures each mean is of, where that is known.
    pub count: Option<u64>,
    /// The deviations of the means, by subject, parameters and point.
    pub deviations: HashMap<(String, Parameters, u64), f64>,
}

impl NamedPoints {
    /// The word at `point`.
    pub(crate) fn name(&self, point: u64) -> &str {
        let index = (point as usize).checked_sub(1);
        index.and_then(|index| self.names.get(index)).map_or("", String::as_str)
    }

    /// The deviation of a mean, and of how many figures it is.
    pub(crate) fn deviation(
        &self,
        subject: &str,
        parameters: &Parameters,
        point: u64,
    ) -> Option<(f64, u64)> {
        let key = (subject.to_owned(), parameters.clone(), point);
        self.deviations.get(&key).copied().zip(self.count)
    }

    /// Removes from `analysis` what only an axis of numbers has, and gives the means of its tables the
    /// intervals that their deviations make.
    pub(crate) fn adapt(&self, analysis: &mut Analysis) {
        analysis.maps.clear();
        for table in &mut analysis.tables {
            table.comparisons.clear();
            for row in &mut table.rows {
                (row.growth, row.rate, row.modes, row.drift) = (None, None, None, None);
                row.steps.clear();
                for cell in row.cells.iter_mut().flatten() {
                    let deviation = self.deviation(&row.subject, &table.parameters, cell.point);
                    let Some((deviation, count)) = deviation else { continue };
                    let value = cell.median.value;
                    let half = student::quantile_95(count as usize - 1) * deviation
                        / (count as f64).sqrt();
                    cell.median = Estimate { value, low: value - half, high: value + half };
                }
            }
        }
    }
}
