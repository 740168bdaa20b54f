//! Means with their deviations: metrics down and subjects across, as kernbench printed them.

use crate::layout::{BOLD, INDENT, Pen};
use crate::matrix::grid::Grid;
use crate::text::averages;
use analysis::Averages;
use model::Run;

impl Pen {
    pub(super) fn averages(&self, out: &mut String, run: &Run, table: &Averages) {
        let title = format!("{} · {}", averages::title(run, table), averages::measure(table));
        self.paragraph(out, BOLD, &title, (0, INDENT));
        let heads = averages::shown(table).map(|(_, column)| averages::head(column));
        self.grid(out, &Grid::plain("", heads, averages::lines(table)));
        for line in averages::notes(table) {
            self.aside(out, &line);
        }
    }
}
