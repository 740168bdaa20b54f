//! Why a verdict is open, or what it rests on: data with the figures that decided it.

use super::{ComparisonOutcome, Estimate};
use schemars::JsonSchema;
use serde::Serialize;

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
    FactorTooWide,
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
            Self::FactorTooWide | Self::RivalClasses => Some(Remedy::MoreRounds),
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
    pub const fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::IntervalTooWide => Some(Remedy::MoreRounds),
            Self::NotPositive { .. } | Self::FallsAndRises { .. } | Self::CpusTaken { .. } => None,
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
    /// See [`GrowthReason::remedy`]. Leads that alternate are significant, each: more rounds don't settle them.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Unknown { reason: ComparisonReason::TooFewCommonPoints { .. } } => {
                Some(Remedy::MorePoints)
            }
            Self::Unknown { reason: ComparisonReason::WithinScatter { .. } } => {
                Some(Remedy::MoreRounds)
            }
            Self::TooClose { .. } if !self.is_same() => Some(Remedy::MoreRounds),
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
