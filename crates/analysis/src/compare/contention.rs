//! Operations that changed only where those that do them share something: another lock, and not another machine.
//!
//! Threads of one process share what is their process's, and processes don't. An emulated or slower CPU slows both. A
//! lock that waits otherwise slows only the operations of those that meet at it: so the same operation by those that
//! share nothing is the control.

use super::results::{
    Change, ChangeDetail, ChangeKind, ComparedRow, ComparedTable, Contention, Difference,
    Direction, Ratio, Verdict,
};
use super::slowdown;
use crate::Estimate;
use model::{HostFact, HostRole, Parallel, Run, WorkloadInfo};

/// The changes of this kind, the largest first. `differences` are the facts in which the runs differ, and `margin` the
/// share by which a figure may differ and be the same.
pub(super) fn contention(
    new: &Run,
    tables: &[ComparedTable],
    differences: &[Difference],
    margin: f64,
) -> Vec<Change> {
    let mut all: Vec<(f64, Change)> = Vec::new();
    for info in &new.plan.workloads {
        let Some(parallel) = &info.parallel else { continue };
        let positions = of_workload(info, parallel, tables);
        for position in positions {
            let Some(evidence) = Evidence::new(&position, margin) else { continue };
            let excess = (evidence.slowdown.value / evidence.control.value).ln().abs();
            all.push((excess, change(&evidence, &position, info, waiting(differences))));
        }
    }
    all.sort_by(|(first, _), (second, _)| second.total_cmp(first));
    let mut changes: Vec<Change> = Vec::new();
    for (_, change) in all {
        // Of a series the point that shows most.
        let key = |change: &Change| (change.parameters.clone(), change.subjects.clone());
        if !changes.iter().any(|listed| key(listed) == key(&change)) {
            changes.push(change);
        }
    }
    changes
}

/// A point of a series, and the same of its control.
struct Position<'a> {
    sharing: &'a ComparedTable,
    control: &'a ComparedTable,
    row: &'a ComparedRow,
    control_row: &'a ComparedRow,
    point: u64,
}

/// The points at which those that share and those that don't were measured in both runs.
fn of_workload<'a>(
    info: &WorkloadInfo,
    parallel: &Parallel,
    tables: &'a [ComparedTable],
) -> Vec<Position<'a>> {
    let mut all = Vec::new();
    let is_headline = |table: &&ComparedTable| table.headline && table.workload == info.name;
    for sharing in tables.iter().filter(is_headline) {
        let Some(control) = control(tables, sharing, parallel) else { continue };
        for row in &sharing.rows {
            let mut rows = control.rows.iter();
            let control_row = rows.find(|control_row| control_row.subject == row.subject);
            let Some(control_row) = control_row else { continue };
            // One alone meets none at a lock.
            let points = sharing.points.iter().copied().filter(|point| *point > 1);
            let positions =
                points.map(|point| Position { sharing, control, row, control_row, point });
            all.extend(positions.filter(|position| position.ratios().is_some()));
        }
    }
    all
}

impl Position<'_> {
    /// New over base, by those that share and by those that don't.
    fn ratios(&self) -> Option<[&Ratio; 2]> {
        let index =
            |table: &ComparedTable| table.points.iter().position(|listed| *listed == self.point);
        let cell = self.row.cells.get(index(self.sharing)?)?.as_ref()?;
        let of_control = self.control_row.cells.get(index(self.control)?)?.as_ref()?;
        Some([&cell.ratio, &of_control.ratio])
    }
}

/// The table of those that share nothing, where `sharing` is of those that do.
fn control<'a>(
    tables: &'a [ComparedTable],
    sharing: &ComparedTable,
    parallel: &Parallel,
) -> Option<&'a ComparedTable> {
    let value = |table: &ComparedTable| {
        table.parameters.get(&parallel.parameter).map(|value| value.text().into_owned())
    };
    let remaining = |table: &ComparedTable| {
        let mut parameters = table.parameters.clone();
        parameters.remove(&parallel.parameter);
        (table.workload.clone(), table.metric.name.clone(), parameters)
    };
    if value(sharing)? != parallel.sharing {
        return None;
    }
    let is_control = |table: &&ComparedTable| {
        value(table).is_some_and(|value| value == parallel.separate)
            && remaining(table) == remaining(sharing)
    };
    tables.iter().find(is_control)
}

