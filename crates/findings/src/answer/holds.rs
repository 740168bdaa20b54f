//! What does not grow, or holds: one entry a table, names only.

use super::material::Material;
use super::range::Range;
use super::series::Series;
use super::verdict_group::VerdictGroup;
use crate::finding::names::Names;
use crate::finding::sentence::{Part, Sentence, list, text};
use crate::format::{count, counted, factor};
use analysis::Table;
use model::Parameters;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// The subjects of a table that scale.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Holding {
    /// The workload.
    pub workload: String,
    /// The parameters that it holds under.
    pub parameters: Parameters,
    /// The metric.
    pub metric: String,
    /// Whether it is a cost that does not grow, and no rate that holds.
    pub is_cost: bool,
    /// The subjects.
    pub subjects: Vec<String>,
    /// How many subjects of the table have a verdict.
    pub total: usize,
    /// Whether they are speedups: they do more with more threads, up to one for each CPU.
    pub scales: bool,
    /// The least and the greatest of their medians, in the metric's unit.
    pub level: Range,
    /// The entry among those of other workloads: `accept`, or `poll (active = 1; 10 of 13)`.
    pub label: Sentence,
    /// The entry on its own: `epoll-level and mio stay between 0.89 and 1.03 µs`.
    pub sentence: Sentence,
}

/// The entries, in the order of the tables.
pub(super) fn holdings(material: &Material<'_>) -> Vec<Holding> {
    let series = Series::all(material);
    material.tables().filter_map(|table| holding(material, table, &series)).collect()
}

fn holding(material: &Material<'_>, table: &Table, series: &[Series<'_>]) -> Option<Holding> {
    let of_table = || series.iter().filter(|series| series.is_of(table));
    let holding: Vec<&Series<'_>> =
        of_table().filter(|series| series.group == VerdictGroup::Holds).collect();
    if holding.is_empty() {
        return None;
    }
    let total = of_table().count();
    let subjects: Vec<String> = holding.iter().map(|series| series.row.subject.clone()).collect();
    let names = material.names(table, &subjects);
    let medians = holding.iter().flat_map(|series| {
        let cells = series.row.cells.iter().flatten();
        let in_range = cells.filter(|cell| (series.from..=series.to).contains(&cell.point));
        in_range.map(|cell| cell.median.value)
    });
    let level = Range::new(medians);
    let scales = holding.iter().all(|series| series.linear.is_some());
    let part = (subjects.len() < total)
        .then(|| format!("{} of {}", count(subjects.len() as u64), count(total as u64)));
    let label = Sentence::new([
        Part::Subject(table.workload.clone()),
        text(label_rest(names.qualifier(), part)),
    ]);
    let unit = names.unit(&[level.0, level.1]);
    let symbol = if unit.symbol.is_empty() { names.metric() } else { &unit.symbol };
    let (min, max) = (unit.figure(level.0), format!("{} {symbol}", unit.figure(level.1)));
    let verb = if subjects.len() == 1 { "stays" } else { "stay" };
    let stay = match subjects.as_slice() {
        _ if level.0 >= level.1 => format!(" {verb} at {max}"),
        _ => format!(" {verb} between {min} and {max}"),
    };
    let (label, stay) = if scales {
        (scale_label(&holding, &names), gain_text(["scales", "scale"], &holding, &names))
    } else if holding.iter().all(|series| series.word == "rises") {
        (label, gain_text(["rises", "rise"], &holding, &names))
    } else {
        (label, stay)
    };
    let sentence = Sentence::new(names.whole_subject_list().into_iter().chain([text(stay)]));
    Some(Holding {
        workload: table.workload.clone(),
        parameters: table.parameters.clone(),
        metric: table.metric.name.clone(),
        is_cost: table.metric.lower_is_better,
        subjects,
        total,
        scales,
        level,
        label,
        sentence,
    })
}

/// `getppid, stat, poll and 16 more (by = threads) ×1.83 to ×2.01`.
fn scale_label(holding: &[&Series<'_>], names: &Names<'_>) -> Sentence {
    let (named, counted_only) = holding.split_at(NAMED_MAX.min(holding.len()));
    let mut parts: Vec<Part> =
        named.iter().map(|series| names.label(&series.row.subject)).collect();
    if !counted_only.is_empty() {
        parts.push(text(format!("{} more", count(counted_only.len() as u64))));
    }
    let gains = Range::new(holding.iter().map(|series| 1.0 / series.factor)).format(factor);
    let rest = text(format!("{} {gains}", names.qualifier()));
    Sentence::new(list(parts).into_iter().chain([rest]))
}

/// Speedups that are named in a label.
const NAMED_MAX: usize = 3;

/// ` scale ×1.83 to ×2.01 from 1 to 2 threads`; where they begin or end at several points, ` from 1 or 2 to 4 threads`.
fn gain_text([singular, plural]: [&str; 2], holding: &[&Series<'_>], names: &Names<'_>) -> String {
    let verb = if holding.len() == 1 { singular } else { plural };
    let gains = Range::new(holding.iter().map(|series| 1.0 / series.factor)).format(factor);
    let from = points(holding.iter().map(|series| series.from));
    let to = counted(&points(holding.iter().map(|series| series.to)), names.axis());
    format!(" {verb} {gains} from {from} to {to}")
}

/// `1`, or `1 or 2`.
fn points(points: impl Iterator<Item = u64>) -> String {
    let distinct: BTreeSet<u64> = points.collect();
    distinct.into_iter().map(count).collect::<Vec<_>>().join(" or ")
}

/// What stands behind a workload: its table's qualifier, and how many of its subjects hold.
fn label_rest(qualifier: &str, part: Option<String>) -> String {
    match (qualifier.strip_suffix(')'), part) {
        (Some(open), Some(part)) => format!("{open}; {part})"),
        (None, Some(part)) => format!(" ({part})"),
        (_, None) => qualifier.to_owned(),
    }
}
