//! A series, ready to be compared: its levels as logarithms, with their standard errors.

use crate::growth::levels::{Evidence, MeasuredPoint};
use crate::thresholds::ROUND_DRIFT;

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
        figures: impl IntoIterator<Item = MeasuredPoint>,
    ) -> Self {
        let has_log = |figure: &MeasuredPoint| figure.median.ln().is_finite();
        let figures: Vec<MeasuredPoint> = figures.into_iter().filter(has_log).collect();
        let cells = figures.iter().map(|figure| figure.costs(lower_is_better));
        let errors = figures
            .iter()
            .filter_map(|figure| Some((figure.point, figure.mean_error.or(figure.round_error)?)));
        let are_means = figures.iter().any(|figure| figure.mean_error.is_some());
        let drift = if are_means { 0.0 } else { ROUND_DRIFT };
        Self {
            subject: subject.to_owned(),
            lower_is_better,
            points: figures.iter().map(|figure| figure.point).collect(),
            medians: figures.iter().map(|figure| figure.median).collect(),
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
