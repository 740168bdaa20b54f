//! Comparison of two series: one overtakes, one leads throughout, or neither leads.
//!
//! The lead at a point is the logarithm of the ratio of their levels, judged by all points together (`leads.rs`). Where
//! the leader changes once or twice, the crossover is the zero of the lead (`crossover.rs`). Where neither leads, the
//! mean over all points says how similar the two are.

use crate::growth::levels::{Evidence, shares_of};
use crate::pairs::crossover::position;
use crate::pairs::leads::{Belief, PointLead, beliefs, point_leads};
use crate::stats::NORMAL_95;
use crate::stats::moments::{deviation, mean};
use crate::stats::student;
use crate::thresholds::{FALSE_ALARM, ROUND_DRIFT};
use crate::{ComparisonOutcome, ComparisonReason, Crossover, Estimate, PointSummary};
use std::collections::BTreeMap;

/// One series, ready to be compared with others.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its subject.
    pub subject: String,
    lower_is_better: bool,
    /// The medians by point, as they are shown.
    pub medians: BTreeMap<u64, f64>,
    /// By what one costs.
    evidence: Evidence,
}

impl Series {
    /// The series of `subject` with these `figures`, in ascending order of their points. A median that has no
    /// logarithm can't be compared and is left out.
    pub fn new(
        subject: &str,
        lower_is_better: bool,
        figures: impl IntoIterator<Item = PointSummary>,
    ) -> Self {
        let has_log = |figure: &PointSummary| figure.median.value.ln().is_finite();
        let figures: Vec<PointSummary> = figures.into_iter().filter(has_log).collect();
        let cells = figures.iter().map(|figure| figure.costs(lower_is_better)).collect();
        let error = |at: &PointSummary| Some((at.point, at.log_error()?));
        let are_means = figures.iter().any(|figure| figure.mean_error.is_some());
        let drift = if are_means { 0.0 } else { ROUND_DRIFT };
        let errors = figures.iter().filter_map(error).collect();
        Self {
            subject: subject.to_owned(),
            lower_is_better,
            medians: figures.iter().map(|figure| (figure.point, figure.median.value)).collect(),
            evidence: Evidence::new(cells).with_errors(errors, drift),
        }
    }

    /// The logarithm of its median at `point`, negative for a cost: more is better, whatever the metric.
    pub fn worth_at(&self, point: u64) -> Option<f64> {
        Some(self.sign() * self.medians.get(&point)?.ln())
    }

    fn sign(&self) -> f64 {
        if self.lower_is_better { -1.0 } else { 1.0 }
    }
}

/// Two series at the points that both have.
pub struct Comparison<'a> {
    /// The first.
    pub first: &'a Series,
    /// The second.
    pub second: &'a Series,
    /// Of which more is better.
    points: Vec<PointLead>,
    /// Which of them leads at each of these, by all points together.
    beliefs: Vec<Belief>,
    /// The standard error of what rounds shift at all points alike.
    common: f64,
}

impl<'a> Comparison<'a> {
    /// Compares `first` with `second`.
    pub fn new(first: &'a Series, second: &'a Series) -> Self {
        let both = [&first.evidence, &second.evidence];
        let (mut points, common) = point_leads(both, &shares_of(both));
        for point in &mut points {
            point.logs = point.logs.map(|cost| -cost);
        }
        let beliefs = beliefs(&points, common);
        Self { first, second, points, beliefs, common }
    }

    /// Whether the first series is clearly better at `point`, or the second one; `None` where neither is.
    pub fn first_leads_at(&self, point: u64) -> Option<bool> {
        let index = self.index(point)?;
        let leader = self.points[index].clear_leader(&self.beliefs[index])?;
        // No figure is marked that is no better than the next one in its row.
        let shown_lead = self.shown_lead(point)?;
        (if leader { shown_lead > 0.0 } else { shown_lead < 0.0 }).then_some(leader)
    }

    /// How many times better the first is than the second at `point`, by their medians, with a CI that holds them.
    pub fn lead_at(&self, point: u64) -> Option<Estimate> {
        let at = &self.points[self.index(point)?];
        let half = NORMAL_95 * at.whole_error().map_or(0.0, |error| error.hypot(self.common));
        let Estimate { low, high, .. } = Estimate::around(at.log(), half).map(f64::exp);
        Some(Estimate::holding(self.shown_lead(point)?.exp(), low, high))
    }

    /// The logarithm of the ratio of the medians that tables show.
    fn shown_lead(&self, point: u64) -> Option<f64> {
        Some(self.first.worth_at(point)? - self.second.worth_at(point)?)
    }

