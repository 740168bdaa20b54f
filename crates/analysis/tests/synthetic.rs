//! Curves of known growth through the whole classifier: the verdict holds the true class in 98 %, and
//! names it alone where the truth is plain.

use analysis::growth::exponent::exponent;
use analysis::growth::model_weights::{GrowthPoint, growth_of};
use analysis::growth::{classify, classify_by, fastest_tenth};
use analysis::stats::bootstrap::{Resampled, median_over_rounds};
use analysis::stats::quantiles::Pooled;
use analysis::stats::random::normal;
use analysis::{Class, Growth, GrowthReason};
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

/// The growth of samples about `curve` at `sizes`.
fn grow(
    curve: impl Fn(f64) -> f64,
    sizes: &[u64],
    noise: Noise,
    design: Design,
    random: &mut Rng,
) -> Growth {
    let cells = sizes.iter().map(|&n| {
        let truth = curve(n as f64);
        let rounds = (0..design.rounds).map(|_| {
            let mut round = (design.round_effect * normal(random)).exp();
            if Some(&n) == sizes.last() && random.f64() < design.scattered {
                round *= 4.5;
            }
            (0..design.samples).map(|_| truth * round * noise.draw(random)).collect()
        });
        (n, rounds.collect())
    });
    let cells: Vec<Cells> = cells.collect();
    judge(&cells, random)
}

/// The samples of each round at a point.
type Cells = (u64, Vec<Vec<f64>>);

/// The growth of these samples, by the same steps as those of a run.
fn judge(cells: &[Cells], random: &mut Rng) -> Growth {
    let (mut points, mut fastest, mut replicates) = (Vec::new(), Vec::new(), Vec::new());
    for (n, rounds) in cells {
        let slices: Vec<&[f64]> = rounds.iter().map(Vec::as_slice).collect();
        let Resampled { estimate, replicates: drawn } =
            median_over_rounds(&slices, REPLICATES, random).unwrap();
        let error = (estimate.high / estimate.low).ln() / (2.0 * 1.96);
        points.push(GrowthPoint { point: *n, median: estimate.value, error });
        fastest.push(fastest_tenth(*n, &Pooled::new(&slices), &slices).unwrap());
        replicates.push(drawn);
    }
    let pairs: Vec<(u64, f64)> = points.iter().map(|p| (p.point, p.median)).collect();
    let slices: Vec<&[f64]> = replicates.iter().map(Vec::as_slice).collect();
    classify_by(&points, &fastest, exponent(&pairs, &slices))
}

/// How often the verdict was the class itself, several classes with it, excluded it, or was open.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    right: u64,
    among: u64,
    wrong: u64,
    undecided: u64,
}

/// [`REPETITIONS`] verdicts on a curve of `class` whose intercept is `intercept` times its growth at the low end.
///
/// A curve that rises by less than ×1.3 over its whole range is constant for all practical purposes,
/// whatever its formula: then both names are right. That is log n with a large intercept: ×1.27.
/// *Does not grow* is wrong of any other.
fn tally(class: Class, intercept: f64, sizes: &[u64], noise: Noise, design: Design) -> Tally {
    tally_of(REPETITIONS, class, intercept, sizes, noise, design)
}

/// The same for as many `repetitions`.
fn tally_of(
    repetitions: u64,
    class: Class,
    intercept: f64,
    sizes: &[u64],
    noise: Noise,
    design: Design,
) -> Tally {
    let offset = intercept * growth_of(class, sizes[0] as f64);
    let curve = |n: f64| offset + growth_of(class, n);
    let flat = curve(sizes[sizes.len() - 1] as f64) / curve(sizes[0] as f64) < 1.3;
    let mut tally = Tally::default();
    for seed in 0..repetitions {
        let mut random = Rng::with_seed(seed * 7919 + class as u64);
        let growth = grow(curve, sizes, noise, design, &mut random);
        *match growth.class {
            Class::Undecided => &mut tally.undecided,
            verdict if verdict == class => &mut tally.right,
            Class::Constant | Class::DoesNotGrow if flat => &mut tally.right,
            Class::DoesNotGrow => &mut tally.wrong,
            _ if growth.classes.contains(&class) => &mut tally.among,
            _ => &mut tally.wrong,
        } += 1;
    }
    tally
}

