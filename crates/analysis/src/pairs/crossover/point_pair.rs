//! Two series at one point: the lead, its standard error, and whether the lead is clear.

use super::shared_rounds::RoundLead;
use crate::Estimate;
use crate::pairs::series::LogFigure;
use crate::pairs::thresholds::{
    ERRORS_PER_E_FOLD, FEW_ROUNDS, LEAD_MIN, LEAD_MIN_OF_SINGLES, ROUNDS_APART_FACTOR,
    ROUNDS_APART_MIN,
};
use crate::stats::bootstrap::few_rounds_factor;
use crate::stats::moments::deviation;
use crate::stats::quantiles::{quantile, sort};
use crate::stats::student;

/// Errors to add to [`errors_asked`](crate::pairs::thresholds::errors_asked), which is made for twelve points:
/// among more points a chance result is more likely.
pub(super) fn errors_added(points: usize) -> f64 {
    ERRORS_PER_E_FOLD * (points.max(12) as f64 / 12.0).ln()
}

/// Two series at one point.
pub(super) struct PointPair<'a> {
    pub(super) point: u64,
    /// The logarithm of the point, shifted.
    pub(super) x: f64,
    pub(super) figures: [&'a LogFigure; 2],
    /// The logarithm of how many times better the first is than the second.
    pub(super) lead: f64,
    /// By what the rounds differ by, where rounds disturb both alike.
    pub(super) by_rounds: Option<RoundLead>,
    pub(super) error: f64,
    pub(super) clear: bool,
}

impl<'a> PointPair<'a> {
    pub(super) fn new(first: &'a LogFigure, second: &'a LogFigure) -> Self {
        // A single figure has no error of its own: the error of the opposite series stands for both.
        let independent = match (first.single, second.single) {
            (true, false) => second.error * std::f64::consts::SQRT_2,
            (false, true) => first.error * std::f64::consts::SQRT_2,
            _ => first.error.hypot(second.error),
        };
        let joint = joint_error(first, second).filter(|_| independent.is_finite());
        let error = joint.unwrap_or(independent);
        let (point, lead) = (first.point, first.worth - second.worth);
        Self { point, x: 0.0, figures: [first, second], lead, by_rounds: None, error, clear: false }
    }

    /// Takes the rounds in pairs where both were measured in the same ones.
    pub(super) fn pair_rounds(&mut self) {
        let [first, second] = self.figures;
        self.by_rounds = RoundLead::new(first, second);
        self.error = self.by_rounds.map_or(self.error, |by_rounds| by_rounds.error);
    }

    /// The lead that evidence is judged by: none where the medians and the rounds' differences disagree.
    pub(super) fn judged_lead(&self) -> f64 {
        match self.by_rounds {
            Some(by_rounds) if by_rounds.lead * self.lead > 0.0 => by_rounds.lead,
            Some(_) => 0.0,
            None => self.lead,
        }
    }

    /// The lead that counts in a mean over points: what the rounds differ by where they are in pairs. It keeps
    /// its sign where the medians disagree, since leads of zero would draw the mean to zero.
    pub(super) fn averaged_lead(&self) -> f64 {
        self.by_rounds.map_or(self.lead, |by_rounds| by_rounds.lead)
    }

    /// The lead as a ratio, with its CI: from the replicates, or from what the rounds differ by, widened to
    /// include the ratio of the medians.
    pub(super) fn lead_interval(&self) -> Estimate {
        let Some(by_rounds) = self.by_rounds else {
            let [first, second] = self.figures;
            let mut leads = drawn_leads(first, second);
            // From five rounds on such intervals hold the true lead often enough as they are.
            let rounds = first.rounds.min(second.rounds);
            if (2..FEW_ROUNDS).contains(&rounds) {
                let factor = few_rounds_factor(rounds as usize);
                for lead in &mut leads {
                    *lead = self.lead + factor * (*lead - self.lead);
                }
            }
            return interval(self.lead, &mut leads.clone(), &mut leads);
        };
        let half = student::quantile_95(by_rounds.rounds - 1) * self.error;
        let low = (by_rounds.lead - half).min(self.lead);
        let high = (by_rounds.lead + half).max(self.lead);
        Estimate { value: self.lead.exp(), low: low.exp(), high: high.exp() }
    }

