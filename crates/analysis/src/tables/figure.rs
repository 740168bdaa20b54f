//! The figure of one point of a series, and how such figures grow.

use crate::gather::positions::warm;
use crate::growth;
use crate::growth::levels::{ERROR_MIN, MeasuredPoint, alone, levels};
use crate::stats::bootstrap::{REPLICATES, Resampled, median_over_rounds};
use crate::stats::quantiles::Pooled;
use crate::stats::{FACTOR_LOG_MAX, NORMAL_95, student};
use crate::thresholds::{POINT_SAMPLES_MIN, SAMPLES_MIN};
use crate::{Estimate, Growth, PointSummary};
use fastrand::Rng;
use std::collections::BTreeMap;

/// The distribution at one point, with what its growth is judged by.
pub(crate) struct Figure {
    pub(crate) summary: PointSummary,
    /// The median of each round, by the round's number; empty where a round comes twice.
    pub(crate) by_round: BTreeMap<u32, f64>,
    /// The standard error of its logarithm, where it is a mean of a known one.
    mean_error: Option<f64>,
}

impl Figure {
    /// That it is a mean of `count` figures with this standard `deviation`: its CI is Student's.
    pub(crate) fn know_deviation(&mut self, deviation: f64, count: u64) {
        let value = self.summary.median.value;
        let freedom = count.saturating_sub(1).max(1) as usize;
        let half = student::quantile_95(freedom) * deviation / (count as f64).sqrt();
        self.summary.median = Estimate::around(value, half);
        self.summary.samples = count;
        self.mean_error = Some((half / NORMAL_95 / value).max(ERROR_MIN)).filter(|e| e.is_finite());
    }

    /// In the form that verdicts take. Where rounds have no numbers of their own, the median of all stands for them.
    pub(crate) fn measured(&self) -> MeasuredPoint {
        let median = self.summary.median.value;
        let log_cells = self.by_round.iter().map(|(round, median)| (*round, median.ln()));
        MeasuredPoint {
            point: self.summary.point,
            median,
            cells: if self.by_round.is_empty() { alone(median.ln()) } else { log_cells.collect() },
            mean_error: self.mean_error,
            round_error: round_error(&self.summary),
        }
    }
}

/// The standard error of a logarithm from the samples of a single round; none from a single sample.
fn round_error(PointSummary { median, samples, rounds, .. }: &PointSummary) -> Option<f64> {
    if *samples < 2 {
        return None;
    }
    // The CI of few samples goes from the smallest to the largest.
    let few = *rounds < 2 && *samples < SAMPLES_MIN as u64;
    let own = (median.high / median.low).ln() / if few { 2.0 } else { 2.0 * NORMAL_95 };
    // An interval from zero on says next to nothing.
    Some(if own.is_finite() { own.max(ERROR_MIN) } else { FACTOR_LOG_MAX })
}

/// Those that a verdict rests on: of a trajectory neither its cold first calls nor places with few samples.
pub(crate) fn counting(figures: &[Figure], trajectory: bool) -> Vec<MeasuredPoint> {
    let warm = warm(figures.last().map_or(0, |figure| figure.summary.point));
    let counts = |figure: &&Figure| {
        !trajectory || (figure.summary.point >= warm && figure.summary.samples >= POINT_SAMPLES_MIN)
    };
    figures.iter().filter(counts).map(Figure::measured).collect()
}

/// The figure of `rounds` at `point`, with the bootstrap's replicates of its median; `None` without samples.
pub(crate) fn figure(
    point: u64,
    rounds: &[&[f64]],
    random: &mut Rng,
) -> Option<(Figure, Vec<f64>)> {
    let Resampled { estimate, replicates } = median_over_rounds(rounds, REPLICATES, random)?;
    let all = Pooled::new(rounds);
    let at = |p| all.at(p);
    let summary = PointSummary {
        point,
        rounds: rounds.len() as u32,
        samples: rounds.iter().map(|round| round.len() as u64).sum(),
        median: estimate,
        min: at(0.0)?,
        p10: at(0.1)?,
        p25: at(0.25)?,
        p75: at(0.75)?,
        p90: at(0.9)?,
        p99: at(0.99)?,
        max: at(1.0)?,
        user_ns: None,
        system_ns: None,
    };
    let by_round = BTreeMap::new();
    Some((Figure { summary, by_round, mean_error: None }, replicates))
}

/// How the series of these points grows; `None` with fewer than two.
pub(crate) fn growth(points: &[MeasuredPoint]) -> Option<Growth> {
    (points.len() > 1).then(|| growth::growth(&levels(points, true), 0.0))
}
