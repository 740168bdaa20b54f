//! The matrix of what was compared.

use super::{
    Column, Compared, FleetHead, Matrix, MatrixCell, MatrixRow, MatrixTable, Reference, names,
};
use crate::text::{metrics, notes, parameters};
use analysis::compare::{Best, ComparedPoint, ComparedRow, ComparedTable, Comparison, Several};
use analysis::history::across::AcrossValues;
use analysis::{Row, Table};
use findings::Conclusions;
use findings::format::{count, counted};
use model::{MetricInfo, Parameters, Run, WorkloadInfo};

/// A run with what was concluded from it.
type Concluded = (Run, Conclusions);

impl<'a> Matrix<'a> {
    /// Two runs.
    pub fn pair(base: &'a Run, new: &'a Run, comparison: &'a Comparison) -> Self {
        let column = |name: &str, run, compared| Column {
            name: name.to_owned(),
            run,
            tables: &[],
            compared,
            is_whole: false,
        };
        let compared = Compared { base: 0, result: Ok(comparison) };
        let columns = vec![column("base", base, None), column("new", new, Some(compared))];
        Self::new(columns, Reference::First, None)
    }

    /// Several runs, each compared with the first; `words` are the names that the user gave them, or none.
    pub fn several(runs: &'a [Concluded], several: &'a Several, words: &[String]) -> Self {
        let names = names::names(runs, words);
        Self::new(columns(runs, names, several, |_| 0), Reference::First, Some(several))
    }

    /// The machines of a fleet, the first of which is the median machine.
    pub fn fleet(runs: &'a [Concluded], several: &'a Several, head: &'a FleetHead) -> Self {
        let columns = columns(runs, head.names.clone(), several, |_| 0);
        Self::new(columns, Reference::Median(head), Some(several))
    }

    /// The runs of the values of a fact, each compared with the one before it.
    pub fn across(runs: &'a [Concluded], across: &'a AcrossValues) -> Self {
        let names = names::without_end(&across.values);
        let mut columns = columns(runs, names, &across.steps, |at| at - 1);
        if let Some((whole, last)) = across.whole.as_ref().zip(columns.last().cloned()) {
            let compared = Some(Compared { base: 0, result: whole.as_ref() });
            let name = "first to last".to_owned();
            columns.push(Column { name, compared, is_whole: true, ..last });
        }
        Self::new(columns, Reference::Before(across), Some(&across.steps))
    }

    fn new(
        columns: Vec<Column<'a>>,
        reference: Reference<'a>,
        several: Option<&'a Several>,
    ) -> Self {
        let best = several.map_or(&[][..], |several| &several.best);
        let sections = Filler { columns: &columns, best }.sections();
        Self { columns, reference, sections, several }
    }
}

/// A column for each run; `base` is the index of the one that a further run is compared with.
fn columns<'a>(
    runs: &'a [Concluded],
    names: Vec<String>,
    several: &'a Several,
    base: impl Fn(usize) -> usize,
) -> Vec<Column<'a>> {
    let column = |(at, ((run, conclusions), name)): (usize, (&'a Concluded, String))| {
        let result = at.checked_sub(1).and_then(|before| several.comparisons.get(before));
        let compared = result.map(|result| Compared { base: base(at), result: result.as_ref() });
        let tables = &conclusions.analysis.tables;
        Column { name, run, tables, compared, is_whole: false }
    };
    runs.iter().zip(names).enumerate().map(column).collect()
}

/// What tells one section from another.
#[derive(Clone, Copy)]
struct Head<'a> {
    workload: &'a str,
    parameters: &'a Parameters,
    metric: &'a MetricInfo,
    headline: bool,
    axis: &'a str,
}

impl<'a> Head<'a> {
    fn of_table(table: &'a Table) -> Self {
        let Table { workload, parameters, metric, headline, axis, .. } = table;
        Self { workload, parameters, metric, headline: *headline, axis }
    }

    fn of_compared(table: &'a ComparedTable) -> Self {
        let ComparedTable { workload, parameters, metric, headline, axis, .. } = table;
        Self { workload, parameters, metric, headline: *headline, axis }
    }