/// Checks every class under every noise, without and with a large intercept, [`REPETITIONS`] verdicts in all: hardly
/// ever wrong, and right at least as often as `right_min` says of the noise and the intercept, of [`REPETITIONS`],
/// less a standard error of that many.
fn check(design: Design, noises: &[Noise], right_min: impl Fn(Noise, f64) -> u64) {
    let mut failures = Vec::new();
    let intercepts = [0.0, 10.0];
    let each = REPETITIONS / intercepts.len() as u64;
    for &noise in noises {
        for class in CLASSES {
            let mut wrong = 0;
            for intercept in intercepts {
                let tally = tally_of(each, class, intercept, SIZES, noise, design);
                wrong += tally.wrong;
                let line = format!("{class:?}, {noise:?}, intercept ×{intercept}: {tally:?}");
                println!("{line}");
                // Log n with a large intercept rises by ×1.27: too little to name, much of the time.
                // And no single round of seven samples is sure enough to tell n log n from a bent line.
                let hidden = (class == Class::Logarithmic && intercept > 0.0)
                    || (class == Class::Linearithmic && design.rounds == 1);
                let floor = if hidden { 0.0 } else { right_min(noise, intercept) as f64 };
                let share = floor / REPETITIONS as f64;
                let error = (share * (1.0 - share) * each as f64).sqrt();
                let right_floor = share * each as f64 - error;
                if wrong > WRONG_MAX || (tally.right as f64) < right_floor {
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
            let mut cells: Vec<Cells> = Vec::new();
            for &n in SIZES {
                let mut sample =
                    |_| draw(n as f64, &mut random) * (0.03 * normal(&mut random)).exp();
                cells.push((n, (0..5).map(|_| (0..20).map(&mut sample).collect()).collect()));
            }
            let growth = judge(&cells, &mut random);
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
            let growth = grow(curve, SIZES, Noise::Even(0.05), USUAL, &mut random);
            right += u64::from(growth.class == Class::Linear);
            wrong += u64::from(
                growth.class != Class::Undecided && !growth.classes.contains(&Class::Linear),
            );
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
fn a_curve_falls_and_one_that_wanders_is_undecided() {
    let mut random = Rng::with_seed(1);
    let falling = grow(|n| 1e6 / n, SIZES, Noise::Even(0.05), USUAL, &mut random);
    assert_eq!((falling.class, falling.reason), (Class::Falls, None));
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

#[test]
fn what_climbs_on_thin_evidence_is_undecided() {
    let judged = |error: f64, zero: Option<u64>| {
        let points = SIZES.iter().map(|&point| GrowthPoint {
            point,
            median: if zero == Some(point) { 0.0 } else { (point as f64).powi(2) },
            error,
        });
        let points: Vec<GrowthPoint> = points.collect();
        let pairs: Vec<(u64, f64)> = points.iter().map(|p| (p.point, p.median)).collect();
        let growth = classify(&points, exponent(&pairs, &[]));
        (growth.class, growth.reason)
    };
    let wide = GrowthReason::IntervalTooWide { point: 10 };
    assert_eq!(judged(0.35, None), (Class::Undecided, Some(wide)));
    assert_eq!(judged(0.01, Some(300)), (Class::Undecided, Some(GrowthReason::NotPositive)));
    assert_eq!(judged(0.01, None).0, Class::Quadratic);
}

/// Quick runs of poll on a virtual machine with two CPUs, with other work on it: a point, the usual deviation
/// of a sample's logarithm within a round, and the medians of rounds in microseconds.
type Recorded = (u64, f64, [f64; 16]);

/// select under some load; ten thousand sockets are beyond the cache.
const CALM_SELECT: [Recorded; 7] = [
    (
        10,
        0.02,
        [
            1.18, 1.21, 1.22, 1.22, 1.22, 1.24, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25, 1.28,
            1.28, 1.28,
        ],
    ),
    (
        30,
        0.02,
        [
            1.84, 1.86, 1.95, 1.96, 1.97, 1.99, 2.0, 2.04, 2.04, 2.07, 2.07, 2.07, 2.09, 2.09,
            2.11, 2.11,
        ],
    ),
    (
        100,
        0.01,
        [
            5.26, 5.32, 5.34, 5.35, 5.36, 5.37, 5.37, 5.38, 5.41, 5.45, 5.5, 5.52, 5.52, 5.52,
            5.58, 5.59,
        ],
    ),
    (
        300,
        0.01,
        [
            13.4, 14.1, 14.1, 14.1, 14.4, 14.5, 14.6, 14.8, 14.9, 14.9, 14.9, 14.9, 14.9, 15.0,
            15.0, 15.0,
        ],
    ),
    (
        1000,
        0.03,
        [
            43.8, 46.8, 46.9, 47.2, 47.3, 47.8, 47.8, 48.1, 48.4, 48.4, 48.6, 49.1, 49.1, 49.3,
            49.4, 51.8,
        ],
    ),
    (
        3000,
        0.92,
        [
            430.0, 444.0, 449.0, 450.0, 453.0, 455.0, 461.0, 461.0, 465.0, 475.0, 480.0, 482.0,
            487.0, 493.0, 514.0, 551.0,
        ],
    ),
    (
        10000,
        0.24,
        [
            1800.0, 2030.0, 9080.0, 9580.0, 9920.0, 13100.0, 13400.0, 17400.0, 17500.0, 17900.0,
            19200.0, 19900.0, 21900.0, 21900.0, 22400.0, 114_000.0,
        ],
    ),
];
/// poll with six compilers for each CPU.
const BUSY_POLL: [Recorded; 7] = [
    (
        10,
        0.01,
        [
            1.02, 1.04, 1.04, 1.05, 1.09, 1.09, 1.1, 1.1, 1.1, 1.12, 1.13, 1.13, 1.14, 1.16, 1.16,
            1.2,
        ],
    ),
    (
        30,
        0.01,
        [
            1.73, 1.76, 1.77, 1.84, 1.85, 1.85, 1.85, 1.86, 1.88, 1.89, 1.91, 1.91, 1.94, 1.95,
            1.96, 2.07,
        ],
    ),
    (
        100,
        0.01,
        [
            4.92, 4.95, 4.98, 5.0, 5.13, 5.14, 5.17, 5.23, 5.26, 5.32, 5.32, 5.35, 5.35, 5.43,
            5.45, 5.56,
        ],
    ),
    (
        300,
        0.01,
        [
            12.8, 13.1, 13.8, 13.8, 13.8, 13.9, 13.9, 14.1, 14.1, 14.2, 14.2, 14.2, 14.2, 14.2,
            14.2, 14.6,
        ],
    ),
    (
        1000,
        0.04,
        [
            42.2, 42.4, 43.5, 44.1, 45.8, 45.9, 46.0, 46.1, 46.2, 46.5, 47.0, 47.0, 47.0, 47.8,
            49.0, 49.6,
        ],
    ),
    (
        3000,
        0.50,
        [
            448.0, 495.0, 521.0, 529.0, 792.0, 839.0, 994.0, 1020.0, 1140.0, 1170.0, 1530.0,
            1580.0, 1760.0, 1930.0, 2030.0, 15900.0,
        ],
    ),
    (
        10000,
        0.18,
        [
            7970.0, 20000.0, 20000.0, 27800.0, 34000.0, 36000.0, 36000.0, 36000.0, 40000.0,
            41600.0, 44000.0, 46000.0, 53600.0, 124_000.0, 240_000.0, 418_000.0,
        ],
    ),
];
/// epoll, in all of these runs.
const EPOLL: [Recorded; 7] = [
    (
        10,
        0.02,
        [
            0.803, 0.81, 0.811, 0.818, 0.819, 0.844, 0.851, 0.86, 0.864, 0.895, 0.896, 0.898,
            0.899, 0.901, 0.907, 0.925,
        ],
    ),
    (
        30,
        0.03,
        [
            0.794, 0.843, 0.845, 0.849, 0.849, 0.855, 0.875, 0.878, 0.892, 0.897, 0.9, 0.901,
            0.902, 0.904, 0.917, 0.977,
        ],
    ),
    (
        100,
        0.02,
        [
            0.831, 0.849, 0.85, 0.85, 0.854, 0.858, 0.878, 0.878, 0.886, 0.89, 0.898, 0.898, 0.9,
            0.902, 0.914, 0.929,
        ],
    ),
    (
        300,
        0.02,
        [
            0.858, 0.861, 0.881, 0.889, 0.899, 0.899, 0.899, 0.9, 0.903, 0.904, 0.906, 0.925,
            0.932, 0.934, 0.939, 0.941,
        ],
    ),
    (
        1000,
        0.02,
        [
            0.812, 0.853, 0.853, 0.856, 0.863, 0.869, 0.878, 0.882, 0.883, 0.899, 0.902, 0.902,
            0.91, 0.919, 0.96, 0.973,
        ],
    ),
    (
        3000,
        0.02,
        [
            0.811, 0.821, 0.86, 0.877, 0.877, 0.885, 0.887, 0.888, 0.898, 0.901, 0.904, 0.905,
            0.905, 0.926, 0.931, 0.949,
        ],
    ),
    (
        10000,
        0.02,
        [
            0.818, 0.862, 0.874, 0.881, 0.886, 0.887, 0.9, 0.903, 0.903, 0.911, 0.915, 0.927,
            0.931, 0.953, 0.983, 0.992,
        ],
    ),
];

/// How many verdicts on series of `count` recorded rounds are among these.
fn recorded(rounds: &[Recorded], count: usize, verdicts: [Class; 2]) -> u64 {
    let right = (0..REPETITIONS).filter(|&seed| {
        let mut random = Rng::with_seed(seed);
        let cells: Vec<Cells> = rounds
            .iter()
            .map(|&(point, deviation, medians)| {
                let rounds = (0..count).map(|_| {
                    let median = medians[random.usize(..medians.len())];
                    (0..20).map(|_| median * (deviation * normal(&mut random)).exp()).collect()
                });
                (point, rounds.collect())
            })
            .collect();
        verdicts.contains(&judge(&cells, &mut random).class)
    });
    right.count() as u64
}

/// 99 % of the repetitions.
const ALMOST_ALL: u64 = REPETITIONS * 99 / 100;

#[test]
fn recorded_rounds_of_poll_are_at_least_linear_and_those_of_epoll_do_not_grow() {
    let linear = [Class::Linear, Class::AtLeastLinear];
    let flat = [Class::Constant, Class::DoesNotGrow];
    for count in [3, 9] {
        for (name, rounds, verdicts) in
            [("select", CALM_SELECT, linear), ("poll", BUSY_POLL, linear), ("epoll", EPOLL, flat)]
        {
            let right = recorded(&rounds, count, verdicts);
            assert!(right >= ALMOST_ALL, "{name}, {count} rounds: {right}");
        }
    }
}
