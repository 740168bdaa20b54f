//! What changed from one run to another: which change counts most, and the whole in one sentence.

use super::Matrix;
use super::counts::Counts;
use super::text::{excluded_above, ratio_factor};
use crate::text::parameters;
use analysis::compare::{
    Change, ChangeDetail, ChangeKind, ComparedRow, Comparison, Ratio, Verdict,
};
use findings::format::{count, percent};
use findings::grouping::grouped;
use findings::run_changes::claim;
use findings::run_changes::contention::short_sentence;

/// The changes, the largest first among those of headline metrics: whole series, then points, then what has no
/// ratio.
pub(crate) fn ranked_changes(comparison: &Comparison) -> Vec<&Change> {
    let size = |ratio: &Ratio| ratio.ratio.value.ln().abs();
    let rank = |change: &&Change| match &change.detail {
        // A figure counts those that were served.
        ChangeDetail::Served { .. } => (0, f64::INFINITY),
        ChangeDetail::Contention(contended) => {
            (0, (contended.slowdown.value / contended.control.value).ln().abs())
        }
        ChangeDetail::Series { ratio, .. } => (1, size(ratio)),
        ChangeDetail::Points { ratio, .. } => (2, size(ratio)),
        ChangeDetail::Medians { ratio } => (3, size(ratio)),
        _ => (4, 0.0),
    };
    let mut changes: Vec<&Change> =
        comparison.changes.iter().filter(|change| !is_explained(comparison, change)).collect();
    changes.sort_by(|a, b| {
        let [(sort_a, size_a), (sort_b, size_b)] = [rank(a), rank(b)];
        let by_size = size_b.total_cmp(&size_a);
        b.headline.cmp(&a.headline).then(sort_a.cmp(&sort_b)).then(by_size)
    });
    changes
}

/// Whether a finding about locks has the figures of this change, too.
fn is_explained(comparison: &Comparison, change: &Change) -> bool {
    let key = |change: &Change| {
        let Change { workload, parameters, metric, subjects, direction, .. } = change;
        (workload.clone(), parameters.clone(), metric.clone(), subjects.clone(), *direction)
    };
    let mut contention =
        comparison.changes.iter().filter(|change| change.kind == ChangeKind::Contention);
    change.kind == ChangeKind::Figure && contention.any(|finding| key(finding) == key(change))
}

/// The changes below the headline, by where they were measured: `poll · active 1`; nothing where the headline is the
/// only one. `max` of them are taken.
pub(super) fn listed<'a>(
    matrix: &Matrix<'_>,
    comparison: &'a Comparison,
    max: usize,
) -> Vec<(String, Vec<&'a Change>)> {
    let changes = ranked_changes(comparison);
    if changes.len() == 1 && changed_series(comparison) < 2 {
        return Vec::new();
    }
    let run = matrix.columns[matrix.columns.len() - 1].run;
    let scope = |change: &Change| parameters::scope(run, &change.workload, &change.parameters);
    let scoped = changes.into_iter().take(max).map(|change| (scope(change), change));
    grouped(scoped)
}

fn changed_series(comparison: &Comparison) -> usize {
    let series = Counts::of_series(comparison.tables.iter());
    series.slower + series.faster
}

/// The comparison in one sentence: its first change, else how many series are the same.
pub(crate) fn headline(comparison: &Comparison) -> String {
    let changes = ranked_changes(comparison);
    let contention: Vec<&&Change> =
        changes.iter().filter(|change| change.kind == ChangeKind::Contention).collect();
    if let Some(ChangeDetail::Contention(contended)) =
        contention.first().map(|change| &change.detail)
    {
        let label = label(comparison, contention[0]);
        let more = match contention.len() - 1 {
            0 => String::new(),
            more => format!("; {} more of this kind", count(more as u64)),
        };
        return [short_sentence(&label, contended), more].concat();
    }
    if let (Some(largest), 2..) = (largest(comparison), changed_series(comparison)) {
        return of_many(comparison, largest);
    }
    if let Some(change) = changes.first() {
        let claim = claim(comparison, change);
        let more = match changes.len() - 1 {
            0 => String::new(),
            1 => ", and one more change".to_owned(),
            more => format!(", and {} more changes", count(more as u64)),
        };
        return format!("{claim}{more}");
    }
    without_changes(comparison)
}

/// `Of 24 series 4 are slower and 4 faster; the largest change: select ×0.860`.
fn of_many(comparison: &Comparison, largest: &ComparedRow) -> String {
    let series = Counts::of_series(comparison.tables.iter());
    let [slower, faster, total] =
        [series.slower, series.faster, series.total()].map(|number| count(number as u64));
    let which = match (series.slower, series.faster) {
        (_, 0) => format!("{slower} of {total} series are slower"),
        (0, _) => format!("{faster} of {total} series are faster"),
        _ => format!("Of {total} series {slower} are slower and {faster} faster"),
    };
    let by = ratio_factor(largest.overall.ratio.value);
    format!("{which}; the largest change: {} {by}", largest.label)
}

fn without_changes(comparison: &Comparison) -> String {
    let series = Counts::of_series(comparison.tables.iter());
    let [total, same, undecided] =
        [series.total(), series.same, series.undecided].map(|number| count(number as u64));
    let margin = percent(comparison.margin);
    if series.total() == 0 {
        return "The runs have no series in common".to_owned();
    }
    if series.undecided == 0 {
        return format!("No difference: the {total} series are the same within {margin}");
    }
    let bound = excluded_above(comparison).map_or_else(
        || "No difference shown".to_owned(),
        |bound| format!("No difference above {bound}"),
    );
    match series.same {
        0 if series.undecided == 1 => format!("{bound}; within {margin} the series is undecided"),
        0 => format!("{bound}; within {margin} all {total} series are undecided"),
        _ => format!(
            "{bound}: {same} of {total} series are the same within {margin}, {undecided} undecided"
        ),
    }
}

/// The label of the subject of a change.
fn label(comparison: &Comparison, change: &Change) -> String {
    let subject = change.subjects.first().map_or("", String::as_str);
    let mut rows = comparison.tables.iter().flat_map(|table| &table.rows);
    let label = rows.find(|row| row.subject == subject).map(|row| row.label.as_str());
    label.unwrap_or(subject).to_owned()
}

/// The series that changed most.
fn largest(comparison: &Comparison) -> Option<&ComparedRow> {
    let rows = comparison.tables.iter().flat_map(|table| &table.rows);
    let changed =
        rows.filter(|row| matches!(row.overall.verdict, Verdict::Slower | Verdict::Faster));
    let size = |row: &ComparedRow| row.overall.ratio.value.ln().abs();
    changed.max_by(|a, b| size(a).total_cmp(&size(b)))
}
