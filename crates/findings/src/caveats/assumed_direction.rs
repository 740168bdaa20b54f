//! Metrics of which nothing says which of two figures is better.

use super::headline_tables;
use super::prelude::*;

/// A metric whose direction is a guess.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct AssumedDirection {
    /// The metric.
    pub metric: String,
    /// The unit of its figures; may be empty.
    pub unit: String,
}

impl CaveatKind for AssumedDirection {
    fn find(context: &Context<'_>) -> Vec<Self> {
        let guessed = headline_tables(context).filter(|table| table.metric.direction_assumed);
        let caveat = |metric: &model::MetricInfo| Self {
            metric: metric.name.clone(),
            unit: metric.unit.clone(),
        };
        guessed.map(|table| caveat(&table.metric)).collect()
    }

    fn warning(&self) -> Warning {
        let metric = &self.metric;
        Warning {
            what: format!(
                "Less {metric} was taken as better, since nothing says otherwise: a guess, so nothing is ranked or recommended"
            ),
            remedy: "--better higher if more is, or --better lower".into(),
        }
    }
}
