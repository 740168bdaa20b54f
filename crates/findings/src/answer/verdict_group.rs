//! What a verdict means for whoever has to choose: the one place that sorts classes and trends.

use analysis::{Class, Growth, Rate, RateTrend, Speedup, SpeedupVerdict};

/// What a verdict means for whoever has to choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictGroup {
    /// A cost that grows with the axis.
    Grows,
    /// A rate that falls along it.
    Falls,
    /// A cost that grows slowly, or a rate that falls a little.
    Slows,
    /// A cost that does not grow, or a rate that does not fall.
    Holds,
    /// The figures do not say.
    Undecided,
}

impl From<&Growth> for VerdictGroup {
    fn from(growth: &Growth) -> Self {
        match growth.class {
            Class::Undecided => Self::Undecided,
            Class::Constant | Class::Falls => Self::Holds,
            Class::Logarithmic | Class::SlowerThanLinear => Self::Slows,
            Class::Grows
            | Class::SquareRoot
            | Class::AtMostLinear
            | Class::Linear
            | Class::AtLeastLinear
            | Class::Linearithmic
            | Class::FasterThanLinear
            | Class::Quadratic => Self::Grows,
        }
    }
}

impl From<&Rate> for VerdictGroup {
    fn from(rate: &Rate) -> Self {
        match rate.trend {
            RateTrend::Holds | RateTrend::Rises => Self::Holds,
            RateTrend::Peaks | RateTrend::Falls | RateTrend::Collapses => Self::Falls,
            RateTrend::Undecided => Self::Undecided,
        }
    }
}

impl From<&Speedup> for VerdictGroup {
    fn from(speedup: &Speedup) -> Self {
        match speedup.verdict {
            SpeedupVerdict::Scales => Self::Holds,
            SpeedupVerdict::Rises => Self::Slows,
            SpeedupVerdict::Holds
            | SpeedupVerdict::Peaks
            | SpeedupVerdict::Falls
            | SpeedupVerdict::Collapses => Self::Falls,
            SpeedupVerdict::Undecided => Self::Undecided,
        }
    }
}
