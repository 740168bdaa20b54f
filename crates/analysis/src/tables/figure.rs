//! The figure of one point of a series, and how such figures grow.

use crate::gather::positions::warm;
use crate::growth;
use crate::growth::levels::{Cells, alone, levels};
use crate::pairs::series;
use crate::rates::RatePoint;
use crate::stats::bootstrap::{REPLICATES, Resampled, median_over_rounds};
use crate::stats::quantiles::Pooled;
use crate::thresholds::POINT_SAMPLES_MIN;
use crate::{Growth, PointSummary};
use fastrand::Rng;
use std::collections::BTreeMap;

/// The distribution at one point, with what its growth is judged by.
pub(crate) struct Figure {
    pub(crate) summary: PointSummary,
    /// The median of each round, by the round's number; empty where a round comes twice.
    pub(crate) by_round: BTreeMap<u32, f64>,
}

impl Figure {
    /// Where it stands on the axis.
    pub(crate) fn point(&self) -> u64 {
        self.summary.point
    }

    /// The logarithms of its rounds' medians; where rounds have no numbers of their own, of the median of all.
    fn log_cells(&self) -> Cells {
        if self.by_round.is_empty() {
            return alone(self.summary.median.value.ln());
        }
        self.by_round.iter().map(|(round, median)| (*round, median.ln())).collect()
    }

    /// In the form that rates take.
    pub(crate) fn rate_point(&self) -> RatePoint {
        let PointSummary { point, median, .. } = self.summary;
        RatePoint { point, median: median.value, cells: self.log_cells() }
    }

    /// In the form that comparisons take.
    pub(crate) fn seen(&self) -> series::Figure {
        let PointSummary { point, median, rounds, samples, .. } = self.summary;
        series::Figure { point, median, rounds, samples, cells: self.log_cells() }
    }
}

/// Those that a verdict rests on: all, but for the first calls of a trajectory, which are cold, and for
/// places with next to no samples.
pub(crate) fn counting(figures: &[Figure], trajectory: bool) -> Vec<&Figure> {
    let warm = warm(figures.last().map_or(0, |figure| figure.summary.point));
    let counts = |figure: &&Figure| {
        !trajectory || (figure.summary.point >= warm && figure.summary.samples >= POINT_SAMPLES_MIN)
    };
    figures.iter().filter(counts).collect()
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
        samples: all.len() as u64,
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
    Some((Figure { summary, by_round }, replicates))
}

/// How the series with these figures grows; `None` with fewer than two points.
pub(crate) fn growth(figures: &[&Figure]) -> Option<Growth> {
    if figures.len() < 2 {
        return None;
    }
    let points = figures
        .iter()
        .map(|figure| (figure.point(), figure.summary.median.value, figure.log_cells()));
    Some(growth::growth(&levels(points.collect()), 0.0))
}
