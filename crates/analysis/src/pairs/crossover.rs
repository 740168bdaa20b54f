//! Comparison of two series: one overtakes, one leads throughout, or neither leads.
//!
//! The lead at a point that both series have is the logarithm of the ratio of their medians. A lead is
//! *clear* when it is large enough to matter ([`LEAD_MIN`](crate::pairs::thresholds::LEAD_MIN)) and
//! significant. The bootstrap's replicates alone don't decide that: with five rounds they sometimes lie too
//! close together, which is likely at one of a dozen points. So the error of a point is at least the usual
//! error of the two series, and a clear lead is several errors: the number at which identical curves are
//! called different in one of a hundred cases ([`errors_asked`](crate::pairs::thresholds::errors_asked)).
//!
//! A point that is clear on its own is marked. Neighbouring points can be clear together (`evidence.rs`):
//! that decides which series leads on which part of the axis. Where the leader changes once or twice, the
//! crossover is the zero of the lead on straight lines between the points, on logarithmic axes (`zeros.rs`).
//! Three changes or more are not reported as crossovers.
//!
//! Where rounds disturb both series alike, what counts is how much the two differ within each round
//! (`shared_rounds.rs`).
//!
//! Where neither leads, the mean of the leads over all points measures how similar the two are. It is more
//! precise than any single point.

mod evidence;
mod point_pair;
mod shared_rounds;
mod zeros;

pub use crate::pairs::series::{Figure, Series};
use crate::pairs::thresholds::CLOSE_LEAD_MAX;
use crate::stats::moments::{deviation, mean};
use crate::stats::student;
use crate::{ComparisonOutcome, ComparisonReason, Crossover, Estimate};
use evidence::{Change, Stretch, without_blips};
use point_pair::{PointPair, errors_added, shift, usual_error};
use shared_rounds::RoundEffects;

/// How `first` and `second` compare along the axis.
pub fn compare_series(first: &Series, second: &Series) -> ComparisonOutcome {
    Comparison::new(first, second).outcome()
}

/// Two series at the points that both have.
pub struct Comparison<'a> {
    first: &'a Series,
    second: &'a Series,
    pairs: Vec<PointPair<'a>>,
    /// See [`shift`].
    shift: f64,
    /// The correlation of the errors of two points.
    correlation: f64,
    /// The leader of each part of the axis.
    stretches: Vec<Stretch>,
}

