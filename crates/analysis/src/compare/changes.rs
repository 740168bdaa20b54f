//! What changed from one run to the other.
//!
//! Growth classes, crossovers and modes are found in each run by itself, and a disturbed run may lie on the other side
//! of such a rule. So a change needs two witnesses: both runs are decided, and the ratios of the comparison say so as
//! well. A series of another growth class is not slower by the same factor at both ends; of a crossover that has moved
//! one series is faster or slower somewhere.

use super::judge::{Family, bends, part};
use super::results::{Change, ChangeDetail, ChangeKind, ComparedRow, ComparedTable, Direction};
use super::results::{Ratio, Verdict};
use super::series;
use super::table_pair::TablePair;
use crate::thresholds::MARGIN;
use model::Run;

/// Everything that changed, in the order of the tables.
pub(super) fn changes(
    runs: [&Run; 2],
    pairs: &[TablePair<'_>],
    tables: &[ComparedTable],
    family: Family,
) -> Vec<Change> {
    let mut all = Vec::new();
    for pair in pairs {
        let table = tables.iter().find(|table| table.key() == pair.tables[1].key());
        for row in table.iter().flat_map(|table| &table.rows) {
            for (verdict, direction) in
                [(Verdict::Slower, Direction::Worse), (Verdict::Faster, Direction::Better)]
            {
                let detail = figure(table.map_or(&[], |table| &table.points), row, verdict);
                let direction = Some(direction);
                all.extend(
                    detail.map(|d| pair.change(ChangeKind::Figure, direction, &[&row.subject], d)),
                );
            }
        }
        // That the medians are clear of chance and the best tenth is not.
        let lower_is_better = pair.tables[1].metric.lower_is_better;
        for row in &pair.rows {
            let detail = part(&row.effects, pair.usual, family, lower_is_better)
                .map(|ratio| ChangeDetail::Medians { ratio });
            all.extend(detail.map(|d| pair.change(ChangeKind::Part, None, &[row.subject()], d)));
        }
        for row in pair.rows.iter().filter(|row| bends(&row.effects, family)) {
            let changed = series::growth(row.rows).or_else(|| series::trend(row.rows));
            all.extend(changed.map(|(direction, detail)| {
                pair.change(ChangeKind::Growth, Some(direction), &[row.subject()], detail)
            }));
        }
        all.extend(crossovers(runs[1], pair, table));
        for row in &pair.rows {
            let detail = series::modes(row.rows);
            all.extend(detail.map(|d| pair.change(ChangeKind::Modes, None, &[row.subject()], d)));
        }
        // The other metrics of the same cells failed too.
        if pair.tables[1].headline {
            all.extend(outcomes(runs, pair));
        }
    }
    all
}

/// Crossovers that moved, went or came, where a series of the two is faster or slower anywhere.
fn crossovers(new: &Run, pair: &TablePair<'_>, table: Option<&ComparedTable>) -> Vec<Change> {
    let workload = new.plan.workload(&pair.tables[1].workload);
    let rivals = workload.map_or(&[][..], |workload| &workload.compared_pairs);
    let has_changed = |row: &ComparedRow| {
        let mut at_points = row.cells.iter().flatten().map(|cell| cell.ratio.verdict);
        row.overall.verdict.differs() || at_points.any(Verdict::differs)
    };
    let moved = |subject: &&str| {
        let row = table.and_then(|table| table.rows.iter().find(|row| row.subject == *subject));
        row.is_some_and(has_changed)
    };
    let compared = series::comparisons(pair.tables, rivals).into_iter();
    compared
        .filter(|(subjects, _)| subjects.iter().any(moved))
        .map(|(subjects, detail)| pair.change(ChangeKind::Crossover, None, &subjects, detail))
        .collect()
}

fn outcomes(runs: [&Run; 2], pair: &TablePair<'_>) -> Vec<Change> {
    let mut all = Vec::new();
    for row in &pair.tables[1].rows {
        let Some(before) = pair.tables[0].row(&row.subject) else { continue };
        let changed = series::outcomes(before, row);
        for (direction, detail) in
            changed.into_iter().chain(series::served(runs, pair.tables, &row.subject))
        {
            let kind = ChangeKind::Outcome;
            all.push(pair.change(kind, Some(direction), &[row.subject.as_str()], detail));
        }
    }
    all
}

/// How a series is faster or slower, if it is: as a whole, or at points.
fn figure(points: &[u64], row: &ComparedRow, verdict: Verdict) -> Option<ChangeDetail> {
    let ratios = points.iter().zip(&row.cells);
    let ratios = ratios.filter_map(|(point, cell)| Some((*point, &cell.as_ref()?.ratio)));
    let changed: Vec<(u64, &Ratio)> =
        ratios.filter(|(_, ratio)| ratio.verdict == verdict).collect();
    let size = |ratio: &Ratio| ratio.ratio.value.ln().abs();
    let max = changed.iter().max_by(|a, b| size(a.1).total_cmp(&size(b.1)));
    if row.overall.verdict == verdict {
        // Where all points changed alike, none is named.
        let max = max.filter(|max| size(max.1) > size(&row.overall) + MARGIN.ln_1p());
        let most_at = max.map(|(point, _)| *point);
        return Some(ChangeDetail::Series { ratio: row.overall.clone(), most_at });
    }
    let ratio = max?.1.clone();
    Some(ChangeDetail::Points { points: changed.iter().map(|(point, _)| *point).collect(), ratio })
}
