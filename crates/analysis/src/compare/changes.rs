//! What changed from one run to the other, in sentences.
//!
//! Orders of growth, crossovers and modes are found in each run by itself, and by rules that weigh what
//! one run holds. A run that was disturbed may lie on the other side of such a rule. So a change needs two
//! witnesses: both runs are decided, and the ratios of the comparison say so as well. A series of another
//! order of growth is not slower by the same factor at both ends; a crossover that has moved is one of
//! which one series is faster or slower somewhere.

use super::judge::{Family, bends, part};
use super::{Beside, Change, ChangeKind, ComparedRow, ComparedTable, Direction, Ratio, Verdict};
use super::{RowBeside, stand};
use crate::Table;
use crate::compare::thresholds::POINT_EXCESS_LOG;
use crate::findings::qualifiers;
use crate::findings::words;

/// Everything that changed, in the order of the tables.
pub(super) fn changes(
    compared: &[Beside<'_>],
    tables: &[ComparedTable],
    of_runs: [&[Table]; 2],
    family: Family,
    rivals: &dyn Fn(&str) -> Vec<(String, String)>,
) -> Vec<Change> {
    let mut all = Vec::new();
    for beside in compared {
        let told = Told { beside, qualifiers: qualifiers(of_runs[1], beside.tables[1]) };
        let table = tables.iter().find(|table| is_of(beside, table));
        for row in table.iter().flat_map(|table| &table.rows) {
            all.extend(told.figures(table.map_or(&[], |table| &table.points), row));
        }
        for row in &beside.rows {
            all.extend(told.part(row, family));
        }
        for row in beside.rows.iter().filter(|row| bends(&row.effects, family)) {
            all.extend(told.growth(row));
        }
        let moved = |subject: &str| {
            let row = table.and_then(|table| table.rows.iter().find(|row| row.subject == subject));
            row.is_some_and(is_another)
        };
        all.extend(told.crossovers(&rivals(&beside.tables[1].workload), &moved));
        for row in &beside.rows {
            all.extend(told.modes(row));
        }
        // The other metrics of the same cells failed too.
        if beside.tables[1].headline {
            all.extend(told.outcomes());
        }
    }
    all
}

fn is_of(beside: &Beside<'_>, table: &ComparedTable) -> bool {
    let of = beside.tables[1];
    of.workload == table.workload
        && of.parameters == table.parameters
        && of.metric.name == table.metric.name
}

/// Whether a series is faster or slower anywhere.
fn is_another(row: &ComparedRow) -> bool {
    let at_points = row.cells.iter().flatten().map(|cell| cell.ratio.verdict);
    at_points
        .chain([row.overall.verdict])
        .any(|verdict| matches!(verdict, Verdict::Faster | Verdict::Slower))
}

/// One table of two runs, with what tells it from others.
struct Told<'a> {
    beside: &'a Beside<'a>,
    qualifiers: String,
}

