//! A finding in a word or two: what stands in a table's last column and in a tag next to a sentence.

use crate::format::{class, count, divided, factor, ratio, trend};
use analysis::{Class, Growth, Rate, RateTrend, Row, Speedup};

/// An order of growth or a trend, with its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictWord {
    /// `linear`, `collapses`.
    pub word: &'static str,
    /// Its size: `×391`, `÷8.60`.
    pub by: String,
    /// How much it asks for attention.
    pub tone: Tone,
}

/// A word or two, with the attention that they ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// `linear`, `overtakes`.
    pub word: &'static str,
    /// How much attention.
    pub tone: Tone,
}

/// How much a verdict asks for attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The system scales.
    Low,
    /// A cost to plan with.
    Middle,
    /// It limits what the system can do.
    High,
    /// The figures do not decide.
    Open,
    /// Neither good nor bad: a fact about the curve or about a comparison.
    Neutral,
}

impl From<Class> for Tone {
    fn from(class: Class) -> Self {
        match class {
            Class::Constant | Class::Falls | Class::Logarithmic => Self::Low,
            Class::Grows
            | Class::SquareRoot
            | Class::SlowerThanLinear
            | Class::AtMostLinear
            | Class::Linear
            | Class::AtLeastLinear => Self::Middle,
            Class::Linearithmic | Class::Quadratic | Class::FasterThanLinear => Self::High,
            Class::Undecided => Self::Open,
        }
    }
}

impl From<RateTrend> for Tone {
    fn from(trend: RateTrend) -> Self {
        match trend {
            RateTrend::Holds | RateTrend::Rises | RateTrend::Scales => Self::Low,
            RateTrend::Peaks | RateTrend::Falls => Self::Middle,
            RateTrend::Collapses => Self::High,
            RateTrend::Undecided => Self::Open,
        }
    }
}

impl From<&Growth> for VerdictWord {
    fn from(growth: &Growth) -> Self {
        Self {
            word: class(growth.class),
            by: factor(growth.factor.value),
            tone: growth.class.into(),
        }
    }
}

impl From<&Rate> for VerdictWord {
    fn from(rate: &Rate) -> Self {
        let change = || factor(rate.factor.value);
        let by = match rate.trend {
            RateTrend::Holds => format!("×{}", ratio(rate.factor.value)),
            RateTrend::Falls | RateTrend::Collapses => divided(rate.factor.value),
            RateTrend::Peaks => {
                rate.peak.as_ref().map_or_else(change, |peak| format!("at {}", count(peak.at)))
            }
            RateTrend::Rises | RateTrend::Scales | RateTrend::Undecided => change(),
        };
        Self { word: trend(rate.trend), by, tone: rate.trend.into() }
    }
}

impl From<&Speedup> for VerdictWord {
    fn from(speedup: &Speedup) -> Self {
        // Two that do as much as one are no gain, and fewer are a loss.
        let tone = match speedup.verdict {
            RateTrend::Rises | RateTrend::Holds => Tone::Middle,
            RateTrend::Falls => Tone::High,
            verdict => verdict.into(),
        };
        let by = match speedup.verdict {
            RateTrend::Falls | RateTrend::Collapses => {
                divided(speedup.after_peak.unwrap_or(speedup.factor).value)
            }
            RateTrend::Peaks => speedup
                .peak
                .as_ref()
                .map_or_else(String::new, |peak| format!("at {}", count(peak.at))),
            _ => factor(speedup.factor.value),
        };
        Self { word: trend(speedup.verdict), by, tone }
    }
}

impl VerdictWord {
    /// How a series grows, or where its rate goes, where the figures say so.
    pub fn new(row: &Row) -> Option<Self> {
        let growth = row.growth.as_ref().map(Self::from);
        let speedup = || row.speedup.as_ref().map(Self::from);
        growth.or_else(speedup).or_else(|| row.rate.as_ref().map(Self::from))
    }

    /// Its word as a tag.
    pub fn tag(&self) -> Tag {
        Tag { word: self.word, tone: self.tone }
    }
}
