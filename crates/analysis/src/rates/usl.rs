//! The Universal Scalability Law: how the rate of N that work together follows from what waits its turn and from what
//! they cost each other.
//!
//! X(N) = λN / (1 + σ(N − 1) + κN(N − 1)), σ and κ not below zero (Gunther 1993). N/X is a sum of three terms in N; so
//! the law is fitted by steps of linear least squares, each solved exactly: of the four ways to hold σ or κ at zero the
//! best that has nothing below zero. It applies where the figures are no further from it than what rounds scatter, or a
//! twentieth, and where rounds do not scatter so much that anything would fit.

use crate::growth::levels::draws;
use crate::rates::Costs;
use crate::stats::bootstrap::percentile_interval;
use crate::stats::moments::{root_mean_square, squares_about};
use crate::stats::quantiles::median;
use crate::thresholds::{FLAT_FACTOR_MAX, LAW_ERRORS_MAX, LAW_POINTS_MIN, MODEL_ERROR, PEAK_REACH};
use crate::{Estimate, PointSummary, Scaling, ScalingReason};

/// Steps of the fit at most; a handful is usual.
const FIT_STEPS_MAX: usize = 40;

/// One law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    /// λ, the rate of one.
    pub single: f64,
    /// σ, contention.
    pub contention: f64,
    /// κ, crosstalk.
    pub crosstalk: f64,
}

/// What is made small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The squares of the logarithms of what the figures are of the law.
    Ratio,
    /// The squares of what the figures differ from the law, as most published fits do.
    Difference,
}

impl Law {
    /// The rate of `many`.
    pub fn rate(&self, many: f64) -> f64 {
        let Self { single, contention, crosstalk } = self;
        single * many / (1.0 + contention * (many - 1.0) + crosstalk * many * (many - 1.0))
    }

    /// How many have the highest rate; infinite without crosstalk, 1 where a second costs more than it brings.
    pub fn peak(&self) -> f64 {
        if self.crosstalk <= 0.0 {
            return if self.contention < 1.0 { f64::INFINITY } else { 1.0 };
        }
        ((1.0 - self.contention).max(0.0) / self.crosstalk).sqrt().max(1.0)
    }

    /// The law that fits `figures` best: how many, and their rate, above zero. `None` with fewer than three.
    pub fn fit(figures: &[(f64, f64)], by: By) -> Option<Self> {
        let usable = |&(many, rate): &(f64, f64)| many >= 1.0 && rate > 0.0 && rate.is_finite();
        if figures.len() < 3 || !figures.iter().all(usable) {
            return None;
        }
        let times: Vec<f64> = figures.iter().map(|(many, rate)| many / rate).collect();
        let first = figures.iter().zip(&times).map(|((many, _), &time)| (*many, time, 1.0 / time));
        let mut terms = Terms::solve(&first.collect::<Vec<_>>())?;
        let mut error = terms.error(figures, by);
        for _ in 0..FIT_STEPS_MAX {
            let target = Terms::solve(&terms.linear(figures, by))?;
            // A whole step may lead too far.
            let halves = (0..12).map(|half| terms.towards(&target, 0.5_f64.powi(half)));
            let mut better = halves.map(|terms| (terms.error(figures, by), terms));
            let Some((less, next)) = better.find(|(next, _)| *next < error) else { break };
            let done = error - less <= 1e-12 * error;
            (terms, error) = (next, less);
            if done {
                break;
            }
        }
        Some(terms.law())
    }
}

/// N/X as a sum: so much, so much for each further one, so much for each further pair.
#[derive(Clone, Copy)]
struct Terms([f64; 3]);

/// What each term is multiplied with.
fn factors(many: f64) -> [f64; 3] {
    [1.0, many - 1.0, many * (many - 1.0)]
}

impl Terms {
    fn time(&self, many: f64) -> f64 {
        self.0.iter().zip(factors(many)).map(|(term, factor)| term * factor).sum()
    }

