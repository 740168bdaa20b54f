//! The figures of workloads whose subjects have nothing to do with each other, and of loads, where there is one point
//! only: nothing can scale, and nothing is compared, so the answer is the figures themselves.

use super::tables;
use crate::conclusions::Conclusions;
use crate::finding::sentence::Sentence;
use crate::format::{Unit, percent};
use crate::grouping::grouped;
use analysis::{Estimate, Row, Table};
use model::{MetricInfo, Parameters, Run, WorkloadInfo};
use schemars::JsonSchema;
use serde::Serialize;

/// The figures of one workload under one set of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FigureList {
    /// The workload.
    pub workload: String,
    /// The parameters that they hold under.
    pub parameters: Parameters,
    /// The quantity that could grow: `copies`.
    pub axis: String,
    /// The only point on it.
    pub point: u64,
    /// All of them in one sentence, of a load.
    pub sentence: Option<Sentence>,
    /// The figures by heading, both in the workload's order.
    pub groups: Vec<FigureGroup>,
}

/// Figures that stand under one heading.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FigureGroup {
    /// The heading; may be empty.
    pub name: String,
    /// The figures.
    pub figures: Vec<SingleFigure>,
}

/// The median of one subject, or a quantile of all operations of a load.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SingleFigure {
    /// The subject.
    pub subject: String,
    /// Its name in reports; of a load, which figure it is. Empty where the unit says that.
    pub label: String,
    /// The metric.
    pub metric: String,
    /// The metric's unit.
    pub unit: String,
    /// Whether less of it is better.
    pub lower_is_better: bool,
    /// The figure with its 95 % CI.
    pub median: Estimate,
}

impl SingleFigure {
    /// The figure of `row` in `table` that is called `label`.
    pub(super) fn new(table: &Table, row: &Row, label: String, median: Estimate) -> Self {
        let MetricInfo { name, unit, lower_is_better, .. } = table.metric.clone();
        let subject = row.subject.clone();
        Self { subject, label, metric: name, unit, lower_is_better, median }
    }

    /// Half of its 95 % CI as a share of it; none where it has no CI, or is not above zero.
    pub fn half_width(&self) -> Option<f64> {
        let Estimate { value, low, high } = self.median;
        (value > 0.0 && low < high).then(|| (high - low) / 2.0 / value)
    }

    /// `71.2 ns`.
    pub fn level(&self) -> String {
        Unit::for_table(&self.unit, &[self.median.value]).with_symbol(self.median.value)
    }

    /// `±1.2 %`; empty where there is no CI.
    pub fn width(&self) -> String {
        self.half_width().map(|width| format!("±{}", percent(width))).unwrap_or_default()
    }
}

impl FigureList {
    /// That of the only point of `table`; none without figures.
    pub(super) fn new(
        table: &Table,
        sentence: Option<Sentence>,
        groups: Vec<FigureGroup>,
    ) -> Option<Self> {
        (!groups.is_empty()).then(|| Self {
            workload: table.workload.clone(),
            parameters: table.parameters.clone(),
            axis: table.axis.clone(),
            point: table.points[0],
            sentence,
            groups,
        })
    }

    /// All its figures.
    pub fn figures(&self) -> impl Iterator<Item = &SingleFigure> {
        self.groups.iter().flat_map(|group| &group.figures)
    }
}

/// The lists, in the order of the plan.
pub(super) fn lists(run: &Run, conclusions: &Conclusions) -> Vec<FigureList> {
    let of_workload = |workload: &WorkloadInfo| -> Vec<FigureList> {
        let tables = tables(run, conclusions).filter(|table| table.workload == workload.name);
        let by_parameters = grouped(tables.map(|table| (&table.parameters, table)));
        by_parameters.iter().filter_map(|(_, tables)| list(workload, tables)).collect()
    };
    run.plan.workloads.iter().flat_map(of_workload).collect()
}

/// Whether the subjects of `table` are listed: they are not compared, and there is one point.
fn is_single(workload: &WorkloadInfo, table: &Table) -> bool {
    workload.has_separate_subjects() && table.points.len() == 1
}

/// The workload of `table`, if its figures are listed.
pub fn listed<'r>(run: &'r Run, table: &Table) -> Option<&'r WorkloadInfo> {
    run.plan.workload(&table.workload).filter(|workload| is_single(workload, table))
}

/// Whether the answer has the figures of `table`, which is one of `tables`: it need not be shown as well.
pub fn is_in_answer(run: &Run, tables: &[Table], table: &Table) -> bool {
    let is_headline = |second: &&Table| {
        let is_alike =
            (&second.workload, &second.parameters) == (&table.workload, &table.parameters);
        second.headline && is_alike
    };
    let is_load = run.plan.workload(&table.workload).is_some_and(WorkloadInfo::is_load);
    // A list has all metrics of a load.
    let is_listed = |headline: &Table| headline.points.len() == 1;
    is_load && tables.iter().find(is_headline).is_some_and(is_listed)
        || table.headline && listed(run, table).is_some()
}

/// That of `tables`, the headline tables of `workload` under the same parameters; none where one of them has
/// more points.
fn list(workload: &WorkloadInfo, tables: &[&Table]) -> Option<FigureList> {
    let first = tables.first().filter(|_| tables.iter().all(|table| is_single(workload, table)))?;
    let figures = workload.subjects.iter().flat_map(|info| {
        let rows = tables.iter().filter_map(|table| Some((*table, table.row(&info.name)?)));
        let figure = |(table, row): (&Table, &Row)| {
            let median = row.cells.first()?.as_ref()?.median;
            Some((&info.group, SingleFigure::new(table, row, row.label.clone(), median)))
        };
        rows.filter_map(figure).collect::<Vec<_>>()
    });
    let group = |(name, figures): (&String, _)| FigureGroup { name: name.clone(), figures };
    FigureList::new(first, None, grouped(figures).into_iter().map(group).collect())
}
