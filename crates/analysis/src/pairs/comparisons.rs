//! All pairs of the series of a table: the best at each point, and where the leader changes.

use crate::pairs::comparison::{Comparison, Series};
use crate::{Estimate, Lead, RankedSubject, SubjectComparison};

/// All pairs of the series of one table.
pub(crate) struct Comparisons<'a> {
    series: &'a [Series],
    /// The comparison of series `i` with series `j`, for `i` < `j`, row by row.
    /// `None` for two that are not compared.
    pairs: Vec<Vec<Option<Comparison<'a>>>>,
}

impl<'a> Comparisons<'a> {
    /// Those of two subjects that are to be compared.
    pub(crate) fn new(series: &'a [Series], is_wanted: impl Fn(&str, &str) -> bool) -> Self {
        let compared = |first: &'a Series, second: &'a Series| {
            let is_wanted = is_wanted(first.subject(), second.subject());
            is_wanted.then(|| Comparison::new(first, second))
        };
        let with_later = |(index, first): (usize, &'a Series)| {
            series[index + 1..].iter().map(|second| compared(first, second)).collect()
        };
        Self { series, pairs: series.iter().enumerate().map(with_later).collect() }
    }

    /// How each pair compares, in the order of the series.
    pub(crate) fn outcomes(&self) -> Vec<SubjectComparison> {
        let outcome = |pair: &Comparison<'_>| SubjectComparison {
            first: pair.first().subject().to_owned(),
            second: pair.second().subject().to_owned(),
            outcome: pair.outcome(),
        };
        self.pairs.iter().flatten().flatten().map(outcome).collect()
    }

    /// The best at `point` of the subjects that are `alternatives`, where at least two have a figure.
    pub(crate) fn lead(&self, point: u64, alternatives: impl Fn(&str) -> bool) -> Option<Lead> {
        let mut ranked = self.ranked(point);
        ranked.retain(|&index| alternatives(self.series[index].subject()));
        let [best, second, ..] = *ranked.as_slice() else { return None };
        let tied: Vec<String> = ranked[1..]
            .iter()
            .filter(|&&index| !self.beats(best, index, point))
            .map(|&index| self.subject(index))
            .collect();
        Some(Lead {
            best: self.subject(best),
            second: self.subject(second),
            margin: self.lead_over(best, second, point)?,
            clear: tied.is_empty(),
            tied,
            measured: ranked.len(),
        })
    }

    /// All subjects with a figure at `point`, the best first.
    pub(crate) fn ranking(&self, point: u64) -> Vec<RankedSubject> {
        let ranked = self.ranked(point);
        let Some(&best) = ranked.first() else { return Vec::new() };
        let itself = Estimate { value: 1.0, low: 1.0, high: 1.0 };
        let subject = |&index: &usize| {
            let better = ranked.iter().filter(|&&rival| self.beats(rival, index, point));
            let tied = ranked.iter().filter(|&&rival| {
                let decided = self.beats(rival, index, point) || self.beats(index, rival, point);
                rival != index && !decided
            });
            let lead =
                if index == best { Some(itself) } else { self.lead_over(best, index, point) };
            Some(RankedSubject {
                subject: self.subject(index),
                level: self.series[index].median_at(point)?,
                rank: 1 + better.count(),
                behind: lead?,
                tied: tied.map(|&rival| self.subject(rival)).collect(),
            })
        };
        ranked.iter().filter_map(subject).collect()
    }

    /// The indices of the series with a figure at `point`, the best first; of two that are equal, the one
    /// that is higher in the table.
    fn ranked(&self, point: u64) -> Vec<usize> {
        let mut ranked: Vec<(usize, f64)> = Vec::new();
        for (index, series) in self.series.iter().enumerate() {
            ranked.extend(series.worth_at(point).map(|worth| (index, worth)));
        }
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        ranked.into_iter().map(|(index, _)| index).collect()
    }

    fn subject(&self, index: usize) -> String {
        self.series[index].subject().to_owned()
    }

    /// How many times better series `index` is than series `rival` at `point`.
    fn lead_over(&self, index: usize, rival: usize, point: u64) -> Option<Estimate> {
        let (first, second) = (index.min(rival), index.max(rival));
        let lead = self.pairs[first][second - first - 1].as_ref()?.lead_at(point)?;
        Some(if index == first { lead } else { lead.inverse() })
    }

    /// Whether series `index` is clearly better than series `rival` at `point`.
    fn beats(&self, index: usize, rival: usize, point: u64) -> bool {
        if index == rival {
            return false;
        }
        let (first, second) = (index.min(rival), index.max(rival));
        let pair = self.pairs[first][second - first - 1].as_ref();
        pair.and_then(|pair| pair.first_leads_at(point)) == Some(index == first)
    }
}
