//! Subjects far behind the best that does the same, among those that scale: a choice that no order of growth shows.

use super::growth::Growth;
use super::prelude::*;
use super::{speedup::Speedup, trend::Trend};
use crate::finding::advice::compared;
use crate::format::factor;
use crate::thresholds::{GROUP_FACTOR_MAX, SPREAD_FACTOR_MIN};
use analysis::{ComparisonOutcome, Row, Table};
use std::collections::BTreeSet;

/// The subjects that are far behind at the last point.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// The best subject.
    pub best: String,
    /// Its median, in the metric's unit.
    pub level: f64,
    /// The last point.
    pub point: u64,
    /// How many times behind each subject is, the furthest first.
    pub behind: Vec<(String, f64)>,
}

impl FindingKind for Spread {
    const TAG: Tag = Tag::new("spread", Tone::Neutral);

    fn find(context: &Context<'_>) -> Vec<Finding> {
        let is_judged =
            |table: &&Table| !context.workload(table).is_some_and(|workload| workload.averages);
        let tables = context.tables().filter(|table| table.headline).filter(is_judged);
        tables.flat_map(of_table).collect()
    }

    fn rank(&self) -> f64 {
        self.behind.first().map_or(1.0, |(_, factor)| *factor)
    }

    /// `aio-poll and mio are ×1.56 to ×1.84 behind sigio (1.45 µs) at 10,000 watched descriptors; select is ×1.50`.
    fn sentence(all: &[Self], names: &Names<'_>) -> Sentence {
        let Self { best, level, point, behind } = &all[0];
        let mut parts: Vec<Part> = Vec::new();
        let groups = behind.chunk_by(|a, b| a.1 < GROUP_FACTOR_MAX * b.1);
        for (index, group) in groups.enumerate() {
            let factors = Range::new(group.iter().map(|(_, factor)| *factor)).format(factor);
            let be = if group.len() == 1 { "is" } else { "are" };
            parts.extend((index > 0).then(|| text("; ")));
            parts.extend(names.label_list(group.iter().map(|(subject, _)| subject.as_str())));
            if index > 0 {
                parts.push(text(format!(" {be} {factors}")));
                continue;
            }
            let (level, at) = (names.levels(Range(*level, *level)), names.point(*point));
            parts.push(text(format!("{} {be} {factors} behind ", names.qualifier())));
            parts.extend([names.label(best), text(format!(" ({level}) at {at}"))]);
        }
        Sentence::new(parts)
    }
}

/// One for each operation of `table` of which some subjects are far behind.
fn of_table(table: &Table) -> Vec<Finding> {
    let operations: BTreeSet<&str> = table.rows.iter().map(|row| row.operation.as_str()).collect();
    let spread = |operation| {
        let spread = of_operation(table, operation)?;
        let subjects = spread.behind.iter().map(|(subject, _)| subject.clone()).collect();
        Some(Finding::about(table, subjects, spread))
    };
    operations.into_iter().filter_map(spread).collect()
}

fn of_operation(table: &Table, operation: &str) -> Option<Spread> {
    let stops = |row: &Row| {
        let sections = [
            row.growth.as_ref().map(Growth::section),
            row.speedup.as_ref().map(Speedup::section),
            row.rate.as_ref().map(Trend::section),
        ];
        sections.contains(&Some(Section::StopsScaling))
    };
    let column = table.points.len().checked_sub(1)?;
    let level = |row: &Row| Some(row.cells[column].as_ref()?.median.value);
    let scaling: Vec<(&Row, f64)> = table
        .rows
        .iter()
        .filter(|row| row.operation == operation && !stops(row))
        .filter_map(|row| Some((row, level(row)?)))
        .filter(|(_, level)| *level > 0.0)
        .collect();
    let is_cost = table.metric.lower_is_better;
    let by_level = |a: &&(&Row, f64), b: &&(&Row, f64)| a.1.total_cmp(&b.1);
    let &(best, best_level) =
        if is_cost { scaling.iter().min_by(by_level)? } else { scaling.iter().max_by(by_level)? };
    let times = |level: f64| if is_cost { level / best_level } else { best_level / level };
    let mut behind: Vec<(String, f64)> = scaling
        .iter()
        .map(|&(row, level)| (row, times(level)))
        .filter(|&(row, factor)| factor >= SPREAD_FACTOR_MIN && is_behind(table, best, row))
        .map(|(row, factor)| (row.subject.clone(), factor))
        .collect();
    behind.sort_by(|a, b| b.1.total_cmp(&a.1));
    let point = table.points[column];
    let spread = Spread { best: best.subject.clone(), level: best_level, point, behind };
    (!spread.behind.is_empty()).then_some(spread)
}

/// Whether the comparison of the two says that `best` leads at the far end.
fn is_behind(table: &Table, best: &Row, row: &Row) -> bool {
    let comparison = compared(table, [&best.subject, &row.subject]);
    match comparison.map(|comparison| &comparison.outcome) {
        Some(ComparisonOutcome::Throughout { better, clear, open, .. }) => {
            *better == best.subject && clear.last() > open.last()
        }
        Some(ComparisonOutcome::Crosses { crossovers }) => {
            crossovers.last().is_some_and(|last| last.overtakes == best.subject)
        }
        _ => false,
    }
}