/// How much longer an operation takes in new than in base, by those that share and by those that don't.
struct Evidence {
    slowdown: Estimate,
    control: Estimate,
    control_verdict: Verdict,
}

impl Evidence {
    /// From the intervals of both ratios, which hold at once: one over the other must be beyond the `margin`.
    fn new(position: &Position<'_>, margin: f64) -> Option<Evidence> {
        let [ratio, of_control] = position.ratios()?;
        if !matches!(ratio.verdict, Verdict::Slower | Verdict::Faster) {
            return None;
        }
        let lower_is_better = position.sharing.metric.lower_is_better;
        let [slowdown, control] =
            [ratio, of_control].map(|ratio| slowdown::factor(ratio.ratio, lower_is_better));
        let excess = slowdown.over(control);
        let is_beyond = excess.low.max(1.0 / excess.high) > 1.0 + margin;
        let is_same_way = (excess.value > 1.0) == (slowdown.value > 1.0);
        let control_verdict = of_control.verdict;
        (is_beyond && is_same_way).then_some(Evidence { slowdown, control, control_verdict })
    }
}

/// What a guest's locks are chosen by: that it differs, too, is no other cause.
const CHOOSE_LOCKS: [&str; 3] = ["hypervisor.", "vm.append", "vm.cpu_model"];

/// The fact in which the runs differ that says how the kernel's locks wait; none where anything else differs that may
/// be the cause, such as the kernel.
fn waiting(differences: &[Difference]) -> Option<&Difference> {
    let is_another_cause = |fact: &Difference| {
        let has_role = |role| HostFact::has_role(&fact.what, role);
        let chooses_locks = CHOOSE_LOCKS.iter().any(|key| fact.what.starts_with(key));
        (has_role(HostRole::Cause) || has_role(HostRole::Hardware))
            && !has_role(HostRole::Waiting)
            && !chooses_locks
    };
    if differences.iter().any(is_another_cause) {
        return None;
    }
    let is_lock_fact = |fact: &&Difference| {
        let is_in_both = fact.base.is_some() && fact.new.is_some();
        is_in_both && HostFact::has_role(&fact.what, HostRole::Waiting)
    };
    differences.iter().find(is_lock_fact)
}

fn change(
    evidence: &Evidence,
    position: &Position<'_>,
    info: &WorkloadInfo,
    waiting: Option<&Difference>,
) -> Change {
    let Evidence { slowdown, control, control_verdict } = *evidence;
    let parallel = info.parallel.clone().unwrap_or_default();
    let mut subjects = info.subjects.iter();
    let subject = subjects.find(|subject| subject.name == position.row.subject);
    let is_worse = slowdown.value > 1.0;
    let shared = subject.map(|subject| subject.shared.clone()).unwrap_or_default();
    Change {
        kind: ChangeKind::Contention,
        direction: Some(if is_worse { Direction::Worse } else { Direction::Better }),
        workload: position.sharing.workload.clone(),
        parameters: position.sharing.parameters.clone(),
        metric: position.sharing.metric.name.clone(),
        subjects: vec![position.row.subject.clone()],
        detail: ChangeDetail::Contention(Contention {
            point: position.point,
            slowdown,
            control,
            control_verdict,
            sharing: parallel.sharing,
            separate: parallel.separate,
            // Where they share nothing that is known, there may be no lock of the kernel.
            waiting: waiting.filter(|_| !shared.is_empty()).cloned(),
            shared,
        }),
        headline: true,
        attribution: None,
        calls: None,
    }
}
