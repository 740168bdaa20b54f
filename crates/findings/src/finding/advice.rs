//! What to use instead of subjects that stop scaling: the best of the table at the far end, and from where on
//! it is better.

use crate::finding::names::Names;
use crate::finding::range::Range;
use crate::finding::sentence::{Part, Sentence, list_with, text};
use crate::format::{count, number_word, position};
use crate::kinds::growth::Growth;
use crate::kinds::trend::Trend;
use crate::kinds::{FindingKind, Section};
use crate::thresholds::ALTERNATIVES_MAX;
use analysis::{ComparisonOutcome, SubjectComparison, Table};
use schemars::JsonSchema;
use serde::Serialize;

/// What to use instead.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// The best subjects at the far end: those that can't be distinguished there.
    pub subjects: Vec<String>,
    /// Their medians there, in the metric's unit.
    pub level: Range,
    /// From which position on the axis the first of them is better than every subject of the finding; 0
    /// where it is at every point, absent where that is not known.
    pub better_from: Option<f64>,
    /// The advice in a sentence.
    pub sentence: Sentence,
}

impl Advice {
    /// What to use instead of `subjects` of `table`, which do the same, at `to`; nothing where one of them is among the
    /// best, or where it is a guess which figures are better.
    pub fn new(table: &Table, subjects: &[String], to: u64, names: &Names<'_>) -> Option<Self> {
        if table.metric.direction_assumed {
            return None;
        }
        let column = table.points.iter().position(|&point| point == to)?;
        let lead = table.lead(column, subjects.first()?)?;
        let leaders = || std::iter::once(&lead.best).chain(&lead.tied);
        if leaders().any(|leader| subjects.contains(leader)) {
            return None;
        }
        let mut alternatives: Vec<String> =
            leaders().filter(|leader| holds(table, leader)).cloned().collect();
        if alternatives.is_empty() {
            alternatives = leaders().cloned().collect();
        }
        let medians = alternatives
            .iter()
            .filter_map(|subject| Some(table.row(subject)?.at(to)?.median.value));
        let level = Range::new(medians);
        // What the sentence states of all alternatives holds for each.
        let positions = alternatives.iter().map(|subject| better_from(table, subject, subjects));
        let positions: Option<Vec<f64>> = positions.collect();
        let better_from = positions.and_then(|positions| positions.into_iter().reduce(f64::max));
        let sentence = sentence(table, &alternatives, level, (better_from, to), names);
        Some(Self { subjects: alternatives, level, better_from, sentence })
    }
}

/// Whether the verdict of `subject` is that it holds.
fn holds(table: &Table, subject: &str) -> bool {
    let Some(row) = table.row(subject) else { return false };
    let growth = row.growth.as_ref().map(Growth::section);
    growth.or_else(|| row.rate.as_ref().map(Trend::section)) == Some(Section::Holds)
}

/// The comparison of a pair of subjects.
pub(crate) fn compared<'t>(table: &'t Table, pair: [&str; 2]) -> Option<&'t SubjectComparison> {
    table.comparisons.iter().find(|comparison| {
        let subjects = [comparison.first.as_str(), comparison.second.as_str()];
        subjects == pair || subjects == [pair[1], pair[0]]
    })
}

/// From where on `subject` is better than every one of `behind`.
fn better_from(table: &Table, subject: &str, behind: &[String]) -> Option<f64> {
    let row = table.row(subject)?;
    // Where it fails it is no better, whatever the others do there.
    let is_there = |from: u64| table.points.iter().all(|&at| at < from || row.at(at).is_some());
    let positions = behind.iter().map(|behind| {
        match &compared(table, [subject, behind])?.outcome {
            ComparisonOutcome::Crosses { crossovers } => {
                let last = crossovers.last().filter(|last| last.overtakes == subject)?;
                is_there(last.before).then_some(())?;
                // At the point before it is behind, however close that lies.
                let reads_apart = position(last.at.value) != count(last.after);
                Some(if reads_apart { last.at.value } else { last.before as f64 })
            }
            // From where on each point says so.
            ComparisonOutcome::Throughout { better, clear, open, .. } if better == subject => {
                let from = clear.iter().find(|point| open.last() < Some(point))?;
                is_there(*from).then_some(())?;
                Some(if table.points.first() == Some(from) { 0.0 } else { *from as f64 })
            }
            _ => None,
        }
    });
    positions.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
}

/// `use epoll-level or mio: 0.89 to 0.97 µs, faster from 30 watched descriptors on`.
fn sentence(
    table: &Table,
    alternatives: &[String],
    level: Range,
    (better_from, to): (Option<f64>, u64),
    names: &Names<'_>,
) -> Sentence {
    let mut labels: Vec<Part> =
        alternatives.iter().take(ALTERNATIVES_MAX).map(|subject| names.label(subject)).collect();
    if alternatives.len() > labels.len() {
        labels.push(text(format!("{} more", number_word(alternatives.len() - labels.len()))));
    }
    let is_time = table.metric.unit == "ns" || table.metric.unit.ends_with("/s");
    let better = if is_time { "faster" } else { "better" };
    let from = match better_from {
        None => format!(" at {}", names.point(to)),
        Some(position) if position <= 0.0 => format!(", {better} at every point"),
        Some(position) => format!(", {better} from {} on", names.position(position)),
    };
    let rest = format!(": {}{from}", names.levels(level));
    let mut parts = vec![text("use ")];
    parts.extend(list_with("or", labels));
    parts.push(text(rest));
    Sentence::new(parts)
}
