//! How a section is laid out, for every form: two runs with their points across, more runs across themselves.

use super::text::{range, ratio};
use super::{Matrix, MatrixCell, MatrixRow, MatrixTable};
use crate::text::NO_FIGURE;
use analysis::Estimate;
use findings::format::{Unit, count, percent};

/// A section as lines of entries.
pub(super) struct Sheet<'m> {
    /// The heads of the columns.
    pub(super) heads: Vec<String>,
    pub(super) lines: Vec<SheetLine<'m>>,
    /// Whether the points stand across, and each entry is of two runs.
    pub(super) points_across: bool,
    /// What the runs are called.
    pub(super) names: Vec<&'m str>,
}

/// A series, a point of it, or, without entries, the heading of a group.
pub(super) struct SheetLine<'m> {
    pub(super) name: String,
    /// The point of the series above that it is about.
    pub(super) is_point: bool,
    unit: Unit,
    with_symbol: bool,
    pub(super) entries: Vec<Entry<'m>>,
}

/// A cell at its place in a line.
pub(super) struct Entry<'m> {
    pub(super) cell: &'m MatrixCell<'m>,
    /// The median of the base, where the entry is of two runs.
    base: Option<Estimate>,
    /// Whether its ratio stands with its CI.
    pub(super) with_range: bool,
    /// Whether ratios of the line are to it.
    pub(super) is_base: bool,
}

impl<'m> Sheet<'m> {
    /// Of several runs with each point, or with those alone at which something changed.
    pub(super) fn new(
        matrix: &'m Matrix<'_>,
        section: &'m MatrixTable<'_>,
        all_points: bool,
    ) -> Self {
        if matrix.is_pair() && section.points.len() > 1 {
            return Self::points_across(matrix, section);
        }
        let heads = matrix.columns.iter().map(|column| column.name.clone()).collect();
        let unit = section.unit();
        let mut lines: Vec<SheetLine<'m>> = Vec::new();
        let mut group = "";
        for row in &section.rows {
            if section.is_list && row.group != group {
                group = row.group;
                lines.push(SheetLine::new(group.to_owned(), &unit, Vec::new()));
            }
            let single = section.points.len() == 1;
            let cells = if single { &row.cells[0] } else { &row.overall };
            let own = if section.is_list {
                section.unit_of(std::slice::from_ref(row))
            } else {
                unit.clone()
            };
            let with_symbol = section.is_list;
            let line = SheetLine::new(row.label.to_owned(), &own, across(cells));
            lines.push(SheetLine { with_symbol, ..line });
            let points = section.points.iter().zip(&row.cells).filter(|_| !single);
            let shown =
                points.filter(|(_, cells)| all_points || cells.iter().any(MatrixCell::has_changed));
            lines.extend(shown.map(|(point, cells)| SheetLine {
                is_point: true,
                ..SheetLine::new(format!("at {}", count(*point)), &unit, across(cells))
            }));
        }
        Self { heads, lines, points_across: false, names: names(matrix) }
    }

    fn points_across(matrix: &'m Matrix<'_>, section: &'m MatrixTable<'_>) -> Self {
        let unit = section.unit();
        let line = |row: &'m MatrixRow<'_>| {
            let entry = |cells: &'m [MatrixCell<'_>], with_range| Entry {
                cell: &cells[1],
                base: cells[0].median,
                with_range,
                is_base: false,
            };
            let points = row.cells.iter().map(|cells| entry(cells, false));
            let entries = std::iter::once(entry(&row.overall, true)).chain(points);
            SheetLine::new(row.label.to_owned(), &unit, entries.collect())
        };
        let points = section.points.iter().copied().map(count);
        Self {
            heads: std::iter::once("overall".to_owned()).chain(points).collect(),
            lines: section.rows.iter().map(line).collect(),
            points_across: true,
            names: names(matrix),
        }
    }

    /// Whether some run is better than each other one.
    pub(super) fn has_best(&self) -> bool {
        self.lines.iter().flat_map(|line| &line.entries).any(|entry| entry.cell.is_best)
    }
}

fn names<'m>(matrix: &'m Matrix<'_>) -> Vec<&'m str> {
    matrix.columns.iter().map(|column| column.name.as_str()).collect()
}

fn across<'m>(cells: &'m [MatrixCell<'_>]) -> Vec<Entry<'m>> {
    let entry = |(at, cell)| Entry { cell, base: None, with_range: true, is_base: at == 0 };
    cells.iter().enumerate().map(entry).collect()
}

impl<'m> SheetLine<'m> {
    fn new(name: String, unit: &Unit, entries: Vec<Entry<'m>>) -> Self {
        Self { name, is_point: false, unit: unit.clone(), with_symbol: false, entries }
    }

    fn text(&self, figure: Estimate, with_interval: bool) -> String {
        let unit = &self.unit;
        let Estimate { value, low, high } = figure;
        let text = if self.with_symbol { unit.with_symbol(value) } else { unit.figure(value) };
        if with_interval && low < high {
            return format!("{text} ±{}", percent((high - low) / 2.0 / value.abs()));
        }
        text
    }

    /// The median of an entry, with its own interval where that is wanted.
    pub(super) fn figure(&self, entry: &Entry<'_>, with_interval: bool) -> Option<String> {
        entry.cell.median.map(|figure| self.text(figure, with_interval))
    }

    /// The medians of base and new, of an entry of two runs.
    pub(super) fn medians(&self, entry: &Entry<'_>) -> [String; 2] {
        [entry.base, entry.cell.median].map(|median| {
            median.map_or_else(|| NO_FIGURE.to_owned(), |median| self.text(median, false))
        })
    }
}

impl Entry<'_> {
    /// `×1.40 ▲`; without a ratio the figure, `1` for the base of a whole series, or a dash.
    pub(super) fn text(&self, line: &SheetLine<'_>, with_interval: bool) -> String {
        let Some(judged) = self.cell.ratio else {
            let empty = if self.is_base && !line.is_point { "1" } else { NO_FIGURE };
            return line.figure(self, with_interval).unwrap_or_else(|| empty.to_owned());
        };
        ratio(judged)
    }

    /// The CI of its ratio, where it stands next to that.
    pub(super) fn range(&self) -> Option<String> {
        range(self.cell.ratio?).filter(|_| self.with_range)
    }
}
