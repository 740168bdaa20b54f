//! Steps between two points of a series that is measured at points: a buffer or a cache that is left. Between two
//! neighbouring points, of which neither is near an end, lies a step if
//! 1. the curves that explain the growth have one there, as sure as a set of classes is ([`SET_SHARE`]);
//! 2. most rounds ([`MOST`](crate::thresholds::MOST)) jump there in the same direction, by half as much or more.

use crate::growth::curves::explained;
use crate::growth::levels::levels;
use crate::shape::is_most;
use crate::thresholds::{EVEN, SET_SHARE, SEVERAL};
use crate::{Estimate, PointSummary, Step};

/// The steps between `points`, ascending.
pub fn find(points: &[PointSummary], lower_is_better: bool) -> Vec<Step> {
    let is_known = |point: &PointSummary| point.median.value > 0.0 && !point.log_cells.is_empty();
    if points.len() < 2 * SEVERAL || !points.iter().all(is_known) {
        return Vec::new();
    }
    let step_shares = explained(&levels(points, lower_is_better)).step_shares;
    let inner = SEVERAL..=points.len() - SEVERAL;
    let sure = inner.filter(|behind| step_shares[*behind] >= SET_SHARE);
    sure.filter_map(|behind| between(&points[behind - 1], &points[behind])).collect()
}

/// The step from one point to the next, if it is repeated.
fn between(before: &PointSummary, behind: &PointSummary) -> Option<Step> {
    let factor = behind.median.value / before.median.value;
    let jumps: Vec<f64> = behind
        .log_cells
        .iter()
        .filter_map(|(round, log)| Some(log - before.log_cells.get(round)?))
        .collect();
    let size = factor.ln();
    let is_alike = |jump: &&f64| **jump * size.signum() >= EVEN * size.abs();
    let alike = jumps.iter().filter(is_alike).count();
    let [low, high] = [before.point, behind.point].map(|point| point as f64);
    (jumps.len() >= SEVERAL && is_most(alike, jumps.len())).then(|| Step {
        at: Estimate::exact((low * high).sqrt()),
        factor: Estimate::holding(
            factor,
            jumps.iter().copied().fold(f64::INFINITY, f64::min).exp(),
            jumps.iter().copied().fold(f64::NEG_INFINITY, f64::max).exp(),
        ),
        between: Some([before.point, behind.point]),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::quantiles::median;
    use fastrand::Rng;

    /// Seven rounds of a curve, each figure off by up to `noise`.
    fn measured(
        points: &[u64],
        curve: impl Fn(f64) -> f64,
        noise: f64,
        random: &mut Rng,
    ) -> Vec<PointSummary> {
        let mut at = |&point: &u64| {
            let mut log = || curve(point as f64).ln() + noise * (2.0 * random.f64() - 1.0);
            let logs: Vec<f64> = (0..7).map(|_| log()).collect();
            let median = Estimate::exact(median(logs.iter().copied()).unwrap().exp());
            let log_cells = (0..).zip(logs).collect();
            PointSummary { point, median, log_cells, ..PointSummary::default() }
        };
        points.iter().map(&mut at).collect()
    }

    const DOUBLING: [u64; 12] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048];
    const THREES: [u64; 8] = [10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000];

    #[test]
    fn a_jump_is_found_between_its_points() {
        let mut random = Rng::with_seed(1);
        for factor in [1.6, 3.0, 0.4] {
            let curve = |n: f64| if n <= 64.0 { 100.0 } else { 100.0 * factor };
            let steps = find(&measured(&DOUBLING, curve, 0.05, &mut random), true);
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
                        let points = measured(points, curve, noise, &mut random);
                        wrong += usize::from(!find(&points, true).is_empty());
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
        assert!(find(&measured(&DOUBLING[..5], curve, 0.0, &mut random), true).is_empty());
        let mut two = measured(&DOUBLING, curve, 0.0, &mut random);
        assert_eq!(find(&two, true).len(), 1);
        for point in &mut two {
            point.log_cells.retain(|round, _| *round < 2);
        }
        assert!(find(&two, true).is_empty());
    }
}
