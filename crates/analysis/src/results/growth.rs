//! How a cost grows along the axis.

use super::{Estimate, GrowthReason};
use serde::Serialize;

/// The growth of a series along its axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Growth {
    /// The growth class, or the word for the classes that remain.
    pub class: Class,
    /// The classes that are not excluded: neighbours, ascending. Empty where the cost falls, and where it
    /// is undecided.
    pub classes: Vec<Class>,
    /// Last median over first median.
    pub factor: f64,
    /// The first point with a figure.
    pub from: u64,
    /// The last point with a figure.
    pub to: u64,
    /// Slope of the logarithm of the figure over the logarithm of the axis, over all points above zero; where
    /// `constant` says so, without the constant part.
    pub exponent: Option<Estimate>,
    /// The constant part, where it is large: then the exponent is that of what grows above it.
    pub constant: Option<f64>,
    /// Why the class is undecided, why the medians alone did not decide it, or which classes remain.
    pub reason: Option<GrowthReason>,
    /// The figures that the class comes from.
    pub basis: Basis,
}

/// The figures that a growth class comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The medians.
    Medians,
    /// The fastest tenth of the samples at each point, because a median was too uncertain.
    FastestTenth,
}

/// Growth classes, and the words for several of them: the fixed vocabulary of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Flat for all practical purposes: an exponent within ±0.06, which is ×1.3 over two decades.
    Constant,
    /// As log n.
    Logarithmic,
    /// As √n.
    SquareRoot,
    /// As n, bent by caches or not. With fewer than five points it covers n log n too.
    Linear,
    /// As n log n.
    Linearithmic,
    /// As n².
    Quadratic,
    /// Constant or slower than linear, by no more than ±30 % over the range.
    DoesNotGrow,
    /// The cost falls along the axis.
    Falls,
    /// Any of constant, log n and √n.
    SlowerThanLinear,
    /// As n, or slower.
    AtMostLinear,
    /// As n, or faster: n log n can't be excluded.
    AtLeastLinear,
    /// As n log n or n².
    FasterThanLinear,
    /// The evidence contradicts itself or is too thin.
    Undecided,
}
