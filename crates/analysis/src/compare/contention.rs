//! Operations that changed only where those that do them share something: another lock, and not another machine.
//!
//! Threads of one process share what is their process's, and processes don't. An emulated or slower CPU slows both. A
//! lock that waits otherwise slows only the operations of those that meet at it: so the same operation by those that
//! share nothing is the control.
//!
//! A guest whose CPUs wait for those of its host has rounds that differ by decades: no standard error describes them. So
//! where both runs took turns, each round has its own difference between the operation and its control, and the sign test
//! says where the median of these lies, whatever their distribution.

use super::effects::Arrangement;
use super::levels::{Level, Levels};
use super::results::{
    Change, ChangeDetail, ChangeKind, ComparedRow, ComparedTable, Contention, Difference,
    Direction, Ratio, Verdict,
};
use super::slowdown;
use crate::Estimate;
use crate::compare::thresholds::FALSE_ALARM;
use crate::gather::Gathered;
use crate::stats::sign_test::median_between;
use model::{HostFact, HostRole, Parallel, Run, WorkloadInfo};
use std::collections::BTreeMap;

/// The changes of this kind, the largest first. `differences` are the facts in which the runs differ, and `margin` the
/// share by which a figure may differ and be the same.
pub(super) fn contention(
    [base, new]: [&Run; 2],
    tables: &[ComparedTable],
    differences: &[Difference],
    margin: f64,
) -> Vec<Change> {
    let mut all: Vec<(f64, Change)> = Vec::new();
    for info in &new.plan.workloads {
        let Some(parallel) = &info.parallel else { continue };
        let positions = of_workload(info, parallel, tables);
        if positions.is_empty() {
            continue;
        }
        let gathered = [base, new].map(|run| Gathered::new(run, &info.name));
        let confidence = 1.0 - FALSE_ALARM / positions.len() as f64;
        let is_paired = Arrangement::new(base, new) == Arrangement::Interleaved;
        for position in positions {
            let evidence = if is_paired {
                Evidence::of_rounds(&gathered, &position, (confidence, margin))
            } else {
                Evidence::of_ratios(&position, margin)
            };
            let Some(evidence) = evidence else { continue };
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
    /// From the intervals of both ratios, which hold at once: they must lie apart by more than `margin`.
    fn of_ratios(position: &Position<'_>, margin: f64) -> Option<Evidence> {
        let [ratio, of_control] = position.ratios()?;
        if !matches!(ratio.verdict, Verdict::Slower | Verdict::Faster) {
            return None;
        }
        let lower_is_better = position.sharing.metric.lower_is_better;
        let [slowdown, control] =
            [ratio, of_control].map(|ratio| slowdown::factor(ratio.ratio, lower_is_better));
        let is_beyond = if slowdown.value > 1.0 {
            slowdown.low > control.high * (1.0 + margin)
        } else {
            slowdown.high * (1.0 + margin) < control.low
        };
        let control_verdict = of_control.verdict;
        is_beyond.then_some(Evidence { slowdown, control, control_verdict })
    }

    /// From rounds that took turns: in each, how much more the operation changed than its control.
    fn of_rounds(
        gathered: &[Gathered<'_>; 2],
        position: &Position<'_>,
        (confidence, margin): (f64, f64),
    ) -> Option<Evidence> {
        let subject = &position.row.subject;
        let levels = |table: &ComparedTable| {
            let ComparedTable { parameters, metric, .. } = table;
            [0, 1].map(|run| {
                Levels::new(&gathered[run], subject, parameters, metric, &[position.point]).rounds
            })
        };
        let ([base, new], [control_base, control_new]) =
            (levels(position.sharing), levels(position.control));
        let sign = if position.sharing.metric.lower_is_better { 1.0 } else { -1.0 };
        let of_round = |round: &u32| {
            let middle =
                |rounds: &BTreeMap<u32, Vec<Option<Level>>>| Some(rounds.get(round)?[0]?.middle);
            let changed = sign * (middle(&new)? - middle(&base)?);
            Some((changed, sign * (middle(&control_new)? - middle(&control_base)?)))
        };
        let (changed, unchanged): (Vec<f64>, Vec<f64>) = base.keys().filter_map(of_round).unzip();
        let excess: Vec<f64> = changed.iter().zip(&unchanged).map(|(a, b)| a - b).collect();
        let excess = median_between(&excess, confidence)?;
        let [slowdown, control] = [changed, unchanged].map(|all| median_between(&all, confidence));
        let (slowdown, control) = (slowdown?, control?);
        let margin = margin.ln_1p();
        // What both have in common is no lock, and a difference within the margin is none.
        let is_slower = excess.low > margin && slowdown.low > 0.0;
        let is_faster = excess.high < -margin && slowdown.high < 0.0;
        let factor = |Estimate { value, low, high }: Estimate| {
            let [value, low, high] = [value, low, high].map(f64::exp);
            Estimate { value, low, high }
        };
        let control_verdict = match control {
            Estimate { low, high, .. } if low >= -margin && high <= margin => Verdict::Same,
            Estimate { low, .. } if low > 0.0 => Verdict::Slower,
            Estimate { high, .. } if high < 0.0 => Verdict::Faster,
            _ => Verdict::Undecided,
        };
        let (slowdown, control) = (factor(slowdown), factor(control));
        (is_slower || is_faster).then_some(Evidence { slowdown, control, control_verdict })
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
    }
}