    fn law(&self) -> Law {
        let [single, further, pair] = self.0;
        Law { single: 1.0 / single, contention: further / single, crosstalk: pair / single }
    }

    fn towards(&self, target: &Self, share: f64) -> Self {
        Self(std::array::from_fn(|at| self.0[at] + share * (target.0[at] - self.0[at])))
    }

    fn error(&self, figures: &[(f64, f64)], by: By) -> f64 {
        let square = |&(many, rate): &(f64, f64)| {
            let law = many / self.time(many);
            match by {
                By::Ratio => (rate / law).ln().powi(2),
                By::Difference => (rate - law).powi(2),
            }
        };
        figures.iter().map(square).sum()
    }

    /// The problem as it is around these terms, where it is linear in them: how many, the time that would
    /// leave no error, and the weight of an error of time.
    fn linear(&self, figures: &[(f64, f64)], by: By) -> Vec<(f64, f64, f64)> {
        let tangent = |&(many, rate): &(f64, f64)| {
            let time = self.time(many);
            match by {
                By::Ratio => (many, time * (1.0 + (many / rate / time).ln()), 1.0 / time),
                By::Difference => {
                    let weight = many / (time * time);
                    (many, time - (rate - many / time) / weight, weight)
                }
            }
        };
        figures.iter().map(tangent).collect()
    }

    /// The terms with the least squares, none below zero and the first above it.
    fn solve(problem: &[(f64, f64, f64)]) -> Option<Self> {
        const WAYS: [[bool; 3]; 4] =
            [[true, true, true], [true, true, false], [true, false, true], [true, false, false]];
        let squares = |terms: &Self| -> f64 {
            let square = |(many, time, weight): &(f64, f64, f64)| {
                (weight * (time - terms.time(*many))).powi(2)
            };
            problem.iter().map(square).sum()
        };
        let ways = WAYS.iter().filter_map(|used| Self::solve_with(problem, *used));
        ways.min_by(|a, b| squares(a).total_cmp(&squares(b)))
    }

    /// The same with some terms held at zero; `None` where it asks for others.
    fn solve_with(problem: &[(f64, f64, f64)], used: [bool; 3]) -> Option<Self> {
        let mut rows = [[0.0; 4]; 3];
        for &(many, time, weight) in problem {
            let factors = factors(many).map(|factor| weight * factor);
            for row in 0..3 {
                for column in 0..3 {
                    rows[row][column] += factors[row] * factors[column];
                }
                rows[row][3] += factors[row] * weight * time;
            }
        }
        for unused in (0..3).filter(|&term| !used[term]) {
            for row in &mut rows {
                row[unused] = 0.0;
            }
            rows[unused] = [0.0; 4];
            rows[unused][unused] = 1.0;
        }
        let terms = eliminate(rows)?;
        (terms[0] > 0.0 && terms.iter().all(|term| *term >= 0.0)).then_some(Self(terms))
    }
}

/// Solves three equations that are positive definite, each divided by its own size first.
fn eliminate(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    let sizes = [0, 1, 2].map(|at| rows[at][at].sqrt());
    if sizes.iter().any(|size| *size <= 0.0) {
        return None;
    }
    for row in 0..3 {
        for column in 0..3 {
            rows[row][column] /= sizes[row] * sizes[column];
        }
        rows[row][3] /= sizes[row];
    }
    for pivot in 0..3 {
        if rows[pivot][pivot] < 1e-12 {
            return None;
        }
        for row in (0..3).filter(|&row| row != pivot) {
            let share = rows[row][pivot] / rows[pivot][pivot];
            let pivot_row = rows[pivot];
            for (figure, pivot) in rows[row].iter_mut().zip(pivot_row) {
                *figure -= share * pivot;
            }
        }
    }
    Some([0, 1, 2].map(|at| rows[at][3] / rows[at][at] / sizes[at]))
}

