//! Whether a cost grows at most like a class.

use super::curves::growth_of;
use crate::thresholds::{FLAT_FACTOR_MAX, STEP_FACTOR_MAX};
use crate::{Class, Growth, GrowthReason, Remedy, Row};
use schemars::JsonSchema;
use serde::Serialize;

/// Whether a series keeps to a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kept {
    /// It does.
    Holds,
    /// It grows faster.
    Fails,
    /// Either may be.
    Open,
}

/// The classes that a limit may be, ascending.
pub const LIMITS: [Class; 6] = [
    Class::Constant,
    Class::Logarithmic,
    Class::SquareRoot,
    Class::Linear,
    Class::Linearithmic,
    Class::Quadratic,
];

/// A series held against a limit.
pub struct LimitCheck {
    /// Whether it keeps to the limit.
    pub kept: Kept,
    /// Where that is open, what may decide it.
    pub remedy: Option<Remedy>,
}

/// Holds `row`, which is a cost, against `limit`, one of [`LIMITS`]. A series with fewer than two points is open, and so is
/// one that would hold but for cells that failed: what they cost is not known.
pub fn at_most(row: &Row, limit: Class) -> LimitCheck {
    let kept = row.growth.as_ref().map_or(Kept::Open, |growth| kept(growth, limit));
    if kept == Kept::Holds && !row.failed.is_empty() {
        return LimitCheck { kept: Kept::Open, remedy: None };
    }
    let points = row.cells.iter().flatten().map(|cell| cell.point);
    let reason = row.growth.as_ref().and_then(|growth| growth.reason);
    let reason = reason.unwrap_or_else(|| GrowthReason::order_open(points));
    LimitCheck { kept, remedy: reason.remedy().filter(|_| kept == Kept::Open) }
}

/// It fails where all classes that are left grow faster than the limit, or its factor is beyond the limit's own by more
/// than leaving caches costs; else it holds where none does. Linear holds with n log n, since noise
/// and caches leave both of most lines. What is undecided for its wide interval holds if its factor is surely no
/// greater than the limit's own; so does what grows by no more than is flat.
fn kept(growth: &Growth, limit: Class) -> Kept {
    let own_factor = own_factor(growth, limit);
    match growth.class {
        _ if matches!(growth.reason, Some(GrowthReason::GrowsAndFalls { .. })) => Kept::Open,
        Class::Constant | Class::Falls => Kept::Holds,
        Class::Undecided => {
            let is_wide = matches!(growth.reason, Some(GrowthReason::FactorTooWide { .. }));
            if is_wide && growth.factor.high <= own_factor { Kept::Holds } else { Kept::Open }
        }
        _ if growth.factor.value <= FLAT_FACTOR_MAX && growth.factor.high <= own_factor => {
            Kept::Holds
        }
        _ if limit == Class::Constant && growth.factor.low <= FLAT_FACTOR_MAX => Kept::Open,
        _ if limit == Class::Quadratic => quadratic(growth),
        _ => {
            let fastest = if limit == Class::Linear { Class::Linearithmic } else { limit };
            let (lowest, highest) = (growth.classes.first(), growth.classes.last());
            let is_beyond = growth.factor.low > own_factor * STEP_FACTOR_MAX;
            // A power between two classes is the lower one with steps. A curve from zero on may have any factor.
            let is_power = is_beyond && growth_of(limit, growth.from as f64) > 0.0;
            match (lowest, highest) {
                (Some(lowest), _) if *lowest > limit => Kept::Fails,
                (_, Some(highest)) if *highest <= fastest && !is_power => Kept::Holds,
                _ if is_beyond => Kept::Fails,
                _ => Kept::Open,
            }
        }
    }
}

/// No class grows faster than n²: the exponent decides.
fn quadratic(growth: &Growth) -> Kept {
    // Half-way from n² to n³. Below n², classes decide.
    let exponent_max = f64::midpoint(2.0, 3.0);
    match (growth.classes.last(), growth.exponent) {
        (Some(highest), _) if *highest < Class::Quadratic => Kept::Holds,
        (_, Some(exponent)) if exponent.low > exponent_max => Kept::Fails,
        (_, Some(exponent)) if exponent.high <= exponent_max => Kept::Holds,
        _ => Kept::Open,
    }
}