impl<'a> Comparison<'a> {
    /// Compares `first` with `second`.
    pub fn new(first: &'a Series, second: &'a Series) -> Self {
        let mut pairs: Vec<PointPair<'_>> = Vec::new();
        for figure in &first.figures {
            let same = second.figures.binary_search_by_key(&figure.point, |second| second.point);
            pairs.extend(same.ok().map(|index| PointPair::new(figure, &second.figures[index])));
        }
        let effects = RoundEffects::new(pairs.iter().map(|pair| pair.figures));
        let correlation = effects.between_points();
        if effects.disturb_both() {
            pairs.iter_mut().for_each(PointPair::pair_rounds);
        }
        // Points of one kind have one usual error.
        let kind = |pair: &PointPair<'_>| {
            let beyond = first.split.is_some_and(|split| pair.point > split);
            usize::from(beyond) + 2 * usize::from(pair.by_rounds.is_some())
        };
        let usual = [0, 1, 2, 3].map(|alike| usual_error(&pairs, |pair| kind(pair) == alike));
        let added = errors_added(pairs.len());
        let shift = shift(&pairs);
        for pair in &mut pairs {
            pair.x = (pair.point as f64 + shift).ln();
            pair.error = pair.error.max(usual[kind(pair)]);
            pair.clear = pair.is_clear(added);
        }
        let (stretches, blips) = without_blips(&pairs, evidence::stretches(&pairs, correlation));
        // Neither series leads there by the evidence of all points, so neither is marked.
        for blip in blips {
            pairs[blip].clear = false;
        }
        Self { first, second, pairs, shift, correlation, stretches }
    }

    /// The first series.
    pub fn first(&self) -> &Series {
        self.first
    }

    /// The second series.
    pub fn second(&self) -> &Series {
        self.second
    }

    /// Whether the first series is clearly better at `point`, or the second one is; `None` if it is too
    /// close to call, or one of them has no figure.
    pub fn first_leads_at(&self, point: u64) -> Option<bool> {
        let index = self.pairs.binary_search_by_key(&point, |pair| pair.point).ok()?;
        self.pairs[index].clear.then_some(self.pairs[index].lead > 0.0)
    }

    /// How many times better the first is than the second at `point`, with its CI.
    pub fn lead_at(&self, point: u64) -> Option<Estimate> {
        let index = self.pairs.binary_search_by_key(&point, |pair| pair.point).ok()?;
        Some(self.pairs[index].lead_interval())
    }

    /// The outcome.
    pub fn outcome(&self) -> ComparisonOutcome {
        let pairs = self.pairs.as_slice();
        if pairs.len() < 2 {
            let reason = ComparisonReason::TooFewCommonPoints { points: pairs.len() };
            return ComparisonOutcome::Unknown { reason };
        }
        let max_lead = pairs.iter().map(|pair| pair.lead.abs()).fold(0.0, f64::max).exp();
        match self.stretches.as_slice() {
            [] | [_, _, _, _, ..] if max_lead < CLOSE_LEAD_MAX => {
                ComparisonOutcome::TooClose { max_lead, ratio: self.ratio() }
            }
            [] => ComparisonOutcome::Unknown {
                reason: ComparisonReason::WithinScatter { max_lead, ratio: self.ratio() },
            },
            [only] => self.throughout(only),
            [_, _] | [_, _, _] => {
                let changes = evidence::changes(pairs, &self.stretches);
                let crossovers = changes.iter().map(|change| self.crossover(change));
                ComparisonOutcome::Crosses { crossovers: crossovers.collect() }
            }
            many => ComparisonOutcome::Unsettled { changes: many.len() - 1, max_lead },
        }
    }

    /// The figures of the first over those of the second, over all points: the mean of the logarithms. Its
    /// error is that of the figures or that of the scatter over points, whichever is larger. `None` where the
    /// error is unknown.
    fn ratio(&self) -> Option<Estimate> {
        let count = self.pairs.len() as f64;
        if self.pairs.len() < 2 || self.pairs.iter().any(PointPair::is_single) {
            return None;
        }
        let sign = if self.first.lower_is_better { -1.0 } else { 1.0 };
        let leads: Vec<f64> = self.pairs.iter().map(|pair| sign * pair.averaged_lead()).collect();
        let mean = mean(&leads);
        let own = self.pairs.iter().map(|pair| pair.error.powi(2)).sum::<f64>().sqrt() / count;
        let own = own * (1.0 + (count - 1.0) * self.correlation).sqrt();
        let scatter = deviation(&leads) / (count - 1.0).sqrt();
        let half = student::quantile_95(self.pairs.len() - 1) * own.max(scatter);
        let [value, low, high] = [mean, mean - half, mean + half].map(f64::exp);
        half.is_finite().then_some(Estimate { value, low, high })
    }

    fn throughout(&self, only: &Stretch) -> ComparisonOutcome {
        let pairs = self.pairs.as_slice();
        let [from, to] = evidence::range(pairs, only);
        let its_own = |pair: &&PointPair<'_>| (pair.lead > 0.0) == only.first_leads;
        let leads = || pairs[from..=to].iter().filter(its_own).map(|pair| pair.lead.abs());
        ComparisonOutcome::Throughout {
            better: if only.first_leads { self.first } else { self.second }.subject().to_owned(),
            min_lead: leads().fold(f64::INFINITY, f64::min).exp(),
            max_lead: leads().fold(0.0, f64::max).exp(),
            from: pairs[from].point,
            to: pairs[to].point,
            clear: pairs.iter().filter(its_own).filter(|pair| pair.clear).count(),
            points: pairs.len(),
        }
    }

    fn crossover(&self, change: &Change) -> Crossover {
        let (overtaken, overtakes) =
            if change.first_leads { (self.first, self.second) } else { (self.second, self.first) };
        let [after, before] = change.between.map(|index| self.pairs[index].point);
        Crossover {
            overtakes: overtakes.subject().to_owned(),
            overtaken: overtaken.subject().to_owned(),
            at: zeros::position(&self.pairs, change, self.shift),
            share: None,
            after,
            before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pairs::thresholds::errors_asked;
    use crate::stats::NORMAL_95;
    use crate::stats::random::normal;

    const SIZES: [u64; 6] = [10, 30, 100, 300, 1000, 3000];

    /// Single figures, as in a table from elsewhere.
    pub(super) fn singles(subject: &str, figures: &[(u64, f64)]) -> Series {
        let figures = figures.iter().map(|&(point, value)| Figure {
            point,
            median: Estimate { value, low: value, high: value },
            rounds: 1,
            samples: 1,
            replicates: &[],
        });
        Series::new(subject, true, figures)
    }

    /// Five rounds at each of [`SIZES`]: the medians have this `error`.
    fn rounds(subject: &str, medians: [f64; 6], error: f64) -> Series {
        let mut random = fastrand::Rng::with_seed(subject.len() as u64);
        let drawn = medians.map(|median| -> Vec<f64> {
            (0..400).map(|_| median * (error * normal(&mut random)).exp()).collect()
        });
        let figures = (0..6).map(|index| {
            let (value, half) = (medians[index], (NORMAL_95 * error).exp());
            let median = Estimate { value, low: value / half, high: value * half };
            let (point, replicates) = (SIZES[index], drawn[index].as_slice());
            Figure { point, median, rounds: 5, samples: 100, replicates }
        });
        Series::new(subject, true, figures)
    }

    pub(super) fn against_ten(medians: [f64; 6], error: f64) -> ComparisonOutcome {
        compare_series(&rounds("ten", [10.0; 6], error), &rounds("other", medians, error))
    }

    pub(super) fn crossovers(outcome: ComparisonOutcome) -> Vec<Crossover> {
        let ComparisonOutcome::Crosses { crossovers } = outcome else { panic!("{outcome:?}") };
        crossovers
    }

    #[test]
    fn too_few_points_are_unknown() {
        let first = singles("one", &[(10, 1.0), (30, 2.0)]);
        let common_points =
            |second: &[(u64, f64)]| match compare_series(&first, &singles("other", second)) {
                ComparisonOutcome::Unknown {
                    reason: ComparisonReason::TooFewCommonPoints { points },
                } => points,
                outcome => panic!("{outcome:?}"),
            };
        assert_eq!(common_points(&[]), 0);
        assert_eq!(common_points(&[(20, 1.0), (40, 1.0)]), 0);
        assert_eq!(common_points(&[(20, 1.0), (30, 1.0)]), 1);
    }

    #[test]
    fn figures_without_a_logarithm_are_left_out() {
        let first = singles("one", &[(0, 1.0), (10, 1.0), (20, 0.0), (30, -1.0), (100, 1.0)]);
        let gaps = [(0, 2.5), (10, 2.0), (20, 5.0), (30, 5.0), (60, f64::NAN), (100, 3.0)];
        let outcome = compare_series(&first, &singles("other", &gaps));
        let better = "one".to_owned();
        assert_eq!(
            outcome,
            ComparisonOutcome::Throughout {
                better,
                min_lead: 2.0,
                max_lead: 3.0_f64.ln().exp(),
                from: 0,
                to: 100,
                clear: 3,
                points: 3
            }
        );
    }

    /// A cost of 8 and 0.1 for each against one of 10 cross at 20, between none and the first points.
    #[test]
    fn zero_is_a_point_before_the_first() {
        let sizes = [0, 50, 100, 1000];
        let steep: Vec<(u64, f64)> = sizes.iter().map(|&n| (n, 8.0 + 0.1 * n as f64)).collect();
        let flat = sizes.map(|n| (n, 10.0));
        let [crossover] =
            crossovers(compare_series(&singles("flat", &flat), &singles("steep", &steep)))
                .try_into()
                .unwrap();
        assert_eq!(
            (crossover.overtakes.as_str(), crossover.after, crossover.before),
            ("flat", 0, 50)
        );
        assert!((15.0..=30.0).contains(&crossover.at.value), "{crossover:?}");
        // A crossover further up is where it would be without the point 0.
        let later: Vec<(u64, f64)> = sizes.iter().map(|&n| (n, 2.0 + 0.02 * n as f64)).collect();
        let [crossover] =
            crossovers(compare_series(&singles("flat", &flat), &singles("later", &later)))
                .try_into()
                .unwrap();
        assert_eq!((crossover.after, crossover.before), (100, 1000));
        assert!((300.0..=600.0).contains(&crossover.at.value), "{crossover:?}");
    }

    #[test]
    fn the_ratio_of_two_that_are_alike_has_an_interval() {
        let outcome = against_ten([10.1, 9.9, 10.05, 10.0, 9.95, 10.1], 0.01);
        let ComparisonOutcome::TooClose { max_lead, ratio: Some(ratio) } = outcome else {
            panic!("{outcome:?}")
        };
        // Five errors of 1.4 %, by Student's t for five degrees of freedom: 1.5 %.
        assert!(max_lead < 1.011 && (ratio.value - 0.998).abs() < 0.002, "{ratio:?}");
        assert!(ratio.low < 0.99 && ratio.low > 0.98, "{ratio:?}");
        assert!(ratio.high > 1.01 && ratio.high < 1.02, "{ratio:?}");
    }

    #[test]
    fn single_figures_cross_without_an_interval() {
        let flat = singles("flat", &[(10, 10.0), (100, 10.0), (1000, 10.0), (10_000, 10.0)]);
        let steep = singles("steep", &[(10, 1.0), (100, 9.95), (1000, 100.0), (10_000, 1000.0)]);
        let crossings = crossovers(compare_series(&flat, &steep));
        let [Crossover { overtakes, overtaken, at, share, after, before }] = crossings.as_slice()
        else {
            panic!("{crossings:?}")
        };
        assert_eq!((overtakes.as_str(), overtaken.as_str()), ("flat", "steep"));
        // 0.5 % is too close to call even for single figures.
        assert_eq!((*after, *before, *share), (10, 1000, None));
        assert!((at.value / 100.5 - 1.0).abs() < 0.001, "{at:?}");
        assert_eq!((at.low.to_bits(), at.high.to_bits()), (at.value.to_bits(), at.value.to_bits()));
    }

    #[test]
    fn more_is_better_where_the_metric_says_so() {
        let figure = |point: u64, value: f64| Figure {
            point,
            median: Estimate { value, low: value, high: value },
            rounds: 1,
            samples: 1,
            replicates: &[],
        };
        let first = Series::new("one", false, [figure(1, 100.0), figure(10, 100.0)]);
        let second = Series::new("other", false, [figure(1, 50.0), figure(10, 80.0)]);
        let ComparisonOutcome::Throughout { better, .. } = compare_series(&first, &second) else {
            panic!()
        };
        assert_eq!(better, "one");
    }

    /// On logarithmic axes the lead is 0.3 ln(n / 200); 95 % of it is within 2 · 0.02 · √2 / 0.3.
    #[test]
    fn an_interval_is_as_wide_as_the_figures_are_uncertain() {
        let medians = SIZES.map(|n| 10.0 * (n as f64 / 200.0).powf(0.3));
        let [crossover] = crossovers(against_ten(medians, 0.02)).try_into().unwrap();
        assert_eq!((crossover.after, crossover.before), (100, 300));
        let Estimate { value, low, high } = crossover.at;
        assert!((value / 200.0 - 1.0).abs() < 1e-9, "{crossover:?}");
        // The zero's own error is less than that of a point, it being between two of them; what is
        // unknown of the curve adds to it.
        assert!(low > 200.0 / 1.25 && low < 200.0 / 1.1, "{crossover:?}");
        assert!(high < 200.0 * 1.25 && high > 200.0 * 1.1, "{crossover:?}");
    }

    #[test]
    fn the_middle_is_taken_where_several_zeros_are_too_close_to_call() {
        let [crossover] =
            crossovers(against_ten([5.0, 9.9, 10.1, 9.9, 10.1, 20.0], 0.01)).try_into().unwrap();
        assert_eq!((crossover.after, crossover.before), (10, 3000));
        let Estimate { value, low, high } = crossover.at;
        assert!((value / 173.0 - 1.0).abs() < 0.01 && low < 60.0 && high > 500.0, "{crossover:?}");
    }

    #[test]
    fn two_changes_are_two_crossovers() {
        let crossings = crossovers(against_ten([5.0, 7.0, 14.0, 14.0, 7.0, 5.0], 0.02));
        let positions: Vec<(&str, u64, u64)> =
            crossings.iter().map(|c| (c.overtakes.as_str(), c.after, c.before)).collect();
        assert_eq!(positions, [("ten", 30, 100), ("other", 300, 1000)]);
        assert!(crossings.iter().all(|c| c.at.low < c.at.value && c.at.value < c.at.high));
    }

    #[test]
    fn one_point_of_a_small_lead_is_no_change() {
        let blip = against_ten([5.0, 7.0, 10.4, 7.0, 7.0, 5.0], 0.002);
        let ComparisonOutcome::Throughout { better, clear, points, .. } = &blip else {
            panic!("{blip:?}")
        };
        assert_eq!((better.as_str(), *clear, *points), ("other", 5, 6));
        assert_eq!(crossovers(against_ten([5.0, 7.0, 11.0, 7.0, 7.0, 5.0], 0.002)).len(), 2);
        // At the end of the range there is nothing on the other side to speak against it.
        assert_eq!(crossovers(against_ten([5.0, 7.0, 7.0, 7.0, 7.0, 10.4], 0.002)).len(), 1);
    }

    #[test]
    fn many_changes_are_never_many_crossovers() {
        let small = against_ten([10.6, 9.4, 10.6, 9.4, 10.6, 9.4], 0.002);
        assert!(
            matches!(small, ComparisonOutcome::TooClose { max_lead, .. } if max_lead > 1.06),
            "{small:?}"
        );
        let large = against_ten([15.0, 6.0, 15.0, 6.0, 15.0, 6.0], 0.002);
        let ComparisonOutcome::Unsettled { changes, max_lead } = large else { panic!("{large:?}") };
        assert!(changes == 5 && (max_lead - 10.0 / 6.0).abs() < 1e-9);
    }

    #[test]
    fn scatter_is_not_called_close() {
        let noisy = against_ten([8.0, 12.0, 9.0, 13.0, 8.0, 11.0], 0.2);
        let ComparisonOutcome::Unknown { reason } = noisy else { panic!("{noisy:?}") };
        let ComparisonReason::WithinScatter { max_lead, ratio: Some(_) } = reason else {
            panic!("{reason:?}")
        };
        assert!((max_lead - 1.3).abs() < 0.005, "{max_lead}");
    }

    /// One point whose five rounds agree by luck is held to the error of the others.
    #[test]
    fn a_point_that_looks_quiet_is_held_to_the_usual_error() {
        let sure = |value: f64| Estimate { value, low: value * 0.999, high: value * 1.001 };
        let wide = |value: f64| Estimate { value, low: value * 0.9, high: value * 1.1 };
        let series = |subject: &str, estimates: [Estimate; 4]| {
            let figures = (1..).zip(estimates).map(|(point, median)| Figure {
                point,
                median,
                rounds: 5,
                samples: 100,
                replicates: &[],
            });
            Series::new(subject, true, figures)
        };
        let first = series("one", [wide(10.0), wide(10.0), sure(10.0), wide(10.0)]);
        let second = series("other", [wide(10.0), wide(10.0), sure(10.5), wide(10.0)]);
        assert!(matches!(compare_series(&first, &second), ComparisonOutcome::TooClose { .. }));
        let quiet = [sure(10.0), sure(10.0), sure(10.5), sure(10.0)];
        let outcome = compare_series(&series("one", [sure(10.0); 4]), &series("other", quiet));
        assert!(matches!(outcome, ComparisonOutcome::Throughout { clear: 1, .. }), "{outcome:?}");
    }

    #[test]
    fn few_rounds_have_more_to_prove() {
        let asked = [1, 2, 3, 4, 5, 9].map(|rounds| errors_asked(rounds, 100));
        assert_eq!(asked.map(f64::to_bits), [3.5, 9.0, 4.2, 3.8, 3.5, 3.5].map(f64::to_bits));
        assert!(errors_added(12) < 1e-12 && (0.55..0.65).contains(&errors_added(120)));
    }
}
