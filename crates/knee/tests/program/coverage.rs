//! Intervals of runs that stop by their precision hold the true median as often as they say.
//!
//! Rounds are drawn and decided on as a run does it: whole ones first, then by twos while the interval
//! that is reported is wider than the precision. What is counted is how often the interval at the end holds the
//! true median. The truth is known by construction.

use analysis::stats::bootstrap::{REPLICATES, budget_interval, median_over_rounds};
use analysis::stats::random::normal;
use engine::budget::{Candidate, ROUNDS_FEWEST, ROUNDS_TOGETHER, goal};
use fastrand::Rng;
use std::collections::BTreeSet;

/// Samples of one round, and the median of what rounds' medians are drawn from.
struct Noise {
    name: &'static str,
    truth: f64,
    /// Widths at which runs stop at very different moments.
    precisions: [f64; 2],
    round: fn(&mut Rng) -> Vec<f64>,
}

/// An exponential deviate of mean 1.
fn exponential(random: &mut Rng) -> f64 {
    -(1.0 - random.f64()).ln()
}

const NOISES: [Noise; 4] = [
    // Nothing but a shift of each round as a whole: the samples within say nothing of it.
    Noise {
        name: "shifts",
        truth: 1.0,
        precisions: [0.03, 0.05],
        round: |random| vec![(0.05 * normal(random)).exp()],
    },
    Noise {
        name: "skewed shifts",
        truth: 1.049_72, // e^(0.07 ln 2)
        precisions: [0.03, 0.05],
        round: |random| vec![(0.07 * exponential(random)).exp()],
    },
    Noise {
        name: "skewed noise",
        truth: 1.693_147, // 1 + ln 2
        precisions: [0.15, 0.25],
        round: |random| (0..9).map(|_| 1.0 + exponential(random)).collect(),
    },
    Noise {
        name: "noise and shifts",
        truth: 1.0,
        precisions: [0.03, 0.05],
        round: |random| {
            let shift = 0.05 * normal(random);
            (0..9).map(|_| (shift + 0.05 * normal(random)).exp()).collect()
        },
    },
];

/// Whether the interval at the end of one run holds the truth, and how many rounds it took.
fn one_run(noise: &Noise, precision: f64, random: &mut Rng) -> (bool, u32) {
    const ROUNDS_MOST: u32 = 30;
    let mut rounds: Vec<Vec<f64>> = (0..ROUNDS_FEWEST).map(|_| (noise.round)(random)).collect();
    loop {
        let slices: Vec<&[f64]> = rounds.iter().map(Vec::as_slice).collect();
        let resampled = median_over_rounds(&slices, REPLICATES, random).unwrap();
        let interval = budget_interval(resampled.estimate.value, &resampled.replicates);
        let count = rounds.len() as u32;
        let width = (interval.high - interval.low) / 2.0 / interval.value;
        let goal = goal(&[Candidate { width, rounds: count, cell_ns: 1.0 }], precision, None);
        if width <= goal || count >= ROUNDS_MOST {
            return ((interval.low..=interval.high).contains(&noise.truth), count);
        }
        rounds.extend((0..ROUNDS_TOGETHER).map(|_| (noise.round)(random)));
    }
}

#[test]
fn intervals_hold_the_truth_where_their_width_stops_the_run() {
    std::thread::scope(|scope| {
        for noise in &NOISES {
            for precision in noise.precisions {
                scope.spawn(move || assert_covered(noise, precision));
            }
        }
    });
}

fn assert_covered(noise: &Noise, precision: f64) {
    const RUNS: u32 = 500;
    let mut random = Rng::with_seed(2026);
    let runs: Vec<(bool, u32)> =
        (0..RUNS).map(|_| one_run(noise, precision, &mut random)).collect();
    let share_covered = runs.iter().filter(|run| run.0).count() as f64 / f64::from(RUNS);
    let rounds = runs.iter().map(|run| f64::from(run.1)).sum::<f64>() / f64::from(RUNS);
    let name = noise.name;
    println!("{name} at ±{precision}: held in {:.1} %, {rounds:.1} rounds", 100.0 * share_covered);
    assert!(share_covered >= 0.925, "{name} at ±{precision}: {share_covered}");
    let stops = runs.iter().map(|run| run.1).collect::<BTreeSet<u32>>();
    assert!(stops.len() > 3, "the width has to decide: {name} at ±{precision}: {stops:?}");
}
