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
    use ChangeKind::{Crossover, Figure, Growth, Modes, Outcome, Part};
    let mut all = Vec::new();
    for pair in pairs {
        let mut add = |kind, direction, subjects: &[&str], detail| {
            let table = pair.tables[1];
            let change =
                Change::new(kind, direction, table.key(), table.headline, subjects, detail);
            all.push(change);
        };
        let table = tables.iter().find(|table| table.key() == pair.tables[1].key());
        for (table, row) in
            table.iter().flat_map(|table| table.rows.iter().map(|row| (*table, row)))
        {
            for (verdict, direction) in
                [(Verdict::Slower, Direction::Worse), (Verdict::Faster, Direction::Better)]
            {
                if let Some(detail) = figure(&table.points, row, verdict) {
                    add(Figure, Some(direction), &[&row.subject], detail);
                }
            }
        }
        for row in &pair.rows {
            // That the medians are clear of chance and the best tenth is not.
            if let Some(ratio) = part(&row.effects, pair.usual, family) {
                add(Part, None, &[row.subject()], ChangeDetail::Medians { ratio });
            }
        }
        for row in pair.rows.iter().filter(|row| bends(&row.effects, family)) {
            let changed = series::growth(row.rows).or_else(|| series::trend(row.rows));
            if let Some((direction, detail)) = changed {
                add(Growth, Some(direction), &[row.subject()], detail);
            }
        }
        for (subjects, detail) in crossovers(runs[1], pair, table) {
            add(Crossover, None, &subjects, detail);
        }
        for row in &pair.rows {
            if let Some(detail) = series::modes(row.rows) {
                add(Modes, None, &[row.subject()], detail);
            }
        }
        // The other metrics of the same cells failed too.
        for row in pair.tables[1].rows.iter().filter(|_| pair.tables[1].headline) {
            let Some(before) = pair.tables[0].row(&row.subject) else { continue };
            let outcomes = series::outcomes(before, row).into_iter();
            let outcomes = outcomes.map(|(direction, detail)| (Some(direction), detail));
            for (direction, detail) in
                outcomes.chain(series::served(runs, pair.tables, &row.subject))
            {
                add(Outcome, direction, &[&row.subject], detail);
            }
        }
    }
    all
}

/// Crossovers that moved, went or came, where a series of the two is faster or slower anywhere.
fn crossovers<'a>(
    new: &Run,
    pair: &TablePair<'a>,
    table: Option<&ComparedTable>,
) -> Vec<([&'a str; 2], ChangeDetail)> {
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
    let mut compared = series::comparisons(pair.tables, rivals);
    compared.retain(|(subjects, _)| subjects.iter().any(moved));
    compared
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
