//! Curves of known order through the whole classifier: the right class or undecided, hardly ever a
//! wrong one, and seldom undecided where the truth is plain.

use analysis::growth::exponent::exponent;
use analysis::growth::model_weights::{GrowthPoint, growth_of};
use analysis::growth::{classify_by, fastest_tenth};
use analysis::stats::bootstrap::{Resampled, median_over_rounds};
use analysis::stats::random::normal;
use analysis::{Class, Estimate, Growth, GrowthReason};
use fastrand::Rng;

const SIZES: &[u64] = &[10, 30, 100, 300, 1000, 3000, 10_000];
const REPETITIONS: u64 = 200;
/// Fewer than a run's, for the time that it takes; the intervals are a little rougher.
const REPLICATES: usize = 200;
/// 2 % of the repetitions.
const WRONG_MAX: u64 = REPETITIONS / 50;
const CLASSES: [Class; 6] = [
    Class::Constant,
    Class::Logarithmic,
    Class::SquareRoot,
    Class::Linear,
    Class::Linearithmic,
    Class::Quadratic,
];

/// How samples scatter about the curve.
#[derive(Clone, Copy, Debug)]
enum Noise {
    /// Lognormal.
    Even(f64),
    /// Student's t with two degrees of freedom in the exponent: a variance without bound.
    Heavy(f64),
    /// A second cloud at ×1.5 with a share of 30 %.
    TwoModes(f64),
}

const NOISES: [Noise; 6] = [
    Noise::Even(0.05),
    Noise::Even(0.2),
    Noise::Heavy(0.05),
    Noise::Heavy(0.2),
    Noise::TwoModes(0.05),
    Noise::TwoModes(0.2),
];

impl Noise {
    fn draw(self, random: &mut Rng) -> f64 {
        match self {
            Self::Even(size) => (size * normal(random)).exp(),
            Self::Heavy(size) => {
                let chi = f64::midpoint(normal(random).powi(2), normal(random).powi(2));
                (size * normal(random) / chi.sqrt()).clamp(-5.0, 5.0).exp()
            }
            Self::TwoModes(size) => {
                let mode = if random.f64() < 0.3 { 1.5 } else { 1.0 };
                mode * (size * normal(random)).exp()
            }
        }
    }
}

/// What was sampled at each point.
#[derive(Clone, Copy, Debug)]
struct Design {
    rounds: usize,
    samples: usize,
    /// Disturbance common to all samples of a round, as a share.
    round_effect: f64,
    /// How often a whole round costs ×4.5 at the last point: its objects lie scattered in memory.
    scattered: f64,
}

const USUAL: Design = Design { rounds: 5, samples: 20, round_effect: 0.03, scattered: 0.0 };
const ONE_ROUND: Design = Design { rounds: 1, samples: 7, round_effect: 0.0, scattered: 0.0 };
/// As a table from the literature.
const SINGLE_FIGURES: Design = Design { rounds: 1, samples: 1, round_effect: 0.0, scattered: 0.0 };

/// The growth of samples about `curve` at `sizes`, by the same steps as those of a run.
fn grow(
    curve: impl Fn(f64) -> f64,
    sizes: &[u64],
    noise: Noise,
    design: Design,
    random: &mut Rng,
) -> Growth {
    let (mut points, mut fastest) = (Vec::new(), Vec::new());
    let mut replicates = Vec::new();
    for &n in sizes {
        let truth = curve(n as f64);
        let rounds: Vec<Vec<f64>> = (0..design.rounds)
            .map(|_| {
                let mut round = (design.round_effect * normal(random)).exp();
                if Some(&n) == sizes.last() && random.f64() < design.scattered {
                    round *= 4.5;
                }
                (0..design.samples).map(|_| truth * round * noise.draw(random)).collect()
            })
            .collect();
        let slices: Vec<&[f64]> = rounds.iter().map(Vec::as_slice).collect();
        let Resampled { estimate, replicates: drawn } =
            median_over_rounds(&slices, REPLICATES, random).unwrap();
        let error = (estimate.high / estimate.low).ln() / (2.0 * 1.96);
        points.push(GrowthPoint { point: n, median: estimate.value, error });
        fastest.push(fastest_tenth(n, &slices).unwrap());
        replicates.push(drawn);
    }
    let pairs: Vec<(u64, f64)> = points.iter().map(|p| (p.point, p.median)).collect();
    let slices: Vec<&[f64]> = replicates.iter().map(Vec::as_slice).collect();
    classify_by(&points, &fastest, exponent(&pairs, &slices))
}

