//! Points down and subjects across, as the tables of those who ran pipetest first: one column for
//! each subject, the best at each point marked.

use super::{line_text, sign, tone_paint};
use crate::layout::{DIM, GAP, INDENT, Pen, right, widest, wrapped};
use crate::text;
use crate::text::leads::Mark;
use analysis::{Row, Table};
use findings::Verdict;
use findings::format::{Unit, count, list, proportion};
use std::ops::Range;

/// How narrow a long name may be folded where its column would not fit otherwise.
const FOLD_MIN: usize = 8;

/// One subject, as text.
struct Column {
    /// Its name, in one line or more.
    head: Vec<String>,
    cells: Vec<String>,
    marks: Vec<Option<Mark>>,
    verdict: Option<Verdict>,
    /// With the gap before it and space for a mark.
    width: usize,
}

/// What stands at the left of every part: the points, and what share of the whole each is.
struct Stub {
    head: Vec<String>,
    lines: Vec<String>,
    width: usize,
}

impl Pen {
    /// A table with the points down; notes about its subjects follow below.
    pub(super) fn down(&self, out: &mut String, table: &Table, unit: &Unit) {
        let grows = text::tables::has_verdicts(table);
        let mut stub = stub(table, usize::MAX, grows);
        let mut columns = columns(table, unit, usize::MAX);
        let widest_column = columns.iter().map(|column| column.width).max().unwrap_or_default();
        if stub.width + widest_column > self.width {
            stub = self::stub(table, FOLD_MIN, grows);
            let available = self.width.saturating_sub(stub.width + GAP);
            columns = self::columns(table, unit, available.max(FOLD_MIN));
        }
        for (index, part) in self.split(&stub, &columns).into_iter().enumerate() {
            if index > 0 {
                out.push('\n');
            }
            self.side_by_side(out, &stub, &columns[part]);
        }
        self.below(out, table);
    }

    /// Splits the table between its subjects so that each part fits.
    fn split(&self, stub: &Stub, columns: &[Column]) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let (mut start, mut used) = (0, stub.width);
        for (index, column) in columns.iter().enumerate() {
            if used + column.width > self.width && index > start {
                parts.push(start..index);
                (start, used) = (index, stub.width);
            }
            used += column.width;
        }
        parts.push(start..columns.len());
        parts
    }

    fn side_by_side(&self, out: &mut String, stub: &Stub, columns: &[Column]) {
        let heads = columns.iter().map(|column| &column.head).chain([&stub.head]);
        let height = heads.map(Vec::len).max().unwrap_or_default();
        for line in 0..height {
            let mut text = right(folded(&stub.head, line, height), stub.width);
            for column in columns {
                text.push_str(&self.cell(folded(&column.head, line, height), column.width, None));
            }
            self.line(out, &self.paint(DIM, &text));
        }
        for (point, line) in stub.lines.iter().enumerate() {
            let mut text = line.clone();
            for column in columns {
                text.push_str(&self.cell(&column.cells[point], column.width, column.marks[point]));
            }
            self.line(out, &text);
        }
        if columns.iter().any(|column| column.verdict.is_some()) {
            self.growth(out, stub, columns);
        }
    }

    /// Under each subject how it grows: the class, and below it by how much.
    fn growth(&self, out: &mut String, stub: &Stub, columns: &[Column]) {
        let mut classes = self.paint(DIM, &format!("{:INDENT$}growth", ""));
        classes.push_str(&" ".repeat(stub.width.saturating_sub(INDENT + "growth".len())));
        let mut factors = " ".repeat(stub.width);
        for column in columns {
            let Some(Verdict { word, by, tone }) = &column.verdict else {
                classes.push_str(&self.cell("", column.width, None));
                factors.push_str(&self.cell("", column.width, None));
                continue;
            };
            let word = self.cell(word, column.width, None);
            classes.push_str(&self.paint(tone_paint(*tone), &word));
            factors.push_str(&self.cell(by, column.width, None));
        }
        self.line(out, &classes);
        self.line(out, &factors);
    }

    /// What the marks mean, why figures are missing, and which subjects could not be measured.
    fn below(&self, out: &mut String, table: &Table) {
        if let Some(legend) = text::leads::legend(table, sign) {
            self.aside(out, &legend);
        }
        for row in text::tables::rows(table).filter(|row| row.unavailable.is_none()) {
            if let Some(why) = text::notes::open(row) {
                self.aside(out, &format!("{}: {why}", row.label));
            }
            for gap in text::notes::missing(row) {
                self.aside(out, &format!("{} at {gap}", row.label));
            }
        }
        for (reason, labels) in text::notes::unavailable(table) {
            let be = if labels.len() == 1 { "is" } else { "are" };
            self.aside(out, &format!("{} {be} unavailable: {reason}", list(&labels)));
        }
    }
}

/// The line of a folded name that stands at `line` of `height`: names end at the figures.
fn folded(head: &[String], line: usize, height: usize) -> &str {
    let above = height - head.len();
    line.checked_sub(above).and_then(|line| head.get(line)).map_or("", String::as_str)
}

/// The points with their shares; the axis's name folded to `fold` columns where it is longer.
fn stub(table: &Table, fold: usize, grows: bool) -> Stub {
    let points: Vec<String> = table.points.iter().copied().map(count).collect();
    let axis = wrapped(&table.axis, fold, 0, 0);
    let min_width = if grows { "growth".len() } else { 0 };
    let width = widest(points.iter().chain(&axis)).max(min_width);
    let Some(shares) = &table.shares else {
        let lines = points.iter().map(|point| right(point, INDENT + width)).collect();
        return Stub { head: axis, lines, width: INDENT + width };
    };
    let percents: Vec<String> =
        shares.values.iter().map(|&value| proportion(value, shares.multiple)).collect();
    let share_width = widest(percents.iter().chain([&shares.word])) + GAP - 1;
    let line = |(point, share): (&String, &String)| {
        format!("{}{}", right(point, INDENT + width), right(share, share_width))
    };
    let lines = points.iter().zip(&percents).map(line).collect();
    let mut head: Vec<String> =
        axis.iter().map(|word| format!("{word}{:share_width$}", "")).collect();
    if let Some((last, name)) = head.last_mut().zip(axis.last()) {
        *last = format!("{name}{}", right(&shares.word, share_width));
    }
    Stub { head, lines, width: INDENT + width + share_width }
}

/// A column for each subject that can be measured; its name folded to `fold` columns where longer.
fn columns(table: &Table, unit: &Unit, fold: usize) -> Vec<Column> {
    let measured = table.rows.iter().filter(|row| row.unavailable.is_none());
    let column = |row: &Row| {
        let line = line_text(table, row, unit);
        let head = wrapped(&row.label, fold, 0, 0);
        let verdict = line.verdict.as_ref();
        let verdict_texts = verdict.map(|verdict| [verdict.word.to_owned(), verdict.by.clone()]);
        let texts = line.cells.iter().chain(&head).chain(verdict_texts.iter().flatten());
        let width = widest(texts) + GAP;
        Column { head, width, verdict: line.verdict, marks: line.marks, cells: line.cells }
    };
    measured.map(column).collect()
}
