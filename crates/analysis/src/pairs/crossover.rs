//! Where one series overtakes another, where one leads throughout, and where neither does.
//!
//! Two series are compared at the points that both have, by the logarithm of the ratio of their
//! medians: the lead. A lead is *clear* when it is of use to somebody ([`LEAD_MIN`]) and when chance
//! does not explain it. Chance is judged from the bootstrap's replicates, but not as they stand. With
//! five rounds they lie too close together now and then, and among a dozen points one of those is soon
//! found. So a point that happens to be quiet is held to the usual error of the two series, and the
//! lead has to be several of those: as many as let identical curves pass as different once in a hundred
//! times ([`errors_asked`]).
//!
//! A point can be clear on its own: then it is marked. Where none is, neighbouring points can be
//! clear together (`evidence.rs`); that says who leads where. Where the leader changes once or twice,
//! the place is where the lead is zero on straight lines between the points, both axes being
//! logarithmic (`zeros.rs`). Three changes and more are no crossovers that anybody could use.
//!
//! Where nobody leads, the mean of the leads over all points says how alike the two are: that is the
//! answer to *which of them?*, and it is surer than any single point.

mod evidence;
mod zeros;

use crate::pairs::thresholds::{
    CLOSE_LEAD_MAX, ERRORS_PER_E_FOLD, LEAD_MIN, LEAD_MIN_OF_SINGLES, ROUND_DRIFT,
    ROUNDS_APART_FACTOR, ROUNDS_APART_MIN,
};
use crate::stats::bootstrap::FEWEST_SAMPLES;
use crate::stats::moments::{deviation, mean};
use crate::stats::quantiles::{quantile, sort};
use crate::stats::{NORMAL_95, student};
use crate::{ComparisonOutcome, ComparisonReason, Crossover, Estimate};
use evidence::{Change, Stretch, without_blips};

/// One figure of a series, as a contest sees it.
#[derive(Clone, Copy, Debug)]
pub struct Figure<'a> {
    /// The value on the axis.
    pub point: u64,
    /// The median with its interval.
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
    lower_is_better: bool,
    places: Vec<Place>,
    /// Beyond this point rounds may scatter otherwise than up to it.
    split: Option<u64>,
}

#[derive(Clone, Debug)]
struct Place {
    point: u64,
    /// The logarithm of how good the median is: more is better, whatever the metric.
    worth: f64,
    /// Its standard error; 0 for a single figure.
    error: f64,
    /// The part of it that is assumed.
    drift: f64,
    /// See [`errors_asked`].
    errors_asked: f64,
    single: bool,
    rounds: u32,
    /// The replicates' `worth`.
    draws: Vec<f64>,
    /// The least and the most of them: those of single rounds.
    range: [f64; 2],
}

impl Series {
    /// The series of `subject` with these `figures`, in ascending order of their points. A median
    /// that has no logarithm can't be compared and is left out.
    pub fn new<'a>(
        subject: &str,
        lower_is_better: bool,
        figures: impl IntoIterator<Item = Figure<'a>>,
    ) -> Self {
        let places = figures.into_iter().filter_map(|figure| Place::of(&figure, lower_is_better));
        let places = places.collect();
        Self { subject: subject.to_owned(), lower_is_better, places, split: None }
    }

    /// The same where rounds may scatter otherwise beyond `point`: more threads than CPUs. Points on one
    /// side are then not held to the usual error of the other.
    #[must_use]
    pub fn split_at(mut self, point: Option<u64>) -> Self {
        self.split = point;
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

    /// How good it is at `point`, for comparison with others there: more is better.
    pub fn worth_at(&self, point: u64) -> Option<f64> {
        let index = self.places.binary_search_by_key(&point, |place| place.point).ok()?;
        Some(self.places[index].worth)
    }
}

impl Place {
    fn of(figure: &Figure<'_>, lower_is_better: bool) -> Option<Self> {
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
        })
    }
}

/// Standard error of the logarithm of a median, from its `draws` if there are any: their standard
/// deviation says more than their percentiles, which with few rounds are one of the rounds themselves.
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
    // An interval of few samples goes from the smallest to the largest.
    let few = figure.rounds < 2 && figure.samples < FEWEST_SAMPLES as u64;
    ((high / low).ln() / if few { 2.0 } else { 2.0 * NORMAL_95 }).hypot(drift(figure))
}

/// What a single round does not show.
fn drift(figure: &Figure<'_>) -> f64 {
    if figure.rounds < 2 && figure.samples > 1 { ROUND_DRIFT } else { 0.0 }
}

