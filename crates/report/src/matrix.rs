//! Runs next to each other: one matrix of series × runs, whatever the runs differ in: time, machine, kernel, version.
//!
//! Each form has the same order: the runs, what changed, the facts that differ, the tables, what is left out, and the
//! confidence. Two runs have their points across; more runs stand across themselves, with the points below each series.

mod changes;
mod counts;
mod facts;
mod fill;
pub(crate) mod grid;
pub mod html;
pub mod json;
pub mod markdown;
mod names;
mod sheet;
mod sight;
pub mod terminal;
mod text;

pub use sight::of_another_run;

use analysis::compare::{Comparison, Fleet, Outlier, Ratio, Refusal, Several, Verdict};
use analysis::history::across::AcrossValues;
use analysis::{Estimate, Table};
use findings::format::Unit;
use findings::left_out;
use model::{MetricInfo, Parameters, Run};
use schemars::JsonSchema;
use serde::Serialize;

/// Runs with their comparisons, and the tables that are made of these.
#[derive(Clone, Debug)]
pub struct Matrix<'a> {
    pub(crate) columns: Vec<Column<'a>>,
    reference: Reference<'a>,
    pub(crate) sections: Vec<MatrixTable<'a>>,
    /// Of more than two runs: what was compared.
    several: Option<&'a Several>,
}

/// What the ratios are to.
#[derive(Clone, Copy, Debug)]
enum Reference<'a> {
    /// The first run.
    First,
    /// The median machine of a fleet, which is the first column.
    Median(&'a FleetHead),
    /// The run before: that of the value before, of a fact.
    Before(&'a AcrossValues),
}

/// A run, and its comparison.
#[derive(Clone, Debug)]
pub(crate) struct Column<'a> {
    pub(crate) name: String,
    pub(crate) run: &'a Run,
    /// Its tables; none where those of the comparison do.
    tables: &'a [Table],
    /// The comparison with an earlier column; absent for the first one.
    compared: Option<Compared<'a>>,
    /// Whether it repeats the last run, to compare it with the first.
    is_whole: bool,
}

/// The column that a run is compared with, and how they compare.
#[derive(Clone, Copy, Debug)]
struct Compared<'a> {
    base: usize,
    result: Result<&'a Comparison, &'a Refusal>,
}

/// One metric of a workload under one set of parameters, in all runs that have it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MatrixTable<'a> {
    /// The workload.
    workload: &'a str,
    /// The parameters that hold for the whole section.
    parameters: &'a Parameters,
    /// The figure in it.
    metric: &'a MetricInfo,
    /// Whether it is the workload's headline metric.
    headline: bool,
    /// The quantity that grows.
    axis: &'a str,
    /// The points of all runs, ascending.
    points: Vec<u64>,
    /// The series of all runs, in the order of the workload.
    rows: Vec<MatrixRow<'a>>,
    #[serde(skip)]
    title: String,
    /// Whether its figures are operations that have nothing to do with each other, at one point.
    #[serde(skip)]
    is_list: bool,
}

/// A series in all runs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct MatrixRow<'a> {
    /// The subject's name.
    subject: &'a str,
    /// Its name in reports.
    label: &'a str,
    #[serde(skip)]
    group: &'a str,
    /// The series as a whole, by run: without figures, unless there is one point.
    overall: Vec<MatrixCell<'a>>,
    /// By point, and then by run.
    cells: Vec<Vec<MatrixCell<'a>>>,
}

/// What one run has of a series, or of a point of it.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
struct MatrixCell<'a> {
    /// Its median.
    median: Option<Estimate>,
    /// To the run that it is compared with.
    ratio: Option<&'a Ratio>,
    /// Whether it is better than each other run.
    is_best: bool,
    /// Why there is no figure.
    missing: Option<String>,
}

impl MatrixCell<'_> {
    fn verdict(&self) -> Option<Verdict> {
        Some(self.ratio?.verdict)
    }

    fn has_changed(&self) -> bool {
        matches!(self.verdict(), Some(Verdict::Slower | Verdict::Faster))
    }
}

impl MatrixTable<'_> {
    /// The unit in which all its figures are readable.
    fn unit(&self) -> Unit {
        self.unit_of(&self.rows)
    }

    /// The same of some of its rows.
    fn unit_of(&self, rows: &[MatrixRow<'_>]) -> Unit {
        let cells = rows.iter().flat_map(|row| row.cells.iter().flatten());
        let medians = cells.filter_map(|cell| Some(cell.median.as_ref()?.value));
        Unit::for_table(&self.metric.unit, &medians.collect::<Vec<f64>>())
    }
}

