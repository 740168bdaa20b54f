//! A table for a terminal: a name before each row, and cells of one line or several. Too wide, it is split between its
//! columns, never squeezed; what belongs to a row stands behind it where it fits, else below.

use crate::layout::{DIM, GAP, INDENT, PLAIN, Pen, display_width, left, right, widest};
use std::ops::Range;

/// A table as text, painted where it is to be.
pub(crate) struct Grid {
    /// What the rows are: the lines of their head.
    pub(crate) stub: Vec<String>,
    /// The head of each column: its lines.
    pub(crate) heads: Vec<Cell>,
    pub(crate) rows: Vec<GridRow>,
    /// Columns of the terminal between two columns.
    pub(crate) gap: usize,
}

/// The lines of a cell.
pub(crate) type Cell = Vec<String>;

/// A row as text.
#[derive(Default)]
pub(crate) struct GridRow {
    pub(crate) name: String,
    pub(crate) cells: Vec<Cell>,
    /// What stands behind its last cell, or below it.
    pub(crate) notes: String,
    /// Whether only the part with the last column has it.
    pub(crate) is_last: bool,
}

impl GridRow {
    /// A row without notes.
    pub(crate) fn new(name: impl Into<String>, cells: Vec<Cell>) -> Self {
        Self { name: name.into(), cells, ..Self::default() }
    }
}

impl Grid {
    /// A table whose cells have one line.
    pub(crate) fn plain(
        stub: &str,
        heads: impl IntoIterator<Item = String>,
        rows: impl Iterator<Item = (String, Vec<String>)>,
    ) -> Self {
        let cells = |texts: Vec<String>| texts.into_iter().map(|text| vec![text]).collect();
        let rows = rows.map(|(name, texts)| GridRow::new(name, cells(texts)));
        let stub = if stub.is_empty() { Vec::new() } else { vec![stub.to_owned()] };
        let heads = cells(heads.into_iter().collect());
        Self { stub, heads, rows: rows.collect(), gap: GAP }
    }

    pub(crate) fn stub_width(&self) -> usize {
        widest(self.rows.iter().map(|row| &row.name).chain(&self.stub)) + INDENT
    }

    /// The columns of a terminal that a column takes, with the gap before it.
    pub(crate) fn width_of(&self, column: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.cells.get(column));
        widest(cells.flatten().chain(&self.heads[column])) + self.gap
    }

    fn widths(&self) -> Vec<usize> {
        (0..self.heads.len()).map(|column| self.width_of(column)).collect()
    }

    /// The columns of a terminal that it fits into as one part.
    pub(crate) fn width(&self) -> usize {
        self.stub_width() + self.widths().iter().sum::<usize>()
    }

    /// The fewest columns of a terminal that it fits into.
    pub(crate) fn width_min(&self) -> usize {
        self.stub_width() + self.widths().into_iter().max().unwrap_or(0)
    }

    /// The heads of the stub and of some columns, all of one height: they end at the figures. A line that has only the stub
    /// below is left out.
    fn head(&self, part: Range<usize>) -> (Cell, Vec<Cell>) {
        let heads = &self.heads[part];
        let height = heads.iter().chain([&self.stub]).map(Vec::len).max().unwrap_or(0);
        let lowered =
            |head: &Cell| [vec![String::new(); height - head.len()], head.clone()].concat();
        let (mut stub, heads) =
            (lowered(&self.stub), heads.iter().map(lowered).collect::<Vec<_>>());
        while stub.len() > 1 && heads.iter().all(|head| head[stub.len() - 1].trim().is_empty()) {
            stub.pop();
        }
        (stub, heads)
    }

    /// The table with only these columns.
    pub(crate) fn with_columns(mut self, columns: &[usize]) -> Self {
        let kept = |all: &[Cell]| columns.iter().map(|&column| all[column].clone()).collect();
        self.heads = kept(&self.heads);
        self.rows.iter_mut().for_each(|row| row.cells = kept(&row.cells));
        self
    }
}

impl Pen {
    /// Writes the table, in as many parts as the width asks for.
    pub(crate) fn grid(&self, out: &mut String, grid: &Grid) {
        let (stub, widths) = (grid.stub_width(), grid.widths());
        let (mut parts, mut start, mut used) = (Vec::new(), 0, stub);
        for (column, width) in widths.iter().enumerate() {
            if used + width > self.width && column > start {
                parts.push(start..column);
                (start, used) = (column, stub);
            }
            used += width;
        }
        parts.push(start..widths.len());
        for part in parts {
            if part.start > 0 {
                out.push('\n');
            }
            self.grid_part(out, grid, part.clone(), (stub, widths[part].to_vec()));
        }
    }

    fn grid_part(
        &self,
        out: &mut String,
        grid: &Grid,
        part: Range<usize>,
        (mut stub, mut widths): (usize, Vec<usize>),
    ) {
        // In a narrow terminal the gap before a column is dropped first; then names stand above their cells.
        if let [only] = widths.as_mut_slice() {
            *only = (*only).min(self.width.saturating_sub(stub).max(*only - grid.gap + 1));
        }
        let cells = grid.rows.iter().flat_map(|row| row.cells[part.clone()].iter().flatten());
        let is_narrow = part.len() == 1 && stub + widest(cells) >= self.width;
        if is_narrow {
            stub = 3 * INDENT;
        }
        let line = |name: &str, cells: &[Cell], at: usize| {
            let mut text = format!("{:INDENT$}{}", "", left(name, stub - INDENT));
            for (cell, width) in cells.iter().zip(&widths) {
                text.push_str(&right(cell.get(at).map_or("", String::as_str), *width));
            }
            text
        };
        let (stub_lines, heads) = grid.head(part.clone());
        for (at, name) in stub_lines.iter().enumerate() {
            self.line(out, &self.paint(DIM, &line(name, &heads, at)));
        }
        let is_end = part.end == grid.heads.len();
        for row in &grid.rows {
            let is_heading = row.cells.iter().all(Vec::is_empty);
            let mut cells = &row.cells[part.clone()];
            let has_cells = is_heading || cells.iter().any(|cell| !cell.is_empty());
            // What has figures in other parts only.
            if !is_end && row.is_last || !has_cells && (!is_end || row.notes.is_empty()) {
                continue;
            }
            let mut name = row.name.as_str();
            if is_narrow && cells.iter().any(|cell| !cell.is_empty()) {
                self.paragraph(out, PLAIN, name, (INDENT, 2 * INDENT));
                name = "";
            }
            if is_end && !row.notes.is_empty() {
                while let Some((_, before)) = cells.split_last().filter(|(last, _)| last.is_empty())
                {
                    cells = before;
                }
                let text = format!("{}{:gap$}", line(name, cells, 0), "", gap = grid.gap);
                self.notes(out, &text, &row.notes);
                continue;
            }
            for at in 0..cells.iter().map(Vec::len).max().unwrap_or(0).max(1) {
                self.line(out, &line(if at == 0 { name } else { "" }, cells, at));
            }
        }
    }

    /// Ends a row with its notes: behind it if they fit, else on lines of their own.
    pub(crate) fn notes(&self, out: &mut String, text: &str, notes: &str) {
        if display_width(text) + display_width(notes) <= self.width {
            self.line(out, &format!("{text}{}", self.paint(DIM, notes)));
            return;
        }
        self.line(out, text);
        self.paragraph(out, DIM, notes.trim_start(), (3 * INDENT, 3 * INDENT));
    }
}
