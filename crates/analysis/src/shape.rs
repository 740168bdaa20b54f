//! The shape of one series: its modes, steps and drift, as a row lists them.

pub mod drift;
pub(crate) mod levels;
pub mod modes;
pub mod peaks;
pub mod point_steps;
pub mod split;
pub mod steps;

use crate::gather::cloud::{Cloud, Window, offsets};
use crate::gather::positions::verdicts_from;
use crate::growth::growth;
use crate::growth::levels::Level;
use crate::shape::modes::Partition;
use crate::stats::quantiles::median;
use crate::thresholds::MOST;
use crate::{Division, Drift, Growth, Mode, Modes, Step};
use fastrand::Rng;

/// Samples that a knot is the median of at least.
const KNOT_SAMPLES_MIN: usize = 30;

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
            growth: if costs { growth_of(&curve(whole, trajectory), trajectory) } else { None },
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

/// How a mode grows, as a series of single figures at the knots of its curve does; but for the first calls of a
/// trajectory, which are cold.
fn growth_of(curve: &[(u64, f64)], trajectory: bool) -> Option<Growth> {
    let positions: Vec<u64> = curve.iter().map(|knot| knot.0).collect();
    let from = verdicts_from(trajectory, &positions);
    let counting = curve.iter().filter(|knot| knot.0 >= from);
    let levels: Vec<Level> =
        counting.map(|&(position, level)| Level::new(position, level.ln(), None)).collect();
    (levels.len() > 1).then(|| growth(&levels, 0.0))
}
