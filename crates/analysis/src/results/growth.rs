//! How a cost grows along the axis.

use super::{Estimate, GrowthReason};
use crate::thresholds::FLAT_FACTOR_MAX;
use schemars::JsonSchema;
use serde::Serialize;

/// The growth of a series along its axis.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Growth {
    /// The growth class, or the word for the classes that remain.
    pub class: Class,
    /// The classes that are not excluded: neighbours, ascending. Empty where the cost falls, and where it is undecided.
    pub classes: Vec<Class>,
    /// The level at `to` over that at `from`. Equal ends mean that no interval is known.
    pub factor: Estimate,
    /// The first point with a figure, or the lowest where the cost falls and grows again.
    pub from: u64,
    /// The last point with a figure.
    pub to: u64,
    /// The lowest inner point, where it is surely below both ends, by however little.
    pub best: Option<Best>,
    /// Slope of the logarithm of the figure over the logarithm of the axis, over all points above zero; where
    /// `constant` says so, without the constant part.
    pub exponent: Option<Estimate>,
    /// The constant part, where it is large: then the exponent is that of what grows above it.
    pub constant: Option<f64>,
    /// Why it is undecided, or its order open.
    pub reason: Option<GrowthReason>,
}

/// The highest rate or the lowest cost, between the ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Best {
    /// The point.
    pub at: u64,
    /// The level there.
    pub level: f64,
    /// That over the level at the first point.
    pub factor: Estimate,
    /// The first point.
    pub over: u64,
    /// The level at the last point over that here.
    pub behind: Estimate,
}

impl Best {
    /// Whether either factor is beyond what is flat.
    pub fn stands_out(&self) -> bool {
        let beyond = |factor: Estimate| factor.value.max(1.0 / factor.value) > FLAT_FACTOR_MAX;
        beyond(self.factor) || beyond(self.behind)
    }
}

/// Growth classes, and the words for several of them: the fixed vocabulary of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Flat for all practical purposes: all of the factor's interval lies within ×1.3, either way.
    Constant,
    /// As log n.
    Logarithmic,
    /// As √n.
    SquareRoot,
    /// As n, bent by caches or not.
    Linear,
    /// As n log n.
    Linearithmic,
    /// As n².
    Quadratic,
    /// The cost falls along the axis.
    Falls,
    /// As log n or √n.
    SlowerThanLinear,
    /// As n, or slower.
    AtMostLinear,
    /// As n, or faster: n log n can't be excluded.
    AtLeastLinear,
    /// As n log n or n².
    FasterThanLinear,
    /// It grows, and its order is open: slower and faster classes than linear are left.
    Grows,
    /// The factor's interval decides neither.
    Undecided,
}
