//! A matrix for a terminal: what changed as sentences, then a table for each section.

use super::changes::{headline, listed, ranked_changes};
use super::grid::{Cell, Grid, GridRow};
use super::names::span;
use super::sheet::{Entry, Sheet, SheetLine};
use super::sight::{notes, sight};
use super::text::{advice, confidence, in_unit, left_out, legend, tag, verdicts};
use super::{Matrix, Reference};
use crate::guests::Guests;
use crate::history::machine;
use crate::layout::{BAD, BOLD, DIM, Detail, GAP, GOOD, INDENT, PLAIN, Pen, Style};
use analysis::compare::{Comparison, Verdict, is_median};
use anstyle::Style as Paint;
use findings::format::{count, list};
use findings::run_changes::sentence;

/// Of several runs, further changes of each are counted, unless [`Detail::All`] is set.
const CHANGES_MAX: usize = 4;
/// Further facts that differ are named only.
const FACTS_MAX: usize = 12;
/// Behind a ratio that is better than that of each other run.
const BEST: &str = "*";

/// The matrix as lines that end in a line feed; with [`Detail::All`] every point and figure as well.
pub fn text(matrix: &Matrix<'_>, style: &Style) -> String {
    let (pen, all) = (Pen::new(style), style.detail == Detail::All);
    let mut out = String::new();
    if style.detail == Detail::Answer {
        pen.answer(&mut out, matrix, false);
        return out;
    }
    pen.runs(&mut out, matrix, all);
    out.push('\n');
    pen.answer(&mut out, matrix, all);
    pen.facts_of_runs(&mut out, matrix, all);
    let is_of_values = matches!(matrix.reference, Reference::Before(_));
    pen.sections(&mut out, matrix, (all || is_of_values, all));
    pen.remainder(&mut out, matrix);
    out
}

/// The runs and the tables, every figure in them, and no sentence about what changed.
pub fn tables(matrix: &Matrix<'_>, style: &Style) -> String {
    let (pen, all) = (Pen::new(style), style.detail == Detail::All);
    let mut out = String::new();
    pen.runs(&mut out, matrix, true);
    pen.sections(&mut out, matrix, (true, all));
    for line in missing(matrix).into_iter().chain(matrix.refusals()) {
        pen.aside(&mut out, &line);
    }
    pen.aside(&mut out, &confidence(matrix));
    for note in notes(matrix) {
        pen.aside(&mut out, note);
    }
    out
}

/// Why runs lack figures that others have.
fn missing(matrix: &Matrix<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for section in &matrix.sections {
        for row in &section.rows {
            for (cells, point) in row.cells.iter().zip(&section.points) {
                let reasons = cells.iter().zip(&matrix.columns).filter_map(|(cell, column)| {
                    let (name, reason) = (&column.name, cell.missing.as_ref()?);
                    let at = format!(" at {} {}", count(*point), section.axis);
                    let at = if section.is_list { "" } else { at.as_str() };
                    Some(format!("{name} has no {}{at}: {reason}", row.label))
                });
                lines.extend(reasons);
            }
        }
    }
    lines
}

impl Pen {
    /// Which runs they are; of a fleet only where `all` is wanted.
    fn runs(&self, out: &mut String, matrix: &Matrix<'_>, all: bool) {
        match matrix.reference {
            Reference::Median(head) => self.paragraph(out, BOLD, &head.title, (0, INDENT)),
            Reference::Before(across) => {
                let name = across.workload.name.clone();
                let head = [name, span(across), machine(&across.machine)].join(" · ");
                self.paragraph(out, BOLD, &head, (0, INDENT));
            }
            Reference::First => {}
        }
        if matrix.fleet_head().is_some() && !all {
            return;
        }
        let identities = matrix.identities().into_iter().enumerate();
        for (at, identity) in identities.skip(usize::from(is_median(matrix.columns[0].run))) {
            let role = match (matrix.reference, at) {
                (Reference::First, 0) => "base  ",
                (Reference::First, _) => "new   ",
                _ => "",
            };
            self.paragraph(out, BOLD, &format!("{role}{identity}"), (0, 6));
        }
    }

