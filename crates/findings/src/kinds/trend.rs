//! Where a rate goes along the axis: whether it holds, rises, peaks, falls or collapses.

use super::prelude::*;
use super::unfinished::explains;
use crate::finding::clusters::{Cluster, clustered};
use crate::finding::verdict::{of_grown, of_trend};
use crate::format::{
    ci, clauses, count, counted, factor, fall, interval, list, multiple, position, ratio,
    significant, trend,
};
use crate::reasons;
use analysis::thresholds::COLLAPSE_MAX;
use analysis::{Best, Estimate, Halved, Rate, RateTrend, Remedy, TrendReason};
use std::collections::BTreeSet;

pub use analysis::Rate as Trend;

impl FindingKind for Trend {
    fn find(context: &Context<'_>) -> Vec<Finding> {
        let finding = |(table, row): (&analysis::Table, &analysis::Row)| {
            let rate = row.rate.clone().filter(|rate| !explains(row, rate))?;
            // Beyond the CPUs nothing more is to be expected: only a fall says something.
            let is_expected = row.speedup.is_some() && rate.section() == Section::Holds;
            let headline = table.headline && !is_expected;
            Some(Finding::about_row(table, row, rate).with_headline(headline))
        };
        context.rows().filter_map(finding).collect()
    }

    fn section(&self) -> Section {
        of_grown(of_trend(self.trend).1, 1.0 / self.factor.value)
    }

    fn rank(&self) -> f64 {
        match self.trend {
            RateTrend::Holds | RateTrend::Rises | RateTrend::Scales => 1.0,
            _ => (1.0 / self.factor.value).max(1.0),
        }
    }

    fn joins(&self, second: &Self) -> bool {
        let is_open = self.trend == RateTrend::Undecided;
        (self.trend, self.to) == (second.trend, second.to)
            && (!is_open || self.reason == second.reason)
            && self.section() == second.section()
    }

    /// `select and poll collapse ÷7.71 to ÷8.21 from 0 to 15,000 dead connections, leaving 11.2 to 12.6 k replies/s`, `futex holds
    /// between 3.31 and 3.90 M acquisitions/s`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let (to, word) = (all[0].to, trend(all[0].trend));
        let from = || all.iter().map(|rate| rate.from);
        let changes = Range::new(all.iter().map(|rate| rate.factor.value)).format(factor);
        match all[0].trend {
            RateTrend::Holds => {
                let levels = names.levels_within(from().min().unwrap_or(to), to);
                names.claim(format!(" {} {levels}", names.verb(word, "hold")))
            }
            RateTrend::Rises | RateTrend::Scales => {
                let (verb, range) = (names.verb(word, "rise"), names.range(from(), to));
                names.claim(format!(" {verb} {changes} {range}"))
            }
            RateTrend::Undecided => {
                let (be, range) = (names.verb("is", "are"), names.range(from(), to));
                let because = reasons::because_of_trend(all[0].reason.as_ref());
                // Where nothing was done at all there is no change.
                let change = all.iter().any(|rate| rate.factor.value > 0.0);
                let change = if change { format!(": {changes} {range}") } else { String::new() };
                names.claim(format!(" {be} {word}{change}{because}"))
            }
            RateTrend::Peaks | RateTrend::Falls | RateTrend::Collapses => {
                let falls: Vec<f64> = all.iter().map(|rate| 1.0 / rate.factor.value).collect();
                clustered(&falls, to, names, fall, |cluster| fall_text(all, cluster, names))
            }
        }
    }

    /// `÷7.71 (95 % CI 7.5–7.9), halved at 2,300 (95 % CI 2,000–2,700)`.
    fn detail(&self, names: &Names<'_>) -> String {
        let change = match self.trend {
            RateTrend::Holds => {
                format!("×{}{}", ratio(self.factor.value), interval(self.factor, ratio))
            }
            RateTrend::Rises | RateTrend::Scales | RateTrend::Undecided => {
                names.with_ci(&factor(self.factor.value), self.factor, significant)
            }
            _ if self.factor.value <= 0.0 => String::new(),
            _ => {
                let inverse = self.factor.inverse();
                names.with_ci(&fall(inverse.value), inverse, significant)
            }
        };
        let is_whole = self.trend == RateTrend::Falls && self.factor.low > COLLAPSE_MAX;
        clauses([
            Some(change),
            self.halved.as_ref().map(|halved| halved_text(halved, self.from, names)),
            is_whole.then(|| "not halved in the range".to_owned()),
            best_text(self, names),
        ])
    }

    fn tag(all: &[Self]) -> Tag {
        of_trend(all[0].trend).0
    }

    fn advised_at(&self) -> Option<u64> {
        (self.section() == Section::StopsScaling).then_some(self.to)
    }

    fn remedy(&self) -> Option<Remedy> {
        self.reason.as_ref().and_then(TrendReason::remedy)
    }
}

