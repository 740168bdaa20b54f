//! Subjects that are wrong on purpose: each of their cells has to fail. One that is measured as if it
//! were right says that the workload's check does not see what it is there to see.

use crate::findings::words;
use crate::{Finding, FindingKind};
use record::{CellKey, Outcome, Run, SubjectInfo, Warning, WorkloadInfo};

/// What became of the cells of one control.
struct Tally<'a> {
    workload: &'a WorkloadInfo,
    subject: &'a SubjectInfo,
    /// The first cell that ended.
    first: &'a CellKey,
    caught: usize,
    late: usize,
    measured: usize,
}

/// Whether `key` is of a subject that is wrong on purpose.
pub(crate) fn is_control(run: &Run, key: &CellKey) -> bool {
    let workload = run.plan.workloads.iter().find(|workload| workload.name == key.workload);
    let mut subjects = workload.into_iter().flat_map(|workload| &workload.subjects);
    subjects.any(|subject| subject.control && subject.name == key.subject)
}

/// One for each control of which cells ended.
fn tallies(run: &Run) -> Vec<Tally<'_>> {
    let mut tallies = Vec::new();
    for workload in &run.plan.workloads {
        for subject in workload.subjects.iter().filter(|subject| subject.control) {
            let mut cells = run.cells.iter().filter(|cell| {
                cell.key.workload == workload.name && cell.key.subject == subject.name
            });
            let Some(first) = cells.clone().next().map(|cell| &cell.key) else { continue };
            let mut tally = Tally { workload, subject, first, caught: 0, late: 0, measured: 0 };
            cells.by_ref().for_each(|cell| match &cell.outcome {
                Outcome::Measured => tally.measured += 1,
                Outcome::Failed { reason, .. } if reason.is_unfinished() => tally.late += 1,
                Outcome::Failed { .. } => tally.caught += 1,
            });
            tallies.push(tally);
        }
    }
    tallies
}

impl Tally<'_> {
    fn all(&self) -> usize {
        self.caught + self.late + self.measured
    }

    /// `broken, which is wrong on purpose, was caught in 5 of 5 cells.`
    fn sentence(&self) -> String {
        let Self { subject, caught, late, .. } = self;
        let late = match late {
            0 => String::new(),
            1 => "; 1 did not finish".to_owned(),
            many => format!("; {} did not finish", words::count(*many as u64)),
        };
        let [caught, all] = [*caught, self.all()].map(|cells| words::count(cells as u64));
        let cells = if self.all() == 1 { "cell" } else { "cells" };
        format!(
            "{}, which is wrong on purpose, was caught in {caught} of {all} {cells}{late}.",
            subject.label
        )
    }
}

/// How often each control was caught.
pub(crate) fn findings(run: &Run) -> Vec<Finding> {
    let finding = |tally: &Tally<'_>| Finding {
        kind: FindingKind::Control,
        workload: tally.workload.name.clone(),
        parameters: tally.first.parameters.clone(),
        metric: tally
            .workload
            .metrics
            .first()
            .map_or_else(String::new, |metric| metric.name.clone()),
        subjects: vec![tally.subject.name.clone()],
        sentence: tally.sentence(),
        headline: true,
    };
    tallies(run).iter().map(finding).collect()
}

/// What has to be said of controls that were not caught, before anything else.
pub(crate) fn caveats(run: &Run) -> Vec<Warning> {
    let failed = tallies(run).into_iter().filter(|tally| tally.caught < tally.all());
    let caveat = |tally: Tally<'_>| {
        let (label, workload) = (&tally.subject.label, &tally.workload.name);
        let [caught, all] = [tally.caught, tally.all()].map(|cells| words::count(cells as u64));
        if tally.measured == 0 {
            return Warning {
                what: format!(
                    "The control of {workload} was caught in {caught} of {all} cells only: {label} did \
                     not finish in the others"
                ),
                remedy: "the same with a longer --deadline".to_owned(),
            };
        }
        let missed = words::count(tally.measured as u64);
        Warning {
            what: format!(
                "The control failed: {label}, which is wrong on purpose, was measured in {missed} of \
                 {all} cells as if it were right"
            ),
            remedy: format!("don't trust this run: {workload} does not see what it has to"),
        }
    };
    failed.map(caveat).collect()
}
