//! Operations that changed only where those that do them share something: another lock, and not another machine.
//!
//! Threads of one process share what is their process's, and processes don't. An emulated or slower CPU slows both. A
//! lock that waits otherwise slows only the operations of those that meet at it: so the same operation by those that
//! share nothing is the control.

use super::results::{
    Change, ChangeDetail, ChangeKind, ComparedTable, Contention, Difference, Direction, Ratio,
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
            for subject in sharing.rows.iter().map(|row| row.subject.as_str()) {
                let largest = largest([sharing, of_control], subject, parallel, margin);
                let Some(largest) = largest else { continue };
                let shared = info.subject(subject).map(|subject| subject.shared.clone());
                let shared = shared.unwrap_or_default();
                // Where they share nothing that is known, there may be no lock of the kernel.
                let waiting = waiting(differences).filter(|_| !shared.is_empty()).cloned();
                let direction = Some(Direction::worse_if(largest.slowdown.value > 1.0));
                let (size, key, kind) = (excess(&largest), sharing.key(), ChangeKind::Contention);
                let detail = ChangeDetail::Contention(Contention { shared, waiting, ..largest });
                all.push((size, Change::new(kind, direction, key, true, &[subject], detail)));
            }
        }
    }
    all.sort_by(|(first, _), (second, _)| second.total_cmp(first));
    all.into_iter().map(|(_, change)| change).collect()
}

/// What the point of a series shows that shows most; the second table is that of the control.
fn largest(
    [sharing, of_control]: [&ComparedTable; 2],
    subject: &str,
    parallel: &Parallel,
    margin: f64,
) -> Option<Contention> {
    let at = |&point: &u64| {
        let ratios = [sharing.ratio_at(subject, point)?, of_control.ratio_at(subject, point)?];
        let [slowdown, control] = evidence(ratios, sharing.metric.lower_is_better, margin)?;
        Some(Contention {
            point,
            slowdown,
            control,
            control_verdict: ratios[1].verdict,
            sharing: parallel.sharing.clone(),
            separate: parallel.separate.clone(),
            shared: String::new(),
            waiting: None,
        })
    };
    // One alone meets none at a lock.
    let all = sharing.points.iter().filter(|point| **point > 1).filter_map(at);
    all.reduce(|max, next| if excess(&next) > excess(&max) { next } else { max })
}

fn excess(Contention { slowdown, control, .. }: &Contention) -> f64 {
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
