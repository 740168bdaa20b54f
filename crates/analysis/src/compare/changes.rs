//! What changed from one run to the other.
//!
//! Growth classes, crossovers and modes are found in each run by itself, and by rules that weigh what
//! one run holds. A run that was disturbed may lie on the other side of such a rule. So a change needs two
//! witnesses: both runs are decided, and the ratios of the comparison say so as well. A series of another
//! growth class is not slower by the same factor at both ends; a crossover that has moved is one of
//! which one series is faster or slower somewhere.

use super::judge::{Family, bends, part};
use super::results::{Change, ChangeDetail, ChangeKind, ComparedRow, ComparedTable, Direction};
use super::results::{Ratio, Verdict};
use super::series;
use super::served::Served;
use super::table_pair::{RowPair, TablePair};
use crate::Table;
use crate::thresholds::MARGIN;
use model::Run;

/// Everything that changed, in the order of the tables.
pub(super) fn changes(
    runs: [&Run; 2],
    pairs: &[TablePair<'_>],
    tables: &[ComparedTable],
    family: Family,
    rivals: &dyn Fn(&str) -> Vec<(String, String)>,
) -> Vec<Change> {
    let mut all = Vec::new();
    for pair in pairs {
        let changes = TableChanges { pair };
        let table = tables.iter().find(|table| is_judged_of(pair, table));
        for row in table.iter().flat_map(|table| &table.rows) {
            all.extend(changes.figures(table.map_or(&[], |table| &table.points), row));
        }
        for row in &pair.rows {
            all.extend(changes.part(row, family));
        }
        for row in pair.rows.iter().filter(|row| bends(&row.effects, family)) {
            all.extend(changes.growth(row));
        }
        let moved = |subject: &str| {
            let row = table.and_then(|table| table.rows.iter().find(|row| row.subject == subject));
            row.is_some_and(has_changed)
        };
        all.extend(changes.crossovers(&rivals(&pair.tables[1].workload), &moved));
        for row in &pair.rows {
            all.extend(changes.modes(row));
        }
        // The other metrics of the same cells failed too.
        if pair.tables[1].headline {
            all.extend(changes.outcomes(runs));
        }
    }
    all
}

fn is_judged_of(pair: &TablePair<'_>, table: &ComparedTable) -> bool {
    let source = pair.tables[1];
    source.workload == table.workload
        && source.parameters == table.parameters
        && source.metric.name == table.metric.name
}

/// Whether a series is faster or slower anywhere.
fn has_changed(row: &ComparedRow) -> bool {
    let at_points = row.cells.iter().flatten().map(|cell| cell.ratio.verdict);
    at_points
        .chain([row.overall.verdict])
        .any(|verdict| matches!(verdict, Verdict::Faster | Verdict::Slower))
}

/// The changes of one table of two runs.
struct TableChanges<'a> {
    pair: &'a TablePair<'a>,
}

impl TableChanges<'_> {
    fn table(&self) -> &Table {
        self.pair.tables[1]
    }

    fn change(
        &self,
        kind: ChangeKind,
        direction: Option<Direction>,
        subjects: &[&str],
        detail: ChangeDetail,
    ) -> Change {
        let table = self.table();
        Change {
            kind,
            direction,
            workload: table.workload.clone(),
            parameters: table.parameters.clone(),
            metric: table.metric.name.clone(),
            subjects: subjects.iter().map(|&subject| subject.to_owned()).collect(),
            detail,
            headline: table.headline,
            attribution: None,
            calls: None,
        }
    }

    /// Where a series is slower, and where it is faster.
    fn figures(&self, points: &[u64], row: &ComparedRow) -> Vec<Change> {
        let verdicts = [(Verdict::Slower, Direction::Worse), (Verdict::Faster, Direction::Better)];
        let change = |(verdict, direction)| {
            let detail = figure(points, row, verdict)?;
            Some(self.change(ChangeKind::Figure, Some(direction), &[&row.subject], detail))
        };
        verdicts.into_iter().filter_map(change).collect()
    }

    /// That the medians are clear of chance and the best tenth is not.
    fn part(&self, row: &RowPair<'_>, family: Family) -> Option<Change> {
        let lower_is_better = self.table().metric.lower_is_better;
        let ratio = part(&row.effects, self.pair.usual, family, lower_is_better)?;
        let detail = ChangeDetail::Medians { ratio };
        Some(self.change(ChangeKind::Part, None, &[&row.rows[1].subject], detail))
    }

    /// Another growth class, or another trend of a rate.
    fn growth(&self, row: &RowPair<'_>) -> Option<Change> {
        let [base, new] = row.rows;
        let (direction, detail) = series::growth(base, new).or_else(|| series::trend(base, new))?;
        Some(self.change(ChangeKind::Growth, Some(direction), &[&new.subject], detail))
    }

    /// Crossovers that moved, went or came, where a series of the two is another.
    fn crossovers(&self, rivals: &[(String, String)], moved: &dyn Fn(&str) -> bool) -> Vec<Change> {
        series::comparisons(self.pair.tables, rivals)
            .into_iter()
            .filter(|(pair, _)| pair.iter().any(|subject| moved(subject)))
            .map(|(pair, detail)| self.change(ChangeKind::Crossover, None, &pair, detail))
            .collect()
    }

    fn modes(&self, row: &RowPair<'_>) -> Option<Change> {
        let [base, new] = row.rows;
        let detail = series::modes(base, new)?;
        Some(self.change(ChangeKind::Modes, None, &[&new.subject], detail))
    }

    fn outcomes(&self, runs: [&Run; 2]) -> Vec<Change> {
        let [base, new] = self.pair.tables;
        let served = Served::new(runs, self.pair.tables);
        let mut all = Vec::new();
        for row in &new.rows {
            let Some(before) = base.row(&row.subject) else { continue };
            let changed = series::outcomes(before, row);
            for (direction, detail) in changed.into_iter().chain(served.changes(&row.subject)) {
                let subjects = [row.subject.as_str()];
                all.push(self.change(ChangeKind::Outcome, Some(direction), &subjects, detail));
            }
        }
        all
    }
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
