//! Every series of a table against every other: who is best at each point, and where that changes.

use crate::pairs::crossover::{Comparison, Series};
use crate::{Contest, Estimate, Lead, Placed};

/// All pairs of the series of one table.
pub(crate) struct Contests<'a> {
    series: &'a [Series],
    /// The comparison of series `i` with series `j`, `i` being less than `j`, row by row.
    pairs: Vec<Vec<Comparison<'a>>>,
}

impl<'a> Contests<'a> {
    pub(crate) fn of(series: &'a [Series]) -> Self {
        let with_later = |(index, one): (usize, &'a Series)| {
            series[index + 1..].iter().map(|other| Comparison::of(one, other)).collect()
        };
        Self { series, pairs: series.iter().enumerate().map(with_later).collect() }
    }

    /// How each pair ends, in the order of the series.
    pub(crate) fn standings(&self) -> Vec<Contest> {
        let mut contests = Vec::new();
        for (one, pairs) in self.series.iter().zip(&self.pairs) {
            for pair in pairs {
                contests.push(Contest {
                    one: one.subject().to_owned(),
                    other: pair.other().subject().to_owned(),
                    standing: pair.standing(),
                });
            }
        }
        contests
    }

    /// Who is best at `point`, where at least two have a figure.
    pub(crate) fn lead(&self, point: u64) -> Option<Lead> {
        let mut present: Vec<(usize, f64)> = Vec::new();
        for (index, series) in self.series.iter().enumerate() {
            present.extend(series.worth_at(point).map(|worth| (index, worth)));
        }
        // Stable: of two that are equal the upper one in the table stands first.
        present.sort_by(|a, b| b.1.total_cmp(&a.1));
        let [(best, _), (second, _), ..] = *present.as_slice() else { return None };
        let beside = |(other, _): &&(usize, f64)| !self.beats(best, *other, point);
        let tied: Vec<String> = present[1..]
            .iter()
            .filter(beside)
            .map(|&(other, _)| self.series[other].subject().to_owned())
            .collect();
        Some(Lead {
            best: self.series[best].subject().to_owned(),
            second: self.series[second].subject().to_owned(),
            margin: Comparison::of(&self.series[best], &self.series[second]).lead_at(point)?,
            clear: tied.is_empty(),
            tied,
            of: present.len(),
        })
    }

    /// All with a figure at `point`, the best first.
    pub(crate) fn places(&self, point: u64) -> Vec<Placed> {
        let mut present: Vec<(usize, f64)> = Vec::new();
        for (index, series) in self.series.iter().enumerate() {
            present.extend(series.worth_at(point).map(|worth| (index, worth)));
        }
        present.sort_by(|a, b| b.1.total_cmp(&a.1));
        let Some(&(best, _)) = present.first() else { return Vec::new() };
        let subject = |index: usize| self.series[index].subject().to_owned();
        let placed = |&(index, _): &(usize, f64)| {
            let others = present.iter().map(|(other, _)| *other).filter(|other| *other != index);
            let better = others.clone().filter(|&other| self.beats(other, index, point));
            let beside = others.clone().filter(|&other| {
                !self.beats(other, index, point) && !self.beats(index, other, point)
            });
            let lead = Comparison::of(&self.series[best], &self.series[index]).lead_at(point);
            let itself = Estimate { value: 1.0, low: 1.0, high: 1.0 };
            let level = self.series[index].median_at(point)?;
            Some(Placed {
                subject: subject(index),
                level,
                rank: 1 + better.count(),
                behind: lead.filter(|_| index != best).unwrap_or(itself),
                beside: beside.map(subject).collect(),
            })
        };
        present.iter().filter_map(placed).collect()
    }

    /// Whether series `one` is clearly better than series `other` at `point`.
    fn beats(&self, one: usize, other: usize, point: u64) -> bool {
        let (first, later) = (one.min(other), one.max(other));
        self.pairs[first][later - first - 1].one_leads_at(point) == Some(one == first)
    }
}
