//! Steps between two points of a series that is measured at points: a buffer or a cache that is left. Between two
//! neighbouring points lies a step if it is
//! 1. *large*: by a factor of [`FLAT_FACTOR_MAX`] at least;
//! 2. *sharp*: several times ([`POINT_STEP_SHARPNESS`]) what the curve changes over as much of the logarithmic axis
//!    at the two neighbours on either side, so that no smooth curve has one;
//! 3. *lasting*: all points before lie on one side of its middle, all points behind on the other;
//! 4. *repeated*: most rounds ([`MOST`](crate::thresholds::MOST)) jump there in the same direction, by half as much or
//!    more.

use crate::gather::cloud::{Cloud, Round};
use crate::shape::is_most;
use crate::stats::quantiles::median;
use crate::thresholds::{EVEN, FLAT_FACTOR_MAX, POINT_STEP_SHARPNESS, SEVERAL};
use crate::{Estimate, Step};

/// The steps between points of `cloud`, ascending.
pub fn find(cloud: &Cloud) -> Vec<Step> {
    let points: Vec<u64> = cloud.positions().into_iter().filter(|&point| point > 0).collect();
    let medians_of = |round: &Round| -> Vec<f64> {
        let at = |&point: &u64| {
            let samples = round.samples.iter().filter(|sample| sample.position == point);
            median(samples.map(|sample| sample.log)).unwrap_or(f64::NAN)
        };
        points.iter().map(at).collect()
    };
    let rounds: Vec<Vec<f64>> = cloud.rounds.iter().map(medians_of).collect();
    let across = |index: usize| {
        let logs = rounds.iter().map(|round| round[index]);
        median(logs.filter(|log| log.is_finite())).unwrap_or(f64::NAN)
    };
    let medians = (0..points.len()).map(across).collect();
    let series = Series { points, rounds, medians };
    (0..series.points.len()).filter_map(|index| series.step_after(index)).collect()
}

struct Series {
    points: Vec<u64>,
    /// For each round, the logarithm of the median at each point.
    rounds: Vec<Vec<f64>>,
    /// The median of the rounds.
    medians: Vec<f64>,
}

impl Series {
    /// The step between the point `index` and the next one.
    fn step_after(&self, index: usize) -> Option<Step> {
        let behind = self.points.len().checked_sub(index + 1)?;
        if index + 1 < SEVERAL || behind < SEVERAL {
            return None;
        }
        let jump = self.medians[index + 1] - self.medians[index];
        let is_step = jump.abs() >= FLAT_FACTOR_MAX.ln()
            && self.is_sharp(index, jump)
            && self.is_lasting(index, jump)
            && self.is_repeated(index, jump);
        is_step.then(|| {
            let between = [self.points[index], self.points[index + 1]];
            let [low, high] = between.map(|point| point as f64);
            let value = jump.exp();
            let factors = || self.jumps(index).map(f64::exp).filter(|factor| factor.is_finite());
            let min = factors().reduce(f64::min).unwrap_or(value);
            let max = factors().reduce(f64::max).unwrap_or(value);
            Step {
                at: Estimate::exact((low * high).sqrt()),
                factor: Estimate { value, low: min, high: max },
                between: Some(between),
            }
        })
    }

    /// What each round jumps after the point `index`.
    fn jumps(&self, index: usize) -> impl Iterator<Item = f64> {
        self.rounds.iter().map(move |round| round[index + 1] - round[index])
    }

    fn width(&self, index: usize) -> f64 {
        (self.points[index + 1] as f64 / self.points[index] as f64).ln()
    }

    fn is_sharp(&self, index: usize, jump: f64) -> bool {
        let neighbours =
            [index.checked_sub(2), index.checked_sub(1), Some(index + 1), Some(index + 2)];
        let inside =
            neighbours.into_iter().flatten().filter(|&index| index + 1 < self.points.len());
        let slope = |at: usize| {
            let change = (self.medians[at + 1] - self.medians[at]).abs();
            change / self.width(at) * self.width(index)
        };
        let max = inside.map(slope).fold(0.0, f64::max);
        jump.abs() >= POINT_STEP_SHARPNESS * max
    }

    fn is_lasting(&self, index: usize, jump: f64) -> bool {
        let middle = self.medians[index] + jump / 2.0;
        let is_behind = |log: &f64| (log - middle) * jump > 0.0;
        let (before, behind) = self.medians.split_at(index + 1);
        !before.iter().any(is_behind) && behind.iter().all(is_behind)
    }

    fn is_repeated(&self, index: usize, jump: f64) -> bool {
        let is_alike = |own: &f64| own * jump.signum() >= EVEN * jump.abs();
        let count = self.jumps(index).filter(is_alike).count();
        self.rounds.len() >= SEVERAL && is_most(count, self.rounds.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gather::cloud::{Round, Sample};
    use fastrand::Rng;

    /// Seven rounds of a curve, each figure off by up to `noise`.
    fn cloud(points: &[u64], curve: impl Fn(f64) -> f64, noise: f64, random: &mut Rng) -> Cloud {
        let mut rounds = Vec::new();
        for number in 0..7 {
            let mut sample = |&position: &u64| {
                let error = noise * (2.0 * random.f64() - 1.0);
                Sample { position, log: curve(position as f64).ln() + error }
            };
            rounds.push(Round { number, samples: points.iter().map(&mut sample).collect() });
        }
        Cloud { rounds }
    }

    const DOUBLING: [u64; 12] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048];
    const THREES: [u64; 8] = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000];

    #[test]
    fn a_jump_is_found_between_its_points() {
        let mut random = Rng::with_seed(1);
        for factor in [1.6, 3.0, 0.4] {
            let curve = |n: f64| if n <= 64.0 { 100.0 } else { 100.0 * factor };
            let steps = find(&cloud(&DOUBLING, curve, 0.05, &mut random));
            assert_eq!(steps.len(), 1, "{factor}: {steps:?}");
            assert_eq!(steps[0].between, Some([64, 128]));
            assert!(steps[0].at.low >= steps[0].at.high, "two points are no interval");
            assert!((steps[0].factor.value / factor - 1.0).abs() < 0.1, "{steps:?}");
        }
    }

    #[test]
    fn smooth_curves_and_noise_have_none() {
        let mut random = Rng::with_seed(2);
        let curves: [fn(f64) -> f64; 6] = [
            |_| 100.0,
            |n| 50.0 + n,
            |n| 200.0 + n * n,
            |n| 10.0 * n * (n + 1.0).ln(),
            |n| 100.0 / n,
            |n| 100.0 * (1.0 + n).ln(),
        ];
        let (mut wrong, mut count) = (0, 0);
        for points in [&DOUBLING[..], &THREES[..]] {
            for curve in curves {
                for noise in [0.02, 0.1, 0.3, 0.6] {
                    for _ in 0..50 {
                        count += 1;
                        wrong += usize::from(
                            !find(&cloud(points, curve, noise, &mut random)).is_empty(),
                        );
                    }
                }
            }
        }
        assert!(wrong * 200 <= count, "{wrong} of {count} curves without a step have one");
    }

    #[test]
    fn few_points_or_rounds_have_none() {
        let mut random = Rng::with_seed(3);
        let curve = |n: f64| if n <= 8.0 { 100.0 } else { 900.0 };
        assert!(find(&cloud(&DOUBLING[..5], curve, 0.0, &mut random)).is_empty());
        let mut two = cloud(&DOUBLING, curve, 0.0, &mut random);
        assert_eq!(find(&two).len(), 1);
        two.rounds.truncate(2);
        assert!(find(&two).is_empty());
    }
}