    pub(super) fn is_single(&self) -> bool {
        self.figures.iter().all(|figure| figure.single)
    }

    pub(super) fn is_clear(&self, errors_added: f64) -> bool {
        if self.is_single() {
            return self.lead.abs() >= LEAD_MIN_OF_SINGLES.ln();
        }
        let (lead, required) = (self.judged_lead().abs(), self.errors_asked() + errors_added);
        let is_large = lead.min(self.lead.abs()) >= LEAD_MIN.ln();
        self.is_apart() || is_large && lead > required * self.error
    }

    /// Whether all rounds of one series are far from all rounds of the second.
    pub(super) fn is_apart(&self) -> bool {
        let [first, second] = self.figures;
        let gap = (first.range[0] - second.range[1]).max(second.range[0] - first.range[1]);
        first.rounds.min(second.rounds) >= ROUNDS_APART_MIN
            && gap.is_finite()
            && gap >= ROUNDS_APART_FACTOR.ln()
    }

    pub(super) fn errors_asked(&self) -> f64 {
        let [first, second] = self.figures;
        first.errors_asked.max(second.errors_asked)
    }

    /// `lead` as a share of the lead that is required of a point.
    pub(super) fn strength(&self, lead: f64) -> f64 {
        if self.is_single() {
            return lead / LEAD_MIN_OF_SINGLES.ln();
        }
        // Without scatter any lead is beyond chance.
        lead / (self.errors_asked() * self.error).max(f64::MIN_POSITIVE)
    }

    /// The worth of both in one replicate; a figure that was not resampled keeps its own.
    pub(super) fn draw(&self, replicate: usize) -> [f64; 2] {
        self.figures.map(|figure| figure.draws.get(replicate).copied().unwrap_or(figure.worth))
    }
}

/// Standard error of the lead of `first` over `second` where both were resampled. Their replicates are
/// drawn independently, so that a round that was slower for both counts against both.
fn joint_error(first: &LogFigure, second: &LogFigure) -> Option<f64> {
    let same = first.draws.len() > 1 && first.draws.len() == second.draws.len();
    same.then(|| deviation(&drawn_leads(first, second)).hypot(first.drift.hypot(second.drift)))
}

/// The lead of `first` over `second` in each replicate.
fn drawn_leads(first: &LogFigure, second: &LogFigure) -> Vec<f64> {
    first.draws.iter().zip(&second.draws).map(|(first, second)| first - second).collect()
}

/// What is added to each point before its logarithm is taken: half of the first point above zero where zero
/// is a point, which has no logarithm; 0 elsewhere.
pub(super) fn shift(pairs: &[PointPair<'_>]) -> f64 {
    let above = pairs.iter().map(|pair| pair.point).find(|point| *point > 0);
    let has_zero = pairs.first().is_some_and(|pair| pair.point == 0);
    if has_zero { above.unwrap_or(1) as f64 / 2.0 } else { 0.0 }
}

/// The median error of the points that `counts` selects: the minimum for a point that seems quieter.
pub(super) fn usual_error(pairs: &[PointPair<'_>], counts: impl Fn(&PointPair<'_>) -> bool) -> f64 {
    let has_error = |pair: &&PointPair| counts(pair) && !pair.is_single() && pair.error.is_finite();
    let mut errors: Vec<f64> = pairs.iter().filter(has_error).map(|pair| pair.error).collect();
    sort(&mut errors);
    errors.get(errors.len() / 2).copied().unwrap_or(0.0)
}

/// `value` with the 2.5th percentile of `lows` and the 97.5th percentile of `highs`, widened to include
/// `value`. The arguments are logarithms.
pub(super) fn interval(value: f64, lows: &mut [f64], highs: &mut [f64]) -> Estimate {
    sort(lows);
    sort(highs);
    let low = quantile(lows, 0.025).unwrap_or(value).min(value);
    let high = quantile(highs, 0.975).unwrap_or(value).max(value);
    Estimate { value: value.exp(), low: low.exp(), high: high.exp() }
}
