//! The figure of one point of a series.

use crate::gather::positions::warm;
use crate::growth::levels::ERROR_MIN;
use crate::stats::bootstrap::{REPLICATES, Resampled, median_over_rounds};
use crate::stats::quantiles::pooled;
use crate::stats::{FACTOR_LOG_MAX, NORMAL_95, student};
use crate::thresholds::{POINT_SAMPLES_MIN, SAMPLES_MIN};
use crate::{Estimate, PointSummary};
use fastrand::Rng;

/// Knows that a figure is a mean of `count` figures with this standard `deviation`: its CI is Student's.
pub(crate) fn know_deviation(summary: &mut PointSummary, deviation: f64, count: u64) {
    let value = summary.median.value;
    let freedom = count.saturating_sub(1).max(1) as usize;
    let half = student::quantile_95(freedom) * deviation / (count as f64).sqrt();
    (summary.median, summary.samples) = (Estimate::around(value, half), count);
    let error = (half / NORMAL_95 / value).max(ERROR_MIN);
    summary.mean_error = Some(error).filter(|error| error.is_finite());
}

impl PointSummary {
    /// The standard error of its logarithm as a mean, or from the samples of a single round; none of a single sample.
    pub(crate) fn log_error(&self) -> Option<f64> {
        let Self { median, samples, rounds, mean_error, .. } = self;
        if mean_error.is_some() || *samples < 2 {
            return *mean_error;
        }
        // The CI of few samples goes from the smallest to the largest.
        let few = *rounds < 2 && *samples < SAMPLES_MIN as u64;
        let own = (median.high / median.low).ln() / if few { 2.0 } else { 2.0 * NORMAL_95 };
        // An interval from zero on says next to nothing.
        Some(if own.is_finite() { own.max(ERROR_MIN) } else { FACTOR_LOG_MAX })
    }
}

/// The `figures` that a verdict rests on: of a trajectory neither its cold first calls nor places with few samples.
pub(crate) fn counting(figures: &[PointSummary], trajectory: bool) -> Vec<PointSummary> {
    let warm = warm(figures.last().map_or(0, |figure| figure.point));
    let counts = |figure: &&PointSummary| {
        !trajectory || (figure.point >= warm && figure.samples >= POINT_SAMPLES_MIN)
    };
    figures.iter().filter(counts).cloned().collect()
}

/// The figure of `rounds` at `point`, with the bootstrap's replicates of its median; `None` without samples.
pub(crate) fn figure(
    point: u64,
    rounds: &[&[f64]],
    random: &mut Rng,
) -> Option<(PointSummary, Vec<f64>)> {
    let Resampled { estimate, replicates } = median_over_rounds(rounds, REPLICATES, random)?;
    let [min, p10, p25, p75, p90, p99, max] =
        pooled(rounds, [0.0, 0.1, 0.25, 0.75, 0.9, 0.99, 1.0])?;
    let summary = PointSummary {
        point,
        rounds: rounds.len() as u32,
        samples: rounds.iter().map(|round| round.len() as u64).sum(),
        median: estimate,
        min,
        p10,
        p25,
        p75,
        p90,
        p99,
        max,
        ..PointSummary::default()
    };
    Some((summary, replicates))
}
