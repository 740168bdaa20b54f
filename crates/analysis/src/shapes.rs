//! The shape of one series: its modes, steps and drift, as a row tells them.

use crate::cloud::{Cloud, offsets};
use crate::modes::{self, Found};
use crate::places::{FEWEST, around, places, warm};
use crate::quantiles::median_of;
use crate::tables::{Figure, figure, growth};
use crate::{Division, Drift, Growth, Mode, Modes, Step, drift, steps};
use fastrand::Rng;

/// Knots of a mode's curve, at most.
const KNOTS: usize = 24;
/// Samples that a knot is the median of, at least.
const KNOT: usize = 30;

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
    let mode = |(mode, part): (usize, &Cloud)| Mode {
        share: found.shares[mode],
        curve: curve(part, trajectory),
        growth: if costs { growth_of(part, trajectory, random) } else { None },
        rounds: found.rounds[mode].clone(),
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
        part.windows((part.len() / KNOTS).max(KNOT), KNOT)
    } else {
        part.windows_by_place()
    };
    let knot = |window: &crate::cloud::Window| {
        let spots = part.rounds.iter().zip(&window.ranges);
        let spots = spots.flat_map(|(round, range)| &round.spots[range.clone()]);
        let mut logs: Vec<f64> = spots.map(|spot| spot.log).collect();
        Some((u64::midpoint(window.from, window.to), median_of(&mut logs)?.exp()))
    };
    windows.iter().filter_map(knot).collect()
}

/// How one mode grows, by the same places and rules as a series.
fn growth_of(part: &Cloud, trajectory: bool, random: &mut Rng) -> Option<Growth> {
    let all = part.places();
    let (first, far) = (*all.first()?, *all.last()?);
    let places = if trajectory { places(far) } else { all };
    let at = |place: u64| -> Option<Figure> {
        let near = if trajectory { around(place, far) } else { place..=place };
        if trajectory && (place < warm(far) || *near.start() < first) {
            return None;
        }
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
        figure(place, &slices, random).filter(|figure| figure.summary.samples >= FEWEST)
    };
    let figures: Vec<Figure> = places.into_iter().filter_map(at).collect();
    growth(&figures.iter().collect::<Vec<_>>())
}
