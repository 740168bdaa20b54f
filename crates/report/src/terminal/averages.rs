//! Means with their deviations: metrics down and subjects across, as kernbench printed them.

use crate::layout::{BOLD, DIM, GAP, INDENT, Pen, display_width, right};
use crate::text::NO_FIGURE;
use crate::text::averages;
use analysis::{AverageColumn, Averages};
use std::ops::Range;

/// One subject, as text: its head, and what stands in each row.
struct Column {
    head: String,
    cells: Vec<String>,
    width: usize,
}

impl Pen {
    pub(super) fn averages(&self, out: &mut String, of: &Averages) {
        let title = format!("{} · {}", averages::title(of), averages::measure(of));
        self.paragraph(out, BOLD, &title, (0, INDENT));
        let labels: Vec<String> =
            of.rows.iter().map(|row| averages::label(row, &averages::unit(row))).collect();
        let stub = INDENT + labels.iter().map(|label| display_width(label)).max().unwrap_or(0);
        let mut columns: Vec<Column> =
            averages::shown(of).map(|(at, column)| text_of(of, at, column)).collect();
        for column in &mut columns {
            // Where room is scarce, the gap before a column is what can be done without.
            let room = self.width.saturating_sub(stub).max(column.width + 1 - GAP);
            column.width = column.width.min(room);
        }
        for (number, part) in self.fitting(stub, &columns).into_iter().enumerate() {
            if number > 0 {
                out.push('\n');
            }
            self.abreast(out, (&labels, stub), &columns[part]);
        }
        for line in averages::beneath(of) {
            self.aside(out, &line);
        }
    }

    /// Splits the table between its columns so that each part fits.
    fn fitting(&self, stub: usize, columns: &[Column]) -> Vec<Range<usize>> {
        let (mut parts, mut start, mut used) = (Vec::new(), 0, stub);
        for (at, column) in columns.iter().enumerate() {
            if used + column.width > self.width && at > start {
                parts.push(start..at);
                (start, used) = (at, stub);
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

fn text_of(of: &Averages, at: usize, column: &AverageColumn) -> Column {
    let head = averages::head(column);
    let mut cells: Vec<String> = of
        .rows
        .iter()
        .map(|row| {
            let average = row.figures.get(at).and_then(Option::as_ref);
            average.map_or_else(
                || NO_FIGURE.to_owned(),
                |of| averages::told(row, of, &averages::unit(row)),
            )
        })
        .collect();
    if let Some((first, said)) = cells.first_mut().zip(averages::came_to(column)) {
        *first = said;
    }
    let widths = cells.iter().chain([&head]).map(|text| display_width(text));
    let width = widths.max().unwrap_or(0) + GAP;
    Column { head, cells, width }
}
