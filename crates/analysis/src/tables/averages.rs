//! Means with their deviations, as kernbench printed them.

use crate::gather::{Gathered, PointCells};
use crate::stats::moments;
use crate::{Average, AverageColumn, AverageRow, Averages};
use model::{Cell, Fact, MetricInfo, Run, SubjectInfo};
use std::collections::BTreeMap;

/// The mean of `samples` and their deviation (n − 1), which one sample has not; `None` without samples.
pub fn average(samples: &[f64]) -> Option<Average> {
    if samples.is_empty() {
        return None;
    }
    let (mean, deviation) = (moments::mean(samples), moments::sample_deviation(samples));
    Some(Average { mean, deviation, samples: samples.to_vec() })
}

/// The averages of the workloads of `run` that are reported as averages.
pub(crate) fn averages(run: &Run) -> Vec<Averages> {
    let mut all = Vec::new();
    for workload in run.plan.workloads.iter().filter(|workload| workload.averages) {
        let gathered = Gathered::new(run, &workload.name);
        for &parameters in &gathered.parameters {
            for point in gathered.points(parameters) {
                let subjects = workload.subjects.iter().filter(|subject| !subject.control);
                let of_subject = |subject: &SubjectInfo| {
                    let unavailable = run.plan.unavailable(&workload.name, &subject.name);
                    column(subject, gathered.at(&subject.name, parameters, point), unavailable)
                };
                let (columns, cells): (_, Vec<Vec<&Cell>>) =
                    subjects.filter_map(of_subject).unzip();
                let metrics = workload.metrics.iter().map(|metric| row(metric, &cells));
                all.push(Averages {
                    workload: workload.name.clone(),
                    parameters: parameters.clone(),
                    axis: workload.axis.clone(),
                    axis_parameter: workload.axis_parameter.clone(),
                    point,
                    rows: metrics.collect(),
                    columns,
                });
            }
        }
    }
    all
}

/// The column of `subject` with its measured cells, round by round; `None` where it has no cells: then it was not asked
/// for, unless it is unavailable.
fn column<'a>(
    subject: &SubjectInfo,
    here: Option<&PointCells<'a>>,
    unavailable: Option<&str>,
) -> Option<(AverageColumn, Vec<&'a Cell>)> {
    let mut cells = here.map_or_else(Vec::new, |here| here.measured.clone());
    cells.sort_by_key(|cell| cell.key.round);
    let failed = here.map_or(&[][..], |here| here.failed.as_slice());
    let is_shown = !cells.is_empty() || !failed.is_empty() || unavailable.is_some();
    let column = AverageColumn {
        subject: subject.name.clone(),
        label: subject.label.clone(),
        note: subject.note.clone(),
        runs: cells.len() as u32,
        failed: failed.len() as u32,
        reason: failed.first().map(|reason| (*reason).clone()),
        unavailable: unavailable.map(str::to_owned),
        facts: agreed(&cells),
    };
    is_shown.then_some((column, cells))
}

/// The figures of a metric by the `cells` of each column.
fn row(metric: &MetricInfo, cells: &[Vec<&Cell>]) -> AverageRow {
    let figure = |cells: &Vec<&Cell>| {
        let metrics = cells.iter().flat_map(|cell| &cell.metrics);
        let samples = metrics.filter(|own| own.name == metric.name).flat_map(|own| &own.samples);
        let finite = samples.copied().filter(|sample| sample.is_finite());
        average(&finite.collect::<Vec<f64>>())
    };
    AverageRow { metric: metric.clone(), figures: cells.iter().map(figure).collect() }
}

/// What all cells state alike.
fn agreed(cells: &[&Cell]) -> BTreeMap<String, Fact> {
    let Some((first, rest)) = cells.split_first() else { return BTreeMap::new() };
    let same = |(name, value): &(&String, &Fact)| {
        rest.iter().all(|cell| cell.facts.get(*name) == Some(*value))
    };
    let facts = first.facts.iter().filter(same);
    facts.map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sample standard deviation of 2, 4, 4, 4, 5, 5, 7, 9 is √(32/7); that of the population, 2, is
    /// another thing. kernbench's awk divides by n − 1 as well.
    #[test]
    fn deviations_are_those_of_a_sample() {
        let eight = average(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert!((eight.mean - 5.0).abs() < 1e-12);
        assert!((eight.deviation.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        let alone = average(&[3.0]).unwrap();
        assert_eq!((alone.mean.to_bits(), alone.deviation), (3.0_f64.to_bits(), None));
        assert_eq!(average(&[]), None);
    }
}