/// How the rate at these `points` (ascending) fits the law. `None` with fewer than two, or points below 1.
pub fn scaling(points: &[PointSummary]) -> Option<Scaling> {
    if points.len() < 2 || points[0].point < 1 {
        return None;
    }
    let at = |logs: &[f64]| -> Vec<(f64, f64)> {
        let rate = |(at, log): (&PointSummary, &f64)| (at.point as f64, log.exp());
        points.iter().zip(logs).map(rate).collect()
    };
    let is_positive = points.iter().all(|at| at.median.value > 0.0);
    let costs = Costs::new(points);
    let logs: Vec<f64> = costs.levels.iter().map(|level| -level.log).collect();
    let law = if is_positive { Law::fit(&at(&logs), By::Ratio) } else { None };
    let Some(law) = law else {
        let few = points.len() < LAW_POINTS_MIN;
        let reason = Some(if few { TOO_FEW_POINTS } else { ScalingReason::NotPositive });
        let [single, contention, crosstalk] = [Estimate::exact(0.0); 3];
        return Some(Scaling { single, contention, crosstalk, peak: None, residual: 0.0, reason });
    };
    let drawn = |costs: Vec<f64>| {
        Law::fit(&at(&costs.iter().map(|log| -log).collect::<Vec<f64>>()), By::Ratio)
    };
    let drawn: Vec<Law> = draws(&costs.levels).into_iter().filter_map(drawn).collect();
    let end = points[points.len() - 1].point as f64;
    let interval = |figure: fn(&Law) -> f64| {
        percentile_interval(figure(&law), &drawn.iter().map(figure).collect::<Vec<f64>>())
    };
    let peak = interval(Law::peak);
    let apart = |(at, log): (&PointSummary, &f64)| log - law.rate(at.point as f64).ln();
    let apart: Vec<f64> = points.iter().zip(&logs).map(apart).collect();
    let residual = root_mean_square(&apart);
    // A peak that stands out by no more than figures may miss the law by is none.
    let out = (law.rate(law.peak()) / law.rate(end)).ln();
    let stands_out = !out.is_finite() || out > MODEL_ERROR.max(2.0 * residual);
    let errors = costs.levels.iter().map(|level| level.error.unwrap_or_default());
    Some(Scaling {
        single: interval(|law| law.single),
        contention: interval(|law| law.contention),
        crosstalk: interval(|law| law.crosstalk),
        // Without crosstalk in some of the replicates there may be no peak at all.
        peak: (stands_out && peak.high <= PEAK_REACH * end).then_some(peak),
        residual,
        reason: why_not(&apart, &errors.collect::<Vec<_>>(), &law),
    })
}

const TOO_FEW_POINTS: ScalingReason = ScalingReason::TooFewPoints { required: LAW_POINTS_MIN };

/// Why the law does not apply to figures that are this far `apart` from it; `None` where it does.
fn why_not(apart: &[f64], errors: &[f64], law: &Law) -> Option<ScalingReason> {
    if apart.len() < LAW_POINTS_MIN {
        return Some(TOO_FEW_POINTS);
    }
    let usual = median(errors.iter().copied()).unwrap_or(0.0);
    if usual > FLAT_FACTOR_MAX.ln() {
        return Some(ScalingReason::TooUncertain { error: usual.exp() });
    }
    if law.contention > 1.0 {
        return Some(ScalingReason::ContentionAboveOne);
    }
    let used = 1 + usize::from(law.contention > 0.0) + usize::from(law.crosstalk > 0.0);
    let free = apart.len().saturating_sub(used).max(1);
    let strengths = apart.iter().zip(errors).map(|(apart, error)| apart / error.max(MODEL_ERROR));
    let strengths: Vec<f64> = strengths.collect();
    let max = apart.iter().fold(0.0_f64, |max, apart| max.max(apart.abs()));
    let is_poor = (squares_about(0.0, &strengths) / free as f64).sqrt() > LAW_ERRORS_MAX;
    is_poor.then(|| ScalingReason::PoorFit { max: max.exp() })
}
