//! Rates of known trend: those that hold are named so, those that collapse too, and the
//! place where they have halved lies in its interval.

use analysis::rates::rate;
use analysis::stats::quantiles::median_of;
use analysis::stats::random::{generator, normal};
use analysis::{Estimate, Halved, PointSummary, Rate, RateTrend, TrendReason};
use fastrand::Rng;

/// Dead connections, as the workload has them.
const DEAD: &[u64] = &[0, 50, 100, 200, 400, 800, 1000, 5000, 10_000, 15_000];
/// In a quick run.
const QUICK: &[u64] = &[0, 100, 1000, 5000, 15_000];
const REPETITIONS: u64 = 50;

/// How samples scatter about the curve.
#[derive(Clone, Copy, Debug)]
struct Noise {
    /// Of a sample, lognormal.
    sample: f64,
    /// Of a round, lognormal.
    round: f64,
    /// How often a cell is slower by 30 %, or twice as slow.
    slow: f64,
    twice: bool,
}

const QUIET: Noise = Noise { sample: 0.03, round: 0.01, slow: 0.0, twice: false };
const USUAL: Noise = Noise { sample: 0.05, round: 0.03, slow: 0.0, twice: false };
const LOUD: Noise = Noise { sample: 0.2, round: 0.03, slow: 0.0, twice: false };
const SLOW: Noise = Noise { sample: 0.05, round: 0.02, slow: 0.2, twice: false };
/// A machine that others take the CPU from, for a second now and then.
const SHARED: Noise = Noise { sample: 0.08, round: 0.05, slow: 0.15, twice: true };

type Curve<'a> = &'a dyn Fn(f64) -> f64;

/// Where the rate of `curve` goes, by the same steps as that of a run.
fn drawn(curve: Curve, points: &[u64], (noise, rounds): (Noise, usize), random: &mut Rng) -> Rate {
    let mut cell = |n: u64| -> Vec<f64> {
        let slowed = if noise.twice { 0.5 } else { 0.7 };
        let slow = if random.f64() < noise.slow { slowed } else { 1.0 };
        let level = curve(n as f64) * slow * (noise.round * normal(random)).exp();
        (0..10).map(|_| level * (noise.sample * normal(random)).exp()).collect()
    };
    let measured = points.iter().map(|&point| {
        let samples: Vec<Vec<f64>> = (0..rounds).map(|_| cell(point)).collect();
        let median = |samples: &Vec<f64>| median_of(&mut samples.clone()).unwrap();
        let log_cells = (0..).zip(samples.iter().map(|samples| median(samples).ln())).collect();
        PointSummary {
            point,
            median: Estimate::exact(median(&samples.concat())),
            log_cells,
            ..PointSummary::default()
        }
    });
    rate(&measured.collect::<Vec<_>>()).unwrap()
}

/// What was found, how often.
#[derive(Debug, Default)]
struct Tally {
    holds: u64,
    rises: u64,
    peaks: u64,
    falls: u64,
    collapses: u64,
    undecided: u64,
    /// Places of halving that were named, and those whose interval holds the true one.
    named: u64,
    covered: u64,
    /// Vague ones among them whose interval holds it.
    vague: u64,
    /// Intervals of the factor that hold the true one.
    factors: u64,
    /// Widths of the named places' intervals, as logarithms.
    width: f64,
}

fn simulate(name: &str, curve: Curve, points: &[u64], design: (Noise, usize)) -> Tally {
    let mut tally = Tally::default();
    let true_factor = curve(points[points.len() - 1] as f64) / curve(points[0] as f64);
    let half = true_half(curve, points);
    for repetition in 0..REPETITIONS {
        let mut random = generator(repetition, &["rates", name]);
        let rate = drawn(curve, points, design, &mut random);
        *match rate.trend {
            RateTrend::Holds => &mut tally.holds,
            RateTrend::Rises | RateTrend::Scales => &mut tally.rises,
            RateTrend::Peaks => &mut tally.peaks,
            RateTrend::Falls => &mut tally.falls,
            RateTrend::Collapses => &mut tally.collapses,
            RateTrend::Undecided => &mut tally.undecided,
        } += 1;
        tally.factors += u64::from(holds(rate.factor, true_factor));
        if let (Some(Halved { at, vague, .. }), Some(half)) = (rate.halved, half) {
            tally.named += 1;
            tally.covered += u64::from(holds(at, half));
            tally.vague += u64::from(vague);
            tally.width += (at.high / at.low.max(1.0)).ln();
        }
    }
    println!(
        "{name}, {design:?}: {tally:?}, intervals ×{:.2} wide",
        (tally.width / tally.named.max(1) as f64).exp()
    );
    tally
}

