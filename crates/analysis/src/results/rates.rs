//! How a rate changes along the axis, and the Universal Scalability Law.

use super::{Best, Estimate, ScalingReason, TrendReason};
use schemars::JsonSchema;
use serde::Serialize;

/// The trend of a series of which more is better: a rate of replies over dead connections.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Rate {
    /// The trend.
    pub trend: RateTrend,
    /// The point that the last point is compared with: the first, or the peak where the rate rises and falls again.
    pub from: u64,
    /// The last point with a figure.
    pub to: u64,
    /// The median there.
    pub level: f64,
    /// The rate at `to` over that at `from`: 0.5 is half, and 0 where nothing was done or no cell finished.
    pub factor: Estimate,
    /// The best inner point, where it is surely better than both ends, by however little.
    pub peak: Option<Best>,
    /// Where the rate is half of that at `from`, if it collapses.
    pub halved: Option<Halved>,
    /// Why it is undecided.
    pub reason: Option<TrendReason>,
}

/// The trend of a rate: the fixed vocabulary of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RateTrend {
    /// It stays within ×1.3 either way.
    Holds,
    /// It rises by more than ×1.3.
    Rises,
    /// It rises and falls again, by more than ×1.3, but not surely to less than half of its best.
    Peaks,
    /// It falls by more than ÷1.3, but not surely to less than half.
    Falls,
    /// It surely falls to less than half.
    Collapses,
    /// The evidence contradicts itself or is too thin.
    Undecided,
}

impl RateTrend {
    /// Its rank from the worst, 0, to the best; `None` where several trends are possible.
    pub const fn rank(self) -> Option<u8> {
        match self {
            Self::Collapses => Some(0),
            Self::Falls => Some(1),
            Self::Peaks => Some(2),
            Self::Holds => Some(3),
            Self::Rises => Some(4),
            Self::Undecided => None,
        }
    }
}

/// How a rate grows with those that work side by side, up to one for each CPU.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Speedup {
    /// The verdict.
    pub verdict: SpeedupVerdict,
    /// The first point.
    pub from: u64,
    /// The point with one for each.
    pub to: u64,
    /// The median there.
    pub level: f64,
    /// The rate at `to` over that at `from`.
    pub factor: Estimate,
    /// What that would be if each did as much as at the first point: their number over that at the first point.
    pub linear: f64,
    /// The peak, where it is clearly better than both ends.
    pub peak: Option<Best>,
    /// The rate at `to` over that at the peak, where there is one.
    pub after_peak: Option<Estimate>,
    /// Why the verdict is open.
    #[serde(skip)]
    pub reason: Option<TrendReason>,
    /// What two of them are compared by.
    #[serde(flatten)]
    pub by_rounds: ByRounds,
}

/// How many times more is done at the last point than at the first, by means over rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ByRounds {
    /// The rounds at either end, the fewer of them.
    pub rounds: u32,
    /// The logarithm of the ratio.
    #[serde(skip)]
    pub rise: f64,
    /// Its standard error.
    #[serde(skip)]
    pub error: f64,
}

/// How a rate grows with those that work side by side: the fixed vocabulary of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpeedupVerdict {
    /// It grows in proportion, or nearly.
    Scales,
    /// It grows by more than ×1.3, and by less than that.
    Rises,
    /// All together do as much as the first alone.
    Holds,
    /// It grows and falls again, by more than ÷1.3, but not surely to less than half of its best.
    Peaks,
    /// All together do less than the first alone.
    Falls,
    /// All together do less than half.
    Collapses,
    /// The evidence is too thin.
    Undecided,
}

/// The Universal Scalability Law: X(N) = λN / (1 + σ(N − 1) + κN(N − 1)).
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Scaling {
    /// λ: the rate at N = 1.
    pub single: Estimate,
    /// σ, contention: the share of the work that waits its turn.
    pub contention: Estimate,
    /// κ, crosstalk: the cost of each pair.
    pub crosstalk: Estimate,
    /// The N of the highest rate, √((1 − σ)/κ) and at least 1; absent where the figures leave open whether there is one.
    pub peak: Option<Estimate>,
    /// The root mean square of the logarithms of figure over law.
    pub residual: f64,
    /// Why the law does not apply; absent where it does.
    pub reason: Option<ScalingReason>,
}

/// Where a rate has fallen to half.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Halved {
    /// The value on the axis. Equal ends mean that nothing was repeated and no CI is known.
    pub at: Estimate,
    /// The last point before it at which the rate is above half.
    pub after: u64,
    /// The next point.
    pub before: u64,
    /// Whether the CI of `at` is too wide to name a value.
    pub vague: bool,
}
