//! Whether two runs can be compared, and which workloads and tables of them.

use super::left_out::{LeftOut, Refusal, RefusalReason, Side, TableName};
use super::results::Terms;
use crate::{Table, is_predicted};
use model::{HOST_NAME, HostDifference, MachineMatch, Run, RunState, WorkloadInfo};
use std::collections::BTreeSet;

/// The names of the workloads that can be compared, and what is left out; or why nothing can be compared.
pub(super) fn comparable<'a>(
    base: &'a Run,
    new: &Run,
    terms: &Terms,
) -> Result<(BTreeSet<&'a str>, Vec<LeftOut>), Refusal> {
    let mut reasons = differing_runs(base, new, terms);
    let (mut common, mut differing, mut single) = (BTreeSet::new(), Vec::new(), Vec::new());
    for workload in &base.plan.workloads {
        let name = &workload.name;
        match new.plan.workload(name).map(|newer| difference(workload, newer)) {
            Some(Some(left_out)) => differing.push(left_out),
            Some(None) => _ = common.insert(name.as_str()),
            None => single.push(LeftOut::Workload { side: Side::Base, workload: name.clone() }),
        }
    }
    let names = |run: &Run| run.plan.workloads.iter().map(|info| info.name.clone()).collect();
    let [in_base, in_new]: [Vec<String>; 2] = [base, new].map(names);
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
    let is_same = (&base.axis, &base.axis_parameter, base.trajectory)
        == (&new.axis, &new.axis_parameter, new.trajectory);
    let [base, new] = [base, new].map(|info| info.axis.clone());
    (!is_same).then_some(LeftOut::Axis { workload, base, new })
}

/// That the hardware is equal and the machines are two.
fn two_machines(base: &Run, new: &Run) -> Option<LeftOut> {
    let is_same = base.host_before.is_same_machine(&new.host_before);
    let [base, new] = [base, new].map(|run| run.host_before.fact(HOST_NAME).map(str::to_owned));
    (is_same == Some(false)).then_some(LeftOut::TwoMachines { base, new })
}

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
    let unit = |table: &'a Table| (&table.metric.unit, table.metric.lower_is_better);
    let single = |side, table| LeftOut::Table { side, table: table_name([base, new], table) };
    for table in base {
        match new.iter().find(|newer| table.key() == newer.key()) {
            Some(newer) if unit(table) == unit(newer) => common.push([table, newer]),
            Some(newer) => left_out.push(LeftOut::Unit {
                table: table_name([base, new], table),
                base: table.metric.unit.clone(),
                new: newer.metric.unit.clone(),
            }),
            None => left_out.push(single(Side::Base, table)),
        }
    }
    let added = new.iter().filter(|newer| !base.iter().any(|table| table.key() == newer.key()));
    left_out.extend(added.map(|table| single(Side::New, table)));
    common
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