impl<'a> Matrix<'a> {
    /// Whether two runs are compared: points stand across then.
    fn is_pair(&self) -> bool {
        self.columns.len() == 2
    }

    fn fleet_head(&self) -> Option<&'a FleetHead> {
        match self.reference {
            Reference::Median(head) => Some(head),
            _ => None,
        }
    }

    /// The columns of the runs, each run once.
    fn run_columns(&self) -> impl Iterator<Item = &Column<'a>> {
        self.columns.iter().filter(|column| !column.is_whole)
    }

    /// The runs, each once.
    fn runs(&self) -> impl Iterator<Item = &'a Run> {
        self.run_columns().map(|column| column.run)
    }

    /// Each column that has a comparison, with that.
    fn comparisons(&self) -> impl Iterator<Item = (usize, &'a Comparison)> {
        let columns = self.columns.iter().enumerate();
        columns.filter_map(|(at, column)| Some((at, column.compared?.result.ok()?)))
    }

    /// The only comparison, of a base and a new run.
    fn only(&self) -> Option<&'a Comparison> {
        let is_of_two = self.is_pair() && matches!(self.reference, Reference::First);
        self.comparisons().next().map(|(_, comparison)| comparison).filter(|_| is_of_two)
    }

    /// The margin that all comparisons share.
    fn margin(&self) -> f64 {
        self.comparisons().next().map_or(0.05, |(_, comparison)| comparison.margin)
    }

    /// The comparisons, the one with the largest slowdown first.
    fn ranked(&self) -> Vec<(usize, &'a Comparison)> {
        let slowdown = |comparison: &Comparison| {
            let rows = comparison.tables.iter().flat_map(|table| &table.rows);
            let slower = rows.filter(|row| row.overall.verdict == Verdict::Slower);
            slower.map(|row| row.overall.ratio.value.ln().abs()).fold(0.0, f64::max)
        };
        let mut all: Vec<_> = self.comparisons().collect();
        all.sort_by(|(_, a), (_, b)| slowdown(b).total_cmp(&slowdown(a)));
        all
    }

    /// What begins a line about a column: nothing of a base and a new run.
    fn label(&self, column: usize) -> String {
        let Column { name, compared, run, is_whole, .. } = &self.columns[column];
        match (self.reference, compared) {
            (Reference::Before(_), Some(compared)) => {
                let last = self.columns.iter().find(|last| std::ptr::eq(last.run, *run));
                let name = last.filter(|_| *is_whole).map_or(name, |last| &last.name);
                format!("{name} against {}: ", self.columns[compared.base].name)
            }
            _ if self.is_pair() => String::new(),
            _ => format!("{name}: "),
        }
    }

    /// Why runs have no ratio, each with its name.
    fn refusals(&self) -> Vec<String> {
        let refusal = |column: &Column<'a>| {
            let Compared { base, result } = column.compared?;
            let (base, refusal) = (&self.columns[base].name, left_out::refusal(result.err()?));
            Some(format!("{} has no ratio to {base}: {refusal}", column.name))
        };
        self.columns.iter().filter_map(refusal).collect()
    }
}

/// A fleet's name, and its summary.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FleetHead {
    /// Its id, and how many machines there are: `slurm-1234.0: 8 machines`.
    pub title: String,
    /// What the median machine and each machine are called, in the order of the runs.
    pub names: Vec<String>,
    /// Which machines are unlike the others, and what is missing.
    pub sentences: Vec<String>,
    /// The machines that are unlike the others; in `run` the index among all runs, the median machine included.
    pub outliers: Vec<Outlier>,
}

impl FleetHead {
    /// The head of `fleet`, whose machines are called by `names`; `missing` says what it lacks.
    pub fn new(title: String, fleet: &Fleet, names: &[String], missing: Vec<String>) -> Self {
        let sentences =
            findings::fleet::sentences(fleet, names).into_iter().chain(missing).collect();
        let names = ["median".to_owned()].into_iter().chain(names.iter().cloned()).collect();
        let after_median = |outlier: &Outlier| Outlier { run: outlier.run + 1, ..outlier.clone() };
        let outliers = fleet.outliers.iter().map(after_median).collect();
        Self { title, names, sentences, outliers }
    }
}