    fn index(&self, point: u64) -> Option<usize> {
        self.points.binary_search_by_key(&point, |point| point.point).ok()
    }

    /// The outcome.
    pub fn outcome(&self) -> ComparisonOutcome {
        let points = self.points.as_slice();
        if points.len() < 2 {
            let reason = ComparisonReason::TooFewCommonPoints { points: points.len() };
            return ComparisonOutcome::Unknown { reason };
        }
        let leads = points.iter().filter_map(|point| Some(self.shown_lead(point.point)?.abs()));
        let max_lead = leads.fold(0.0, f64::max).exp();
        let leaders = points.iter().zip(&self.beliefs).map(|(point, belief)| point.leader(belief));
        let sure: Vec<(usize, bool)> =
            leaders.enumerate().filter_map(|(index, leader)| Some((index, leader?))).collect();
        let changes: Vec<&[(usize, bool)]> =
            sure.windows(2).filter(|pair| pair[0].1 != pair[1].1).collect();
        match (sure.first(), changes.len()) {
            (None, _) => self.neither_leads(max_lead),
            (Some((_, first_leads)), 0) => self.throughout(*first_leads, max_lead),
            (_, 1 | 2) => {
                let crossover =
                    |pair: &&[(usize, bool)]| self.crossover([pair[0].0, pair[1].0], pair[0].1);
                ComparisonOutcome::Crosses { crossovers: changes.iter().map(crossover).collect() }
            }
            (_, changes) => ComparisonOutcome::Unsettled { changes, max_lead },
        }
    }

    /// Too close to call, if neither is ahead by more than what is flat at any point.
    fn neither_leads(&self, max_lead: f64) -> ComparisonOutcome {
        let ratio = self.ratio();
        let is_close = |(point, belief): (&PointLead, &Belief)| {
            point.errors.is_none() || belief.close >= 1.0 - FALSE_ALARM
        };
        if self.points.iter().zip(&self.beliefs).all(is_close) {
            return ComparisonOutcome::TooClose { max_lead, ratio };
        }
        ComparisonOutcome::Unknown { reason: ComparisonReason::WithinScatter { max_lead, ratio } }
    }

    /// The figures of the first over those of the second: the mean over all points, with the error of the figures or
    /// that of the scatter, whichever is larger. `None` where the error is unknown.
    fn ratio(&self) -> Option<Estimate> {
        let errors: Vec<f64> = self.points.iter().filter_map(PointLead::error).collect();
        if errors.len() < self.points.len() {
            return None;
        }
        let count = self.points.len() as f64;
        let leads: Vec<f64> =
            self.points.iter().map(|point| self.first.sign() * point.log()).collect();
        let mean = mean(&leads);
        let own = errors.iter().map(|error| error.powi(2)).sum::<f64>().sqrt() / count;
        let scatter = deviation(&leads) / (count - 1.0).sqrt();
        let half = (student::quantile_95(self.points.len() - 1) * scatter)
            .max(NORMAL_95 * own)
            .hypot(NORMAL_95 * self.common);
        half.is_finite().then(|| Estimate::around(mean, half).map(f64::exp))
    }

    /// What each point says: a lead that all points together make sure, and none shows, is too small to matter.
    fn throughout(&self, first_leads: bool, max_lead: f64) -> ComparisonOutcome {
        let points = self.points.iter().map(|point| point.point);
        let (clear, open): (Vec<u64>, Vec<u64>) =
            points.partition(|point| self.first_leads_at(*point).is_some());
        let leads = || clear.iter().filter_map(|point| Some(self.shown_lead(*point)?.abs()));
        let (min, max) = (leads().fold(f64::INFINITY, f64::min), leads().fold(0.0, f64::max));
        if clear.is_empty() {
            return self.neither_leads(max_lead);
        }
        ComparisonOutcome::Throughout {
            better: if first_leads { self.first } else { self.second }.subject.clone(),
            min_lead: min.exp(),
            max_lead: max.exp(),
            clear,
            open,
        }
    }

    /// Between two points of which one leads at the first, and the other at the second.
    fn crossover(&self, [after, before]: [usize; 2], first_leads: bool) -> Crossover {
        let (overtaken, overtakes) =
            if first_leads { (self.first, self.second) } else { (self.second, self.first) };
        Crossover {
            overtakes: overtakes.subject.clone(),
            overtaken: overtaken.subject.clone(),
            at: position(&self.points, [after, before], first_leads, self.common),
            share: None,
            after: self.points[after].point,
            before: self.points[before].point,
        }
    }
}
