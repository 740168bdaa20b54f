//! Where a rate goes along the axis: whether it holds, rises, peaks, falls or collapses.

use super::unfinished::explains;
use super::{FindingKind, stake};
use crate::conclusions::context::Context;
use crate::finding::Finding;
use crate::finding::names::Names;
use crate::finding::sentence::{Sentence, text};
use crate::finding::verdict::{Tag, Verdict};
use crate::format::{self, ci, count, counted, factor, interval, multiple, ratio, significant};
use crate::reasons;
use analysis::rates::thresholds::COLLAPSE_MAX;
use analysis::{Best, Estimate, Halved, Rate, RateTrend, Shares, TrendReason};

pub use analysis::Rate as Trend;

impl FindingKind for Trend {
    const NAME: &'static str = "trend";
    const IS_WORTH_KNOWING: bool = false;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let finding = |(table, row): (&analysis::Table, &analysis::Row)| {
            let rate = row.rate.clone()?;
            (!explains(row, &rate)).then(|| Finding::about_row(table, row, rate))
        };
        context.rows().filter_map(finding).collect()
    }

    fn rank(&self) -> f64 {
        match self.trend {
            RateTrend::Holds | RateTrend::Rises => 1.0,
            RateTrend::Peaks | RateTrend::Falls | RateTrend::Collapses | RateTrend::Undecided => {
                stake(self.factor.value.min(1.0))
            }
        }
    }

    /// `poll collapses: replies/s fall ÷8.60 from 0 to 15,000 dead connections (95 % CI 8.10–9.00), halved
    /// at 2,300 (95 % CI 2,000–2,700).`
    fn sentence(&self, names: &Names<'_>) -> Sentence {
        let verdict = Wording::new(names, self).verdict();
        Sentence::new(names.head().into_iter().chain([text(format!(" {verdict}"))]))
    }

    fn tag(&self) -> Tag {
        Verdict::from(self).tag()
    }
}

/// How a rate is written: along its axis, or past one of the part for each of the whole (one thread per
/// CPU), beyond which the whole is shared.
struct Wording<'a> {
    names: &'a Names<'a>,
    rate: &'a Rate,
    /// The ratio, where the rate is one past one of the part for each of the whole.
    past_one: Option<&'a Shares>,
}

impl<'a> Wording<'a> {
    fn new(names: &'a Names<'a>, rate: &'a Rate) -> Self {
        let is_past = names.multiple_at(rate.from).is_some_and(|times| times >= 1.0);
        Self { names, rate, past_one: names.shares().filter(|_| is_past) }
    }

    fn verdict(&self) -> String {
        let rate = self.rate;
        let trend = format::trend(rate.trend);
        let counted = self.names.counted();
        let (past, range) = (self.past(), self.range());
        let ci = interval(rate.factor, significant);
        match rate.trend {
            RateTrend::Holds => format!("{trend}{past}: {}{}.", self.levels(), self.best()),
            RateTrend::Rises => {
                let rise = format!("{counted} rise {} {range}{ci}", factor(rate.factor.value));
                format!("{trend}{past}: {rise}{}.", self.best())
            }
            RateTrend::Falls => {
                let half =
                    if rate.factor.low > COLLAPSE_MAX { ", not halved in the range" } else { "" };
                let fall = format!("{counted} {} {range}{}", self.fall(), self.fall_ci());
                format!("{trend}{past}: {fall}{half}{}.", self.best())
            }
            RateTrend::Peaks => self.peaks(),
            RateTrend::Collapses => format!("{trend}{past}: {}.", self.collapse()),
            RateTrend::Undecided => self.undecided(),
        }
    }

    /// ` past 1 thread per CPU`.
    fn past(&self) -> String {
        self.past_one
            .map(|_| format!(" past {}", self.names.point(self.rate.from)))
            .unwrap_or_default()
    }

    /// `98.1 k replies/s at 15,000 dead connections, ×0.92 of those at 0 (95 % CI 0.77–1.03)`.
    fn levels(&self) -> String {
        let rate = self.rate;
        format!(
            "{} at {}, ×{} of those at {}{}",
            self.names.level(rate.level),
            self.point(rate.to),
            ratio(rate.factor.value),
            self.figure(rate.from),
            interval(rate.factor, ratio)
        )
    }

    /// `from 0 to 15,000 dead connections`, or `to 16 per CPU`.
    fn range(&self) -> String {
        let to = self.point(self.rate.to);
        if self.past_one.is_some() {
            format!("to {to}")
        } else {
            format!("from {} to {to}", count(self.rate.from))
        }
    }

    /// A point as a number: `15,000`, or `16` of each.
    fn figure(&self, point: u64) -> String {
        let times = self.past_one.and_then(|_| self.names.multiple_at(point));
        times.map_or_else(|| count(point), multiple)
    }

    /// A point with its unit: `15,000 dead connections`, or `16 per CPU`.
    fn point(&self, point: u64) -> String {
        let unit = self.past_one.map_or(self.names.axis(), |shares| &shares.word);
        format!("{} {unit}", self.figure(point))
    }