    /// What changed, the worst run first; of a fleet the machines that are unlike the others.
    fn answer(&self, out: &mut String, matrix: &Matrix<'_>, all: bool) {
        if let Some(fleet) = matrix.fleet_head() {
            for sentence in &fleet.sentences {
                self.indented(out, sentence);
            }
        } else {
            let worst = if matrix.is_pair() { "" } else { ", the worst run first" };
            self.heading(out, &format!("What changed{worst}"));
            for (column, comparison) in matrix.ranked() {
                self.changes(out, matrix, (column, comparison), all);
            }
        }
        for refusal in matrix.refusals() {
            self.indented(out, &refusal);
        }
        if let Some(sight) = sight(matrix) {
            self.indented(out, &sight);
        }
    }

    /// One run's answer, and its changes below.
    fn changes(
        &self,
        out: &mut String,
        matrix: &Matrix<'_>,
        (column, comparison): (usize, &Comparison),
        all: bool,
    ) {
        self.indented(out, &format!("{}{}.", matrix.label(column), headline(comparison)));
        let max = if all || matrix.is_pair() { usize::MAX } else { CHANGES_MAX };
        let changes = listed(matrix, comparison, max);
        for (scope, changes) in &changes {
            self.paragraph(out, DIM, scope, (2 * INDENT, 3 * INDENT));
            for change in changes {
                let text = format!("{} {}", tag(change).0, sentence(comparison, change));
                self.paragraph(out, PLAIN, &text, (3 * INDENT, 4 * INDENT));
            }
        }
        let shown: usize = changes.iter().map(|(_, changes)| changes.len()).sum();
        let further = ranked_changes(comparison).len().saturating_sub(shown);
        if shown > 0 && further > 0 {
            let text = format!("… and {} more changes: --all", count(further as u64));
            self.paragraph(out, DIM, &text, (2 * INDENT, 3 * INDENT));
        }
        if let Some(verdicts) = verdicts(comparison) {
            self.paragraph(out, PLAIN, &verdicts, (2 * INDENT, 3 * INDENT));
        }
    }

    /// The recorded facts that differ, a line each.
    fn facts_of_runs(&self, out: &mut String, matrix: &Matrix<'_>, all: bool) {
        let facts = matrix.facts();
        out.push('\n');
        self.heading(out, "Facts that differ");
        if facts.is_empty() {
            self.indented(out, "None that was recorded.");
        }
        let max = if all { facts.len() } else { facts.len().min(FACTS_MAX) };
        for fact in &facts[..max] {
            self.indented(out, &format!("{}  {}", fact.what, matrix.values_text(fact)));
        }
        if max < facts.len() {
            let number = count((facts.len() - max) as u64);
            let names = list(facts[max..].iter().map(|fact| fact.what));
            self.aside(out, &format!("and {number} more (--all shows them): {names}"));
        }
        for note in notes(matrix) {
            self.aside(out, note);
        }
    }

    /// A table for each section, with the `figures` and their own intervals where they are wanted; then what the signs
    /// mean.
    fn sections(&self, out: &mut String, matrix: &Matrix<'_>, shown: (bool, bool)) {
        let mut has_best = false;
        for section in &matrix.sections {
            out.push('\n');
            let sheet = Sheet::new(matrix, section, shown.0);
            has_best |= sheet.has_best();
            let has_figures = shown.0 || !sheet.points_across;
            let unit = section.unit();
            let unit = if has_figures && !section.is_list { in_unit(&unit) } else { String::new() };
            self.paragraph(out, BOLD, &format!("{}{unit}", section.title), (0, INDENT));
            let inline = self.sheet(&sheet, shown, true);
            let fits = inline.width_min() <= self.width;
            let grid = if fits { inline } else { self.sheet(&sheet, shown, false) };
            self.grid(out, &grid);
        }
        if !matrix.sections.is_empty() {
            self.aside(out, &legend(matrix, has_best.then_some(BEST)));
        }
    }