/// How many standard errors a lead has to be: 3.5 with five rounds and more, several times that with
/// two, whose spread says little about the next two.
///
/// The figures are those at which identical curves of 5 to 40 points are told apart, by a point or by
/// several together, in at most 1.3 % of the repetitions: rounds differing by 3 % evenly, with a heavy
/// tail, or by three of ten being slower by 30 %. Two rounds that were both undisturbed by luck can't be
/// told from quiet ones: there it is 6 % at worst.
pub fn errors_asked(rounds: u32, samples: u64) -> f64 {
    match rounds {
        2 => 9.0,
        3 => 4.2,
        4 => 3.8,
        0 | 1 if samples < FEWEST_SAMPLES as u64 => 5.5,
        _ => 3.5,
    }
}

/// What many points add to [`errors_asked`], which is made for twelve: chance has more to try.
fn errors_added(points: usize) -> f64 {
    ERRORS_PER_E_FOLD * (points.max(12) as f64 / 12.0).ln()
}

/// How `first` and `second` compare along the axis.
pub fn compare_series(first: &Series, second: &Series) -> ComparisonOutcome {
    Comparison::new(first, second).outcome()
}

/// Two series at the points that both have.
pub struct Comparison<'a> {
    first: &'a Series,
    second: &'a Series,
    steps: Vec<Step<'a>>,
    /// What is added to every point before its logarithm is taken: nothing, but where zero is one of
    /// them, which would have none.
    shift: f64,
    /// Who leads where.
    stretches: Vec<Stretch>,
}

/// Two series at one point.
struct Step<'a> {
    point: u64,
    /// Its logarithm, shifted.
    x: f64,
    places: [&'a Place; 2],
    /// The logarithm of how many times better the one is than the other.
    lead: f64,
    error: f64,
    clear: bool,
}

impl<'a> Comparison<'a> {
    /// Compares `first` with `second`.
    pub fn new(first: &'a Series, second: &'a Series) -> Self {
        let mut steps: Vec<Step<'_>> = Vec::new();
        for place in &first.places {
            let same = second.places.binary_search_by_key(&place.point, |second| second.point);
            steps.extend(same.ok().map(|index| Step::of(place, &second.places[index])));
        }
        let beyond = |step: &Step<'_>| first.split.is_some_and(|split| step.point > split);
        let usual = [false, true].map(|side| usual_error(&steps, |step| beyond(step) == side));
        let added = errors_added(steps.len());
        let shift = shift(&steps);
        for step in &mut steps {
            step.x = (step.point as f64 + shift).ln();
            step.error = step.error.max(usual[usize::from(beyond(step))]);
            step.clear = step.is_clear(added);
        }
        let (stretches, blips) = without_blips(&steps, evidence::stretches(&steps));
        // Nobody is told to lead there, so nobody is marked.
        for blip in blips {
            steps[blip].clear = false;
        }
        Self { first, second, steps, shift, stretches }
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
        let index = self.steps.binary_search_by_key(&point, |step| step.point).ok()?;
        self.steps[index].clear.then_some(self.steps[index].lead > 0.0)
    }

    /// How many times better the one is than the other at `point`, with its interval.
    pub fn lead_at(&self, point: u64) -> Option<Estimate> {
        let index = self.steps.binary_search_by_key(&point, |step| step.point).ok()?;
        let step = &self.steps[index];
        let [first, second] = step.places;
        let mut leads: Vec<f64> =
            first.draws.iter().zip(&second.draws).map(|(first, second)| first - second).collect();
        Some(interval(step.lead, &mut leads.clone(), &mut leads))
    }

    /// How it ends.
    pub fn outcome(&self) -> ComparisonOutcome {
        let steps = self.steps.as_slice();
        if steps.len() < 2 {
            let reason = ComparisonReason::TooFewCommonPoints { points: steps.len() };
            return ComparisonOutcome::Unknown { reason };
        }
        let max_lead = steps.iter().map(|step| step.lead.abs()).fold(0.0, f64::max).exp();
        match self.stretches.as_slice() {
            [] if max_lead < CLOSE_LEAD_MAX => {
                ComparisonOutcome::TooClose { max_lead, ratio: self.ratio() }
            }
            [] => ComparisonOutcome::Unknown {
                reason: ComparisonReason::WithinScatter { max_lead, ratio: self.ratio() },
            },
            [only] => self.throughout(steps, only),
            [_, _] | [_, _, _] => {
                let changes = evidence::changes(steps, &self.stretches);
                let crossovers = changes.iter().map(|change| self.crossover(steps, change));
                ComparisonOutcome::Crosses { crossovers: crossovers.collect() }
            }
            _ if max_lead < CLOSE_LEAD_MAX => {
                ComparisonOutcome::TooClose { max_lead, ratio: self.ratio() }
            }
            many => ComparisonOutcome::Unsettled { changes: many.len() - 1, max_lead },
        }
    }