    /// A point after the axis was named: `15,000`, or `16 per CPU`.
    fn short_point(&self, point: u64) -> String {
        if self.past_one.is_some() { self.point(point) } else { self.figure(point) }
    }

    /// `fall ÷8.60`.
    fn fall(&self) -> String {
        format!("fall {}", format::fall(1.0 / self.rate.factor.value))
    }

    /// The interval of the fall: ` (95 % CI 8.10–9.00)`.
    fn fall_ci(&self) -> String {
        interval(self.rate.factor.inverse(), significant)
    }

    /// `; the best is at 72: ×20.1 of those at 1`, where the trend is that between the ends.
    fn best(&self) -> String {
        let best = self.rate.peak.filter(Best::stands_out).map(|peak| {
            let (at, over) = (self.short_point(peak.at), self.figure(peak.over));
            format!("; the best is at {at}: {} of those at {over}", factor(peak.factor.value))
        });
        best.unwrap_or_default()
    }

    fn undecided(&self) -> String {
        let rate = self.rate;
        let counted = self.names.counted();
        let because = rate.reason.as_ref().map(reasons::trend).unwrap_or_default();
        let Estimate { value, low, high } = rate.factor;
        if low >= high && value <= 0.0 {
            return format!("is undecided, because {because}.");
        }
        let (from, to, axis) = (count(rate.from), count(rate.to), self.names.axis());
        let mut range = format!("from {from} to {to} {axis}");
        if self.past_one.is_some() {
            range = format!("{range}, {} to {}", self.figure(rate.from), self.point(rate.to));
        }
        let change =
            format!("{counted} {} {range}{}", factor(value), interval(rate.factor, significant));
        let remedy = rate.reason.as_ref().and_then(TrendReason::remedy);
        let remedy = remedy.map(|remedy| format!(" It takes {}.", reasons::remedy(remedy)));
        format!("is undecided: {change}, because {because}.{}", remedy.unwrap_or_default())
    }

    /// `peaks at 100 tokens: 1.13 M tokens/s, ×1.53 of those at 1 (95 % CI 1.48–1.60), then they fall ÷1.21
    /// to 1,000 (95 % CI 1.15–1.28).`
    fn peaks(&self) -> String {
        let to = self.short_point(self.rate.to);
        let falls = format!("then they {} to {to}{}", self.fall(), self.fall_ci());
        let Some(peak) = &self.rate.peak else { return format!("peaks, {falls}.") };
        format!(
            "peaks at {}: {}, {} of those at {}{}, {falls}.",
            self.names.point(peak.at),
            self.names.level(peak.level),
            factor(peak.factor.value),
            self.figure(peak.over),
            interval(peak.factor, significant)
        )
    }

    /// `replies/s fall ÷8.60 from 0 to 15,000 dead connections (95 % CI 8.10–9.00), halved at 2,300 …`.
    fn collapse(&self) -> String {
        let (counted, range) = (self.names.counted(), self.range());
        let fall = if self.rate.factor.value > 0.0 {
            format!("{counted} {} {range}{}", self.fall(), self.fall_ci())
        } else if self.past_one.is_some() {
            format!("{counted} fall to none at {}", self.point(self.rate.to))
        } else {
            format!("{counted} fall to none {range}")
        };
        let halved = self.rate.halved.as_ref().map(|halved| format!(", {}", self.halved(halved)));
        let before = self.rate.peak.filter(|peak| peak.at == self.rate.from).map(|peak| {
            let from = self.short_point(peak.over);
            format!("; before, they rise {} from {from}", factor(peak.factor.value))
        });
        format!("{fall}{}{}", halved.unwrap_or_default(), before.unwrap_or_default())
    }

    /// `halved at 2,300 (95 % CI 2,000–2,700)`, `halved at 5.2 threads (2.6 per CPU, 95 % CI 2.3–3.1)`, or
    /// only between which points.
    fn halved(&self, halved: &Halved) -> String {
        let Estimate { value, low, high } = halved.at;
        let axis = self.names.axis();
        let Some(shares) = self.past_one else {
            if halved.vague {
                return format!(
                    "halved somewhere from {} to {}",
                    format::position(low),
                    format::position(high)
                );
            }
            let at = format::position(value);
            return if low < high {
                format!("halved at {at}{}", interval(halved.at, format::position))
            } else {
                let (after, before) = (count(halved.after), count(halved.before));
                format!("halved at {at}, between {after} and {before} (no CI)")
            };
        };
        let word = &shares.word;
        let times = |at: f64| multiple(self.times(at));
        if halved.vague {
            return format!("halved between {} and {} {axis} {word}", times(low), times(high));
        }
        let at = counted(&format::position(value), axis);
        if low < high {
            let ci = ci(&times(low), &times(high));
            return format!("halved at {at} ({} {word}, {ci})", times(value));
        }
        let (after, before) = (self.figure(halved.after), self.figure(halved.before));
        format!("halved at {at} ({} {word}), between {after} and {before} (no CI)", times(value))
    }

    /// A position between points as a multiple: the whole is the same at each of them.
    fn times(&self, position: f64) -> f64 {
        self.names.multiple_between(position).unwrap_or(position)
    }
}
