//! Which comparisons of a table are worth a sentence.

use crate::gather::positions::verdicts_from;
use crate::{ComparisonOutcome, SubjectComparison, Table};
use std::collections::{BTreeMap, BTreeSet};

/// With more series than this the pairs are too many to list each.
const ALL_PAIRS_MAX: usize = 4;

/// The comparisons of `table` that are worth a sentence, in its order: those of `rivals`; those of a table with few
/// series, at more than one point; and the old leader against the new one, wherever the leader changes.
pub fn notable<'a>(table: &'a Table, rivals: &[(String, String)]) -> Vec<&'a SubjectComparison> {
    let few = table.rows.iter().filter(|row| row.has_figures()).count() <= ALL_PAIRS_MAX;
    let successors = successors(table);
    let is_notable = |comparison: &&SubjectComparison| {
        let pair = (comparison.first.as_str(), comparison.second.as_str());
        let is_pair = |a: &str, b: &str| (a, b) == pair || (b, a) == pair;
        rivals.iter().any(|(a, b)| is_pair(a, b))
            || match comparison.outcome {
                ComparisonOutcome::Unknown { .. } => {
                    few && common_points(table, comparison).len() > 1
                }
                ComparisonOutcome::Crosses { .. } => {
                    few || successors.iter().any(|(a, b)| is_pair(a, b))
                }
                _ => few,
            }
    };
    table.comparisons.iter().filter(is_notable).collect()
}

/// Each clear leader with the next clear leader of the same operation along the axis, where they differ.
fn successors(table: &Table) -> BTreeSet<(&str, &str)> {
    let mut best: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for lead in table.leads.iter().flatten().filter(|lead| lead.clear) {
        let row = table.row(&lead.best);
        best.entry(row.map_or("", |row| &row.operation)).or_default().push(&lead.best);
    }
    let pairs = best.values().flat_map(|best| best.windows(2));
    pairs.filter(|pair| pair[0] != pair[1]).map(|pair| (pair[0], pair[1])).collect()
}

/// The points at which both have a figure that counts: the first calls of a trajectory are cold.
pub fn common_points(table: &Table, comparison: &SubjectComparison) -> Vec<u64> {
    let has = |subject: &str, point| table.row(subject).is_some_and(|row| row.at(point).is_some());
    let warm = verdicts_from(table.trajectory, &table.points);
    let is_common = |point: &u64| {
        *point >= warm && has(&comparison.first, *point) && has(&comparison.second, *point)
    };
    table.points.iter().copied().filter(is_common).collect()
}
