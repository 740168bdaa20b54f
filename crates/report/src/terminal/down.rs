//! Points down and subjects across, as the tables of those who ran pipetest first: one column for
//! each subject, the best at each point marked.

use super::tone_paint;
use crate::layout::{DIM, GAP, Pen, right, widest, wrapped};
use crate::matrix::grid::{Grid, GridRow};
use crate::text::{self, leads::sign};
use analysis::{Row, Table};
use findings::VerdictWord;
use findings::format::{Unit, count, list, proportion};

/// How narrow a long name may be folded where its column would not fit otherwise.
const FOLD_MIN: usize = 8;

impl Pen {
    /// A table with the points down; notes about its subjects follow below.
    pub(super) fn down(&self, out: &mut String, table: &Table, unit: &Unit) {
        let whole = self.down_grid(table, unit, (usize::MAX, usize::MAX));
        if whole.width_min() <= self.width {
            self.grid(out, &whole);
        } else {
            let stub = self.down_grid(table, unit, (FOLD_MIN, FOLD_MIN)).stub_width();
            let available = self.width.saturating_sub(stub + GAP).max(FOLD_MIN);
            self.grid(out, &self.down_grid(table, unit, (FOLD_MIN, available)));
        }
        self.below(out, table);
    }

    /// The name of the axis and those of the subjects are folded to these columns where they are longer. Under each
    /// subject stands how it grows: the class, and below it by how much.
    fn down_grid(&self, table: &Table, unit: &Unit, fold: (usize, usize)) -> Grid {
        let measured: Vec<&Row> =
            table.rows.iter().filter(|row| row.unavailable.is_none()).collect();
        let figures: Vec<Vec<String>> =
            measured.iter().map(|row| self.figures(table, row, unit)).collect();
        let head = |row: &&Row| {
            wrapped(&row.label, fold.1, 0, 0).into_iter().map(|line| line + " ").collect()
        };
        let (stub, names) = points(table, fold.0);
        let cells = |at: usize| figures.iter().map(|figures| vec![figures[at].clone()]).collect();
        let names = names.into_iter().enumerate();
        let mut rows: Vec<GridRow> =
            names.map(|(at, name)| GridRow::new(name, cells(at))).collect();
        if text::tables::has_verdicts(table) {
            let growth = |row: &&Row| {
                let Some(VerdictWord { tag, by }) = VerdictWord::new(row) else {
                    return Vec::new();
                };
                vec![self.paint(tone_paint(tag.tone), &format!("{} ", tag.word)), by + " "]
            };
            let name = self.paint(DIM, "growth");
            rows.push(GridRow::new(name, measured.iter().map(growth).collect()));
        }
        Grid { stub, heads: measured.iter().map(head).collect(), rows, gap: GAP - 1 }
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

/// The head of the points, its words folded to `fold` columns, and the points with their shares.
fn points(table: &Table, fold: usize) -> (Vec<String>, Vec<String>) {
    let points: Vec<String> = table.points.iter().copied().map(count).collect();
    let axis = wrapped(&table.axis, fold, 0, 0);
    let width_min = if text::tables::has_verdicts(table) { "growth".len() } else { 0 };
    let width = widest(points.iter().chain(&axis)).max(width_min);
    let shares = table.shares.as_ref();
    let share = |&value: &f64| shares.map(|shares| proportion(value, shares.multiple));
    let shown: Vec<String> =
        shares.iter().flat_map(|shares| &shares.values).filter_map(share).collect();
    let word = shares.map(|shares| &shares.word);
    let share_width = if shown.is_empty() { 0 } else { widest(shown.iter().chain(word)) + GAP - 1 };
    let line = |name: &String, share: Option<&String>| {
        format!("{}{}", right(name, width), right(share.map_or("", String::as_str), share_width))
    };
    let head = axis.iter().enumerate();
    let head = head.map(|(at, name)| line(name, word.filter(|_| at + 1 == axis.len())));
    let names = points.iter().enumerate().map(|(at, name)| line(name, shown.get(at)));
    (head.collect(), names.collect())
}
