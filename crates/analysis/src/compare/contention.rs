//! Operations that changed only where those that do them share something: another lock, and not another machine.
//!
//! Threads of one process share what is their process's, and processes don't. An emulated or slower CPU slows both. A
//! lock that waits otherwise slows only the operations of those that meet at it: so the same operation by those that
//! share nothing is the control.

use super::results::{
    Change, ChangeDetail, ChangeKind, ComparedRow, ComparedTable, Contention, Difference,
    Direction, Ratio, Verdict,
};
use super::several::factor;
use crate::Estimate;
use model::{HostFact, HostRole, Parallel, Run};

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
        let is_headline = |table: &&ComparedTable| table.headline && table.workload == info.name;
        for sharing in tables.iter().filter(is_headline) {
            let Some(of_control) = control(tables, sharing, parallel) else { continue };
            for row in &sharing.rows {
                let Some(largest) = largest([sharing, of_control], row, margin) else { continue };
                let (point, [slowdown, control], control_verdict) = largest;
                let shared = info.subject(&row.subject).map(|subject| subject.shared.clone());
                let shared = shared.unwrap_or_default();
                let detail = ChangeDetail::Contention(Contention {
                    point,
                    slowdown,
                    control,
                    control_verdict,
                    sharing: parallel.sharing.clone(),
                    separate: parallel.separate.clone(),
                    // Where they share nothing that is known, there may be no lock of the kernel.
                    waiting: waiting(differences).filter(|_| !shared.is_empty()).cloned(),
                    shared,
                });
                let direction = Some(Direction::worse_if(slowdown.value > 1.0));
                let (kind, subjects) = (ChangeKind::Contention, [row.subject.as_str()]);
                let change = Change::new(kind, direction, sharing.key(), true, &subjects, detail);
                all.push((excess([slowdown, control]), change));
            }
        }
    }
    all.sort_by(|(first, _), (second, _)| second.total_cmp(first));
    all.into_iter().map(|(_, change)| change).collect()
}

/// The point of a row of the first table that shows most, and how much longer an operation takes there by those that
/// share and by the control, with the verdict on the latter.
fn largest(
    tables: [&ComparedTable; 2],
    row: &ComparedRow,
    margin: f64,
) -> Option<(u64, [Estimate; 2], Verdict)> {
    let control_row = tables[1].rows.iter().find(|rival| rival.subject == row.subject)?;
    let at = |&point: &u64| {
        let ratios = [tables[0].ratio_at(row, point)?, tables[1].ratio_at(control_row, point)?];
        let evidence = evidence(ratios, tables[0].metric.lower_is_better, margin)?;
        Some((point, evidence, ratios[1].verdict))
    };
    // One alone meets none at a lock.
    let all = tables[0].points.iter().filter(|point| **point > 1).filter_map(at);
    all.reduce(|max, next| if excess(next.1) > excess(max.1) { next } else { max })
}

fn excess([slowdown, control]: [Estimate; 2]) -> f64 {
    (slowdown.value / control.value).ln().abs()
}

/// The table of those that share nothing, where `sharing` is of those that do.
fn control<'a>(
    tables: &'a [ComparedTable],
    sharing: &ComparedTable,
    parallel: &Parallel,
) -> Option<&'a ComparedTable> {
    let is = |table: &ComparedTable, text: &str| {
        table.parameters.get(&parallel.parameter).is_some_and(|value| value.text() == text)
    };
    let remaining = |table: &ComparedTable| {
        let mut parameters = table.parameters.clone();
        parameters.remove(&parallel.parameter);
        (table.workload.clone(), table.metric.name.clone(), parameters)
    };
    let is_control = |table: &&ComparedTable| {
        is(table, &parallel.separate) && remaining(table) == remaining(sharing)
    };
    tables.iter().find(is_control).filter(|_| is(sharing, &parallel.sharing))
}

/// How much longer an operation takes in new than in base, by those that share and by those that don't. The intervals
/// of both hold at once: one over the other must be beyond the `margin`.
fn evidence(ratios: [&Ratio; 2], lower_is_better: bool, margin: f64) -> Option<[Estimate; 2]> {
    let [slowdown, control] = ratios.map(|ratio| factor(ratio.ratio, lower_is_better));
    let excess = slowdown.over(control);
    let is_beyond = excess.low.max(1.0 / excess.high) > 1.0 + margin;
    let is_same_way = (excess.value > 1.0) == (slowdown.value > 1.0);
    let is_found = ratios[0].verdict.differs() && is_beyond && is_same_way;
    is_found.then_some([slowdown, control])
}

/// What a guest's locks are chosen by: that it differs, too, is no other cause.
const CHOOSE_LOCKS: [&str; 3] = ["hypervisor.", "vm.append", "vm.cpu_model"];

/// The fact in which the runs differ that says how the kernel's locks wait; none where anything else differs that may
/// be the cause, such as the kernel.
fn waiting(differences: &[Difference]) -> Option<&Difference> {
    let has_role = |fact: &Difference, role| HostFact::has_role(&fact.what, role);
    let is_another_cause = |fact: &Difference| {
        let chooses_locks = CHOOSE_LOCKS.iter().any(|key| fact.what.starts_with(key));
        (has_role(fact, HostRole::Cause) || has_role(fact, HostRole::Hardware))
            && !has_role(fact, HostRole::Waiting)
            && !chooses_locks
    };
    let is_lock_fact = |fact: &&Difference| {
        fact.base.is_some() && fact.new.is_some() && has_role(fact, HostRole::Waiting)
    };
    let is_clear = !differences.iter().any(is_another_cause);
    differences.iter().find(is_lock_fact).filter(|_| is_clear)
}
