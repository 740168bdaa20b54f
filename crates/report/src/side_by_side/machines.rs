//! Several runs for a terminal, a run in each row and the figures in columns, below the headings of the workload: as
//! lmbench's summary sets machines side by side.

use super::compared::{BEST, margin, paint};
use super::grid::{Cell, Grid};
use super::{SideBySide, SideCell, SideRow, SideTable, confidence, legend, range};
use crate::comparison::{in_unit, ratio};
use crate::layout::{BOLD, DIM, Detail, GOOD, INDENT, PLAIN, Pen, Style};
use crate::text;
use crate::text::NO_FIGURE;
use analysis::Estimate;
use findings::format::{Unit, count, counted, percent};

/// The runs as lines that end in a line feed.
pub fn text(side: &SideBySide<'_>, style: &Style) -> String {
    let pen = Pen::new(style);
    let all = style.detail == Detail::All;
    let names = side.names();
    let mut out = String::new();
    for identity in side.identities() {
        pen.sentence(&mut out, &identity);
    }
    let tables = side.tables(all);
    for tables in by_scope(&tables) {
        out.push('\n');
        if tables.iter().all(|table| table.is_single()) {
            pen.single_figures(&mut out, &names, &tables, all);
        } else {
            for table in tables {
                pen.series_of_runs(&mut out, &names, table, all);
            }
        }
    }
    let missing = missing(&tables, &names);
    for line in missing {
        pen.aside(&mut out, &line);
    }
    pen.aside(&mut out, &legend(side, margin(side), "*"));
    pen.aside(&mut out, &format!("{}.", confidence(side)));
    for refusal in side.refusals() {
        pen.aside(&mut out, &format!("{refusal}."));
    }
    out
}

/// The tables of one workload under the same parameters together.
pub(super) fn by_scope<'t, 'a>(tables: &'t [SideTable<'a>]) -> Vec<Vec<&'t SideTable<'a>>> {
    let keyed = tables.iter().filter(|table| !table.rows.is_empty()).map(|table| {
        let first = table.first.1;
        ((&first.workload, &first.parameters), table)
    });
    text::tables::grouped(keyed).into_iter().map(|(_, tables)| tables).collect()
}

/// The figures of `tables` by their headings, each with its table.
pub(super) fn by_group<'t, 'a>(
    tables: &[&'t SideTable<'a>],
) -> Vec<(&'t str, Vec<(&'t SideTable<'a>, &'t SideRow<'a>)>)> {
    let Some(info) = tables.first().map(|table| table.info) else { return Vec::new() };
    let order = |subject: &str| info.subjects.iter().position(|info| info.name == subject);
    let mut rows: Vec<(&SideTable<'_>, &SideRow<'_>)> =
        tables.iter().flat_map(|table| table.rows.iter().map(move |row| (*table, row))).collect();
    rows.sort_by_key(|(_, row)| order(row.subject).unwrap_or(usize::MAX));
    text::tables::grouped(rows.into_iter().map(|(table, row)| (row.group, (table, row))))
}

/// Why runs lack figures that others have.
fn missing(tables: &[SideTable<'_>], names: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for table in tables {
        for row in &table.rows {
            for (cells, point) in row.points.iter().zip(&table.points) {
                let reasons = cells.iter().zip(names).filter_map(|(cell, name)| {
                    let reason = cell.missing.as_ref()?;
                    let at = if table.points.len() > 1 {
                        format!(" at {}", counted(&count(*point), &table.first.1.axis))
                    } else {
                        String::new()
                    };
                    Some(format!("{name} has no {}{at}: {reason}", row.label))
                });
                lines.extend(reasons);
            }
        }
    }
    lines
}

impl Pen {
    /// A grid for each heading, its figures across.
    fn single_figures(
        &self,
        out: &mut String,
        names: &[String],
        tables: &[&SideTable<'_>],
        all: bool,
    ) {
        let Some((run, table)) = tables.first().map(|table| table.first) else { return };
        let at = counted(&count(table.points[0]), &table.axis);
        let scope = text::parameters::scope(run, &table.workload, &table.parameters);
        let title = [scope, at, text::metrics::medians(run, table)].join(" · ");
        self.paragraph(out, BOLD, &title, (0, INDENT));
        for (number, (group, figures)) in by_group(tables).into_iter().enumerate() {
            if number > 0 {
                out.push('\n');
            }
            let units: Vec<Unit> =
                figures.iter().map(|(table, row)| table.unit_of(std::iter::once(*row))).collect();
            let heads = figures.iter().zip(&units);
            let heads =
                heads.map(|((_, row), unit)| vec![format!("{} ", row.label), in_head(unit)]);
            let rows = names.iter().enumerate().map(|(run, name)| {
                let cells = figures.iter().zip(&units);
                let cells = cells.map(|((_, row), unit)| lines(&row.points[0][run], unit, all));
                (name.clone(), cells.collect())
            });
            let grid =
                Grid { stub: group.to_owned(), heads: heads.collect(), rows: rows.collect() };
            self.grid(out, &grid);
        }
    }

    /// A grid for each series, its points across.
    fn series_of_runs(&self, out: &mut String, names: &[String], table: &SideTable<'_>, all: bool) {
        let unit = table.unit();
        let title = format!("{}{}", table.title(), in_unit(&unit));
        self.paragraph(out, BOLD, &title, (0, INDENT));
        let heads = || table.points.iter().map(|&point| vec![format!("{} ", count(point))]);
        for (number, row) in table.rows.iter().enumerate() {
            if number > 0 {
                out.push('\n');
            }
            let rows = names.iter().enumerate().map(|(run, name)| {
                let cells = row.points.iter().map(|cells| lines(&cells[run], &unit, all));
                (name.clone(), cells.collect())
            });
            let grid =
                Grid { stub: row.label.to_owned(), heads: heads().collect(), rows: rows.collect() };
            self.grid(out, &grid);
        }
    }
}

fn in_head(unit: &Unit) -> String {
    format!("{} ", unit.symbol)
}

/// A figure, with its own CI where `all` is wanted; its ratio to the first run, and the CI of that.
fn lines(cell: &SideCell<'_>, unit: &Unit, all: bool) -> Cell {
    let figure = cell.median.map_or_else(|| NO_FIGURE.to_owned(), |m| unit.figure(m.value));
    let (mark, own) = if cell.is_best { (BEST, GOOD) } else { (' ', PLAIN) };
    let mut lines = vec![(own, format!("{figure}{mark}"))];
    if let Some(Estimate { value, low, high }) = cell.median.filter(|m| all && m.low < m.high) {
        lines.push((DIM, format!("±{} ", percent((high - low) / 2.0 / value.abs()))));
    }
    if let Some(judged) = cell.ratio {
        lines.push((paint(judged.verdict), ratio(judged)));
        lines.extend(range(judged).map(|range| (DIM, format!("{range} "))));
    }
    lines
}