    /// Figures in another unit stand in a section of their own.
    fn is_of(&self, second: &Self) -> bool {
        (self.workload, self.parameters, &self.metric.name, &self.metric.unit)
            == (second.workload, second.parameters, &second.metric.name, &second.metric.unit)
    }
}

/// Makes the sections of columns.
struct Filler<'m, 'a> {
    columns: &'m [Column<'a>],
    best: &'a [Best],
}

impl<'a> Filler<'_, 'a> {
    fn compared(&self) -> impl Iterator<Item = &'a ComparedTable> {
        let compared = self.columns.iter().filter_map(|column| column.compared?.result.ok());
        compared.flat_map(|comparison| &comparison.tables)
    }

    /// What was compared, and the headline metrics of each run.
    fn sections(&self) -> Vec<MatrixTable<'a>> {
        let mut heads: Vec<Head<'a>> = Vec::new();
        let tables = self.columns.iter().flat_map(|column| column.tables);
        let tables = tables.filter(|table| table.headline).map(Head::of_table);
        for head in self.compared().map(Head::of_compared).chain(tables) {
            if !heads.iter().any(|listed| listed.is_of(&head)) {
                heads.push(head);
            }
        }
        heads.sort_by_key(|head| !head.headline);
        let infos = self.columns.iter().flat_map(|column| &column.run.plan.workloads);
        // The harness's own cost is of interest where it alone was measured.
        let only_controls = infos.clone().all(WorkloadInfo::is_control);
        let shown = |head: &Head<'a>| {
            let mut infos = infos.clone();
            let info = infos.find(|info| info.name == head.workload)?;
            (only_controls || !info.is_control()).then_some(info)
        };
        let sections = heads.iter().filter_map(|head| Some(self.section(head, shown(head)?)));
        sections.filter(|section| !section.rows.is_empty()).collect()
    }

    fn section(&self, head: &Head<'a>, info: &'a WorkloadInfo) -> MatrixTable<'a> {
        let compared: Vec<&ComparedTable> =
            self.compared().filter(|table| Head::of_compared(table).is_of(head)).collect();
        let tables: Vec<&Table> =
            self.columns.iter().filter_map(|column| table(column, head)).collect();
        let mut points: Vec<u64> =
            compared.iter().flat_map(|table| &table.points).copied().collect();
        points.extend(tables.iter().flat_map(|table| &table.points));
        points.sort_unstable();
        points.dedup();
        let rows = tables.iter().flat_map(|table| &table.rows);
        let with_figures = rows.filter(|row| row.cells.iter().any(Option::is_some));
        let with_figures = with_figures.map(|row| (row.subject.as_str(), row.label.as_str()));
        let rows = compared.iter().flat_map(|table| &table.rows);
        let rows = rows.map(|row| (row.subject.as_str(), row.label.as_str()));
        let mut subjects: Vec<(&'a str, &'a str)> = Vec::new();
        for row in rows.chain(with_figures) {
            if !subjects.iter().any(|(subject, _)| *subject == row.0) {
                subjects.push(row);
            }
        }
        let order = |subject: &str| info.subjects.iter().position(|info| info.name == subject);
        subjects.sort_by_key(|(subject, _)| order(subject).unwrap_or(usize::MAX));
        let row = |(subject, label): (&'a str, &'a str)| MatrixRow {
            subject,
            label,
            group: info.group(subject),
            overall: self.cells(head, subject, None, points.len()),
            cells: points
                .iter()
                .map(|&point| self.cells(head, subject, Some(point), points.len()))
                .collect(),
        };
        let is_list = info.has_separate_subjects() && points.len() == 1;
        let &Head { workload, parameters, metric, headline, axis } = head;
        let title = self.title(head, points.first().copied().filter(|_| is_list));
        let rows = subjects.into_iter().map(row).collect();
        MatrixTable { workload, parameters, metric, headline, axis, points, rows, title, is_list }
    }

    /// `poll · 1 active of N watched descriptors · loop`; at the only point of a list `baseline · 1 copy · latency`.
    fn title(&self, head: &Head<'a>, point: Option<u64>) -> String {
        let Head { workload, parameters, metric, axis, .. } = head;
        let has_it = |run: &&Run| run.plan.workload(workload).is_some();
        let run = self.columns.iter().rev().map(|column| column.run).find(has_it);
        let run = run.unwrap_or(self.columns[0].run);
        let about = metrics::about(metric);
        if let Some(point) = point {
            let scope = parameters::scope(run, workload, parameters);
            return format!("{scope} · {} · {about}", counted(&count(point), axis));
        }
        let parameters = parameters::with_axis(run, workload, parameters);
        let better = if metric.lower_is_better { "" } else { ", more is better" };
        format!("{workload} · {parameters} · {about}{better}")
    }

    /// What the runs have of a series, or at a `point` of it; where there is one, the ratio of the series is the
    /// point's.
    fn cells(
        &self,
        head: &Head<'a>,
        subject: &str,
        point: Option<u64>,
        points: usize,
    ) -> Vec<MatrixCell<'a>> {
        let judged_at = point.filter(|_| points > 1);
        let is_best = |run: usize| {
            let is_there = |best: &Best| {
                (best.workload.as_str(), &best.parameters, &best.metric)
                    == (head.workload, head.parameters, &head.metric.name)
                    && best.subject == subject
                    && (best.point, best.run) == (judged_at, run)
            };
            self.best.iter().any(is_there)
        };
        let cell = |(index, column): (usize, &Column<'a>)| {
            let compared = compared_row(column, head, subject);
            let ratio = compared.and_then(|(table, row)| match judged_at {
                Some(point) => Some(&at(table, row, point)?.ratio),
                None => Some(&row.overall),
            });
            let median = point.and_then(|point| self.median(index, head, subject, point));
            let row = table_row(column, head, subject);
            let missing = row.zip(point).and_then(|(row, point)| notes::gap(row, point));
            let missing = missing.filter(|_| median.is_none());
            MatrixCell { median, ratio, is_best: is_best(index), missing }
        };
        self.columns.iter().enumerate().map(cell).collect()
    }

    /// The median of a run: of its own comparison, of one with it, or of its table.
    fn median(
        &self,
        index: usize,
        head: &Head<'a>,
        subject: &str,
        point: u64,
    ) -> Option<analysis::Estimate> {
        let column = &self.columns[index];
        if column.is_whole {
            return None;
        }
        let compared = |column| {
            let (table, row) = compared_row(column, head, subject)?;
            at(table, row, point)
        };
        let is_base = |column: &&Column<'a>| column.compared.is_some_and(|with| with.base == index);
        let as_base =
            || self.columns.iter().filter(is_base).find_map(|column| Some(compared(column)?.base));
        let of_table = || Some(table_row(column, head, subject)?.at(point)?.median);
        compared(column).map(|point| point.new).or_else(as_base).or_else(of_table)
    }
}

fn table<'a>(column: &Column<'a>, head: &Head<'a>) -> Option<&'a Table> {
    column.tables.iter().find(|table| Head::of_table(table).is_of(head))
}

fn table_row<'a>(column: &Column<'a>, head: &Head<'a>, subject: &str) -> Option<&'a Row> {
    table(column, head)?.row(subject)
}

fn compared_row<'a>(
    column: &Column<'a>,
    head: &Head<'a>,
    subject: &str,
) -> Option<(&'a ComparedTable, &'a ComparedRow)> {
    let comparison = column.compared?.result.ok()?;
    let mut tables = comparison.tables.iter();
    let table = tables.find(|table| Head::of_compared(table).is_of(head))?;
    Some((table, table.rows.iter().find(|row| row.subject == subject)?))
}

fn at<'a>(table: &'a ComparedTable, row: &'a ComparedRow, point: u64) -> Option<&'a ComparedPoint> {
    let column = table.points.iter().position(|compared| *compared == point)?;
    row.cells.get(column)?.as_ref()
}
