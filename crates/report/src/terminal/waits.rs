//! How single operations are distributed: a line a subject for each point, with the tail to its end.

use crate::layout::{DIM, GAP, INDENT, Pen, display_width, right};
use crate::text;
use crate::text::distributions::QUANTILES;
use analysis::Table;

impl Pen {
    /// The distributions of a table, point after point; nothing where the record keeps none.
    pub(super) fn waits(&self, out: &mut String, table: &Table) {
        for (point, label) in text::distributions::points(table) {
            let distribution =
                table.distributions.iter().filter(|distribution| distribution.point == point);
            let lines: Vec<(&str, [String; 6])> = distribution
                .map(|distribution| {
                    (
                        distribution.label.as_str(),
                        text::distributions::quantiles(&table.metric, distribution),
                    )
                })
                .collect();
            self.block(out, &format!("at {label}"), &lines);
        }
    }

    /// The figures at one point; those that a narrow terminal has no room for stand below the others.
    fn block(&self, out: &mut String, title: &str, lines: &[(&str, [String; 6])]) {
        let labels = lines.iter().map(|(label, _)| display_width(label));
        let label = labels.max().unwrap_or(0);
        let widths = QUANTILES.iter().enumerate().map(|(column, head)| {
            let figures = lines.iter().map(|(_, figures)| display_width(&figures[column]));
            figures.max().unwrap_or(0).max(head.len()) + GAP - 1
        });
        let widths: Vec<usize> = widths.collect();
        self.aside(out, title);
        let (mut from, stub) = (0, 2 * INDENT + label);
        while from < widths.len() {
            let mut to = from + 1;
            let mut used = stub + widths[from];
            while to < widths.len() && used + widths[to] <= self.width {
                used += widths[to];
                to += 1;
            }
            let heads = (from..to).map(|column| right(QUANTILES[column], widths[column]));
            let head = " ".repeat(stub) + &heads.collect::<String>();
            self.line(out, &self.paint(DIM, &head));
            for (name, figures) in lines {
                let cells = (from..to).map(|column| right(&figures[column], widths[column]));
                let name = format!("{:width$}{name:<label$}", "", width = 2 * INDENT);
                self.line(out, &(name + &cells.collect::<String>()));
            }
            from = to;
        }
    }

    /// Why the law of scaling does not apply to the other rows.
    pub(super) fn scaling(&self, out: &mut String, table: &Table) {
        for row in &table.rows {
            if let Some(why) = text::notes::unscaled(row) {
                self.aside(out, &format!("{}: {why}", row.label));
            }
        }
    }
}
