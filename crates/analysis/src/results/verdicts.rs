//! How a cost grows along the axis, how a rate changes, and why a verdict is open.

use super::{ComparisonOutcome, Estimate};
use crate::thresholds::{EVEN, FLAT_FACTOR_MAX};
use model::{FailureReason, LimitCause, Value};
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

impl Growth {
    /// Whether the exponent tells how it grows: that of what is above a constant part does, and else where it makes the
    /// factor from the first to the last point, and the class is not of a steeper curve.
    pub fn is_power(&self) -> bool {
        let Some(exponent) = self.exponent else { return false };
        if self.constant.is_some() {
            return true;
        }
        let is_steep = self.classes.first().is_some_and(|lowest| *lowest >= Class::Linear);
        if self.from == 0 || (is_steep && exponent.value < EVEN) {
            return false;
        }
        let range = (self.to as f64 / self.from as f64).ln();
        let made = exponent.map(|exponent| exponent * range);
        let factor = self.factor.map(f64::ln);
        let meet = made.low <= factor.high && factor.low <= made.high;
        meet || (made.value - factor.value).abs() <= FLAT_FACTOR_MAX.ln()
    }
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
    /// Whether either factor is beyond a flat one.
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

/// The trend of a series where more is better: a rate of replies over dead connections.
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
    /// It rises: by more than ×1.3, or surely by more than ×1.14.
    Rises,
    /// It rises in proportion to those that work side by side, or nearly: a speedup's alone.
    Scales,
    /// It rises by more than ×1.3 and falls again, but not surely to less than half of its best.
    Peaks,
    /// It falls: by more than ÷1.3, or surely by more than ÷1.14, but not surely to less than half; a speedup, surely to less
    /// than at the first point.
    Falls,
    /// It surely falls to less than half.
    Collapses,
    /// The evidence contradicts itself or is too thin.
    Undecided,
}

impl RateTrend {
    /// Its rank from the worst, 0, to the best; `None` where several trends are possible.
    pub(crate) fn rank(self) -> Option<usize> {
        let ranked = [Self::Collapses, Self::Falls, Self::Peaks, Self::Holds, Self::Rises];
        ranked.iter().position(|trend| *trend == self)
    }
}

/// How a rate grows with those that work side by side, up to one for each CPU.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Speedup {
    /// The verdict.
    pub verdict: RateTrend,
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
    pub reason: Option<TrendReason>,
    /// The rounds at either end, the fewer of them.
    pub rounds: u32,
    /// The logarithm of how many times more is done at the last point than at the first, by means over rounds.
    #[serde(skip)]
    pub rise: f64,
    /// Its standard error.
    #[serde(skip)]
    pub rise_error: f64,
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

/// Why a series has no figure at a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum MissingFigure {
    /// The cells failed there; the reason of the first.
    Failed {
        /// The reason.
        reason: FailureReason,
    },
    /// The trajectory ended before it came there.
    CutShort {
        /// The last point that it reached.
        reached: u64,
        /// Why it ended.
        reason: FailureReason,
    },
    /// The cells were measured, but not this metric.
    MetricMissing {
        /// The metric.
        metric: String,
    },
    /// The run ended before the cells were measured.
    RunEnded,
    /// The plan left the cells out.
    LeftOut {
        /// Why.
        because: String,
    },
    /// Only what can't be measured at a further point is measured there, as far as it goes.
    ClampedOnly {
        /// The point that was requested.
        requested: Value,
        /// Why that is not possible for the figures that are measured there.
        cause: LimitCause,
    },
    /// Nothing was planned there.
    NotPlanned,
    /// The table of another program has no row for it.
    NoRow,
}

/// Why growth is undecided, or its order open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum GrowthReason {
    /// A median is zero or below.
    NotPositive,
    /// The series has too few points.
    TooFewPoints {
        /// How many count.
        points: usize,
    },
    /// The points are too close together.
    RangeTooShort {
        /// The last point over the first.
        factor: f64,
    },
    /// The interval of the factor is too wide.
    FactorTooWide {
        /// Whether it more likely falls.
        falls: bool,
    },
    /// The cost grows and falls again.
    GrowsAndFalls {
        /// The point of the highest.
        point: u64,
    },
    /// Slower and faster classes than linear explain the figures.
    RivalClasses,
}

