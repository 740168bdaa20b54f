//! Means with their deviations: metrics down and subjects across, as kernbench printed them.

use crate::layout::{BOLD, DIM, GAP, INDENT, Pen, display_width, right};
use crate::text::NO_FIGURE;
use crate::text::averages;
use analysis::{AverageColumn, Averages};
use model::Run;
use std::ops::Range;

/// One subject as text: its head and its cells.
struct Column {
    head: String,
    cells: Vec<String>,
    width: usize,
}

impl Pen {
    pub(super) fn averages(&self, out: &mut String, run: &Run, averages: &Averages) {
        let title = format!("{} · {}", averages::title(run, averages), averages::measure(averages));
        self.paragraph(out, BOLD, &title, (0, INDENT));
        let labels: Vec<String> =
            averages.rows.iter().map(|row| averages::label(row, &averages::unit(row))).collect();
        let stub = INDENT + labels.iter().map(|label| display_width(label)).max().unwrap_or(0);
        let mut columns: Vec<Column> = averages::shown(averages)
            .map(|(index, column)| text_of(averages, index, column))
            .collect();
        for column in &mut columns {
            // In a narrow terminal, the gap before a column is dropped first.
            let width = self.width.saturating_sub(stub).max(column.width + 1 - GAP);
            column.width = column.width.min(width);
        }
        for (number, part) in self.fitting(stub, &columns).into_iter().enumerate() {
            if number > 0 {
                out.push('\n');
            }
            self.abreast(out, (&labels, stub), &columns[part]);
        }
        for line in averages::notes(averages) {
            self.aside(out, &line);
        }
    }

    /// Splits the table between its columns so that each part fits.
    fn fitting(&self, stub: usize, columns: &[Column]) -> Vec<Range<usize>> {
        let (mut parts, mut start, mut used) = (Vec::new(), 0, stub);
        for (index, column) in columns.iter().enumerate() {
            if used + column.width > self.width && index > start {
                parts.push(start..index);
                (start, used) = (index, stub);
            }
            used += column.width;
        }
        parts.push(start..columns.len());
        parts
    }

    fn abreast(&self, out: &mut String, (labels, stub): (&[String], usize), columns: &[Column]) {
        let heads = columns.iter().map(|column| right(&column.head, column.width));
        let head = " ".repeat(stub) + &heads.collect::<String>();
        self.line(out, &self.paint(DIM, &head));
        for (row, label) in labels.iter().enumerate() {
            let cells = columns.iter().map(|column| right(&column.cells[row], column.width));
            let label = format!("{:INDENT$}{label:<width$}", "", width = stub - INDENT);
            self.line(out, &(label + &cells.collect::<String>()));
        }
    }
}

fn text_of(averages: &Averages, index: usize, column: &AverageColumn) -> Column {
    let head = averages::head(column);
    let mut cells: Vec<String> = averages
        .rows
        .iter()
        .map(|row| {
            let average = row.figures.get(index).and_then(Option::as_ref);
            average.map_or_else(
                || NO_FIGURE.to_owned(),
                |average| averages::text(row, average, &averages::unit(row)),
            )
        })
        .collect();
    if let Some((first, outcome)) = cells.first_mut().zip(averages::outcome(column)) {
        *first = outcome;
    }
    let widths = cells.iter().chain([&head]).map(|text| display_width(text));
    let width = widths.max().unwrap_or(0) + GAP;
    Column { head, cells, width }
}