/// ` fall ÷1.28 to ÷1.51 from 10 to 1,000 tokens, leaving 1.01 to 1.59 M tokens/s`, ` peaks at 100, then falls
/// ÷1.21 to 1,000 tokens, leaving 236 k tokens/s`.
fn fall_text(all: &[Trend], cluster: &Cluster, names: &Names<'_>) -> String {
    let Cluster { members, factors, level } = cluster;
    let is_single = members.len() == 1;
    let rates = || members.iter().map(|&member| &all[member]);
    let (qualifier, word, to) = (names.qualifier(), trend(all[0].trend), all[0].to);
    let verb = if is_single { word } else { word.trim_end_matches('s') };
    let range = names.range(rates().map(|rate| rate.from), to);
    if rates().any(|rate| rate.factor.value <= 0.0) {
        return format!("{qualifier} {verb} to nothing {range}");
    }
    let peaks: Option<BTreeSet<u64>> = rates().map(|rate| Some(rate.peak?.at)).collect();
    match peaks {
        Some(peaks) if all[0].trend == RateTrend::Peaks => {
            let at = list(peaks.iter().map(|&peak| names.number(peak)));
            let then = if is_single { "falls" } else { "fall" };
            let to = names.point(to);
            format!("{qualifier} {verb} at {at}, then {then} {factors} to {to}, leaving {level}")
        }
        _ => format!("{qualifier} {verb} {factors} {range}, leaving {level}"),
    }
}

/// `the best is at 72: ×20.1 of those at 1` where the trend is that between the ends; else how it came to its peak.
fn best_text(rate: &Rate, names: &Names<'_>) -> Option<String> {
    let best = rate.peak?;
    let (at, over) = (names.number(best.at), names.number(best.over));
    let change = factor(best.factor.value);
    if rate.trend == RateTrend::Peaks || best.at == rate.from {
        let ci = interval(best.factor, significant);
        return Some(format!("before, it rises {change} from {over}{ci}"));
    }
    Best::stands_out(&best).then(|| format!("the best is at {at}: {change} of that at {over}"))
}

/// `halved at 2,300 (95 % CI 2,000–2,700)`, `halved at 5.2 threads (2.6 per CPU, 95 % CI 2.3–3.1)`, or
/// only between which points; `from` is the point that the rate is compared with.
pub fn halved_text(halved: &Halved, from: u64, names: &Names<'_>) -> String {
    let Estimate { value, low, high } = halved.at;
    // Past one of the part for each of the whole, positions are multiples.
    let is_past_one = names.multiple_at(from).is_some_and(|times| times >= 1.0);
    let Some(shares) = names.shares().filter(|_| is_past_one) else {
        if halved.vague {
            return format!("halved somewhere from {} to {}", position(low), position(high));
        }
        let at = position(value);
        return if low < high {
            format!("halved at {at}{}", interval(halved.at, position))
        } else {
            let (after, before) = (count(halved.after), count(halved.before));
            format!("halved at {at}, between {after} and {before} (no CI)")
        };
    };
    let (word, axis) = (&shares.word, names.axis());
    let times = |at: f64| multiple(names.multiple_between(at).unwrap_or(at));
    if halved.vague {
        return format!("halved between {} and {} {axis} {word}", times(low), times(high));
    }
    let at = counted(&position(value), axis);
    if low < high {
        return format!(
            "halved at {at} ({} {word}, {})",
            times(value),
            ci(&times(low), &times(high))
        );
    }
    let (after, before) = (names.number(halved.after), names.number(halved.before));
    format!("halved at {at} ({} {word}), between {after} and {before} (no CI)", times(value))
}
