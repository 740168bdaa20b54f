//! A series, ready to be compared: its levels as logarithms, with their standard errors.

use crate::Estimate;
use crate::growth::levels::ERROR_MIN;
use crate::growth::levels::{Cells, Evidence, costs};
use crate::stats::NORMAL_95;
use crate::thresholds::{ROUND_DRIFT, SAMPLES_MIN};

/// The standard error of a logarithm of which nothing is known: a factor of twenty thousand.
const UNKNOWN_ERROR: f64 = 10.0;

/// One figure of a series, as a comparison needs it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The value on the axis.
    pub point: u64,
    /// The median with its CI.
    pub median: Estimate,
    /// Samples in all rounds.
    pub samples: u64,
    /// Rounds that they come from.
    pub rounds: u32,
    /// The logarithms of the rounds' medians.
    pub cells: Cells,
    /// The standard error of the logarithm, where it is a mean of a known one.
    pub mean_error: Option<f64>,
}

/// One series, ready to be compared with others.
#[derive(Clone, Debug)]
pub struct Series {
    subject: String,
    pub(crate) lower_is_better: bool,
    /// The medians, as they are shown.
    medians: Vec<f64>,
    /// Points, ascending.
    pub(crate) points: Vec<u64>,
    /// By what one costs.
    pub(crate) evidence: Evidence,
}

impl Series {
    /// The series of `subject` with these `figures`, in ascending order of their points. A median that has no
    /// logarithm can't be compared and is left out.
    pub fn new(
        subject: &str,
        lower_is_better: bool,
        figures: impl IntoIterator<Item = Figure>,
    ) -> Self {
        let has_log = |figure: &Figure| figure.median.value.ln().is_finite();
        let figures: Vec<Figure> = figures.into_iter().filter(has_log).collect();
        let cells = figures.iter().map(|figure| {
            (figure.point, costs(&figure.cells, figure.median.value, lower_is_better))
        });
        let errors = figures.iter().filter_map(|figure| {
            let error = figure.mean_error.or_else(|| error_of_single_round(figure));
            Some((figure.point, error?))
        });
        let are_means = figures.iter().any(|figure| figure.mean_error.is_some());
        let drift = if are_means { 0.0 } else { ROUND_DRIFT };
        Self {
            subject: subject.to_owned(),
            lower_is_better,
            points: figures.iter().map(|figure| figure.point).collect(),
            medians: figures.iter().map(|figure| figure.median.value).collect(),
            evidence: Evidence::new(cells.collect()).with_errors(errors.collect(), drift),
        }
    }

    /// Its subject.
    pub fn subject(&self) -> &str {
        &self.subject
    }

    /// Its median at `point`.
    pub fn median_at(&self, point: u64) -> Option<f64> {
        self.index(point).map(|index| self.medians[index])
    }

    /// The logarithm of its median at `point`, negative for a cost: more is better, whatever the metric.
    pub fn worth_at(&self, point: u64) -> Option<f64> {
        Some(self.sign() * self.median_at(point)?.ln())
    }

    /// What makes more of a logarithm the better one.
    pub(crate) fn sign(&self) -> f64 {
        if self.lower_is_better { -1.0 } else { 1.0 }
    }

    pub(crate) fn index(&self, point: u64) -> Option<usize> {
        self.points.binary_search(&point).ok()
    }
}

/// The standard error of a logarithm from the samples of a single round; none from a single sample.
fn error_of_single_round(figure: &Figure) -> Option<f64> {
    let Estimate { low, high, .. } = figure.median;
    if figure.samples < 2 {
        return None;
    }
    // The CI of few samples goes from the smallest to the largest.
    let few = figure.rounds < 2 && figure.samples < SAMPLES_MIN as u64;
    let own = (high / low).ln() / if few { 2.0 } else { 2.0 * NORMAL_95 };
    // An interval from zero on says next to nothing.
    Some(if own.is_finite() { own.max(ERROR_MIN) } else { UNKNOWN_ERROR })
}
