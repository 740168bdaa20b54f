//! The figures of workloads whose subjects have nothing to do with each other, and of loads, where there is one point
//! only: nothing can scale, and nothing is compared, so the answer is the figures themselves.

use super::material::Material;
use crate::finding::sentence::Sentence;
use crate::format::{Unit, percent};
use analysis::{Estimate, Row, Table};
use model::{Parameters, WorkloadInfo};
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
    /// All its figures.
    pub fn figures(&self) -> impl Iterator<Item = &SingleFigure> {
        self.groups.iter().flat_map(|group| &group.figures)
    }
}

/// The lists, in the order of the plan.
pub(super) fn lists(material: &Material<'_>) -> Vec<FigureList> {
    let mut all = Vec::new();
    for workload in &material.run.plan.workloads {
        let tables = || material.tables().filter(|table| table.workload == workload.name);
        let mut parameters: Vec<&Parameters> = Vec::new();
        for table in tables().filter(|table| is_single(workload, table)) {
            if !parameters.contains(&&table.parameters) {
                parameters.push(&table.parameters);
            }
        }
        all.extend(parameters.into_iter().filter_map(|parameters| {
            let tables = tables().filter(|table| table.parameters == *parameters);
            list(workload, &tables.collect::<Vec<_>>())
        }));
    }
    all
}

/// Whether the subjects of `table` are listed: they are not compared, and there is one point.
pub fn is_single(workload: &WorkloadInfo, table: &Table) -> bool {
    workload.has_separate_subjects() && table.points.len() == 1
}

/// Whether the answer has the figures of `table`, which is one of `tables`: it need not be shown as well.
pub fn is_in_answer(workload: &WorkloadInfo, tables: &[Table], table: &Table) -> bool {
    let is_headline = |second: &Table| {
        let is_alike =
            (&second.workload, &second.parameters) == (&table.workload, &table.parameters);
        second.headline && is_alike
    };
    // A list has all metrics of a load.
    let is_listed = |headline: &Table| headline.points.len() == 1;
    let headline = tables.iter().find(|second| is_headline(second));
    workload.is_load() && headline.is_some_and(is_listed)
        || table.headline && is_single(workload, table)
}

/// That of `tables`, the headline tables of `workload` under the same parameters; none where one of them has
/// more points.
fn list(workload: &WorkloadInfo, tables: &[&Table]) -> Option<FigureList> {
    let first = tables.first().filter(|_| tables.iter().all(|table| table.points.len() == 1))?;
    let mut groups: Vec<FigureGroup> = Vec::new();
    for info in &workload.subjects {
        let rows = tables.iter().filter_map(|table| Some((*table, table.row(&info.name)?)));
        for figure in rows.filter_map(|(table, row)| figure(table, row)) {
            match groups.iter_mut().find(|group| group.name == info.group) {
                Some(group) => group.figures.push(figure),
                None => {
                    groups.push(FigureGroup { name: info.group.clone(), figures: vec![figure] });
                }
            }
        }
    }
    (!groups.is_empty()).then(|| FigureList {
        workload: workload.name.clone(),
        parameters: first.parameters.clone(),
        axis: first.axis.clone(),
        point: first.points[0],
        sentence: None,
        groups,
    })
}

fn figure(table: &Table, row: &Row) -> Option<SingleFigure> {
    Some(SingleFigure {
        subject: row.subject.clone(),
        label: row.label.clone(),
        metric: table.metric.name.clone(),
        unit: table.metric.unit.clone(),
        lower_is_better: table.metric.lower_is_better,
        median: row.cells.first()?.as_ref()?.median,
    })
}