impl GrowthReason {
    /// What to measure for a decision; `None` where no run decides it.
    pub const fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::NotPositive | Self::GrowsAndFalls { .. } => None,
            Self::TooFewPoints { .. } => Some(Remedy::MorePoints),
            Self::RangeTooShort { .. } => Some(Remedy::WiderRange),
            Self::FactorTooWide { .. } | Self::RivalClasses => Some(Remedy::MoreRounds),
        }
    }
}

/// What to measure where the figures leave a verdict open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Remedy {
    /// The same with more rounds, on a quiet machine.
    MoreRounds,
    /// More points between the first and the last.
    MorePoints,
    /// Points further apart.
    WiderRange,
    /// The same where other processes leave the CPUs alone.
    QuietMachine,
}

/// Why a trend is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum TrendReason {
    /// The interval of the change is too wide to say whether the rate holds.
    IntervalTooWide,
    /// A median is zero or below.
    NotPositive {
        /// Its point.
        point: u64,
    },
    /// The rate falls and rises again.
    FallsAndRises {
        /// The first median over the lowest.
        fall: f64,
        /// The point of the lowest.
        point: u64,
    },
    /// Other processes, or a hypervisor, had CPUs that the workers would have needed to do more.
    CpusTaken {
        /// The CPUs that were left, on average over the run.
        left: f64,
    },
}

impl TrendReason {
    /// See [`GrowthReason::remedy`].
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::IntervalTooWide => Some(Remedy::MoreRounds),
            Self::CpusTaken { .. } => Some(Remedy::QuietMachine),
            Self::NotPositive { .. } | Self::FallsAndRises { .. } => None,
        }
    }
}

/// Why the Universal Scalability Law does not apply.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ScalingReason {
    /// The series has too few points.
    TooFewPoints {
        /// How many the law takes.
        required: usize,
    },
    /// A median is zero or below.
    NotPositive,
    /// The medians are so uncertain that any law would fit.
    TooUncertain {
        /// The usual error, as a factor.
        error: f64,
    },
    /// The contention would be above 1: each further one costs more than it brings.
    ContentionAboveOne,
    /// The figures are too far from the law.
    PoorFit {
        /// The largest distance, as a factor.
        max: f64,
    },
}

/// Why a comparison of two series is open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum ComparisonReason {
    /// They share fewer than two points.
    TooFewCommonPoints {
        /// How many they share.
        points: usize,
    },
    /// Their leads are within the scatter of their figures.
    WithinScatter {
        /// The largest lead, as a factor.
        max_lead: f64,
        /// One over the other, over all points together; absent where the error is unknown.
        ratio: Option<Estimate>,
    },
}

impl ComparisonOutcome {
    /// Whether the two are the same, within a bound that is known.
    pub fn is_same(&self) -> bool {
        matches!(self, Self::TooClose { ratio: Some(ratio), .. } if ratio.close_within().is_some())
    }

    /// See [`GrowthReason::remedy`]. Leads that alternate are significant, each: more rounds don't settle them.
    pub fn remedy(&self) -> Option<Remedy> {
        use ComparisonReason::TooFewCommonPoints;
        match self {
            Self::Unknown { reason: TooFewCommonPoints { .. } } => Some(Remedy::MorePoints),
            Self::Unknown { .. } | Self::TooClose { ratio: None, .. } => Some(Remedy::MoreRounds),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scatter_is_cured_by_rounds() {
        let unknown = |reason| ComparisonOutcome::Unknown { reason }.remedy();
        let few = ComparisonReason::TooFewCommonPoints { points: 1 };
        assert_eq!(unknown(few), Some(Remedy::MorePoints));
        let scatter = ComparisonReason::WithinScatter { max_lead: 1.2, ratio: None };
        assert_eq!(unknown(scatter), Some(Remedy::MoreRounds));
        assert_eq!(ComparisonOutcome::Unsettled { changes: 4, max_lead: 1.5 }.remedy(), None);
        let few = GrowthReason::TooFewPoints { points: 2 };
        assert_eq!(few.remedy(), Some(Remedy::MorePoints));
        assert_eq!(TrendReason::FallsAndRises { fall: 2.0, point: 8 }.remedy(), None);
    }
}