/// How often the verdict was right, and how often wrong.
#[derive(Clone, Copy, Debug)]
struct Tally {
    right: u64,
    wrong: u64,
}

/// Verdicts on a curve of `class` whose intercept is `intercept` times its growth at the low end.
///
/// A curve that rises by less than ×1.3 over its whole range is constant for all practical purposes,
/// whatever its formula: then both names are right. That is log n with a large intercept: ×1.27.
fn tally(class: Class, intercept: f64, sizes: &[u64], noise: Noise, design: Design) -> Tally {
    let offset = intercept * growth_of(class, sizes[0] as f64);
    let curve = |n: f64| offset + growth_of(class, n);
    let flat = curve(sizes[sizes.len() - 1] as f64) / curve(sizes[0] as f64) < 1.3;
    let mut tally = Tally { right: 0, wrong: 0 };
    for seed in 0..REPETITIONS {
        let mut random = Rng::with_seed(seed * 7919 + class as u64);
        let verdict = grow(curve, sizes, noise, design, &mut random).class;
        if verdict == class || (flat && verdict == Class::Constant) {
            tally.right += 1;
        } else if verdict != Class::Undecided {
            tally.wrong += 1;
        }
    }
    tally
}

/// Checks every class under every noise, without and with a large intercept: hardly ever wrong, and
/// right at least as often as `right_min` says of the noise and the intercept.
fn check(design: Design, noises: &[Noise], right_min: impl Fn(Noise, f64) -> u64) {
    let mut failures = Vec::new();
    for &noise in noises {
        for intercept in [0.0, 10.0] {
            for class in CLASSES {
                let tally = tally(class, intercept, SIZES, noise, design);
                let line = format!("{class:?}, {noise:?}, intercept ×{intercept}: {tally:?}");
                println!("{line}");
                // Log n with a large intercept rises by ×1.27: too little to name, much of the time.
                // And no single round of seven samples is sure enough to tell n log n from a bent line.
                let hidden = (class == Class::Logarithmic && intercept > 0.0)
                    || (class == Class::Linearithmic && design.rounds == 1);
                let floor = if hidden { 0 } else { right_min(noise, intercept) };
                if tally.wrong > WRONG_MAX || tally.right < floor {
                    failures.push(line);
                }
            }
        }
    }
    assert!(failures.is_empty(), "wrong too often, or right too seldom: {failures:#?}");
}

#[test]
fn right_and_hardly_ever_wrong_with_five_rounds() {
    check(USUAL, &NOISES, |noise, intercept| match (noise, intercept > 0.0) {
        (Noise::Even(_) | Noise::Heavy(_) | Noise::TwoModes(0.05), false) => 190,
        (Noise::Even(_) | Noise::Heavy(0.05), true) => 180,
        (Noise::TwoModes(_), false) => 160,
        _ => 100,
    });
}

#[test]
fn hardly_ever_wrong_with_one_round() {
    check(ONE_ROUND, &NOISES[1..], |noise, intercept| match (noise, intercept > 0.0) {
        (Noise::Heavy(0.05), false) => 190,
        (Noise::Even(_), false) => 100,
        _ => 0,
    });
}

#[test]
fn hardly_ever_wrong_with_single_figures() {
    let noises = [NOISES[0], NOISES[1], NOISES[3], NOISES[5]];
    check(SINGLE_FIGURES, &noises, |noise, intercept| match (noise, intercept > 0.0) {
        (Noise::Even(0.05), false) => 170,
        _ => 0,
    });
}

