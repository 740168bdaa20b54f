//! The shape of one series: its modes, steps and drift, as a row tells them.

pub mod drift;
pub mod modes;
pub mod peaks;
pub mod split;
pub mod steps;
pub mod thresholds;

use crate::gather::cloud::{Cloud, offsets};
use crate::gather::places::{around, warm};
use crate::gather::thresholds::POINT_SAMPLES_MIN;
use crate::shape::modes::Found;
use crate::shape::thresholds::{
    KNOT_SAMPLES_MIN, MODE_GROWTH_POINTS_MAX, MODE_GROWTH_RATIO_MIN, MODE_KNOTS_MAX,
};
use crate::stats::quantiles::median_of;
use crate::tables::figure::{Figure, figure, growth};
use crate::{Division, Drift, Growth, Mode, Modes, Step};
use fastrand::Rng;

/// What the samples of a series say beside its medians.
#[derive(Default)]
pub(crate) struct Shape {
    /// Whether the samples have places of their own.
    pub(crate) trajectory: bool,
    pub(crate) modes: Option<Modes>,
    pub(crate) steps: Vec<Step>,
    pub(crate) drift: Option<Drift>,
}

impl Shape {
    /// The shape of `cloud`; with orders of growth for its modes, if they are `costs`.
    pub(crate) fn of(cloud: &Cloud, trajectory: bool, costs: bool, random: &mut Rng) -> Self {
        let windows = if trajectory { modes::windows(cloud) } else { cloud.windows_by_place() };
        let displacements = cloud.displacements(&windows);
        let offsets = offsets(&displacements);
        let found = if trajectory {
            modes::find(cloud, &windows, &displacements, random)
        } else {
            modes::at_points(cloud, &windows, &displacements)
        };
        let steps = match (&found, trajectory) {
            (_, false) => Vec::new(),
            (None, true) => steps::find(cloud, &offsets, random),
            (Some(found), true) => steps::find(&found.most_of(cloud), &offsets, random),
        };
        let by_round =
            found.as_ref().is_some_and(|found| found.division == Division::ByRound && trajectory);
        let numbers = cloud.rounds.iter().map(|round| round.number);
        let displaced: Vec<(u32, f64)> = numbers.zip(offsets).collect();
        let drift = if by_round { None } else { drift::find(&displaced) };
        let modes = found.map(|found| told(&found, cloud, trajectory, costs, random));
        Self { trajectory, modes, steps, drift }
    }
}

/// The modes as a row tells them.
fn told(found: &Found, cloud: &Cloud, trajectory: bool, costs: bool, random: &mut Rng) -> Modes {
    let parts = found.split(cloud);
    let mode = |(mode, part): (usize, &Cloud)| {
        // A round is on its curve all the way, even where the curves are too near to be told apart.
        let rounds = &found.rounds[mode];
        let mut whole = cloud.clone();
        whole.rounds.retain(|round| rounds.contains(&round.number));
        let whole = if trajectory && !rounds.is_empty() { &whole } else { part };
        Mode {
            share: found.shares[mode],
            curve: curve(part, trajectory),
            growth: if costs { growth_of(whole, trajectory, random) } else { None },
            rounds: rounds.clone(),
        }
    };
    Modes {
        from: found.from,
        to: found.to,
        modes: parts.iter().enumerate().map(mode).collect(),
        division: found.division,
    }
}

/// Where the samples of one mode run.
fn curve(part: &Cloud, trajectory: bool) -> Vec<(u64, f64)> {
    let windows = if trajectory {
        part.windows((part.len() / MODE_KNOTS_MAX).max(KNOT_SAMPLES_MIN), KNOT_SAMPLES_MIN)
    } else {
        part.windows_by_place()
    };
    let knot = |window: &crate::gather::cloud::Window| {
        let spots = part.rounds.iter().zip(&window.ranges);
        let spots = spots.flat_map(|(round, range)| &round.spots[range.clone()]);
        let mut logs: Vec<f64> = spots.map(|spot| spot.log).collect();
        Some((u64::midpoint(window.from, window.to), median_of(&mut logs)?.exp()))
    };
    windows.iter().filter_map(knot).collect()
}

/// How one mode grows, by the same rules as a series. A mode may hold for a part of the axis only, so
/// that a trajectory's has [`MODE_GROWTH_POINTS_MAX`] places of its own, at equal ratios.
fn growth_of(part: &Cloud, trajectory: bool, random: &mut Rng) -> Option<Growth> {
    let all = part.places();
    let (first, far) = (*all.first()?, *all.last()?);
    let places = if trajectory { spaced(first.max(warm(far)), far) } else { all };
    let at = |place: u64| -> Option<Figure> {
        let near = if trajectory { around(place, far) } else { place..=place };
        let rounds: Vec<Vec<f64>> = part
            .rounds
            .iter()
            .map(|round| {
                let near = round.spots.iter().filter(|spot| near.contains(&spot.place));
                near.map(|spot| spot.log.exp()).collect::<Vec<f64>>()
            })
            .filter(|round| !round.is_empty())
            .collect();
        let slices: Vec<&[f64]> = rounds.iter().map(Vec::as_slice).collect();
        figure(place, &slices, random).filter(|figure| figure.summary.samples >= POINT_SAMPLES_MIN)
    };
    let figures: Vec<Figure> = places.into_iter().filter_map(at).collect();
    growth(&figures.iter().collect::<Vec<_>>())
}

/// Places from `first`, of which a tenth on either side is free, to `far`.
fn spaced(first: u64, far: u64) -> Vec<u64> {
    let (low, high) = (1.12 * first as f64, far as f64);
    let steps = ((high / low).ln() / MODE_GROWTH_RATIO_MIN.ln())
        .floor()
        .clamp(0.0, MODE_GROWTH_POINTS_MAX as f64 - 1.0);
    let ratio = if steps > 0.0 { (high / low).powf(1.0 / steps) } else { 1.0 };
    let mut places: Vec<u64> =
        (0..steps as i32).map(|step| (low * ratio.powi(step)).round() as u64).collect();
    places.push(far);
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_a_mode_share_no_samples() {
        assert_eq!(spaced(100, 10_000), [112, 213, 404, 768, 1459, 2771, 5264, 10_000]);
        assert_eq!(spaced(9_000, 10_000), [10_000]);
        for first in [10, 100, 1_000, 5_000] {
            let places = spaced(first, 10_000);
            let apart =
                |pair: &[u64]| around(pair[0], 10_000).end() < around(pair[1], 10_000).start();
            assert!(places.windows(2).all(apart) && *around(places[0], 10_000).start() >= first);
        }
    }
}
