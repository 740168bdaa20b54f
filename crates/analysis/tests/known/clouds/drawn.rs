//! Clouds of samples whose truth is known.

use analysis::gather::cloud::Cloud;
use analysis::stats::random::{gamma, normal};
use fastrand::Rng;

/// How samples scatter about their curve.
#[derive(Clone, Copy, Debug)]
pub enum Noise {
    /// Lognormal.
    Even(f64),
    /// Gamma of this shape: skewed.
    Gamma(f64),
    /// As system calls have it: a narrow body, a tenth that is up to twice as slow, and a few per cent
    /// far out.
    LongTail,
    /// A tail without a mean.
    Pareto,
    /// Lognormal, wider and wider along the axis: from 2 % to 40 %.
    Growing,
    /// A share of outliers between two factors, and 5 % of even noise.
    Outliers { share: f64, low: f64, high: f64 },
}

impl Noise {
    /// What it is at `share` of the axis.
    pub fn at(self, share: f64) -> Self {
        match self {
            Self::Growing => Self::Even(0.02 + 0.38 * share),
            noise => noise,
        }
    }

    pub fn draw(self, random: &mut Rng) -> f64 {
        match self {
            Self::Even(size) => (size * normal(random)).exp(),
            Self::Gamma(shape) => gamma(shape, random) / shape,
            Self::LongTail => {
                let body = (0.04 * normal(random)).exp();
                match random.f64() {
                    tail if tail < 0.02 => body * (1.0 + 0.8 * gamma(1.0, random)),
                    slow if slow < 0.12 => body * (1.0 + 0.25 * gamma(1.0, random)),
                    _ => body,
                }
            }
            Self::Pareto => (1.0 - random.f64()).powf(-0.9).min(1e6),
            Self::Growing => 1.0,
            Self::Outliers { share, low, high } => {
                let out = random.f64() < share;
                let factor = if out { low + (high - low) * random.f64() } else { 1.0 };
                factor * (0.05 * normal(random)).exp()
            }
        }
    }
}

/// How much of everything.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    pub rounds: u32,
    /// Samples in each round, one at each position from 1.
    pub samples: u64,
    /// How rounds differ as a whole: the standard deviation of the logarithm.
    pub round_effect: f64,
    /// The clock's tick; 0 for none.
    pub step_ns: f64,
}

/// A trajectory: `value` of each position and round.
pub fn cloud(
    shape: Shape,
    random: &mut Rng,
    mut value: impl FnMut(f64, u32, &mut Rng) -> f64,
) -> Cloud {
    let rounds = (1..=shape.rounds)
        .map(|round| {
            let level = (shape.round_effect * normal(random)).exp();
            let samples = (1..=shape.samples)
                .map(|position| {
                    let value = level * value(position as f64, round, random);
                    let step = shape.step_ns;
                    (position, if step > 0.0 { (value / step).floor() * step } else { value })
                })
                .collect();
            (round, samples)
        })
        .collect();
    Cloud::new(rounds, random).unwrap()
}

/// A series measured at points with these levels: `factor` of each sample.
pub fn cloud_at(
    points: &[(u64, f64)],
    rounds: u32,
    samples: u32,
    random: &mut Rng,
    factor: impl Fn(u64, u32, &mut Rng) -> f64,
) -> Cloud {
    let rounds = (1..=rounds)
        .map(|round| {
            let mut all = Vec::new();
            for &(point, level) in points {
                let process = (0.04 * normal(random)).exp();
                for _ in 0..samples {
                    all.push((point, level * process * factor(point, round, random)));
                }
            }
            (round, all)
        })
        .collect();
    Cloud::new(rounds, random).unwrap()
}
