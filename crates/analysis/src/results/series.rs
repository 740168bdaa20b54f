//! What the samples of one series show besides its medians: modes, steps and drift.

use super::{Estimate, Growth};
use schemars::JsonSchema;
use serde::Serialize;

/// Samples on several curves instead of around a single curve: a median between the curves was never
/// measured.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Modes {
    /// The first point with more than one mode.
    pub from: u64,
    /// The last.
    pub to: u64,
    /// The curves, the lowest first; two or more.
    pub modes: Vec<Mode>,
    /// How the samples are divided among them.
    pub division: Division,
}

/// A mode: a curve that a part of the samples lies on.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Mode {
    /// The share of the samples between `from` and `to` that lie on it.
    pub share: f64,
    /// The curve: points, each with the median of its samples there.
    pub curve: Vec<(u64, f64)>,
    /// Its growth; absent with fewer than two points.
    pub growth: Option<Growth>,
    /// The rounds, counted from 1, that lie on it; empty where each round lies on several modes.
    pub rounds: Vec<u32>,
}

/// How samples are divided among modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Division {
    /// A round lies on one mode: the start of a process decides.
    ByRound,
    /// Every round lies on all modes: each operation decides anew.
    WithinRounds,
    /// Modes alternate in long runs of operations.
    InStretches,
}

/// A jump of a curve: a table that leaves a cache, or doubles.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// The value on the axis, with its CI.
    pub at: Estimate,
    /// The level after the step over that before: below 1 it falls.
    pub factor: Estimate,
    /// The two points that it lies between, where nothing was measured but points. Then `at` is their geometric mean
    /// and has no interval, and that of `factor` reaches from the least of a round to the greatest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<[u64; 2]>,
}

/// A part of the axis along which a curve stays the same.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Level {
    /// Its first point.
    pub from: u64,
    /// Its last point.
    pub to: u64,
    /// The median of all its points, with its CI.
    pub median: Estimate,
}

/// A change over the rounds of a measurement, whatever the axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Drift {
    /// The last rounds over the first.
    pub factor: Estimate,
    /// The first changed round, counted from 1, where the change is sudden; absent where it is gradual.
    pub since: Option<u32>,
}
