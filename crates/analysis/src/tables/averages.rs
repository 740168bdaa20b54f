//! Means with their deviations, as kernbench printed them.

use crate::gather::Gathered;
use crate::stats::moments;
use crate::{Average, AverageColumn, AverageRow, Averages};
use model::{Cell, Fact, FailureReason, MetricInfo, Parameters, Run, SubjectInfo, WorkloadInfo};
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
                let context = Context { run, workload, gathered: &gathered, parameters, point };
                all.push(context.averages());
            }
        }
    }
    all
}

struct Context<'a> {
    run: &'a Run,
    workload: &'a WorkloadInfo,
    gathered: &'a Gathered<'a>,
    parameters: &'a Parameters,
    point: u64,
}

impl<'a> Context<'a> {
    fn averages(&self) -> Averages {
        let subjects = self.workload.subjects.iter().filter(|subject| !subject.control);
        // A subject without cells was not asked for, unless it is unavailable.
        let has_cells = |column: &AverageColumn| {
            column.runs + column.failed > 0 || column.unavailable.is_some()
        };
        let columns: Vec<AverageColumn> =
            subjects.map(|subject| self.column(subject)).filter(has_cells).collect();
        let row = |metric: &MetricInfo| {
            let samples = columns.iter().map(|column| self.samples(&column.subject, &metric.name));
            let figures = samples.map(|samples| average(&samples)).collect();
            AverageRow { metric: metric.clone(), figures }
        };
        Averages {
            workload: self.workload.name.clone(),
            parameters: self.parameters.clone(),
            axis: self.workload.axis.clone(),
            axis_parameter: self.workload.axis_parameter.clone(),
            point: self.point,
            rows: self.workload.metrics.iter().map(row).collect(),
            columns,
        }
    }

    /// The measured cells of `subject`, round by round, and why the others failed.
    fn cells<'b>(&'b self, subject: &'b str) -> (Vec<&'a Cell>, &'b [&'a FailureReason]) {
        let Some(here) = self.gathered.at(subject, self.parameters, self.point) else {
            return (Vec::new(), &[]);
        };
        let mut cells = here.measured.clone();
        cells.sort_by_key(|cell| cell.key.round);
        (cells, &here.failed)
    }

    fn column(&self, subject: &SubjectInfo) -> AverageColumn {
        let (cells, failed) = self.cells(&subject.name);
        let unavailable = self.run.plan.unavailable(&self.workload.name, &subject.name);
        AverageColumn {
            subject: subject.name.clone(),
            label: subject.label.clone(),
            note: subject.note.clone(),
            runs: cells.len() as u32,
            failed: failed.len() as u32,
            reason: failed.first().map(|reason| (*reason).clone()),
            unavailable: unavailable.map(str::to_owned),
            facts: agreed(&cells),
        }
    }

    fn samples(&self, subject: &str, metric: &str) -> Vec<f64> {
        let metrics = self.cells(subject).0.into_iter().flat_map(|cell| &cell.metrics);
        let samples = metrics.filter(|own| own.name == metric).flat_map(|own| &own.samples);
        samples.copied().filter(|sample| sample.is_finite()).collect()
    }
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
