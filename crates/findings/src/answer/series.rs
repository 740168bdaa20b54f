//! A series with its verdict, as an answer sorts it.

use super::material::Material;
use super::verdict_group::VerdictGroup;
use crate::finding::Finding;
use crate::finding::verdict::Verdict;
use crate::format::class;
use crate::kinds::Data;
use analysis::{Class, GrowthReason, Remedy, Row, Table, TrendReason};

/// A series of a headline table that a verdict was given of.
pub(super) struct Series<'a> {
    pub table: &'a Table,
    pub row: &'a Row,
    pub group: VerdictGroup,
    /// Its verdict in a word or two: `linear`, `collapses`.
    pub word: &'static str,
    /// The verdict that it can share with others: linear and n log n are both at least linear.
    pub shared_word: &'static str,
    /// The point that the last one is compared with.
    pub from: u64,
    /// The last point.
    pub to: u64,
    /// How many times more it costs at `to`, or how many times less it does.
    pub factor: f64,
    /// The median at `to`.
    pub level: f64,
    /// Where it peaks, if it does.
    pub peak: Option<u64>,
    /// Of a speedup, how many times more would be done in proportion.
    pub linear: Option<f64>,
}

impl<'a> Series<'a> {
    /// Every series with a verdict.
    pub fn all(material: &Material<'a>) -> Vec<Self> {
        let series = |(table, finding): (&'a Table, &'a Finding)| {
            let row = table.row(finding.subjects.first()?)?;
            let (group, word, from, to, factor, peak) = match &finding.data {
                Data::Growth(growth) => {
                    let word = class(growth.class);
                    (growth.into(), word, growth.from, growth.to, growth.factor.value, None)
                }
                Data::Speedup(speedup) => {
                    let word = Verdict::from(speedup).word;
                    let peak = speedup.peak.map(|peak| peak.at);
                    let factor = 1.0 / speedup.factor.value;
                    (speedup.into(), word, speedup.from, speedup.to, factor, peak)
                }
                Data::Trend(rate) => {
                    let word = Verdict::from(rate).word;
                    let peak = rate.peak.map(|peak| peak.at);
                    (rate.into(), word, rate.from, rate.to, 1.0 / rate.factor.value, peak)
                }
                _ => return None,
            };
            let linear = match &finding.data {
                Data::Speedup(speedup) => Some(speedup.linear),
                // Beyond the CPUs nothing more is to be expected: only a fall says something.
                Data::Trend(_) if row.speedup.is_some() && group == VerdictGroup::Holds => {
                    return None;
                }
                _ => None,
            };
            let level = row.at(to)?.median.value;
            let shared_word = shared_word(finding).unwrap_or(word);
            Some(Self {
                table,
                row,
                group,
                word,
                shared_word,
                from,
                to,
                factor,
                level,
                peak,
                linear,
            })
        };
        material.table_findings().filter_map(series).collect()
    }

    /// What to measure where the verdict is open; `None` where no run decides it.
    pub fn remedy(&self) -> Option<Remedy> {
        let growth = self.row.growth.as_ref().and_then(|growth| growth.reason.as_ref());
        let speedup = self.row.speedup.as_ref().and_then(|speedup| speedup.reason.as_ref());
        let rate = self.row.rate.as_ref().and_then(|rate| rate.reason.as_ref());
        let trend = speedup.or(rate).and_then(TrendReason::remedy);
        let remedy = growth.and_then(GrowthReason::remedy).or(trend);
        remedy.filter(|_| self.group == VerdictGroup::Undecided)
    }

    /// The word that all of `group` share.
    pub fn common_word(group: &[&Self]) -> &'static str {
        let is_same = group.iter().all(|series| series.word == group[0].word);
        if is_same { group[0].word } else { group[0].shared_word }
    }

    /// Whether it is of `table`.
    pub fn is_of(&self, table: &Table) -> bool {
        std::ptr::eq(self.table, table)
    }
}

/// The verdict that speedups of one group share.
const NO_MORE: &str = "does not scale";

/// `at least linear` for the classes that are.
fn shared_word(finding: &Finding) -> Option<&'static str> {
    if let Data::Speedup(_) = &finding.data {
        // Whether two do as much as one or less, they do not do more.
        return Some(NO_MORE);
    }
    let Data::Growth(growth) = &finding.data else { return None };
    let is_at_least = [Class::Linear, Class::AtLeastLinear, Class::Linearithmic];
    is_at_least.contains(&growth.class).then(|| class(Class::AtLeastLinear))
}
