//! Tables whose subjects are not compared, at their only point: one line a figure with its 95 % CI, below the
//! headings of the workload.

use super::{Line, line_text};
use crate::layout::{BOLD, DIM, GAP, INDENT, Pen, right, widest};
use crate::text;
use crate::text::NO_FIGURE;
use analysis::{Analysis, Estimate, Row, Table};
use findings::answer::{self, is_single};
use findings::format::{Unit, ci, count, counted, percent};
use model::{Run, WorkloadInfo};

/// The workload of `table`, if its figures are listed.
pub(super) fn workload<'r>(run: &'r Run, table: &Table) -> Option<&'r WorkloadInfo> {
    let mut workloads = run.plan.workloads.iter();
    workloads.find(|info| info.name == table.workload).filter(|info| is_single(info, table))
}

/// Whether the answer has the figures of `table`.
pub(super) fn is_in_answer(run: &Run, analysis: &Analysis, table: &Table) -> bool {
    let mut workloads = run.plan.workloads.iter();
    workloads.any(|info| {
        info.name == table.workload && answer::is_in_answer(info, &analysis.tables, table)
    })
}

/// A row as text: its figure, the ends of its CI, and half of the CI as a share.
struct Listed {
    figure: String,
    interval: String,
    width: String,
}

impl Pen {
    /// One line a figure.
    pub(super) fn listed(&self, out: &mut String, run: &Run, table: &Table, info: &WorkloadInfo) {
        let at = counted(&count(table.points.first().copied().unwrap_or(1)), &table.axis);
        let title = [
            text::parameters::scope(run, &table.workload, &table.parameters),
            at,
            text::metrics::about(&table.metric).to_owned(),
            text::metrics::medians(run, table),
        ];
        self.paragraph(out, BOLD, &title.join(" · "), (0, INDENT));
        let group = |row: &Row| info.group(&row.subject);
        let rows: Vec<(&Row, Option<Listed>)> = table
            .rows
            .iter()
            .map(|row| (row, row.cells[0].as_ref().map(|cell| listed(table, cell.median))))
            .collect();
        let has_groups = table.rows.iter().any(|row| !group(row).is_empty());
        let indent = if has_groups { 2 * INDENT } else { INDENT };
        let labels = widest(rows.iter().map(|(row, _)| &row.label));
        let filled = || rows.iter().filter_map(|(_, listed)| listed.as_ref());
        let figures = widest(filled().map(|listed| &listed.figure)).max(NO_FIGURE.len()) + GAP;
        let intervals = widest(filled().map(|listed| &listed.interval)) + GAP;
        let widths = widest(filled().map(|listed| &listed.width)) + GAP;
        let mut last = "";
        for (row, listed) in &rows {
            if group(row) != last {
                last = group(row);
                self.line(out, &self.paint(DIM, &format!("{:INDENT$}{last}", "")));
            }
            let head = format!("{:indent$}{:<labels$}", "", row.label);
            let Some(listed) = listed else {
                let Line { notes, .. } = line_text(table, row, &text::metrics::unit(table));
                let text = format!("{head}{}", right(NO_FIGURE, figures));
                let used = indent + labels + figures + GAP;
                self.notes(out, format!("{text}{:GAP$}", ""), used, &notes);
                continue;
            };
            let [figure, interval, width] = [
                right(&listed.figure, figures),
                right(&listed.interval, intervals),
                right(&listed.width, widths),
            ];
            let used = indent + labels + figures + widths;
            if used + intervals <= self.width {
                let interval = self.paint(DIM, &interval);
                self.line(out, &format!("{head}{figure}{interval}{width}"));
            } else if used <= self.width {
                self.line(out, &format!("{head}{figure}{width}"));
            } else {
                self.line(out, &head);
                self.line(out, &format!("{:indent$}{figure}{width}", ""));
            }
        }
    }
}

fn listed(table: &Table, median: Estimate) -> Listed {
    let unit = Unit::for_table(&table.metric.unit, &[median.value]);
    let Estimate { value, low, high } = median;
    let (interval, width) = if low < high {
        let ends = ci(&unit.figure(low), &unit.figure(high));
        (ends, format!("±{}", percent((high - low) / 2.0 / value.abs())))
    } else {
        (String::new(), String::new())
    };
    Listed { figure: unit.with_symbol(value), interval, width }
}