    /// The figures of the one over those of the other, over all points: the mean of the logarithms,
    /// its error that of the figures or what the points differ by, whichever is more. `None` where
    /// nothing is known of chance.
    fn ratio(&self) -> Option<Estimate> {
        let count = self.steps.len() as f64;
        if self.steps.len() < 2 || self.steps.iter().any(Step::is_single) {
            return None;
        }
        let sign = if self.first.lower_is_better { -1.0 } else { 1.0 };
        let leads: Vec<f64> = self.steps.iter().map(|step| sign * step.lead).collect();
        let mean = mean(&leads);
        let own = self.steps.iter().map(|step| step.error.powi(2)).sum::<f64>().sqrt() / count;
        let scatter = deviation(&leads) / (count - 1.0).sqrt();
        let half = student::quantile_95(self.steps.len() - 1) * own.max(scatter);
        let [value, low, high] = [mean, mean - half, mean + half].map(f64::exp);
        half.is_finite().then_some(Estimate { value, low, high })
    }

    fn throughout(&self, steps: &[Step<'_>], only: &Stretch) -> ComparisonOutcome {
        let [from, to] = evidence::range(steps, only);
        let its_own = |step: &&Step<'_>| (step.lead > 0.0) == only.first_leads;
        let leads = || steps[from..=to].iter().filter(its_own).map(|step| step.lead.abs());
        ComparisonOutcome::Throughout {
            better: if only.first_leads { self.first } else { self.second }.subject.clone(),
            min_lead: leads().fold(f64::INFINITY, f64::min).exp(),
            max_lead: leads().fold(0.0, f64::max).exp(),
            from: steps[from].point,
            to: steps[to].point,
            clear: steps.iter().filter(its_own).filter(|step| step.clear).count(),
            points: steps.len(),
        }
    }

    fn crossover(&self, steps: &[Step<'_>], change: &Change) -> Crossover {
        let (overtaken, overtakes) =
            if change.first_leads { (self.first, self.second) } else { (self.second, self.first) };
        let [after, before] = change.between.map(|index| steps[index].point);
        Crossover {
            overtakes: overtakes.subject.clone(),
            overtaken: overtaken.subject.clone(),
            at: zeros::place(steps, change, self.shift),
            share: None,
            after,
            before,
        }
    }
}

impl<'a> Step<'a> {
    fn of(first: &'a Place, second: &'a Place) -> Self {
        // What is known of one only is taken for both.
        let error = match (first.single, second.single) {
            (true, false) => second.error * std::f64::consts::SQRT_2,
            (false, true) => first.error * std::f64::consts::SQRT_2,
            _ => first.error.hypot(second.error),
        };
        let error =
            if error.is_finite() { together(first, second).unwrap_or(error) } else { error };
        let (point, lead) = (first.point, first.worth - second.worth);
        Self { point, x: 0.0, places: [first, second], lead, error, clear: false }
    }

    fn is_single(&self) -> bool {
        self.places.iter().all(|place| place.single)
    }

    fn is_clear(&self, errors_added: f64) -> bool {
        if self.is_single() {
            return self.lead.abs() >= LEAD_MIN_OF_SINGLES.ln();
        }
        let asked = self.errors_asked() + errors_added;
        self.is_apart() || self.lead.abs() >= LEAD_MIN.ln() && self.lead.abs() > asked * self.error
    }

    /// Whether all rounds of the one are far from all of the other.
    fn is_apart(&self) -> bool {
        let [first, second] = self.places;
        let gap = (first.range[0] - second.range[1]).max(second.range[0] - first.range[1]);
        first.rounds.min(second.rounds) >= ROUNDS_APART_MIN
            && gap.is_finite()
            && gap >= ROUNDS_APART_FACTOR.ln()
    }

    fn errors_asked(&self) -> f64 {
        let [first, second] = self.places;
        first.errors_asked.max(second.errors_asked)
    }

    /// How far `lead` is above zero, as a share of what is asked of a lead.
    fn strength(&self, lead: f64) -> f64 {
        if self.is_single() {
            return lead / LEAD_MIN_OF_SINGLES.ln();
        }
        // Without scatter any lead is beyond chance.
        lead / (self.errors_asked() * self.error).max(f64::MIN_POSITIVE)
    }

    /// What both are worth in one replicate; what was not resampled stays.
    fn draw(&self, replicate: usize) -> [f64; 2] {
        self.places.map(|place| place.draws.get(replicate).copied().unwrap_or(place.worth))
    }
}

/// Standard error of the lead of `first` over `second` where both were resampled. Their replicates are
/// drawn independently, so a round that was slower for both counts against both.
fn together(first: &Place, second: &Place) -> Option<f64> {
    let same = first.draws.len() > 1 && first.draws.len() == second.draws.len();
    let leads = || first.draws.iter().zip(&second.draws).map(|(first, second)| first - second);
    same.then(|| deviation(&leads().collect::<Vec<f64>>()).hypot(first.drift.hypot(second.drift)))
}

/// Half of the first point above zero, where zero is a point: it then stands as far before that one as
/// the next ones are apart.
fn shift(steps: &[Step<'_>]) -> f64 {
    let above = steps.iter().map(|step| step.point).find(|point| *point > 0);
    let has_zero = steps.first().is_some_and(|step| step.point == 0);
    if has_zero { above.unwrap_or(1) as f64 / 2.0 } else { 0.0 }
}

/// The middle one of the errors of those points that count: what a point that looks quieter is held to.
fn usual_error(steps: &[Step<'_>], counts: impl Fn(&Step<'_>) -> bool) -> f64 {
    let known = steps.iter().filter(|step| counts(step));
    let known = known.filter(|step| !step.is_single() && step.error.is_finite());
    let mut errors: Vec<f64> = known.map(|step| step.error).collect();
    sort(&mut errors);
    errors.get(errors.len() / 2).copied().unwrap_or(0.0)
}

/// The figure with the 2.5 percentile of `lows` and the 97.5 percentile of `highs`, widened to hold
/// it, all from their logarithms.
fn interval(value: f64, lows: &mut [f64], highs: &mut [f64]) -> Estimate {
    sort(lows);
    sort(highs);
    let low = quantile(lows, 0.025).unwrap_or(value).min(value);
    let high = quantile(highs, 0.975).unwrap_or(value).max(value);
    Estimate { value: value.exp(), low: low.exp(), high: high.exp() }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let one = singles("one", &[(10, 1.0), (30, 2.0)]);
        let common_points =
            |other: &[(u64, f64)]| match compare_series(&one, &singles("other", other)) {
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
        let one = singles("one", &[(0, 1.0), (10, 1.0), (20, 0.0), (30, -1.0), (100, 1.0)]);
        let gaps = [(0, 2.5), (10, 2.0), (20, 5.0), (30, 5.0), (60, f64::NAN), (100, 3.0)];
        let outcome = compare_series(&one, &singles("other", &gaps));
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
        let [found] =
            crossovers(compare_series(&singles("flat", &flat), &singles("steep", &steep)))
                .try_into()
                .unwrap();
        assert_eq!((found.overtakes.as_str(), found.after, found.before), ("flat", 0, 50));
        assert!((15.0..=30.0).contains(&found.at.value), "{found:?}");
        // Those who change places further up do so where they would without it.
        let later: Vec<(u64, f64)> = sizes.iter().map(|&n| (n, 2.0 + 0.02 * n as f64)).collect();
        let [found] =
            crossovers(compare_series(&singles("flat", &flat), &singles("later", &later)))
                .try_into()
                .unwrap();
        assert_eq!((found.after, found.before), (100, 1000));
        assert!((300.0..=600.0).contains(&found.at.value), "{found:?}");
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
        let found = crossovers(compare_series(&flat, &steep));
        let [Crossover { overtakes, overtaken, at, share, after, before }] = found.as_slice()
        else {
            panic!("{found:?}")
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
        let one = Series::new("one", false, [figure(1, 100.0), figure(10, 100.0)]);
        let other = Series::new("other", false, [figure(1, 50.0), figure(10, 80.0)]);
        let ComparisonOutcome::Throughout { better, .. } = compare_series(&one, &other) else {
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
        let found = crossovers(against_ten([5.0, 7.0, 14.0, 14.0, 7.0, 5.0], 0.02));
        let told: Vec<(&str, u64, u64)> =
            found.iter().map(|c| (c.overtakes.as_str(), c.after, c.before)).collect();
        assert_eq!(told, [("ten", 30, 100), ("other", 300, 1000)]);
        assert!(found.iter().all(|c| c.at.low < c.at.value && c.at.value < c.at.high));
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
        let one = series("one", [wide(10.0), wide(10.0), sure(10.0), wide(10.0)]);
        let other = series("other", [wide(10.0), wide(10.0), sure(10.5), wide(10.0)]);
        assert!(matches!(compare_series(&one, &other), ComparisonOutcome::TooClose { .. }));
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
