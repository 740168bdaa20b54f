//! The order of the subjects at one point.

use super::prelude::*;
use crate::format::factor;
use crate::thresholds::GROUP_FACTOR_MAX;
use analysis::{RankedSubject, Table};

pub use analysis::Ranking;

impl FindingKind for Ranking {
    const TAG: Tag = Tag::new("ranking", Tone::Neutral);
    const SECTION: Section = Section::ListOnly;

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let finding = |table: &Table, ranking: &Ranking| {
            let ranked = ranking.subjects.iter().map(|ranked| &ranked.subject);
            let subjects = ranked.chain(&ranking.unfinished).cloned().collect();
            Finding::about(table, subjects, ranking.clone()).with_headline(true)
        };
        let of_table =
            |table| selected(table).into_iter().map(move |ranking| finding(table, ranking));
        context.tables().flat_map(of_table).collect()
    }

    /// How far the last is behind the first; infinite where some did not finish.
    fn rank(&self) -> f64 {
        match self.subjects.last() {
            _ if !self.unfinished.is_empty() => f64::INFINITY,
            Some(last) => stake(last.behind.value),
            None => 1.0,
        }
    }

    /// `At 16 threads per CPU: byte-block leads with 3.60 M acquisitions/s; futex and std are ×1.10 behind;
    /// byte ×7.00; ticket and mcs ×300 to ×450; clh did not finish`
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let Self { point, subjects, unfinished, .. } = &all[0];
        let mut parts = vec![text(format!("At {}{}: ", names.point(*point), names.qualifier()))];
        if let Some(best) = subjects.first() {
            parts.extend(order(subjects, best, names));
        }
        if !unfinished.is_empty() {
            if !subjects.is_empty() {
                parts.push(text("; "));
            }
            parts.extend(names.label_list(unfinished.iter().map(String::as_str)));
            parts.push(text(" did not finish"));
        }
        Sentence::new(parts)
    }
}

/// The rankings of `table` that are findings: the last with at most one of the part for each of the whole,
/// the first beyond, and the last.
fn selected(table: &Table) -> Vec<&Ranking> {
    let times = |ranking: &&Ranking| table.multiple_at(ranking.point).unwrap_or(f64::INFINITY);
    let several = |ranking: &&Ranking| ranking.subjects.len() + ranking.unfinished.len() > 1;
    let rankings = || table.rankings.iter().filter(several);
    let within = rankings().rfind(|ranking| times(ranking) <= 1.0 + 1e-9);
    let beyond = rankings().find(|ranking| times(ranking) > 1.0 + 1e-9);
    let mut all: Vec<&Ranking> =
        [within, beyond, rankings().next_back()].into_iter().flatten().collect();
    all.dedup_by_key(|ranking| ranking.point);
    all
}

/// `byte-block leads with 3.60 M acquisitions/s; futex and std are ×1.10 behind; byte ×7.00`.
fn order(subjects: &[RankedSubject], best: &RankedSubject, names: &Names<'_>) -> Vec<Part> {
    let is_first =
        |ranked: &&RankedSubject| ranked.rank == 1 && ranked.behind.value < GROUP_FACTOR_MAX;
    let (first, behind): (Vec<&RankedSubject>, Vec<&RankedSubject>) =
        subjects.iter().partition(is_first);
    // Those far behind would make it thousands where it is millions.
    let level = names.unit(&[best.level]).with_symbol(best.level);
    let mut parts = group_labels(&first, names);
    parts.push(text(match first.as_slice() {
        [_] => format!(" leads with {level}"),
        _ => format!(" can't be distinguished ({level})"),
    }));
    let is_one_group = |a: &&RankedSubject, b: &&RankedSubject| {
        (a.rank == 1) == (b.rank == 1) && b.behind.value < GROUP_FACTOR_MAX * a.behind.value
    };
    for (index, group) in behind.chunk_by(is_one_group).enumerate() {
        parts.push(text("; "));
        parts.extend(group_labels(group, names));
        let is = if group.len() == 1 { " is" } else { " are" };
        let (is, behind) = if index == 0 { (is, " behind") } else { ("", "") };
        let doubt = if group[0].rank == 1 { ", but not surely" } else { "" };
        let factors = Range::new(group.iter().map(|ranked| ranked.behind.value)).format(factor);
        parts.push(text(format!("{is} {factors}{behind}{doubt}")));
    }
    parts
}

fn group_labels(group: &[&RankedSubject], names: &Names<'_>) -> Vec<Part> {
    names.label_list(group.iter().map(|ranked| ranked.subject.as_str()))
}
