//! What a verdict means for whoever has to choose: the one place that sorts classes and trends.

use super::thresholds::{FALL_FACTOR_MIN, FLAT_FACTOR_MAX};
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
            Class::Constant | Class::DoesNotGrow | Class::Falls => Self::Holds,
            // Classes that may be flat, and those that are nearly so over a short range.
            Class::Logarithmic
            | Class::SquareRoot
            | Class::SlowerThanLinear
            | Class::AtMostLinear
                if growth.factor <= FLAT_FACTOR_MAX =>
            {
                Self::Holds
            }
            Class::Logarithmic | Class::SlowerThanLinear => Self::Slows,
            Class::SquareRoot | Class::AtMostLinear | Class::Linear | Class::AtLeastLinear => {
                Self::Grows
            }
            Class::Linearithmic | Class::FasterThanLinear | Class::Quadratic => Self::Grows,
        }
    }
}

impl From<&Rate> for VerdictGroup {
    fn from(rate: &Rate) -> Self {
        match rate.trend {
            RateTrend::Holds | RateTrend::Rises | RateTrend::HoldsOrRises => Self::Holds,
            RateTrend::HoldsOrFalls if rate.factor.low * FALL_FACTOR_MIN > 1.0 => Self::Holds,
            RateTrend::HoldsOrFalls | RateTrend::Undecided | RateTrend::DoesNotCollapse => {
                Self::Undecided
            }
            RateTrend::Peaks | RateTrend::Falls | RateTrend::Collapses => {
                let is_small = rate.factor.value * FALL_FACTOR_MIN > 1.0;
                if is_small { Self::Slows } else { Self::Falls }
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::Basis;

    fn group(class: Class, factor: f64) -> VerdictGroup {
        let (from, to, basis) = (10, 1_000, Basis::Medians);
        let growth = Growth {
            class,
            classes: vec![],
            factor,
            from,
            to,
            exponent: None,
            constant: None,
            reason: None,
            basis,
        };
        VerdictGroup::from(&growth)
    }

    #[test]
    fn a_class_that_may_be_flat_grows_by_its_factor_only() {
        for class in
            [Class::Logarithmic, Class::SquareRoot, Class::SlowerThanLinear, Class::AtMostLinear]
        {
            assert_eq!(group(class, 1.3), VerdictGroup::Holds, "{class:?}");
            assert_ne!(group(class, 1.31), VerdictGroup::Holds, "{class:?}");
        }
        assert_eq!(group(Class::AtMostLinear, 40.0), VerdictGroup::Grows);
        assert_eq!(group(Class::SlowerThanLinear, 40.0), VerdictGroup::Slows);
        assert_eq!(group(Class::Linear, 1.2), VerdictGroup::Grows);
    }
}
