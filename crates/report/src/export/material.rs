//! What a format writes, and texts that several formats share.

use super::narrowed::unknown;
use crate::html::machine;
use analysis::{Analysis, Row, Table};
use findings::Conclusions;
use findings::format::count;
use model::{Cell, CellKey, Outcome, Parameters, Run, WorkloadInfo};
use printable::one_line;
use serde::Serialize;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::{self, Write};

/// The colours of the page, so that a subject has one colour in all pictures.
pub(super) const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#00845f", "#b8568f", "#b07d00", "#2f8fc4", "#55555c", "#7a4fb5"];
/// Axes that span less than this are easier to read with even steps.
pub(super) const LOGARITHMIC_FROM: f64 = 8.0;

/// A file format of a run.
pub struct Format {
    /// Its name on the command line: `csv`.
    pub name: &'static str,
    /// What it is for, in one line.
    pub about: &'static str,
    /// A text near the beginning of its files, by which an existing one is known as such and may be replaced; empty
    /// where the format leaves no place for one.
    pub mark: &'static str,
    /// Its variants, where there is a choice.
    pub choices: &'static [What],
    /// Why it can't hold this run or variant, and what would do; called before writing.
    pub check: fn(&Material) -> Result<(), String>,
    /// What it holds of a run.
    pub content: Content,
    /// Writes the whole run.
    pub write: fn(&Material, &mut dyn Write) -> io::Result<()>,
}

/// What a format holds of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// All figures.
    Figures,
    /// Its tables, for people: of these, subjects and points can be selected.
    Tables,
    /// Its profile, of which subjects and points can be selected too.
    Profile,
}

/// A variant of a format: a part of a run, or a form of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// One row a sample.
    Samples,
    /// One row a point of each series.
    Medians,
    /// Figures for which less is better.
    Smaller,
    /// Figures for which more is better.
    Bigger,
}

impl What {
    /// Its word on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Samples => "samples",
            Self::Medians => "medians",
            Self::Smaller => "smaller",
            Self::Bigger => "bigger",
        }
    }
}

/// The run to write, and its conclusions where a format needs them: resampling a million figures takes longer
/// than writing them.
pub struct Material<'a> {
    pub(super) run: &'a Run,
    pub(super) what: Option<What>,
    pub(super) selection: Selection,
    conclusions: OnceCell<Conclusions>,
}

/// Subjects and points of tables that are shown; all where none is named. Verdicts are those of the whole run.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// By their names.
    pub subjects: Vec<String>,
    /// On the axis.
    pub points: Vec<u64>,
}

impl Selection {
    pub(super) fn has_subject(&self, name: &str) -> bool {
        self.subjects.is_empty() || self.subjects.iter().any(|subject| subject == name)
    }

    pub(super) fn has_point(&self, point: u64) -> bool {
        self.points.is_empty() || self.points.contains(&point)
    }

    /// Refuses what is none of these `names` and `points`; `source` is where they are.
    pub(super) fn check<'a>(
        &self,
        names: impl Iterator<Item = &'a str>,
        points: impl Iterator<Item = u64>,
        source: &str,
    ) -> Result<(), String> {
        let names: BTreeSet<&str> = names.collect();
        if let Some(subject) = self.subjects.iter().find(|name| !names.contains(name.as_str())) {
            let names: Vec<&str> = names.into_iter().collect();
            return Err(unknown(&format!("subject{source}"), subject, &names));
        }
        let points: BTreeSet<u64> = points.collect();
        if let Some(point) = self.points.iter().find(|point| !points.contains(point)) {
            let all: Vec<String> = points.iter().map(ToString::to_string).collect();
            return Err(unknown(&format!("point{source}"), &point.to_string(), &all));
        }
        Ok(())
    }

    /// The columns of a table that are shown.
    pub(super) fn columns(&self, table: &Table) -> Vec<usize> {
        (0..table.points.len()).filter(|&column| self.has_point(table.points[column])).collect()
    }
}

impl<'a> Material<'a> {
    /// The run, to be written as the variant `what`; `None` is the default variant.
    pub fn new(run: &'a Run, what: Option<What>) -> Self {
        Self { run, what, selection: Selection::default(), conclusions: OnceCell::new() }
    }

    /// The same with only these subjects and points in its tables.
    ///
    /// # Errors
    /// With the names or points that there are, where one is none of these.
    pub fn selecting(self, selection: Selection) -> Result<Self, String> {
        let tables = &self.analysis().tables;
        let rows = tables.iter().flat_map(|table| &table.rows);
        let points = tables.iter().flat_map(|table| table.points.iter().copied());
        selection.check(rows.map(|row| row.subject.as_str()), points, "")?;
        if selection.subjects.is_empty() {
            return Ok(Self { selection, ..self });
        }
        let Self { run, what, conclusions, .. } = self;
        let conclusions = conclusions.into_inner().unwrap_or_default();
        let conclusions = conclusions.of_subjects(run, &selection.subjects).into();
        Ok(Self { run, what, selection, conclusions })
    }