    /// What is left out, the CPUs of guests, and the confidence.
    fn remainder(&self, out: &mut String, matrix: &Matrix<'_>) {
        let left_out = left_out(matrix);
        if !left_out.is_empty() {
            out.push('\n');
            self.heading(out, "Left out");
        }
        for warning in &left_out {
            self.indented(out, &warning.line());
        }
        if let Some(guests) = Guests::new(matrix.runs().map(|run| (run, None))) {
            self.guests(out, &guests);
        }
        out.push('\n');
        self.heading(out, "Confidence");
        self.indented(out, &confidence(matrix));
        if let Some(advice) = advice(matrix) {
            self.indented(out, &advice.line());
        }
    }

    /// The intervals of ratios stand `inline`, or below them.
    fn sheet(&self, sheet: &Sheet<'_>, (figures, intervals): (bool, bool), inline: bool) -> Grid {
        let mut rows = Vec::new();
        for line in &sheet.lines {
            let indent = if line.is_point { "  " } else { "" };
            let shown = (figures && !sheet.points_across, intervals);
            let cell = |entry| self.entry(line, entry, shown, (inline, sheet.points_across));
            let mut cells: Vec<Cell> = line.entries.iter().map(cell).collect();
            cells.resize(sheet.heads.len(), Vec::new());
            rows.push(GridRow::new(format!("{indent}{}", line.name), cells));
            if figures && sheet.points_across {
                for (at, name) in sheet.names.iter().enumerate() {
                    let medians = line.entries.iter().map(|entry| {
                        let text = format!("{}  ", line.medians(entry)[at]);
                        if entry.with_range { Vec::new() } else { vec![self.paint(DIM, &text)] }
                    });
                    rows.push(GridRow::new(format!("  {name}"), medians.collect()));
                }
            }
        }
        // The sign stands behind the figure, and the head above the figure.
        let behind = if sheet.points_across { "  " } else { " " };
        let heads = sheet.heads.iter().map(|head| vec![format!("{head}{behind}")]).collect();
        let gap = if sheet.points_across { GAP - 1 } else { GAP };
        Grid { stub: vec!["series".to_owned()], heads, rows, gap }
    }

    /// The ratio, else the figure; the figure above the ratio where it is wanted.
    fn entry(
        &self,
        line: &SheetLine<'_>,
        entry: &Entry<'_>,
        (figures, intervals): (bool, bool),
        (inline, is_of_two): (bool, bool),
    ) -> Cell {
        let mut lines = Vec::new();
        let figure =
            line.figure(entry, intervals).filter(|_| figures && entry.cell.ratio.is_some());
        lines.extend(figure.map(|figure| format!("{figure} ")));
        let mut text = entry.text(line, intervals);
        let range = entry.range();
        if let Some(range) = range.as_ref().filter(|_| inline) {
            text = format!("{text} {range}");
        }
        // A dash stands below figures, not below their signs.
        text.push_str(match (entry.cell.is_best, is_of_two) {
            (true, _) => BEST,
            (false, false) => " ",
            (false, true) if entry.cell.ratio.is_none() => "  ",
            (false, true) => "",
        });
        lines.push(self.paint(paint(entry), &text));
        let below = range.filter(|_| !inline);
        lines.extend(below.map(|range| self.paint(DIM, &format!("{range} "))));
        lines
    }
}

/// Slower and faster stand out, undecided is dimmed.
fn paint(entry: &Entry<'_>) -> Paint {
    match entry.cell.verdict() {
        Some(Verdict::Slower) => BAD,
        Some(Verdict::Faster) => GOOD,
        Some(Verdict::Undecided) => DIM,
        None if entry.cell.is_best => GOOD,
        None if !entry.is_base => DIM,
        _ => PLAIN,
    }
}