impl Told<'_> {
    fn table(&self) -> &Table {
        self.beside.tables[1]
    }

    fn subject(&self, label: &str) -> String {
        format!("{label}{}", self.qualifiers)
    }

    fn change(
        &self,
        kind: ChangeKind,
        direction: Option<Direction>,
        subjects: &[&str],
        sentence: String,
    ) -> Change {
        let table = self.table();
        Change {
            kind,
            direction,
            workload: table.workload.clone(),
            parameters: table.parameters.clone(),
            metric: table.metric.name.clone(),
            subjects: subjects.iter().map(|&subject| subject.to_owned()).collect(),
            sentence,
            headline: table.headline,
        }
    }

    /// Where a series is slower, and where it is faster.
    fn figures(&self, points: &[u64], row: &ComparedRow) -> Vec<Change> {
        let mut all = Vec::new();
        for (verdict, word, direction) in [
            (Verdict::Slower, "slower", Direction::Worse),
            (Verdict::Faster, "faster", Direction::Better),
        ] {
            if let Some(said) = self.figure(points, row, verdict, word) {
                let subjects = [row.subject.as_str()];
                all.push(self.change(ChangeKind::Figure, Some(direction), &subjects, said));
            }
        }
        all
    }

    fn figure(
        &self,
        points: &[u64],
        row: &ComparedRow,
        verdict: Verdict,
        word: &str,
    ) -> Option<String> {
        let ratios = points.iter().zip(&row.cells);
        let ratios = ratios.filter_map(|(point, cell)| Some((*point, &cell.as_ref()?.ratio)));
        let at: Vec<(u64, &Ratio)> = ratios.filter(|(_, ratio)| ratio.verdict == verdict).collect();
        let size = |ratio: &Ratio| ratio.ratio.value.ln().abs();
        let most = at.iter().max_by(|a, b| size(a.1).total_cmp(&size(b.1)));
        let subject = self.subject(&row.label);
        if row.overall.verdict == verdict {
            // Where all points have it alike, none has it most.
            let most = most.filter(|most| size(most.1) > size(&row.overall) + POINT_EXCESS_LOG);
            let most = most.map(|most| format!(", most at {}", self.table().place(most.0)));
            let most = most.unwrap_or_default();
            return Some(format!("{subject} is {word}: {}{most}.", told(&row.overall)));
        }
        let (_, ratio) = most?;
        let points: Vec<u64> = at.iter().map(|(point, _)| *point).collect();
        let up_to = if points.len() == 1 { "" } else { "up to " };
        let places = self.table().places(&points);
        Some(format!("{subject} is {word} at {places}: {up_to}{}.", told(ratio)))
    }

    /// That the medians are clear of chance and the best tenth is not.
    fn part(&self, row: &RowBeside<'_>, family: Family) -> Option<Change> {
        let new = row.rows[1];
        let lower_is_better = self.table().metric.lower_is_better;
        let ratio = part(&row.effects, self.beside.usual, family, lower_is_better)?;
        let word = if ratio.verdict == Verdict::Slower { "slower" } else { "faster" };
        let sentence = format!(
            "{} is {word} by its medians, {}, but not by its best tenth: a part of its operations changed, \
             or a neighbour disturbed one of the runs; turns tell which (--interleave).",
            self.subject(&new.label),
            told(&ratio)
        );
        Some(self.change(ChangeKind::Part, None, &[&new.subject], sentence))
    }

    /// Another order of growth, or another course of a rate.
    fn growth(&self, row: &RowBeside<'_>) -> Option<Change> {
        let [base, new] = row.rows;
        let subject = self.subject(&new.label);
        let (direction, sentence) = stand::growth(&subject, self.table(), base, new)
            .or_else(|| stand::course(&subject, base, new))?;
        Some(self.change(ChangeKind::Growth, Some(direction), &[&new.subject], sentence))
    }

    /// Crossovers that moved, went or came, where a series of the two is another.
    fn crossovers(&self, rivals: &[(String, String)], moved: &dyn Fn(&str) -> bool) -> Vec<Change> {
        let found = stand::contests(self.beside.tables, rivals, &self.qualifiers);
        let found = found.into_iter().filter(|(pair, _)| pair.iter().any(|one| moved(one)));
        let tell = |(pair, sentence): ([&str; 2], String)| {
            self.change(ChangeKind::Crossover, None, &pair, sentence)
        };
        found.map(tell).collect()
    }

    fn modes(&self, row: &RowBeside<'_>) -> Option<Change> {
        let [base, new] = row.rows;
        let sentence = stand::modes(&self.subject(&new.label), self.beside.tables, base, new)?;
        Some(self.change(ChangeKind::Modes, None, &[&new.subject], sentence))
    }

    fn outcomes(&self) -> Vec<Change> {
        let [base, new] = self.beside.tables;
        let mut all = Vec::new();
        for row in &new.rows {
            let Some(before) = base.row(&row.subject) else { continue };
            let subject = self.subject(&row.label);
            for (direction, sentence) in stand::outcomes(&subject, new, before, row) {
                let subjects = [row.subject.as_str()];
                all.push(self.change(ChangeKind::Outcome, Some(direction), &subjects, sentence));
            }
        }
        all
    }
}

/// `×1.10 (95 % 1.08 to 1.13)`.
fn told(ratio: &Ratio) -> String {
    let [low, high] = [ratio.ratio.low, ratio.ratio.high].map(words::significant);
    format!("{} (95 % {low} to {high})", words::factor(ratio.ratio.value))
}
