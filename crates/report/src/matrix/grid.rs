//! A table of cells that have several lines, for a terminal; too wide, it is split between its columns.

use crate::layout::{DIM, INDENT, Pen, display_width, right, widest};
use anstyle::Style as Paint;

/// A table as text.
pub(crate) struct Grid {
    /// What the rows are.
    pub(crate) stub: String,
    /// The head of each column: its lines.
    pub(crate) heads: Vec<Vec<String>>,
    /// The rows: their names, and the lines of each cell.
    pub(crate) rows: Vec<(String, Vec<Cell>)>,
    /// Columns between two columns.
    pub(crate) gap: usize,
}

/// The lines of a cell.
pub(crate) type Cell = Vec<(Paint, String)>;

impl Grid {
    fn stub_width(&self) -> usize {
        widest(self.rows.iter().map(|(name, _)| name).chain([&self.stub])) + INDENT
    }

    /// The columns of a terminal that it fits into as one part.
    pub(crate) fn width(&self) -> usize {
        self.stub_width() + (0..self.heads.len()).map(|column| self.width_of(column)).sum::<usize>()
    }

    fn width_of(&self, column: usize) -> usize {
        let cells = self.rows.iter().flat_map(|(_, cells)| &cells[column]);
        let lines = cells.map(|(_, text)| text).chain(&self.heads[column]);
        widest(lines) + self.gap
    }

    /// The fewest columns of a terminal that it fits into.
    pub(crate) fn width_min(&self) -> usize {
        let widths = (0..self.heads.len()).map(|column| self.width_of(column));
        self.stub_width() + widths.max().unwrap_or(0)
    }
}

impl Pen {
    /// Writes the table, in as many parts as the width asks for.
    pub(crate) fn grid(&self, out: &mut String, grid: &Grid) {
        let stub = grid.stub_width();
        let widths: Vec<usize> =
            (0..grid.heads.len()).map(|column| grid.width_of(column)).collect();
        let mut start = 0;
        while start < widths.len() {
            let mut used = stub;
            let fitting = widths[start..].iter().take_while(|&&width| {
                used += width;
                used <= self.width
            });
            let end = start + fitting.count().max(1);
            if start > 0 {
                out.push('\n');
            }
            self.grid_part(out, grid, (start, end), (stub, &widths));
            start = end;
        }
    }

    fn grid_part(
        &self,
        out: &mut String,
        grid: &Grid,
        (start, end): (usize, usize),
        (stub, widths): (usize, &[usize]),
    ) {
        let heads = &grid.heads[start..end];
        let head_lines = heads.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..head_lines {
            let first = if line == 0 { grid.stub.as_str() } else { "" };
            let mut text = format!("{:INDENT$}{first:<width$}", "", width = stub - INDENT);
            for (head, width) in heads.iter().zip(&widths[start..end]) {
                text.push_str(&right(head.get(line).map_or("", String::as_str), *width));
            }
            self.line(out, &self.paint(DIM, &text));
        }
        for (name, cells) in &grid.rows {
            let is_heading = cells.iter().all(Vec::is_empty);
            let cells = &cells[start..end];
            // What has figures in other parts only.
            if cells.iter().all(Vec::is_empty) && !is_heading {
                continue;
            }
            for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0).max(1) {
                let first = if line == 0 { name.as_str() } else { "" };
                let pad = (stub - INDENT).saturating_sub(display_width(first));
                let mut text = format!("{:INDENT$}{first}{:pad$}", "", "");
                for (cell, width) in cells.iter().zip(&widths[start..end]) {
                    match cell.get(line) {
                        Some((paint, value)) => {
                            text.push_str(&self.paint(*paint, &right(value, *width)));
                        }
                        None => text.push_str(&" ".repeat(*width)),
                    }
                }
                self.line(out, &text);
            }
        }
    }
}
