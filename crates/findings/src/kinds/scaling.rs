//! How a rate fits the Universal Scalability Law.

use super::FindingKind;
use crate::conclusions::context::Context;
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::{Sentence, text};
use crate::finding::verdict::{Tag, Tone};
use crate::format::{counted, interval, position, significant};
use crate::thresholds::PEAK_CI_RATIO_MAX;
use analysis::{Estimate, Row, Table};
use schemars::JsonSchema;
use serde::Serialize;

/// A fit of the law.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Scaling {
    /// The fit.
    pub law: analysis::Scaling,
    /// The last point that it was fitted to.
    pub to: u64,
}

impl FindingKind for Scaling {
    const NAME: &'static str = "scaling";

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let of_row = |(table, row): (&Table, &Row)| {
            let law = row.scaling.clone().filter(|law| law.reason.is_none())?;
            let first = table.points.first().map_or(1.0, |&point| point as f64);
            let has_peak = law
                .peak
                .is_some_and(|peak| peak.low > first && peak.high <= PEAK_CI_RATIO_MAX * peak.low);
            // Of those that do work of their own it is fitted up to one for each CPU.
            let last = row.cells.iter().flatten().next_back()?.point;
            let to = row.speedup.as_ref().map_or(last, |speedup| speedup.to);
            Some(Finding::about_row(table, row, Self { law, to }).with_headline(has_peak))
        };
        context.rows().filter_map(of_row).collect()
    }

    /// How many times more linear scaling would give at the last point.
    fn rank(&self) -> f64 {
        let (n, sigma, kappa) =
            (self.to as f64, self.law.contention.value, self.law.crosstalk.value);
        (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0)).max(1.0)
    }

    /// `byte follows the Universal Scalability Law: contention 0.034 (95 % CI 0.030–0.040), crosstalk 0.0021
    /// (95 % CI 0.0018–0.0024), peak at 21 threads (95 % CI 19–25).`
    fn sentence(&self, names: &Names<'_>) -> Sentence {
        let with_ci = |figure: Estimate| {
            format!("{}{}", significant(figure.value), interval(figure, significant))
        };
        let peak = match self.law.peak {
            Some(peak) => {
                let at = counted(&position(peak.value), names.axis());
                format!("peak at {at}{}", interval(peak, position))
            }
            None => "no peak in reach".to_owned(),
        };
        let (contention, crosstalk) = (with_ci(self.law.contention), with_ci(self.law.crosstalk));
        let rest = format!(
            " follows the Universal Scalability Law: contention {contention}, crosstalk {crosstalk}, \
             {peak}."
        );
        Sentence::new(names.head().into_iter().chain([text(rest)]))
    }

    fn tag(&self) -> Tag {
        Tag { word: "scaling", tone: Tone::Neutral }
    }
}