/// Rounds of two modes make the median's interval span both; the fast mode's order still shows.
#[test]
fn whole_rounds_in_a_slow_mode_do_not_hide_the_order() {
    let design = Design { scattered: 0.6, ..USUAL };
    for sizes in [SIZES, &[100, 1000, 10_000]] {
        for class in [Class::Constant, Class::Linear, Class::Quadratic] {
            let tally = tally(class, 0.0, sizes, Noise::Even(0.05), design);
            println!("{class:?} at {} points: {tally:?}", sizes.len());
            assert!(tally.wrong <= WRONG_MAX, "{class:?} at {} points: {tally:?}", sizes.len());
            // A flat fast mode is no verdict on a series whose slow mode is not.
            let floor = if class == Class::Constant { 0 } else { 100 };
            assert!(tally.right >= floor, "{class:?} at {} points: {tally:?}", sizes.len());
        }
    }
}

/// Where most operations grow and the fast ones don't, the series is not constant: neither where 55 %
/// of them grow with n, nor where a slow mode's share does.
#[test]
fn a_flat_fast_mode_does_not_make_a_growing_series_constant() {
    type Draw = fn(f64, &mut Rng) -> f64;
    let mixtures: [(&str, Draw); 2] = [
        ("55 % grow", |n, random| if random.f64() < 0.55 { 100.0 + n } else { 100.0 }),
        ("a share that grows", |n, random| {
            let share = 0.85 * (n.ln() - 10_f64.ln()) / 1000_f64.ln();
            if random.f64() < share { 1000.0 } else { 100.0 }
        }),
    ];
    for (name, draw) in mixtures {
        let constant = (0..REPETITIONS).filter(|&seed| {
            let mut random = Rng::with_seed(seed);
            let (mut points, mut fastest, mut replicates) = (vec![], vec![], vec![]);
            for &n in SIZES {
                let mut sample =
                    |_| draw(n as f64, &mut random) * (0.03 * normal(&mut random)).exp();
                let rounds: Vec<Vec<f64>> =
                    (0..5).map(|_| (0..20).map(&mut sample).collect()).collect();
                let slices: Vec<&[f64]> = rounds.iter().map(Vec::as_slice).collect();
                let resampled = median_over_rounds(&slices, REPLICATES, &mut random).unwrap();
                let Estimate { value, low, high } = resampled.estimate;
                let error = (high / low).ln() / (2.0 * 1.96);
                points.push(GrowthPoint { point: n, median: value, error });
                fastest.push(fastest_tenth(n, &slices).unwrap());
                replicates.push(resampled.replicates);
            }
            let pairs: Vec<(u64, f64)> = points.iter().map(|p| (p.point, p.median)).collect();
            let slices: Vec<&[f64]> = replicates.iter().map(Vec::as_slice).collect();
            let growth = classify_by(&points, &fastest, exponent(&pairs, &slices));
            growth.class == Class::Constant && growth.factor > 1.4
        });
        assert_eq!(constant.count(), 0, "{name}");
    }
}

/// Few points name only constant, linear (which then covers n log n) and quadratic.
#[test]
fn few_points_are_hardly_ever_wrong() {
    let few: &[&[u64]] = &[&[100, 1000, 10_000], &[100, 1000, 10_000, 30_000]];
    for &sizes in few {
        for noise in [Noise::Even(0.05), Noise::Even(0.2)] {
            for design in [USUAL, SINGLE_FIGURES] {
                for intercept in [0.0, 10.0] {
                    for class in CLASSES {
                        if class == Class::Linearithmic {
                            continue;
                        }
                        let tally = tally(class, intercept, sizes, noise, design);
                        let line = format!(
                            "{class:?} at {} points, {noise:?}, {design:?}, ×{intercept}: {tally:?}",
                            sizes.len()
                        );
                        println!("{line}");
                        assert!(tally.wrong <= WRONG_MAX, "{line}");
                    }
                }
            }
        }
        for class in [Class::Constant, Class::Linear, Class::Quadratic] {
            let tally = tally(class, 0.0, sizes, Noise::Even(0.05), USUAL);
            assert!(tally.right >= 190, "{class:?} at {} points: {tally:?}", sizes.len());
        }
    }
}

