//! Draws of the held-out truth: its own normal numbers and noise, which the unit tests of `analysis` don't share.

use fastrand::Rng;

/// A standard normal number, by the polar method.
pub fn normal(rng: &mut Rng) -> f64 {
    loop {
        let (x, y) = (2.0 * rng.f64() - 1.0, 2.0 * rng.f64() - 1.0);
        let square = x * x + y * y;
        if square > 0.0 && square < 1.0 {
            return x * (-2.0 * square.ln() / square).sqrt();
        }
    }
}

/// A number between the ends, uniform by its logarithm.
pub fn log_uniform(rng: &mut Rng, (low, high): (f64, f64)) -> f64 {
    low * (high / low).powf(rng.f64())
}

/// One of them.
pub fn one_of<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.usize(..all.len())]
}

/// How figures of one truth scatter. Shares are probabilities, all others standard deviations of logarithms.
#[derive(Clone, Copy, Default)]
pub struct Noise {
    /// Of each sample.
    pub sample: f64,
    /// Of each cell, for all its samples.
    pub cell: f64,
    /// Of each round, for all its cells.
    pub round: f64,
    /// By how much the last round is slower than the first, with those between on the way.
    pub drift: f64,
    /// Of cells next to other work, which take 1.2 to 2 times as long.
    pub busy_share: f64,
    /// Of samples in a long tail: a Pareto distribution of index 1.5 from twice the figure on.
    pub tail_share: f64,
    /// Of samples on a second, slower curve, 1.4 to 2.5 times as high.
    pub mode_share: f64,
}

/// What varies least here: what scatters each sample, cell and round.
pub const QUIET: Noise = Noise {
    sample: 0.02,
    cell: 0.01,
    round: 0.01,
    drift: 0.0,
    busy_share: 0.0,
    tail_share: 0.0,
    mode_share: 0.0,
};
/// Cells that differ by a twentieth.
pub const NOISY: Noise = Noise { cell: 0.05, round: 0.03, sample: 0.05, ..QUIET };
/// A fifth of the cells next to other work.
pub const BUSY: Noise = Noise { busy_share: 0.2, sample: 0.03, ..QUIET };
/// Cells that differ by 15 %.
pub const LOUD: Noise = Noise { cell: 0.15, sample: 0.05, ..QUIET };
/// All kinds that each strength of growth is drawn with.
pub const NOISES: [(&str, Noise); 4] =
    [("quiet", QUIET), ("noisy cells", NOISY), ("busy cells", BUSY), ("cells ±15 %", LOUD)];

/// How often a series is measured.
#[derive(Clone, Copy)]
pub struct Design {
    /// Rounds.
    pub rounds: usize,
    /// Samples of each cell.
    pub samples: usize,
}

impl Design {
    /// Draws one.
    pub fn new(rng: &mut Rng) -> Self {
        Self { rounds: one_of(rng, &[3, 5, 9]), samples: one_of(rng, &[1, 5, 15]) }
    }
}

/// A figure of one sample.
#[derive(Clone, Copy)]
pub struct Sample {
    /// Its series.
    pub series: usize,
    /// Where on the axis.
    pub point: u64,
    /// In which round.
    pub round: usize,
    /// What was measured.
    pub figure: f64,
}

impl Sample {
    /// What was measured as nanoseconds of one, as so many a second.
    pub fn rate(self) -> Self {
        Self { figure: 1e9 / self.figure, ..self }
    }
}

/// The levels of a run's rounds, which all its series share.
#[derive(Clone)]
pub struct Rounds(Vec<f64>);

impl Rounds {
    /// Draws them.
    pub fn new(rng: &mut Rng, count: usize, noise: &Noise) -> Self {
        let position = |round: usize| round as f64 / (count.max(2) - 1) as f64;
        let level = |round| noise.round * normal(rng) + (1.0 + noise.drift).ln() * position(round);
        Self((0..count).map(level).collect())
    }

    /// The samples of a series whose true figures are `curve`.
    pub fn measure(
        &self,
        rng: &mut Rng,
        (series, curve): (usize, &[(u64, f64)]),
        noise: &Noise,
        samples: usize,
    ) -> Vec<Sample> {
        let mode = log_uniform(rng, (1.4, 2.5));
        let mut all = Vec::with_capacity(curve.len() * self.0.len() * samples);
        for (round, level) in self.0.iter().enumerate() {
            for &(point, truth) in curve {
                let mut cell = truth * (level + noise.cell * normal(rng)).exp();
                if rng.f64() < noise.busy_share {
                    cell *= log_uniform(rng, (1.2, 2.0));
                }
                for _ in 0..samples {
                    let mut figure = cell * (noise.sample * normal(rng)).exp();
                    if rng.f64() < noise.mode_share {
                        figure *= mode;
                    }
                    if rng.f64() < noise.tail_share {
                        figure *= 2.0 * (1.0 - rng.f64()).powf(-1.0 / 1.5);
                    }
                    all.push(Sample { series, point, round, figure });
                }
            }
        }
        all
    }
}
