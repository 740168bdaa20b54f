//! The matrix of what was compared.

use super::{
    Column, Compared, FleetHead, Matrix, MatrixCell, MatrixRow, MatrixTable, Reference, names,
};
use crate::text::{metrics, notes, parameters};
use analysis::compare::{Best, ComparedPoint, ComparedRow, ComparedTable, Comparison, Several};
use analysis::history::across::AcrossValues;
use analysis::{Estimate, Table};
use findings::Conclusions;
use findings::format::{count, counted};
use findings::grouping::grouped;
use model::{MetricInfo, Parameters, Run, WorkloadInfo};
use std::collections::BTreeSet;

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
        let sections = sections(&columns, best);
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

/// What a section is about.
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
        let &Table { ref workload, ref parameters, ref metric, headline, ref axis, .. } = table;
        Self { workload, parameters, metric, headline, axis }
    }

    fn of_compared(table: &'a ComparedTable) -> Self {
        let &ComparedTable { ref workload, ref parameters, ref metric, headline, ref axis, .. } =
            table;
        Self { workload, parameters, metric, headline, axis }
    }

    /// What tells one section from another: figures in another unit stand in a section of their own.
    fn key(self) -> (&'a str, &'a Parameters, &'a str, &'a str) {
        (self.workload, self.parameters, &self.metric.name, &self.metric.unit)
    }
}

/// What was compared, and the headline metrics of each run.
fn sections<'a>(columns: &[Column<'a>], best: &'a [Best]) -> Vec<MatrixTable<'a>> {
    let compared = columns.iter().filter_map(|column| column.compared?.result.ok());
    let compared = compared.flat_map(|comparison| &comparison.tables).map(Head::of_compared);
    let tables = columns.iter().flat_map(|column| column.tables);
    let tables = tables.filter(|table| table.headline).map(Head::of_table);
    let mut heads = grouped(compared.chain(tables).map(|head| (head.key(), head)));
    heads.sort_by_key(|(_, heads)| !heads[0].headline);
    let infos = || columns.iter().flat_map(|column| &column.run.plan.workloads);
    // The harness's own cost is of interest where it alone was measured.
    let only_controls = infos().all(WorkloadInfo::is_control);
    let section = |head: Head<'a>| {
        let info = infos().find(|info| info.name == head.workload)?;
        let is_shown = only_controls || !info.is_control();
        is_shown.then(|| filled(head, info, columns, best))
    };
    let sections = heads.into_iter().filter_map(|(_, heads)| section(heads[0]));
    sections.filter(|section| !section.rows.is_empty()).collect()
}

/// The section with its points and rows.
fn filled<'a>(
    head: Head<'a>,
    info: &'a WorkloadInfo,
    columns: &[Column<'a>],
    best: &'a [Best],
) -> MatrixTable<'a> {
    let key = head.key();
    let part = |column: &Column<'a>| {
        let comparison = column.compared.and_then(|with| with.result.ok());
        let mut compared = comparison.into_iter().flat_map(|comparison| &comparison.tables);
        Part {
            table: column.tables.iter().find(|table| Head::of_table(table).key() == key),
            compared: compared.find(|table| Head::of_compared(table).key() == key),
            base: column.compared.map(|with| with.base),
            is_whole: column.is_whole,
        }
    };
    let parts: Vec<Part<'a>> = columns.iter().map(part).collect();
    let compared = || parts.iter().filter_map(|part| part.compared);
    let tables = || parts.iter().filter_map(|part| part.table);
    let points = compared().flat_map(|table| &table.points);
    let points: BTreeSet<u64> =
        points.chain(tables().flat_map(|table| &table.points)).copied().collect();
    let points: Vec<u64> = points.into_iter().collect();
    let rows = tables().flat_map(|table| &table.rows);
    let with_figures = rows.filter(|row| row.cells.iter().any(Option::is_some));
    let with_figures = with_figures.map(|row| (row.subject.as_str(), row.label.as_str()));
    let rows = compared().flat_map(|table| &table.rows);
    let rows = rows.map(|row| (row.subject.as_str(), row.label.as_str()));
    let mut subjects = grouped(rows.chain(with_figures));
    let order = |subject: &str| info.subjects.iter().position(|info| info.name == subject);
    subjects.sort_by_key(|(subject, _)| order(subject).unwrap_or(usize::MAX));
    let best: Vec<&Best> = best
        .iter()
        .filter(|best| {
            (best.workload.as_str(), &best.parameters, best.metric.as_str())
                == (key.0, key.1, key.2)
        })
        .collect();
    let row = |(subject, labels): (&'a str, Vec<&'a str>)| {
        let cells = |point: Option<u64>| cells(&parts, &best, subject, (point, points.len()));
        MatrixRow {
            subject,
            label: labels[0],
            group: info.group(subject),
            overall: cells(None),
            cells: points.iter().map(|&point| cells(Some(point))).collect(),
        }
    };
    let rows = subjects.into_iter().map(row).collect();
    let is_list = info.has_separate_subjects() && points.len() == 1;
    let title = title(columns, head, points.first().copied().filter(|_| is_list));
    let Head { workload, parameters, metric, headline, axis } = head;
    MatrixTable { workload, parameters, metric, headline, axis, points, rows, title, is_list }
}

