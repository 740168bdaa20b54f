//! How single operations are distributed: a line a subject for each point, with the tail to its end.

use crate::layout::{GAP, INDENT, Pen};
use crate::matrix::grid::{Cell, Grid, GridRow};
use crate::text;
use crate::text::distributions::QUANTILES;
use analysis::Table;

impl Pen {
    /// The distributions of a table, point after point; nothing where the record keeps none.
    pub(super) fn waits(&self, out: &mut String, table: &Table) {
        let cells = |texts: [String; 6]| texts.map(|text| vec![text]).to_vec();
        for (point, label) in text::distributions::points(table) {
            let rows = text::distributions::rows(table, point).map(|(_, label, figures)| {
                GridRow::new(format!("{:INDENT$}{label}", ""), cells(figures))
            });
            let heads: Vec<Cell> = cells(QUANTILES.map(str::to_owned));
            self.aside(out, &format!("at {label}"));
            let grid = Grid { stub: Vec::new(), heads, rows: rows.collect(), gap: GAP - 1 };
            self.grid(out, &grid);
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
