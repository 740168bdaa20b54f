//! How many verdicts are open, and what decides them.

use super::findings;
use crate::caveats::more_rounds::MoreRounds;
use crate::conclusions::Conclusions;
use crate::format::{count, counted, factor, list};
use crate::kinds::{Kind, Section};
use crate::reasons;
use crate::thresholds::GROWN_FACTOR_MIN;
use analysis::Remedy;
use model::Run;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Open series that are named.
const NAMED_MAX: usize = 2;

/// The verdicts that are open.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Undecided {
    /// Orders of growth and trends.
    pub series: usize,
    /// Comparisons of two subjects.
    pub comparisons: usize,
    /// All verdicts of both sorts.
    pub total: usize,
    /// Subjects of open series that cost far more at the last point than at the first, the one that costs
    /// most first: how they grow is open, not that they do.
    pub grown: Vec<String>,
    /// What to measure, by the reasons of all that is open; empty where no run decides it.
    pub remedy: String,
    /// How many, in a sentence; empty where none are.
    pub sentence: String,
}

impl Undecided {
    pub(super) fn new(run: &Run, conclusions: &Conclusions) -> Self {
        let mut grown: Vec<(&str, f64)> = Vec::new();
        let mut remedies: BTreeSet<Remedy> = BTreeSet::new();
        let (mut series, mut comparisons, mut total) = (0, 0, 0);
        for finding in findings(run, conclusions) {
            let kind = finding.data.kind();
            let is_series = matches!(kind, Kind::Growth | Kind::Speedup | Kind::Trend);
            if !is_series && kind != Kind::Crossover {
                continue;
            }
            let ranks = finding.data.ranks();
            total += ranks.len();
            if finding.data.section() != Section::Open {
                continue;
            }
            remedies.extend(finding.data.remedies());
            *(if is_series { &mut series } else { &mut comparisons }) += ranks.len();
            let has_grown = |(_, rank): &(&str, f64)| {
                matches!(kind, Kind::Growth | Kind::Trend) && *rank >= GROWN_FACTOR_MIN
            };
            let subjects = finding.subjects.iter().map(String::as_str);
            grown.extend(subjects.zip(ranks).filter(has_grown));
        }
        grown.sort_by(|first, second| second.1.total_cmp(&first.1));
        Self {
            series,
            comparisons,
            total,
            remedy: remedy(run, &remedies),
            sentence: sentence(series, comparisons, total, &grown),
            grown: grown.into_iter().map(|(subject, _)| subject.to_owned()).collect(),
        }
    }
}

/// `7 of 96 verdicts: 4 series (poll ×391, select ×337, …) and 3 comparisons`.
fn sentence(series: usize, comparisons: usize, total: usize, grown: &[(&str, f64)]) -> String {
    let [open, all, of_series, of_two] =
        [series + comparisons, total, series, comparisons].map(|number| count(number as u64));
    // `series` is its own plural.
    let of_series = (series > 0).then(|| format!("{of_series} series{}", named(grown)));
    let of_two = (comparisons > 0).then(|| counted(&of_two, "comparisons"));
    let sorts: Vec<String> = of_series.into_iter().chain(of_two).collect();
    if sorts.is_empty() {
        return String::new();
    }
    format!("{open} of {all} verdicts: {}", list(&sorts))
}

/// The first of those that grew, with their factors, in brackets.
fn named(grown: &[(&str, f64)]) -> String {
    let name = |(subject, times): &(&str, f64)| format!("{subject} {}", factor(*times));
    let more = (grown.len() > NAMED_MAX).then(|| "…".to_owned());
    let names: Vec<String> = grown.iter().take(NAMED_MAX).map(name).chain(more).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) }
}

/// What to measure, for people: `the same with --rounds 18 and more points`.
fn remedy(run: &Run, remedies: &BTreeSet<Remedy>) -> String {
    let text = |remedy: &Remedy| match remedy {
        Remedy::MoreRounds => MoreRounds::new(run).remedy(),
        remedy => reasons::remedy(*remedy).to_owned(),
    };
    list(remedies.iter().map(text))
}

#[cfg(test)]
mod tests {
    use super::{remedy, sentence};
    use analysis::Remedy;

    #[test]
    fn what_is_open_for_other_reasons_is_not_cured_by_rounds() {
        let mut run = fixtures::run(fixtures::workload("poll")).complete();
        run.host_before.facts = [("cpu.count".to_owned(), 2.into())].into();
        let remedy = |remedies: &[Remedy]| remedy(&run, &remedies.iter().copied().collect());
        assert_eq!(remedy(&[]), "");
        assert_eq!(remedy(&[Remedy::MorePoints]), "more points");
        let both = remedy(&[Remedy::WiderRange, Remedy::MoreRounds]);
        assert_eq!(both, "the same with --rounds 5 and points further apart");
    }

    #[test]
    fn what_is_open_is_counted() {
        assert_eq!(sentence(1, 1, 9, &[]), "2 of 9 verdicts: 1 series and 1 comparison");
        assert_eq!(sentence(0, 2, 9, &[]), "2 of 9 verdicts: 2 comparisons");
        assert_eq!(sentence(0, 0, 9, &[]), "");
    }
}
