//! A workload's description in the record's shape.

use super::Workload;
use super::about::{Kind, MetricAbout, OnlyWith, SampleKind};
use super::parameter::Parameter;
use super::subject::Subject;
use model::{Dependence, MetricInfo, Parallel, Ratio, SubjectInfo, WorkloadInfo, WorkloadRole};

/// A workload's own description, in the record's shape, with `axis` as its axis.
pub fn info(workload: &dyn Workload, axis: &Parameter) -> WorkloadInfo {
    let about = workload.about();
    let word = |&word: &&str| word.to_owned();
    WorkloadInfo {
        name: about.name.into(),
        version: about.version,
        question: about.question.into(),
        operation: about.operation.into(),
        not_measured: about.not_measured.iter().map(word).collect(),
        axis: axis.sweep.as_ref().map_or(axis.name, |sweep| sweep.label).into(),
        axis_parameter: axis.name.into(),
        ratio: about.ratio.as_ref().map(|ratio| Ratio {
            part: ratio.part.into(),
            whole: ratio.whole.into(),
            word: ratio.word.into(),
            multiple: ratio.multiple,
        }),
        dependences: about.only_with.iter().map(dependence).collect(),
        trajectory: about.is_trajectory(axis.name),
        points_down: about.points_down,
        role: match about.kind {
            Kind::Control => WorkloadRole::Control,
            Kind::Suite | Kind::Named | Kind::Fault => WorkloadRole::Comparison,
        },
        parallel: about.parallel.map(|parallel| Parallel {
            parameter: parallel.parameter.into(),
            sharing: parallel.sharing.into(),
            separate: parallel.separate.into(),
        }),
        compared_pairs: about
            .compared_pairs
            .iter()
            .map(|(first, second)| (word(first), word(second)))
            .collect(),
        // Planning says it: it depends on the points.
        deadline_ms: None,
        also_growth: about.also_growth.iter().map(word).collect(),
        averages: about.averages,
        metrics: about.metrics.iter().map(metric_info).collect(),
        subjects: workload.subjects().iter().map(subject_info).collect(),
        custom: None,
    }
}

fn dependence(only_with: &OnlyWith) -> Dependence {
    Dependence {
        parameter: only_with.parameter.into(),
        depends_on: only_with.depends_on.into(),
        values: only_with.values.iter().map(|&value| value.into()).collect(),
    }
}

fn metric_info(metric: &MetricAbout) -> MetricInfo {
    let (unit, lower_is_better) = match metric.samples {
        SampleKind::Time => ("ns", true),
        SampleKind::Amount(unit) => (unit, true),
        SampleKind::Rate(unit) | SampleKind::Degree(unit) => (unit, false),
    };
    MetricInfo {
        name: metric.name.into(),
        about: metric.about.into(),
        unit: unit.into(),
        lower_is_better,
        direction_assumed: metric.direction_assumed,
        role: metric.role,
    }
}

fn subject_info(subject: &Subject) -> SubjectInfo {
    SubjectInfo {
        name: subject.name.into(),
        label: subject.label.into(),
        note: subject.note.clone(),
        control: subject.control,
        operation: subject.operation.into(),
        group: subject.group.into(),
        headline: subject.headline.into(),
        shared: subject.shared.into(),
        memory_access: subject.memory_access.clone(),
    }
}