    pub(super) fn conclusions(&self) -> &Conclusions {
        self.conclusions.get_or_init(|| findings::conclude(self.run))
    }

    pub(super) fn analysis(&self) -> &Analysis {
        &self.conclusions().analysis
    }
}

/// Writes JSON for people too, and a line feed.
pub(super) fn write_json(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// The tables with figures, each with its rows that have figures.
pub(super) fn measured(analysis: &Analysis) -> impl Iterator<Item = (&Table, Vec<&Row>)> {
    analysis.tables.iter().filter_map(|table| {
        let has_figures = |row: &&Row| row.cells.iter().any(Option::is_some);
        let rows: Vec<&Row> = table.rows.iter().filter(has_figures).collect();
        (!rows.is_empty()).then_some((table, rows))
    })
}

/// Refuses a run without figures, for formats that hold nothing else.
pub(super) fn has_figures(material: &Material) -> Result<(), String> {
    match measured(material.analysis()).next() {
        Some(_) => Ok(()),
        None => Err(format!(
            "run {0} has no figures: `knee show {0}` says why",
            material.run.summary.number
        )),
    }
}

/// A point as its table has it, with its decimals.
pub(super) fn x(run: &Run, workload: &str, point: u64) -> f64 {
    let decimals = run.plan.workload(workload).map_or(0, |info| info.axis_decimals);
    point as f64 / 10_f64.powf(f64::from(decimals))
}

/// A name for a point of a series that is the same in every run, so that other programs can track it:
/// `poll/epoll-level/loop active=1 object=pipe watched=100`.
pub(super) fn series(run: &Run, table: &Table, row: &Row, point: u64) -> String {
    let axis = if table.axis_parameter.is_empty() { &table.axis } else { &table.axis_parameter };
    let Table { workload, parameters, metric, .. } = table;
    series_name([workload, &row.subject, &metric.name], parameters, (axis, x(run, workload, point)))
}

/// The same of a workload, a subject and a metric.
pub(super) fn series_name(
    names: [&str; 3],
    parameters: &Parameters,
    (axis, point): (&str, impl Display),
) -> String {
    let parameters = parameters.iter().map(|(name, value)| format!(" {name}={value}"));
    let parameters: String = parameters.collect();
    one_line(&format!("{}{parameters} {axis}={point}", names.join("/")))
}

/// The positions of a workload and of a subject in the plan.
pub(super) fn indexes(run: &Run, key: &CellKey) -> (usize, usize) {
    let workloads = &run.plan.workloads;
    let Some(workload) = workloads.iter().position(|info| info.name == key.workload) else {
        return (usize::MAX, usize::MAX);
    };
    let mut subjects = workloads[workload].subjects.iter();
    (workload, subjects.position(|info| info.name == key.subject).unwrap_or(usize::MAX))
}

/// The cells in the order of tables: by workload, parameters, subject, point and round.
pub(super) fn in_order(run: &Run) -> Vec<(Option<&WorkloadInfo>, &Cell)> {
    let mut cells: Vec<((usize, usize), &Cell)> =
        run.cells.iter().map(|cell| (indexes(run, &cell.key), cell)).collect();
    cells.sort_by_key(|((workload, subject), cell)| {
        (*workload, &cell.key.parameters, *subject, cell.key.point, cell.key.round)
    });
    let info = |workload: usize| run.plan.workloads.get(workload);
    cells.into_iter().map(|((workload, _), cell)| (info(workload), cell)).collect()
}

/// The unit of a metric.
pub(super) fn unit<'a>(workload: Option<&'a WorkloadInfo>, metric: &str) -> &'a str {
    let info = workload.and_then(|info| info.metrics.iter().find(|info| info.name == metric));
    info.map_or("", |info| &info.unit)
}

/// Why a cell has no figures, or ended early.
pub(super) fn missing(cell: &Cell) -> Option<String> {
    let text = match (&cell.outcome, &cell.short) {
        (Outcome::Failed { reason, .. }, _) => reason.to_string(),
        (_, Some(short)) => format!("ended at {}: {}", short.reached, short.reason.cause()),
        _ => return None,
    };
    Some(one_line(&text))
}

/// The run, its date and the version of knee: `run 7 (00000000a3f1…) of 2026-11-21…, knee
/// 0.1.0`.
pub(super) fn identity(run: &Run) -> String {
    let summary = &run.summary;
    let number = match summary.number {
        0 => "run".to_owned(),
        number => format!("run {}", count(number.unsigned_abs())),
    };
    format!("{number} ({}) of {}, knee {}", summary.id, summary.started, summary.version)
}

/// The machine and the clock, in a line.
pub(super) fn machine_and_clock(run: &Run) -> String {
    if run.is_foreign() {
        return "a table from elsewhere".to_owned();
    }
    format!("{}; clock: {}", machine::name(run), run.clock.source)
}
