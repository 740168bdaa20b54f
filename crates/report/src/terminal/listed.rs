//! Tables whose subjects are not compared, at their only point: one line a figure with its 95 % CI, below the
//! headings of the workload.

use super::notes_of;
use crate::layout::{BOLD, DIM, GAP, INDENT, Pen};
use crate::matrix::grid::{Grid, GridRow};
use crate::text::{self, NO_FIGURE};
use analysis::{Estimate, Row, Table};
use findings::format::{Unit, ci, count, counted, percent};
use model::{Run, WorkloadInfo};

impl Pen {
    /// One line a figure: with both ends of its CI where there is room for them, and with half of it as a share.
    pub(super) fn listed(&self, out: &mut String, run: &Run, table: &Table, info: &WorkloadInfo) {
        let at = counted(&count(table.points.first().copied().unwrap_or(1)), &table.axis);
        let title = [
            text::parameters::scope(run, &table.workload, &table.parameters),
            at,
            text::metrics::about(&table.metric).to_owned(),
            text::metrics::medians(run, table),
        ];
        self.paragraph(out, BOLD, &title.join(" · "), (0, INDENT));
        let texts = |row: &Row| row.cells[0].as_ref().map(|cell| listed(table, cell.median));
        let listed: Vec<Option<[String; 3]>> = table.rows.iter().map(texts).collect();
        let cells = |texts: &Option<[String; 3]>| match texts {
            Some([figure, interval, share]) => {
                vec![vec![figure.clone()], vec![self.paint(DIM, interval)], vec![share.clone()]]
            }
            None => vec![vec![NO_FIGURE.to_owned()], vec![], vec![]],
        };
        let mut rows: Vec<GridRow> = Vec::new();
        let mut last = "";
        let has_groups = table.rows.iter().any(|row| !info.group(&row.subject).is_empty());
        let indent = if has_groups { INDENT } else { 0 };
        for (row, texts) in table.rows.iter().zip(&listed) {
            let group = info.group(&row.subject);
            if group != last {
                last = group;
                rows.push(GridRow::new(self.paint(DIM, group), vec![Vec::new(); 3]));
            }
            let notes = if texts.is_none() { notes_of(row) } else { String::new() };
            let name = format!("{:indent$}{}", "", row.label);
            rows.push(GridRow { notes, ..GridRow::new(name, cells(texts)) });
        }
        let grid = Grid { stub: Vec::new(), heads: vec![Vec::new(); 3], rows, gap: GAP };
        let fits = grid.width() <= self.width;
        self.grid(out, &if fits { grid } else { grid.with_columns(&[0, 2]) });
    }
}

/// A figure, the ends of its CI, and half of the CI as a share.
fn listed(table: &Table, median: Estimate) -> [String; 3] {
    let unit = Unit::for_table(&table.metric.unit, &[median.value]);
    let Estimate { value, low, high } = median;
    let has_ci = low < high;
    let interval = has_ci.then(|| ci(&unit.figure(low), &unit.figure(high)));
    let share = has_ci.then(|| format!("±{}", percent((high - low) / 2.0 / value.abs())));
    [unit.with_symbol(value), interval.unwrap_or_default(), share.unwrap_or_default()]
}
