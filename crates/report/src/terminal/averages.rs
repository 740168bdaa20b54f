//! Means with their deviations: metrics down and subjects across, as kernbench printed them.

use crate::layout::{BOLD, GAP, INDENT, Pen};
use crate::matrix::grid::{Cell, Grid, GridRow};
use crate::text::averages;
use analysis::Averages;
use model::Run;

impl Pen {
    pub(super) fn averages(&self, out: &mut String, run: &Run, table: &Averages) {
        let title = format!("{} · {}", averages::title(run, table), averages::measure(table));
        self.paragraph(out, BOLD, &title, (0, INDENT));
        let heads = averages::shown(table).map(|(_, column)| vec![averages::head(column)]);
        let rows = averages::lines(table).map(|(label, cells)| {
            let cells: Vec<Cell> = cells.into_iter().map(|text| vec![text]).collect();
            GridRow::new(label, cells)
        });
        let (heads, rows) = (heads.collect(), rows.collect());
        self.grid(out, &Grid { stub: Vec::new(), heads, rows, gap: GAP });
        for line in averages::notes(table) {
            self.aside(out, &line);
        }
    }
}
