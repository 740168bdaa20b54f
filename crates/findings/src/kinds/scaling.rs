//! How a rate fits the Universal Scalability Law.

use super::prelude::*;
use crate::format::{clauses, counted, interval, position, significant};
use crate::thresholds::PEAK_CI_RATIO_MAX;
use analysis::{Estimate, RateTrend, Row, Table};

/// A fit of the law.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Scaling {
    /// The fit.
    pub law: analysis::Scaling,
    /// The last point that it was fitted to.
    pub to: u64,
    /// Whether it alone says that the rate has passed its peak: the trend does not.
    pub is_alone: bool,
}

impl FindingKind for Scaling {
    const TAG: Tag = Tag::new("scaling", Tone::Neutral);

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
            let is_in_trend = row.rate.as_ref().is_some_and(|rate| {
                let trend = rate.trend;
                matches!(trend, RateTrend::Peaks | RateTrend::Falls | RateTrend::Collapses)
            });
            let is_past = law.peak.is_some_and(|peak| peak.high < to as f64);
            let is_alone = has_peak && is_past && !is_in_trend;
            let data = Self { law, to, is_alone };
            Some(Finding::about_row(table, row, data).with_headline(has_peak))
        };
        context.rows().filter_map(of_row).collect()
    }

    fn section(&self) -> Section {
        if self.is_alone { Section::StopsScaling } else { Section::WorthKnowing }
    }

    /// How many times more linear scaling would give at the last point.
    fn rank(&self) -> f64 {
        let (n, sigma, kappa) =
            (self.to as f64, self.law.contention.value, self.law.crosstalk.value);
        (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0)).max(1.0)
    }

    /// `byte follows the Universal Scalability Law: contention 0.034, crosstalk 0.0021, peak at 21 threads`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let law = &all[0].law;
        let [contention, crosstalk] =
            [law.contention, law.crosstalk].map(|figure| significant(figure.value));
        let peak = law.peak.map_or_else(
            || "no peak in reach".to_owned(),
            |peak| format!("peak at {}", counted(&position(peak.value), names.axis())),
        );
        names.claim(format!(
            " follows the Universal Scalability Law: contention {contention}, crosstalk {crosstalk}, {peak}"
        ))
    }

    /// `contention 0.034 (95 % CI 0.030–0.040), crosstalk 0.0021 (95 % CI 0.0018–0.0024), peak 21 (95 % CI 19–25)`.
    fn detail(&self, _: &Names<'_>) -> String {
        let figure = |name: &str, figure: Estimate, write: fn(f64) -> String| {
            format!("{name} {}{}", write(figure.value), interval(figure, write))
        };
        let peak = self.law.peak.map(|peak| figure("peak", peak, position));
        let contention = figure("contention", self.law.contention, significant);
        clauses([
            Some(contention),
            Some(figure("crosstalk", self.law.crosstalk, significant)),
            peak,
        ])
    }
}
