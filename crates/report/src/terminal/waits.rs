//! How single operations are distributed: a line a subject for each point, with the tail to its end.

use crate::layout::{GAP, INDENT, Pen};
use crate::matrix::grid::Grid;
use crate::text::{self, distributions::QUANTILES};
use analysis::Table;

impl Pen {
    /// The distributions of a table, point after point; nothing where the record keeps none.
    pub(super) fn waits(&self, out: &mut String, table: &Table) {
        for (point, label) in text::distributions::points(table) {
            let rows = text::distributions::rows(table, point)
                .map(|(_, label, figures)| (format!("{:INDENT$}{label}", ""), figures.to_vec()));
            self.aside(out, &format!("at {label}"));
            let grid = Grid::plain("", QUANTILES.map(str::to_owned), rows);
            self.grid(out, &Grid { gap: GAP - 1, ..grid });
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