fn holds(estimate: Estimate, truth: f64) -> bool {
    (estimate.low..=estimate.high).contains(&truth)
}

/// Where `curve` has fallen to half, by bisection.
fn true_half(curve: Curve, points: &[u64]) -> Option<f64> {
    let (mut low, mut high) = (points[0] as f64, points[points.len() - 1] as f64);
    let half = curve(low) / 2.0;
    if curve(high) > half {
        return None;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if curve(middle) > half { low = middle } else { high = middle }
    }
    Some(low)
}

/// 98 % of the repetitions.
const NEARLY_ALL: u64 = REPETITIONS * 98 / 100;

#[test]
fn constant_rates_hold_and_never_collapse() {
    for points in [DEAD, QUICK] {
        for (noise, holds) in [(QUIET, 98), (USUAL, 98), (LOUD, 96), (SLOW, 80), (SHARED, 60)] {
            let tally = simulate("flat", &|_| 98_100.0, points, (noise, 5));
            let wrong = tally.collapses + tally.peaks + tally.falls + tally.rises;
            assert!(wrong <= 1, "{tally:?}");
            assert!(tally.holds * 100 >= REPETITIONS * holds, "{tally:?}");
        }
    }
}

/// The cost of a reply is 10 µs and some nanoseconds for each dead connection.
#[test]
fn what_collapses_has_halved_within_its_interval() {
    for points in [DEAD, QUICK] {
        for rounds in [3, 7] {
            for noise in [QUIET, USUAL, SLOW] {
                for each_ns in [2.0, 4.5, 30.0] {
                    let curve = |n: f64| 1e9 / (10_000.0 + each_ns * n);
                    let tally = simulate("poll", &curve, points, (noise, rounds));
                    assert_eq!((tally.holds, tally.rises, tally.peaks), (0, 0, 0), "{tally:?}");
                    assert!(tally.covered * 100 >= tally.named * 90, "{tally:?}");
                    assert!(tally.factors * 100 >= REPETITIONS * 90, "{tally:?}");
                    let sure = noise.slow > 0.0 || tally.collapses >= NEARLY_ALL;
                    assert!(sure && tally.collapses * 100 >= REPETITIONS * 90, "{tally:?}");
                    if noise.slow <= 0.0 {
                        let width = (tally.width / tally.named as f64).exp();
                        assert!(width < 1.7 && tally.vague == 0, "×{width:.2}: {tally:?}");
                    }
                }
            }
        }
    }
}

/// No more than 60,000 replies a second are asked for; only then what they cost shows.
#[test]
fn a_rate_that_is_held_up_has_halved_within_its_interval() {
    for rounds in [3, 7] {
        for each_ns in [2.0, 4.5, 30.0] {
            let curve = |n: f64| (1e9 / (10_000.0 + each_ns * n)).min(60_000.0);
            let tally = simulate("offered", &curve, DEAD, (USUAL, rounds));
            assert!(tally.collapses >= NEARLY_ALL, "{tally:?}");
            assert!(tally.covered * 100 >= tally.named * 84, "{tally:?}");
        }
    }
}

/// A fall by a third is never a collapse, and never none.
#[test]
fn a_gentle_fall_is_a_fall() {
    for (noise, falls) in [(USUAL, 98), (LOUD, 90)] {
        let curve = |n: f64| 1e9 / (10_000.0 + 0.34 * n);
        let tally = simulate("gentle", &curve, DEAD, (noise, 3));
        assert!(tally.falls * 100 >= REPETITIONS * falls, "{tally:?}");
        assert_eq!(tally.holds + tally.collapses, 0, "{tally:?}");
    }
}

#[test]
fn what_rises_rises_and_what_peaks_peaks() {
    let tokens: &[u64] = &[1, 10, 100, 300, 600, 1000];
    for rounds in [3, 7] {
        let rising = |n: f64| 1e9 / (900.0 + 120_000.0 / n);
        let tally = simulate("rising", &rising, tokens, (USUAL, rounds));
        assert!(tally.rises >= NEARLY_ALL, "{tally:?}");
        // It rises by half up to 100, and falls by a third again.
        let peaking = |n: f64| 737_000.0 * (1.0 + n.log10() / 4.0) / (1.0 + n / 1000.0);
        let tally = simulate("peaking", &peaking, tokens, (QUIET, rounds));
        assert!(tally.peaks >= NEARLY_ALL, "{tally:?}");
        let tally = simulate("rising to a shelf", &|n| n.min(100.0) * 8e3, tokens, (USUAL, rounds));
        assert!(tally.rises >= NEARLY_ALL, "{tally:?}");
    }
}

