//! All pairs of the series of a table: the best at each point, and where the leader changes.

use crate::pairs::comparison::{Comparison, Series};
use crate::{Estimate, Lead, RankedSubject, Ranking, Row, SubjectComparison};
use std::collections::BTreeMap;

pub(crate) struct Comparisons<'a> {
    series: &'a [Series],
    /// Those that are compared, by the indices of both, the lower first.
    pairs: BTreeMap<(usize, usize), Comparison<'a>>,
}

impl<'a> Comparisons<'a> {
    pub(crate) fn new(series: &'a [Series], is_wanted: impl Fn(&str, &str) -> bool) -> Self {
        let mut pairs = BTreeMap::new();
        for (index, first) in series.iter().enumerate() {
            for (rival, second) in series.iter().enumerate().skip(index + 1) {
                if is_wanted(&first.subject, &second.subject) {
                    pairs.insert((index, rival), Comparison::new(first, second));
                }
            }
        }
        Self { series, pairs }
    }

    /// How each pair compares, in the order of the series.
    pub(crate) fn outcomes(&self) -> Vec<SubjectComparison> {
        let outcome = |pair: &Comparison<'_>| SubjectComparison {
            first: pair.first.subject.clone(),
            second: pair.second.subject.clone(),
            outcome: pair.outcome(),
        };
        self.pairs.values().map(outcome).collect()
    }

    /// The best at `point` of the subjects that are `alternatives`, where at least two have a figure.
    pub(crate) fn lead(&self, point: u64, alternatives: impl Fn(&str) -> bool) -> Option<Lead> {
        let ranking = self.ranking(point, alternatives);
        let [best, second, ..] = ranking.as_slice() else { return None };
        Some(Lead {
            best: best.subject.clone(),
            second: second.subject.clone(),
            margin: second.behind,
            clear: best.tied.is_empty(),
            tied: best.tied.clone(),
            measured: ranking.len(),
        })
    }

    /// The order of all subjects with a figure at each of `points`, and those of `rows` without a finished cell there.
    pub(crate) fn rankings(&self, rows: &[Row], points: &[u64]) -> Vec<Ranking> {
        let ranking = |(index, &point): (usize, &u64)| {
            let dead = rows.iter().filter(|row| {
                let mut unfinished = row.unfinished();
                row.cells[index].is_none() && unfinished.any(|cells| cells.point == point)
            });
            let unfinished = dead.map(|row| row.subject.clone()).collect();
            Ranking { point, subjects: self.ranking(point, |_| true), unfinished }
        };
        points.iter().enumerate().map(ranking).collect()
    }

    fn ranking(&self, point: u64, is_ranked: impl Fn(&str) -> bool) -> Vec<RankedSubject> {
        let mut ranked = self.ranked(point);
        ranked.retain(|&index| is_ranked(&self.series[index].subject));
        let subject = |&index: &usize| {
            let better = ranked.iter().filter(|&&rival| self.beats(rival, index, point));
            let tied = ranked.iter().filter(|&&rival| {
                let decided = self.beats(rival, index, point) || self.beats(index, rival, point);
                rival != index && !decided
            });
            Some(RankedSubject {
                subject: self.subject(index),
                level: *self.series[index].medians.get(&point)?,
                rank: 1 + better.count(),
                behind: self.lead_over(ranked[0], index, point)?,
                tied: tied.map(|&rival| self.subject(rival)).collect(),
            })
        };
        ranked.iter().filter_map(subject).collect()
    }

    /// The indices of the series with a figure at `point`, the best first, of equal ones the upper.
    fn ranked(&self, point: u64) -> Vec<usize> {
        let mut ranked: Vec<(usize, f64)> = Vec::new();
        for (index, series) in self.series.iter().enumerate() {
            ranked.extend(series.worth_at(point).map(|worth| (index, worth)));
        }
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        ranked.into_iter().map(|(index, _)| index).collect()
    }

    fn subject(&self, index: usize) -> String {
        self.series[index].subject.clone()
    }

    fn pair(&self, index: usize, rival: usize) -> Option<&Comparison<'a>> {
        self.pairs.get(&(index.min(rival), index.max(rival)))
    }

    /// How many times better series `index` is than series `rival` at `point`.
    fn lead_over(&self, index: usize, rival: usize, point: u64) -> Option<Estimate> {
        if index == rival {
            return Some(Estimate::exact(1.0));
        }
        let lead = self.pair(index, rival)?.lead_at(point)?;
        Some(if index < rival { lead } else { lead.inverse() })
    }

    /// Whether series `index` is clearly better than series `rival` at `point`.
    fn beats(&self, index: usize, rival: usize, point: u64) -> bool {
        let first_leads = self.pair(index, rival).and_then(|pair| pair.first_leads_at(point));
        first_leads == Some(index < rival)
    }
}
