//! How a rate grows with threads or processes that work side by side, up to one for each CPU.

use super::prelude::*;
use crate::finding::sentence::list_of;
use crate::finding::verdict::VerdictWord;
use crate::format::{self, count, counted, factor, interval, multiple, number_word, significant};
use crate::reasons;
use analysis::{RateTrend, Remedy, TrendReason};

pub use analysis::Speedup;

/// Of more speedups than this that stop scaling the others are counted.
const STOPPED_MAX: usize = 8;
/// The same of those that scale.
const SCALING_MAX: usize = 3;

impl FindingKind for Speedup {
    fn find(context: &Context<'_>) -> Vec<Finding> {
        Finding::of_rows(context.rows(), |_, row| row.speedup.clone())
    }

    fn section(&self) -> Section {
        match self.verdict {
            RateTrend::Scales => Section::Holds,
            RateTrend::Rises => Section::WorthKnowing,
            RateTrend::Undecided => Section::Open,
            // Whether two do as much as one or less, they do not do more.
            _ => Section::StopsScaling,
        }
    }

    /// How many times more would be done in proportion.
    fn rank(&self) -> f64 {
        (self.linear / self.factor.value).max(1.0)
    }

    /// From another first point, others are in proportion.
    fn joins(&self, second: &Self) -> bool {
        let is_open = self.section() == Section::Open;
        self.to == second.to
            && self.linear.total_cmp(&second.linear).is_eq()
            && (!is_open || self.reason == second.reason)
    }

    /// The least first: `dup-close ×0.547, brk ×0.798 and open-close-one ×1.00 (by = threads) stop scaling from 1 to 2
    /// threads: more than one is wasted`, `stat ×1.46 and accept-one ×1.55 rise from 1 to 2 threads, of ×2 in proportion`;
    /// `getppid and poll scale ×1.98 to ×2.03 with 2 threads`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let (from, to) = (all[0].from, counted(&count(all[0].to), names.axis()));
        let range = format!("from {} to {to}", count(from));
        let linear = format!(", of ×{} in proportion", multiple(all[0].linear));
        let labels = || names.subjects.iter().map(|subject| vec![names.label(subject)]).collect();
        let gains = Range::new(all.iter().map(|speedup| speedup.factor.value)).format(factor);
        let (items, max, rest) = match all[0].section() {
            Section::Holds => {
                let with = if from == 1 { format!("with {to}") } else { range };
                (labels(), SCALING_MAX, format!("{} {gains} {with}", names.verb("scales", "scale")))
            }
            Section::Open => {
                let be = names.verb("is", "are");
                let because = reasons::because_of_trend(all[0].reason.as_ref());
                (labels(), STOPPED_MAX, format!("{be} undecided: {gains} {range}{linear}{because}"))
            }
            section => {
                let has_no_peak = all.iter().all(|speedup| speedup.peak.is_none());
                let wasted =
                    if has_no_peak && from == 1 { ": more than one is wasted" } else { "" };
                let rest = if section == Section::WorthKnowing {
                    format!("{} {range}{linear}", names.verb("rises", "rise"))
                } else {
                    format!("{} scaling {range}{wasted}", names.verb("stops", "stop"))
                };
                (with_gains(all, names), STOPPED_MAX, rest)
            }
        };
        let more = items.len().saturating_sub(max);
        let more = (more > 0).then(|| vec![text(format!("{} more", number_word(more)))]);
        let shown: Vec<Vec<Part>> = items.into_iter().take(max).chain(more).collect();
        let parts = list_of("and", shown);
        Sentence::new(parts.into_iter().chain([text(format!("{} {rest}", names.qualifier()))]))
    }

    /// `×1.98 (95 % CI 1.93–2.02)`, `falls ÷1.31 (95 % CI 1.20–1.44)`.
    fn detail(&self, _: &Names<'_>) -> String {
        let word = format::trend(self.verdict);
        let change = format!("{}{}", factor(self.factor.value), interval(self.factor, significant));
        match self.verdict {
            RateTrend::Scales | RateTrend::Rises | RateTrend::Undecided => change,
            RateTrend::Holds => format!("{word} {change}"),
            RateTrend::Falls | RateTrend::Collapses | RateTrend::Peaks => {
                let behind = self.peak.zip(self.after_peak);
                let from = behind.map(|(peak, _)| format!(" from {}", count(peak.at)));
                let fall = behind.map_or(self.factor, |(_, change)| change).inverse();
                let ci = interval(fall, significant);
                format!("{word} {}{}{ci}", format::fall(fall.value), from.unwrap_or_default())
            }
        }
    }

    fn tag(all: &[Self]) -> Tag {
        let first = VerdictWord::from(&all[0]).tag;
        let is_shared = all.iter().all(|speedup| speedup.verdict == all[0].verdict);
        if is_shared { first } else { Tag { word: "stops scaling", ..first } }
    }

    fn advised_at(&self) -> Option<u64> {
        matches!(self.section(), Section::StopsScaling | Section::WorthKnowing).then_some(self.to)
    }

    fn remedy(&self) -> Option<Remedy> {
        self.reason.as_ref().and_then(TrendReason::remedy)
    }
}

/// Each with its gain, and its peak if it has one: `brk ×0.798`.
fn with_gains(all: &[Speedup], names: &Names<'_>) -> Vec<Vec<Part>> {
    let mut sorted: Vec<(&String, &Speedup)> = names.subjects.iter().zip(all).collect();
    sorted.sort_by(|a, b| a.1.factor.value.total_cmp(&b.1.factor.value));
    let item = |(subject, speedup): (&String, &Speedup)| {
        let peak = speedup.peak.map(|peak| format!(" (peak at {})", count(peak.at)));
        let gain = factor(speedup.factor.value);
        vec![names.label(subject), text(format!(" {gain}{}", peak.unwrap_or_default()))]
    };
    sorted.into_iter().map(item).collect()
}
