//! A series, ready to be compared: its medians as logarithms, with their standard errors.

use crate::Estimate;
use crate::pairs::thresholds::{ROUND_DRIFT, errors_asked};
use crate::stats::NORMAL_95;
use crate::stats::moments::deviation;
use crate::stats::thresholds::SAMPLES_MIN;
use std::collections::BTreeMap;

/// One figure of a series, as a comparison needs it.
#[derive(Clone, Copy, Debug)]
pub struct Figure<'a> {
    /// The value on the axis.
    pub point: u64,
    /// The median with its CI.
    pub median: Estimate,
    /// Rounds that it comes from.
    pub rounds: u32,
    /// Samples in all rounds.
    pub samples: u64,
    /// The bootstrap's replicates of the median; empty when nothing was resampled.
    pub replicates: &'a [f64],
}

/// One series, ready to be compared with others.
#[derive(Clone, Debug)]
pub struct Series {
    subject: String,
    pub(crate) lower_is_better: bool,
    pub(crate) figures: Vec<LogFigure>,
    /// The scatter of rounds may differ beyond this point.
    pub(crate) split: Option<u64>,
}

/// One figure on a logarithmic scale.
#[derive(Clone, Debug)]
pub(crate) struct LogFigure {
    pub(crate) point: u64,
    /// The logarithm of the median, negative for a cost: more is better, whatever the metric.
    pub(crate) worth: f64,
    /// Its standard error; 0 for a single figure.
    pub(crate) error: f64,
    /// The assumed part of `error`.
    pub(crate) drift: f64,
    /// See [`errors_asked`].
    pub(crate) errors_asked: f64,
    pub(crate) single: bool,
    pub(crate) rounds: u32,
    /// The replicates' `worth`.
    pub(crate) draws: Vec<f64>,
    /// The minimum and maximum of `draws`, which are those of single rounds.
    pub(crate) range: [f64; 2],
    /// The worth in each round, by the round's number, ascending; empty where rounds can't be paired.
    pub(crate) by_round: Vec<(u32, f64)>,
}

impl Series {
    /// The series of `subject` with these `figures`, in ascending order of their points. A median
    /// that has no logarithm can't be compared and is left out.
    pub fn new<'a>(
        subject: &str,
        lower_is_better: bool,
        figures: impl IntoIterator<Item = Figure<'a>>,
    ) -> Self {
        let on_log_scale = |figure| LogFigure::new(&figure, lower_is_better);
        Self {
            subject: subject.to_owned(),
            lower_is_better,
            figures: figures.into_iter().filter_map(on_log_scale).collect(),
            split: None,
        }
    }

    /// The same series where the scatter of rounds may differ beyond `point`: more threads than CPUs. Each
    /// side then has a usual error of its own.
    #[must_use]
    pub fn split_at(mut self, point: Option<u64>) -> Self {
        self.split = point;
        self
    }

    /// The same series with the median of each round at each point, by the round's number. A comparison
    /// needs them to know what a round does to both series, and to all points.
    #[must_use]
    pub fn with_rounds(mut self, medians: impl Fn(u64) -> BTreeMap<u32, f64>) -> Self {
        let sign = if self.lower_is_better { -1.0 } else { 1.0 };
        for figure in &mut self.figures {
            let worth = |(round, median): (u32, f64)| (round, sign * median.ln());
            figure.by_round = medians(figure.point).into_iter().map(worth).collect();
            if figure.by_round.iter().any(|(_, worth)| !worth.is_finite()) {
                figure.by_round.clear();
            }
        }
        self
    }

    /// Its subject.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Its median at `point`.
    pub fn median_at(&self, point: u64) -> Option<f64> {
        let worth = self.worth_at(point)?;
        Some(if self.lower_is_better { -worth } else { worth }.exp())
    }

    /// Its worth at `point`, for comparison with other series there: more is better.
    pub fn worth_at(&self, point: u64) -> Option<f64> {
        let index = self.figures.binary_search_by_key(&point, |figure| figure.point).ok()?;
        Some(self.figures[index].worth)
    }
}

impl LogFigure {
    fn new(figure: &Figure<'_>, lower_is_better: bool) -> Option<Self> {
        let sign = if lower_is_better { -1.0 } else { 1.0 };
        let worth = sign * figure.median.value.ln();
        if !worth.is_finite() {
            return None;
        }
        let mut draws: Vec<f64> = figure.replicates.iter().map(|r| sign * r.ln()).collect();
        if draws.iter().any(|draw| !draw.is_finite()) {
            draws.clear();
        }
        Some(Self {
            point: figure.point,
            worth,
            error: error(figure, &draws),
            drift: drift(figure),
            errors_asked: errors_asked(figure.rounds, figure.samples),
            single: figure.samples < 2,
            rounds: figure.rounds,
            range: [
                draws.iter().copied().fold(f64::INFINITY, f64::min),
                draws.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ],
            draws,
            by_round: Vec::new(),
        })
    }
}

/// Standard error of the logarithm of a median, from its `draws` if there are any: their standard
/// deviation is more reliable than their percentiles, which with few rounds are single rounds.
fn error(figure: &Figure<'_>, draws: &[f64]) -> f64 {
    let Estimate { low, high, .. } = figure.median;
    if figure.samples < 2 {
        return 0.0;
    }
    if low.is_nan() || low <= 0.0 {
        return f64::INFINITY;
    }
    if draws.len() > 1 {
        return deviation(draws).hypot(drift(figure));
    }
    // The CI of few samples goes from the smallest to the largest.
    let few = figure.rounds < 2 && figure.samples < SAMPLES_MIN as u64;
    ((high / low).ln() / if few { 2.0 } else { 2.0 * NORMAL_95 }).hypot(drift(figure))
}

/// The assumed change between rounds, where a single round can't show it.
fn drift(figure: &Figure<'_>) -> f64 {
    if figure.rounds < 2 && figure.samples > 1 { ROUND_DRIFT } else { 0.0 }
}