/// How much a cost of this class grows over the points of `growth`, from 2 on; of a constant, as much as is flat.
fn own_factor(growth: &Growth, limit: Class) -> f64 {
    if limit == Class::Constant {
        return FLAT_FACTOR_MAX;
    }
    let [from, to] = [growth.from, growth.to].map(|point| growth_of(limit, point.max(2) as f64));
    to / from
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Estimate;

    fn growing(classes: &[Class]) -> Growth {
        let exact = |value: f64| Estimate { value, low: value, high: value };
        Growth {
            class: Class::Grows,
            classes: classes.to_vec(),
            factor: exact(40.0),
            from: 10,
            to: 1000,
            best: None,
            exponent: None,
            constant: None,
            reason: None,
        }
    }

    #[test]
    fn what_is_left_decides() {
        use Class::{Linear, Linearithmic, Logarithmic, Quadratic, SquareRoot};
        for (left, limit, wanted) in [
            (&[Linear][..], Linear, Kept::Holds),
            (&[SquareRoot, Linear], Linear, Kept::Holds),
            (&[Linear, Linearithmic], Linear, Kept::Holds),
            (&[Linear, Linearithmic, Quadratic], Linear, Kept::Open),
            (&[Linearithmic], Linear, Kept::Fails),
            (&[Linearithmic, Quadratic], Linear, Kept::Fails),
            (&[Linearithmic, Quadratic], Linearithmic, Kept::Open),
            (&[Linear, Linearithmic], Logarithmic, Kept::Fails),
            (&[Logarithmic], Logarithmic, Kept::Holds),
            (&[Logarithmic], Class::Constant, Kept::Fails),
            (&[Linear, Linearithmic], Quadratic, Kept::Holds),
            (&[Quadratic], Quadratic, Kept::Open),
        ] {
            assert_eq!(kept(&growing(left), limit), wanted, "{left:?} at most {limit:?}");
        }
    }

    #[test]
    fn the_exponent_decides_beyond_quadratic() {
        let with = |low, high| Growth {
            exponent: Some(Estimate { value: f64::midpoint(low, high), low, high }),
            ..growing(&[Class::Quadratic])
        };
        let judged = |low, high| kept(&with(low, high), Class::Quadratic);
        assert_eq!(judged(1.9, 2.2), Kept::Holds);
        assert_eq!(judged(2.8, 3.1), Kept::Fails);
        assert_eq!(judged(2.0, 3.0), Kept::Open);
    }

    #[test]
    fn what_is_undecided_holds_below_the_limits_own_factor() {
        let undecided = |high| Growth {
            class: Class::Undecided,
            factor: Estimate { value: 1.2, low: 0.9, high },
            reason: Some(GrowthReason::FactorTooWide { falls: false }),
            ..growing(&[])
        };
        let hardly = Growth {
            factor: Estimate { value: 1.2, low: 1.15, high: 1.31 },
            ..growing(&[Class::Linear])
        };
        assert_eq!(kept(&hardly, Class::Logarithmic), Kept::Holds);
        assert_eq!(kept(&hardly, Class::Constant), Kept::Open);
        assert_eq!(kept(&undecided(1.5), Class::Linear), Kept::Holds);
        assert_eq!(kept(&undecided(150.0), Class::Linear), Kept::Open);
        assert_eq!(kept(&undecided(1.5), Class::Constant), Kept::Open);
        // From 10 to 1,000 a logarithm grows ×3.
        assert_eq!(kept(&undecided(2.9), Class::Logarithmic), Kept::Holds);
        assert_eq!(kept(&undecided(3.1), Class::Logarithmic), Kept::Open);
    }

    #[test]
    fn a_second_class_that_is_left_leaves_it_open() {
        let left = growing(&[Class::Logarithmic, Class::SquareRoot]);
        let doubled = Growth { factor: Estimate { value: 2.0, low: 2.0, high: 2.0 }, ..left };
        assert_eq!(kept(&doubled, Class::Logarithmic), Kept::Open);
    }

    #[test]
    fn a_factor_beyond_what_caches_cost_fails() {
        use Class::{Linear, Linearithmic, Quadratic};
        let grown = |left: &[Class], low| Growth {
            factor: Estimate { value: low, low, high: low },
            ..growing(left)
        };
        // Of ×100 of a line, caches make ×1,600.
        for (left, below) in [
            (&[Linear, Linearithmic, Quadratic][..], Kept::Open),
            (&[Linear, Linearithmic], Kept::Holds),
        ] {
            assert_eq!(kept(&grown(left, 1500.0), Linear), below);
            assert_eq!(kept(&grown(left, 1700.0), Linear), Kept::Fails);
        }
    }

    #[test]
    fn a_constant_limit_fails_beyond_what_is_flat() {
        let grown = |low| Growth {
            factor: Estimate { value: 1.5, low, high: 1.7 },
            ..growing(&[Class::Logarithmic])
        };
        assert_eq!(kept(&grown(1.05), Class::Constant), Kept::Open);
        assert_eq!(kept(&grown(1.35), Class::Constant), Kept::Fails);
    }

    #[test]
    fn what_its_ends_do_not_show_is_open() {
        let with = |class, reason| Growth {
            class,
            factor: Estimate { value: 0.5, low: 0.5, high: 0.5 },
            reason: Some(reason),
            ..growing(&[])
        };
        let hump = GrowthReason::GrowsAndFalls { point: 30 };
        for growth in [with(Class::Falls, hump), with(Class::Undecided, GrowthReason::NotPositive)]
        {
            assert_eq!(kept(&growth, Class::Quadratic), Kept::Open);
        }
    }
}