/// `poll · 1 active of N watched descriptors · loop`; at the only point of a list `baseline · 1 copy · latency`.
fn title(columns: &[Column<'_>], head: Head<'_>, point: Option<u64>) -> String {
    let Head { workload, parameters, metric, axis, .. } = head;
    let has_it = |run: &&Run| run.plan.workload(workload).is_some();
    let run = columns.iter().rev().map(|column| column.run).find(has_it);
    let run = run.unwrap_or(columns[0].run);
    let about = metrics::about(metric);
    if let Some(point) = point {
        let scope = parameters::scope(run, workload, parameters);
        return format!("{scope} · {} · {about}", counted(&count(point), axis));
    }
    let parameters = parameters::with_axis(run, workload, parameters);
    let better = if metric.lower_is_better { "" } else { ", more is better" };
    format!("{workload} · {parameters} · {about}{better}")
}

/// What a column has of a section.
struct Part<'a> {
    table: Option<&'a Table>,
    compared: Option<&'a ComparedTable>,
    /// The index of the column that it is compared with.
    base: Option<usize>,
    is_whole: bool,
}

impl<'a> Part<'a> {
    fn row(&self, subject: &str) -> Option<&'a ComparedRow> {
        self.compared?.rows.iter().find(|row| row.subject == subject)
    }

    fn at(&self, subject: &str, point: u64) -> Option<&'a ComparedPoint> {
        let column = self.compared?.points.iter().position(|compared| *compared == point)?;
        self.row(subject)?.cells.get(column)?.as_ref()
    }
}

/// What the runs have of a series, or at a `point` of it; where there is one, the ratio of the series is the point's.
fn cells<'a>(
    parts: &[Part<'a>],
    best: &[&Best],
    subject: &str,
    (point, points): (Option<u64>, usize),
) -> Vec<MatrixCell<'a>> {
    let judged_at = point.filter(|_| points > 1);
    let cell = |(index, part): (usize, &Part<'a>)| {
        let ratio = match judged_at {
            Some(point) => part.at(subject, point).map(|at| &at.ratio),
            None => part.row(subject).map(|row| &row.overall),
        };
        let is_best = best
            .iter()
            .any(|best| best.subject == subject && (best.point, best.run) == (judged_at, index));
        let median = point.and_then(|point| median(parts, index, subject, point));
        let row = part.table.and_then(|table| table.row(subject));
        let missing = row.zip(point).and_then(|(row, point)| notes::gap(row, point));
        MatrixCell { median, ratio, is_best, missing: missing.filter(|_| median.is_none()) }
    };
    parts.iter().enumerate().map(cell).collect()
}

/// The median of a run: of its own comparison, of one with it, or of its table.
fn median(parts: &[Part<'_>], index: usize, subject: &str, point: u64) -> Option<Estimate> {
    let part = parts.get(index).filter(|part| !part.is_whole)?;
    let with_it = || parts.iter().filter(|part| part.base == Some(index));
    let as_base = || with_it().find_map(|part| Some(part.at(subject, point)?.base));
    let of_table = || Some(part.table?.row(subject)?.at(point)?.median);
    part.at(subject, point).map(|at| at.new).or_else(as_base).or_else(of_table)
}
