//! Subjects far behind the best that does the same, among those that scale: a choice that no order of growth shows.

use super::consequence::Consequence;
use super::material::Material;
use super::range::Range;
use super::series::Series;
use super::statement::{Statement, Topic};
use super::stops_scaling::level_text;
use super::thresholds::{SPREAD_FACTOR_MIN, SPREAD_GROUP_FACTOR_MAX};
use super::verdict_group::VerdictGroup;
use crate::finding::sentence::{Part, Sentence, text};
use crate::format::factor;
use analysis::{ComparisonOutcome, Row, Table};
use std::collections::BTreeSet;

/// One statement for each operation of a table of which some are far behind.
pub(super) fn statements(material: &Material<'_>) -> Vec<Statement> {
    let series = Series::all(material);
    let of_table = |table: &'_ Table| {
        let operations: BTreeSet<&str> =
            table.rows.iter().map(|row| row.operation.as_str()).collect();
        let statement = |operation| statement(material, table, operation, &series);
        operations.into_iter().filter_map(statement).collect::<Vec<_>>()
    };
    material.tables().flat_map(of_table).collect()
}

fn statement(
    material: &Material<'_>,
    table: &Table,
    operation: &str,
    series: &[Series<'_>],
) -> Option<Statement> {
    let stops = |row: &Row| {
        let mut own = series.iter().filter(|series| series.is_of(table));
        own.any(|series| {
            let group = series.group;
            series.row.subject == row.subject
                && matches!(group, VerdictGroup::Grows | VerdictGroup::Falls)
        })
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
    let behind = |level: f64| if is_cost { level / best_level } else { best_level / level };
    let mut far: Vec<(&Row, f64)> = scaling
        .iter()
        .map(|&(row, level)| (row, behind(level)))
        .filter(|&(row, factor)| factor >= SPREAD_FACTOR_MIN && is_behind(table, best, row))
        .collect();
    far.sort_by(|a, b| b.1.total_cmp(&a.1));
    let factor_max = far.first()?.1;
    let subjects: Vec<String> = far.iter().map(|(row, _)| row.subject.clone()).collect();
    let names = material.names(table, &subjects);
    let mut parts: Vec<Part> = Vec::new();
    for (index, group) in far.chunk_by(|a, b| a.1 < SPREAD_GROUP_FACTOR_MAX * b.1).enumerate() {
        let labels = group.iter().map(|(row, _)| row.subject.as_str());
        let factors = Range::new(group.iter().map(|(_, factor)| *factor)).format(factor);
        let be = if group.len() == 1 { "is" } else { "are" };
        if index == 0 {
            parts.extend(names.label_list(labels));
            parts.push(text(format!("{} {be} {factors} behind ", names.qualifier())));
            parts.push(names.label(&best.subject));
            let at = names.point(table.points[column]);
            let level = level_text(Range(best_level, best_level), &names);
            parts.push(text(format!(" ({level}) at {at}")));
        } else {
            parts.push(text("; "));
            parts.extend(names.label_list(labels));
            parts.push(text(format!(" {be} {factors}")));
        }
    }
    let consequence =
        Consequence { avoidable: true, ..Consequence::new(table, &subjects, factor_max) };
    Some(Statement::new(Topic::Spread, table, subjects, consequence, Sentence::new(parts)))
}

/// Whether the comparison of the two says that `best` leads at the far end.
fn is_behind(table: &Table, best: &Row, row: &Row) -> bool {
    let pair = [best.subject.as_str(), row.subject.as_str()];
    let is_pair = |subjects: [&str; 2]| subjects == pair || subjects == [pair[1], pair[0]];
    let comparison = table
        .comparisons
        .iter()
        .find(|comparison| is_pair([&comparison.first, &comparison.second]));
    match comparison.map(|comparison| &comparison.outcome) {
        Some(ComparisonOutcome::Throughout { better, .. }) => *better == best.subject,
        Some(ComparisonOutcome::Crosses { crossovers }) => {
            crossovers.last().is_some_and(|last| last.overtakes == best.subject)
        }
        _ => false,
    }
}