/// Single figures, as in a table from elsewhere.
fn of_singles(figures: &[(u64, f64)]) -> Rate {
    let point = |&(point, rate): &(u64, f64)| PointSummary {
        point,
        median: Estimate::exact(rate),
        log_cells: [(0, rate.ln())].into(),
        ..PointSummary::default()
    };
    rate(&figures.iter().map(point).collect::<Vec<_>>()).unwrap()
}

#[test]
fn single_figures_have_a_trend() {
    let trend = |figures: &[(u64, f64)]| of_singles(figures).trend;
    assert_eq!(trend(&[(0, 100.0), (10, 95.0), (20, 104.0), (30, 99.0)]), RateTrend::Holds);
    assert_eq!(trend(&[(0, 100.0), (10, 91.0)]), RateTrend::Undecided, "two figures of any noise");
    assert_eq!(trend(&[(0, 100.0), (10, 300.0)]), RateTrend::Rises);
    let peak = [(1, 100.0), (2, 200.0), (4, 400.0), (8, 270.0), (16, 230.0)];
    assert_eq!(trend(&peak), RateTrend::Peaks);
    // Costs of 1 at none and 4 at 300, straight between them: 2 at 100.
    let rate = of_singles(&[(0, 1.0), (300, 0.25)]);
    let Some(Halved { at, after: 0, before: 300, vague: false }) = rate.halved else {
        panic!("{rate:?}")
    };
    assert!((at.value - 100.0).abs() < 1e-9 && at.low.total_cmp(&at.high).is_eq(), "{at:?}");
    assert_eq!((rate.trend, rate.from, rate.to), (RateTrend::Collapses, 0, 300));
}

#[test]
fn what_falls_from_its_best_is_compared_with_that() {
    let rate = of_singles(&[(1, 50.0), (10, 100.0), (100, 80.0), (1000, 20.0)]);
    let peak = rate.peak.unwrap();
    assert_eq!((rate.trend, rate.from, peak.at, peak.over), (RateTrend::Collapses, 10, 10, 1));
    // The cost of half the best is 0.02, and 0.0125 at 100, 0.05 at 1,000.
    assert!((rate.halved.unwrap().at.value - 280.0).abs() < 1e-9, "{rate:?}");
}

#[test]
fn what_dips_is_undecided_with_the_place() {
    let rate = of_singles(&[(0, 100.0), (100, 40.0), (1000, 95.0)]);
    assert_eq!(rate.trend, RateTrend::Undecided);
    let reason = rate.reason.unwrap();
    assert!(matches!(reason, TrendReason::FallsAndRises { point: 100, .. }), "{reason:?}");
}

#[test]
fn a_server_without_answers_has_collapsed() {
    let rate = of_singles(&[(0, 100.0), (100, 90.0), (1000, 0.0), (5000, 0.0)]);
    assert_eq!((rate.trend, rate.factor.value.to_bits()), (RateTrend::Collapses, 0));
    let halved = rate.halved.unwrap();
    assert_eq!((halved.after, halved.before, halved.vague), (100, 1000, true));
    // One that answers again has not, and says so.
    let again = of_singles(&[(0, 100.0), (100, 0.0), (1000, 90.0)]);
    assert_eq!(again.trend, RateTrend::Undecided);
    assert_eq!(again.reason, Some(TrendReason::NotPositive { point: 100 }));
    let never = of_singles(&[(0, 0.0), (100, 0.0)]);
    assert_eq!(never.trend, RateTrend::Undecided);
}

/// How often the interval of a factor holds the true one, where all noise is between rounds.
#[test]
fn the_interval_of_a_factor_holds_the_true_one() {
    let between = Noise { sample: 0.001, round: 0.05, ..QUIET };
    for (points, rounds) in [(&[1, 10][..], 3), (&[1, 10], 9), (QUICK, 2), (QUICK, 5)] {
        let tally = simulate("coverage", &|_| 1_000.0, points, (between, rounds));
        assert!(tally.factors * 100 >= REPETITIONS * 90, "{tally:?}");
    }
}