/// A cache that is outgrown makes everything beyond it dearer. The curve stays linear.
#[test]
fn a_step_of_the_cache_leaves_a_line_linear() {
    for (step_at, factor) in [(3000.0, 1.5), (1000.0, 2.0), (10_000.0, 3.0), (3000.0, 4.0)] {
        let curve = |n: f64| (50.0 + 10.0 * n) * if n >= step_at { factor } else { 1.0 };
        let (mut right, mut wrong) = (0, 0);
        for seed in 0..REPETITIONS {
            let mut random = Rng::with_seed(seed);
            match grow(curve, SIZES, Noise::Even(0.05), USUAL, &mut random).class {
                Class::Linear => right += 1,
                Class::Undecided => {}
                _ => wrong += 1,
            }
        }
        println!("×{factor} from {step_at}: right {right}, wrong {wrong}");
        assert!(wrong <= WRONG_MAX && right >= 180, "×{factor} at {step_at}: {right}, {wrong}");
    }
}

/// Microseconds of `poll` and `select`, bent upwards where the descriptors outgrow a cache. Measured,
/// but for the second curve, which is drawn through the three measured points of the third.
#[test]
fn measured_curves_of_poll_are_linear() {
    let curves: [&[(u64, f64)]; 4] = [
        &[
            (10, 1.44),
            (30, 2.53),
            (100, 6.4),
            (300, 16.5),
            (1000, 59.9),
            (3000, 214.5),
            (9000, 1150.0),
        ],
        &[
            (10, 3.0),
            (30, 4.9),
            (100, 11.7),
            (300, 32.0),
            (1000, 109.0),
            (3000, 600.0),
            (9000, 4571.0),
        ],
        &[(100, 11.7), (1000, 109.4), (9000, 4571.0)],
        &[(100, 12.2), (1000, 114.2), (9000, 4108.0), (19_000, 8947.0)],
    ];
    for curve in curves {
        let at = |n: f64| curve.iter().find(|(p, _)| *p as f64 >= n).unwrap().1;
        let sizes: Vec<u64> = curve.iter().map(|(n, _)| *n).collect();
        for seed in 0..20 {
            let mut random = Rng::with_seed(seed);
            let growth = grow(at, &sizes, Noise::Even(0.05), USUAL, &mut random);
            assert_eq!(growth.class, Class::Linear, "{curve:?}: {growth:?}");
        }
    }
}

#[test]
fn a_curve_that_falls_or_wanders_is_undecided() {
    let mut random = Rng::with_seed(1);
    let falling = grow(|n| 1e6 / n, SIZES, Noise::Even(0.05), USUAL, &mut random);
    assert_eq!((falling.class, falling.reason), (Class::Undecided, Some(GrowthReason::Falls)));
    let half_decades = |n: f64| (n.log10() * 2.0).round() as u64;
    let wander = |n: f64| if half_decades(n).is_multiple_of(2) { 1.0 } else { 40.0 };
    let wandering = grow(wander, SIZES, Noise::Even(0.05), USUAL, &mut random);
    assert_eq!(wandering.class, Class::Undecided, "{wandering:?}");
}

#[test]
fn thin_evidence_is_undecided_with_the_reason() {
    let mut random = Rng::with_seed(1);
    let mut reason = |sizes: &[u64], noise| {
        let growth = grow(|n| n, sizes, noise, USUAL, &mut random);
        assert_eq!(growth.class, Class::Undecided, "{growth:?}");
        growth.reason.unwrap()
    };
    let quiet = Noise::Even(0.01);
    let few = GrowthReason::TooFewPoints { points: 2, above_zero: false };
    assert_eq!(reason(&[100, 10_000], quiet), few);
    let short = |factor| GrowthReason::RangeTooShort { factor };
    assert_eq!(reason(&[100, 200, 400, 600, 700], quiet), short(7.0));
    assert_eq!(reason(&[100, 500, 2000], quiet), short(20.0));
    let wide = reason(SIZES, Noise::Even(4.0));
    assert!(matches!(wide, GrowthReason::IntervalTooWide { .. }), "{wide:?}");
}
