//! The shape of one series: its modes, steps and drift, as a row lists them.

pub mod drift;
pub(crate) mod levels;
pub mod modes;
pub mod peaks;
pub mod point_steps;
pub mod split;
pub mod steps;

use crate::gather::cloud::{Cloud, Round, Window, offsets};
use crate::gather::positions::{around, warm};
use crate::growth::growth;
use crate::growth::levels::Level;
use crate::shape::modes::Partition;
use crate::stats::quantiles::median;
use crate::thresholds::{MOST, POINT_SAMPLES_MIN};
use crate::{Division, Drift, Growth, Mode, Modes, Step};
use fastrand::Rng;

/// Samples that a knot is the median of at least.
const KNOT_SAMPLES_MIN: usize = 30;

/// Points that the growth of a mode is judged by at most.
const MODE_GROWTH_POINTS_MAX: usize = 8;

/// The smallest ratio of two of those points: closer ones share samples.
const MODE_GROWTH_RATIO_MIN: f64 = 1.25;

const MODE_KNOTS_MAX: usize = 24;

/// Whether `count` of `all` are [`MOST`] of them.
fn is_most(count: usize, all: usize) -> bool {
    count as f64 >= MOST * all as f64
}

/// What the samples of a series show that its medians do not.
#[derive(Default)]
pub(crate) struct Shape {
    /// Whether the samples have positions of their own.
    pub(crate) trajectory: bool,
    pub(crate) modes: Option<Modes>,
    pub(crate) steps: Vec<Step>,
    pub(crate) drift: Option<Drift>,
}

impl Shape {
    /// The shape of `cloud`; with orders of growth for its modes, if they are `costs`.
    pub(crate) fn new(cloud: &Cloud, trajectory: bool, costs: bool, random: &mut Rng) -> Self {
        let windows = if trajectory { modes::windows(cloud) } else { cloud.windows_by_position() };
        let displacements = cloud.displacements(&windows);
        let offsets = offsets(&displacements);
        let partition = modes::find(cloud, &windows, &displacements, trajectory, random);
        let steps = match &partition {
            _ if !trajectory => Vec::new(),
            Some(modes) => steps::find(&modes.on_main_curve(cloud), &offsets, random),
            None => steps::find(cloud, &offsets, random),
        };
        let is_by_round = |modes: &Partition| modes.division == Division::ByRound;
        let by_round = trajectory && partition.as_ref().is_some_and(is_by_round);
        let numbers = cloud.rounds.iter().map(|round| round.number);
        let displaced: Vec<(u32, f64)> = numbers.zip(offsets).collect();
        let drift = if by_round { None } else { drift::find(&displaced) };
        let modes = partition.map(|modes| to_modes(&modes, cloud, trajectory, costs));
        Self { trajectory, modes, steps, drift }
    }
}

fn to_modes(partition: &Partition, cloud: &Cloud, trajectory: bool, costs: bool) -> Modes {
    let parts = partition.split(cloud);
    let mode = |(mode, part): (usize, &Cloud)| {
        // A round is on its curve all the way, even where the curves are too close to tell apart.
        let rounds = &partition.rounds[mode];
        let mut whole = cloud.clone();
        whole.rounds.retain(|round| rounds.contains(&round.number));
        let whole = if trajectory && !rounds.is_empty() { &whole } else { part };
        Mode {
            share: partition.shares[mode],
            curve: curve(part, trajectory),
            growth: if costs { growth_of(whole, trajectory) } else { None },
            rounds: rounds.clone(),
        }
    };
    Modes {
        from: partition.from,
        to: partition.to,
        modes: parts.iter().enumerate().map(mode).collect(),
        division: partition.division,
    }
}

/// Where the samples of one mode run.
fn curve(part: &Cloud, trajectory: bool) -> Vec<(u64, f64)> {
    let windows = if trajectory {
        part.windows((part.count() / MODE_KNOTS_MAX).max(KNOT_SAMPLES_MIN), KNOT_SAMPLES_MIN)
    } else {
        part.windows_by_position()
    };
    let knot = |window: &Window| {
        let level = median(part.samples_in(window).map(|sample| sample.log))?.exp();
        Some((u64::midpoint(window.from, window.to), level))
    };
    windows.iter().filter_map(knot).collect()
}

/// How one mode grows, by the same rules as a series of single figures. A mode may hold for a part of the axis only, so
/// that a trajectory's has [`MODE_GROWTH_POINTS_MAX`] positions of its own, at equal ratios.
fn growth_of(part: &Cloud, trajectory: bool) -> Option<Growth> {
    let all = part.positions();
    let (first, far) = (*all.first()?, *all.last()?);
    let positions = if trajectory { spaced(first.max(warm(far)), far) } else { all };
    let level = |position: u64| {
        let range = if trajectory { around(position, far) } else { position..=position };
        let in_range = |round: &Round| -> Vec<f64> {
            let samples = round.samples.iter().filter(|sample| range.contains(&sample.position));
            samples.map(|sample| sample.log.exp()).collect()
        };
        let rounds: Vec<Vec<f64>> = part.rounds.iter().map(in_range).collect();
        let samples: usize = rounds.iter().map(Vec::len).sum();
        let figure = median(rounds.into_iter().filter_map(median))?;
        (samples as u64 >= POINT_SAMPLES_MIN).then(|| Level::new(position, figure.ln(), None))
    };
    let levels: Vec<Level> = positions.into_iter().filter_map(level).collect();
    (levels.len() > 1).then(|| growth(&levels, 0.0))
}

/// Positions from `first`, of which a tenth on either side is free, to `far`.
fn spaced(first: u64, far: u64) -> Vec<u64> {
    let (low, high) = (1.12 * first as f64, far as f64);
    let steps = ((high / low).ln() / MODE_GROWTH_RATIO_MIN.ln())
        .floor()
        .clamp(0.0, MODE_GROWTH_POINTS_MAX as f64 - 1.0);
    let ratio = if steps > 0.0 { (high / low).powf(1.0 / steps) } else { 1.0 };
    let mut positions: Vec<u64> =
        (0..steps as i32).map(|step| (low * ratio.powi(step)).round() as u64).collect();
    positions.push(far);
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_a_mode_share_no_samples() {
        assert_eq!(spaced(100, 10_000), [112, 213, 404, 768, 1459, 2771, 5264, 10_000]);
        assert_eq!(spaced(9_000, 10_000), [10_000]);
        for first in [10, 100, 1_000, 5_000] {
            let positions = spaced(first, 10_000);
            let apart =
                |pair: &[u64]| around(pair[0], 10_000).end() < around(pair[1], 10_000).start();
            assert!(
                positions.windows(2).all(apart) && *around(positions[0], 10_000).start() >= first
            );
        }
    }
}
