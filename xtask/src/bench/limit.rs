//! The limits that ours has to keep, compared with C.

use std::fmt;

/// How far the ratio ours/C may lie on the side that is worse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Of times, where less is better.
    Most(f64),
    /// Of rates, where more is better.
    Least(f64),
    /// Of times that are to be the same: neither side may be this many times the other.
    Within(f64),
}

impl Limit {
    /// The limit turned, with what is compared, so that less is better.
    pub fn turned(self) -> (f64, f64) {
        match self {
            Self::Most(max) | Self::Within(max) => (1.0, max),
            Self::Least(min) => (-1.0, -min),
        }
    }

    /// What is demanded, as a number.
    pub fn demanded(self) -> f64 {
        match self {
            Self::Most(demanded) | Self::Least(demanded) | Self::Within(demanded) => demanded,
        }
    }

    /// `≤ 1.03`.
    pub fn goal(self) -> String {
        let sign = match self {
            Self::Most(_) => "≤",
            Self::Least(_) => "≥",
            Self::Within(_) => "within ×",
        };
        format!("{sign} {:.3}", self.demanded())
    }

    /// The better one of any number of figures; none of nothing.
    pub fn best(self, figures: impl Iterator<Item = f64>) -> Option<f64> {
        let (sign, _) = self.turned();
        figures.min_by(|left, right| (sign * left).total_cmp(&(sign * right)))
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Most(max) => write!(f, "over {max}"),
            Self::Least(min) => write!(f, "under {min}"),
            Self::Within(max) => write!(f, "not within {max}"),
        }
    }
}
