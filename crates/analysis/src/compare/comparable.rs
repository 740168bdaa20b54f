//! Whether two runs can be compared, and which workloads and tables of them.

use super::left_out::{LeftOut, Refusal, RefusalReason, Side, TableName};
use super::results::Terms;
use crate::{Table, is_predicted};
use model::{HOST_NAME, HostDifference, MachineMatch, Run, RunState, WorkloadInfo};
use std::collections::BTreeSet;

/// The names of the workloads that can be compared, and what is left out of `base` and `new`; or why nothing
/// can be compared.
pub(super) fn comparable<'a>(
    base: &'a Run,
    new: &Run,
    terms: &Terms,
) -> Result<(BTreeSet<&'a str>, Vec<LeftOut>), Refusal> {
    let mut reasons = differing_runs(base, new, terms);
    let (mut common, mut differing, mut single) = (BTreeSet::new(), Vec::new(), Vec::new());
    for workload in &base.plan.workloads {
        let newer = new.plan.workloads.iter().find(|newer| newer.name == workload.name);
        match newer.map(|newer| difference(workload, newer)) {
            Some(Some(left_out)) => differing.push(left_out),
            Some(None) => _ = common.insert(workload.name.as_str()),
            None => {
                single
                    .push(LeftOut::Workload { side: Side::Base, workload: workload.name.clone() });
            }
        }
    }
    let [in_base, in_new] = [base, new].map(|run| names(&run.plan.workloads));
    let added = in_new.iter().filter(|name| !in_base.contains(name));
    single.extend(added.map(|name| LeftOut::Workload { side: Side::New, workload: name.clone() }));
    if common.is_empty() {
        reasons.extend(differing.iter().cloned().map(RefusalReason::LeftOut));
        if differing.is_empty() {
            reasons.push(RefusalReason::NoCommonWorkload { base: in_base, new: in_new });
        }
    }
    if !reasons.is_empty() {
        return Err(Refusal { reasons });
    }
    let mut left_out = unfinished(base, new);
    left_out.extend(two_machines(base, new));
    left_out.extend(differing);
    left_out.extend(single);
    Ok((common, left_out))
}

fn names(workloads: &[WorkloadInfo]) -> Vec<String> {
    workloads.iter().map(|workload| workload.name.clone()).collect()
}

/// Why the runs as such can't be compared.
fn differing_runs(base: &Run, new: &Run, terms: &Terms) -> Vec<RefusalReason> {
    if is_predicted(base) != is_predicted(new) {
        let side = if is_predicted(base) { Side::Base } else { Side::New };
        return vec![RefusalReason::OnePredicted { side }];
    }
    if terms.across {
        return Vec::new();
    }
    let MachineMatch::OtherHardware(differing) = base.host_before.machine_match(&new.host_before)
    else {
        return Vec::new();
    };
    let reason = |HostDifference { key, first, second }: HostDifference<'_>| {
        RefusalReason::Hardware { key: key.to_owned(), base: first, new: second }
    };
    differing.into_iter().map(reason).collect()
}

/// Why a workload does not measure the same in both runs.
fn difference(base: &WorkloadInfo, new: &WorkloadInfo) -> Option<LeftOut> {
    let workload = base.name.clone();
    if base.version != new.version {
        return Some(LeftOut::Version { workload, base: base.version, new: new.version });
    }
    // Old records have no parameter for an axis, only its name for people.
    let axis = |info: &WorkloadInfo| (info.axis.clone(), info.axis_parameter.clone());
    (axis(base) != axis(new) || base.trajectory != new.trajectory).then(|| LeftOut::Axis {
        workload,
        base: base.axis.clone(),
        new: new.axis.clone(),
    })
}

/// That the hardware is equal and the machines are two.
fn two_machines(base: &Run, new: &Run) -> Option<LeftOut> {
    let hosts = [base, new].map(|run| &run.host_before);
    let [base, new] = hosts.map(|host| host.fact(HOST_NAME).map(str::to_owned));
    (hosts[0].is_same_machine(hosts[1]) == Some(false))
        .then_some(LeftOut::TwoMachines { base, new })
}

/// The runs that were not measured to their end.
fn unfinished(base: &Run, new: &Run) -> Vec<LeftOut> {
    let sides = [(Side::Base, base), (Side::New, new)].into_iter();
    let unfinished = sides.filter(|(_, run)| run.summary.state != RunState::Complete);
    let left_out = |(side, run): (Side, &Run)| LeftOut::Unfinished {
        side,
        run: run.summary.id.clone(),
        state: run.summary.state,
        cells: run.cells.len(),
        planned: run.plan.cells.len(),
    };
    unfinished.map(left_out).collect()
}

/// The tables that both runs have; what is left out of the others.
pub(super) fn common_tables<'a>(
    base: &'a [Table],
    new: &'a [Table],
    left_out: &mut Vec<LeftOut>,
) -> Vec<[&'a Table; 2]> {
    let mut common = Vec::new();
    for table in base {
        match new.iter().find(|newer| is_same_table(table, newer)) {
            Some(newer) if has_same_unit(table, newer) => common.push([table, newer]),
            Some(newer) => left_out.push(LeftOut::Unit {
                table: table_name([base, new], table),
                base: table.metric.unit.clone(),
                new: newer.metric.unit.clone(),
            }),
            None => {
                let table = table_name([base, new], table);
                left_out.push(LeftOut::Table { side: Side::Base, table });
            }
        }
    }
    let added = new.iter().filter(|newer| !base.iter().any(|table| is_same_table(table, newer)));
    left_out.extend(
        added
            .map(|table| LeftOut::Table { side: Side::New, table: table_name([base, new], table) }),
    );
    common
}

fn is_same_table(base: &Table, new: &Table) -> bool {
    base.workload == new.workload
        && base.parameters == new.parameters
        && base.metric.name == new.metric.name
}

fn has_same_unit(base: &Table, new: &Table) -> bool {
    let unit = |table: &Table| (table.metric.unit.clone(), table.metric.lower_is_better);
    unit(base) == unit(new)
}

/// What distinguishes `table` from the other tables of its workload in both runs.
fn table_name(tables: [&[Table]; 2], table: &Table) -> TableName {
    let siblings =
        || tables.into_iter().flatten().filter(|sibling| sibling.workload == table.workload);
    let differs = |name: &String| {
        siblings().any(|sibling| sibling.parameters.get(name) != table.parameters.get(name))
    };
    let mut parameters = table.parameters.clone();
    parameters.retain(|name, _| differs(name));
    TableName {
        workload: table.workload.clone(),
        metric: (!table.headline).then(|| table.metric.name.clone()),
        parameters,
    }
}
