//! A finding in a word or two: what stands in a table's last column and in a tag next to a sentence.

use crate::format::{count, divided, factor, ratio};
use crate::kinds::Section;
use analysis::thresholds::FLAT_FACTOR_MAX;
use analysis::{Class, Growth, Rate, RateTrend, Row, Speedup};

/// An order of growth or a trend, with its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictWord {
    /// `linear`, `collapses`.
    pub tag: Tag,
    /// Its size: `×391`, `÷8.60`.
    pub by: String,
}

/// A word or two, with the attention that they ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// `linear`, `overtakes`.
    pub word: &'static str,
    /// How much attention.
    pub tone: Tone,
}

impl Tag {
    /// A `word` of this `tone`.
    pub const fn new(word: &'static str, tone: Tone) -> Self {
        Self { word, tone }
    }
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

/// What an order of growth is called, how much it asks for attention, and where an answer has it.
pub(crate) const fn of_class(class: Class) -> (Tag, Section) {
    use Section::{Holds, Open, StopsScaling, WorthKnowing};
    match class {
        Class::Constant => (Tag::new("flat", Tone::Low), Holds),
        Class::Falls => (Tag::new("falls", Tone::Low), Holds),
        Class::Logarithmic => (Tag::new("logarithmic", Tone::Low), WorthKnowing),
        Class::SlowerThanLinear => (Tag::new("slower than linear", Tone::Middle), WorthKnowing),
        Class::Grows => (Tag::new("grows", Tone::Middle), StopsScaling),
        Class::SquareRoot => (Tag::new("square root", Tone::Middle), StopsScaling),
        Class::AtMostLinear => (Tag::new("at most linear", Tone::Middle), StopsScaling),
        Class::Linear => (Tag::new("linear", Tone::Middle), StopsScaling),
        Class::AtLeastLinear => (Tag::new("at least linear", Tone::Middle), StopsScaling),
        Class::Linearithmic => (Tag::new("n log n", Tone::High), StopsScaling),
        Class::Quadratic => (Tag::new("quadratic", Tone::High), StopsScaling),
        Class::FasterThanLinear => (Tag::new("faster than linear", Tone::High), StopsScaling),
        Class::Undecided => (Tag::new("undecided", Tone::Open), Open),
    }
}

/// The same of what a rate does.
pub(crate) const fn of_trend(trend: RateTrend) -> (Tag, Section) {
    match trend {
        RateTrend::Holds => (Tag::new("holds", Tone::Low), Section::Holds),
        RateTrend::Rises => (Tag::new("rises", Tone::Low), Section::Holds),
        RateTrend::Scales => (Tag::new("scales", Tone::Low), Section::Holds),
        RateTrend::Peaks => (Tag::new("peaks", Tone::Middle), Section::StopsScaling),
        RateTrend::Falls => (Tag::new("falls", Tone::Middle), Section::StopsScaling),
        RateTrend::Collapses => (Tag::new("collapses", Tone::High), Section::StopsScaling),
        RateTrend::Undecided => (Tag::new("undecided", Tone::Open), Section::Open),
    }
}

/// Where an answer has what a factor grew by: what is no more than flat stops nothing, though it surely grows.
pub(crate) fn of_grown(section: Section, factor: f64) -> Section {
    match section {
        Section::StopsScaling if factor <= FLAT_FACTOR_MAX => Section::WorthKnowing,
        section => section,
    }
}

impl From<&Growth> for VerdictWord {
    fn from(growth: &Growth) -> Self {
        Self { tag: of_class(growth.class).0, by: factor(growth.factor.value) }
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
        Self { tag: of_trend(rate.trend).0, by }
    }
}

impl From<&Speedup> for VerdictWord {
    fn from(speedup: &Speedup) -> Self {
        // Two that do as much as one are no gain, and fewer are a loss.
        let usual = of_trend(speedup.verdict).0;
        let tone = match speedup.verdict {
            RateTrend::Rises | RateTrend::Holds => Tone::Middle,
            RateTrend::Falls => Tone::High,
            _ => usual.tone,
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
        Self { tag: Tag { tone, ..usual }, by }
    }
}

impl VerdictWord {
    /// How a series grows, or where its rate goes, where the figures say so.
    pub fn new(row: &Row) -> Option<Self> {
        let growth = row.growth.as_ref().map(Self::from);
        let speedup = || row.speedup.as_ref().map(Self::from);
        growth.or_else(speedup).or_else(|| row.rate.as_ref().map(Self::from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_by_no_more_than_is_flat_stops_nothing() {
        let section = |factor| of_grown(of_class(Class::AtMostLinear).1, factor);
        assert_eq!([1.25, 1.35].map(section), [Section::WorthKnowing, Section::StopsScaling]);
        assert_eq!(of_grown(of_trend(RateTrend::Holds).1, 1.1), Section::Holds);
    }
}
