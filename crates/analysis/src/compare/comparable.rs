//! Whether two runs can be compared, and what of them.

use super::{Refused, Terms};
use crate::is_predicted;
use record::{HostDifference, HostRole, Run, Warning, WorkloadInfo};

/// The workloads that both have and that measure the same, and a line for each that does not.
pub(super) struct Common<'a> {
    pub(super) workloads: Vec<(&'a WorkloadInfo, &'a WorkloadInfo)>,
    pub(super) left_out: Vec<Warning>,
}

/// What can be compared of `base` and `new`, or why nothing can.
pub(super) fn common<'a>(
    base: &'a Run,
    new: &'a Run,
    terms: &Terms,
) -> Result<Common<'a>, Refused> {
    let mut because = whole(base, new, terms);
    let mut found = Common { workloads: Vec::new(), left_out: Vec::new() };
    let mut otherwise = Vec::new();
    for one in &base.plan.workloads {
        let Some(other) = new.plan.workloads.iter().find(|other| other.name == one.name) else {
            found.left_out.push(only_in("base", &one.name));
            continue;
        };
        match differs(one, other) {
            Some(warning) => otherwise.push(warning),
            None => found.workloads.push((one, other)),
        }
    }
    let of_base = |name: &String| base.plan.workloads.iter().any(|one| one.name == *name);
    let added = new.plan.workloads.iter().map(|other| &other.name).filter(|name| !of_base(name));
    found.left_out.extend(added.map(|name| only_in("new", name)));
    if found.workloads.is_empty() {
        because.extend(otherwise.iter().map(|w| format!("{} ({})", w.what, w.remedy)));
        if otherwise.is_empty() {
            because.push(nothing_common(base, new));
        }
    }
    found.left_out.splice(0..0, otherwise);
    if because.is_empty() { Ok(found) } else { Err(Refused { because }) }
}

fn only_in(which: &str, workload: &str) -> Warning {
    Warning { what: format!("{workload} is in {which} only"), remedy: String::new() }
}

fn nothing_common(base: &Run, new: &Run) -> String {
    let names = |run: &Run| {
        let names = run.plan.workloads.iter().map(|workload| workload.name.clone());
        crate::findings::words::list(&names.collect::<Vec<_>>())
    };
    format!(
        "the runs have no workload in common: base has {}, new has {} (run the same workloads)",
        names(base),
        names(new)
    )
}

/// Why the runs as such can't be compared.
fn whole(base: &Run, new: &Run, terms: &Terms) -> Vec<String> {
    let mut because = Vec::new();
    if is_predicted(base) != is_predicted(new) {
        let [one, other] =
            [base, new].map(|run| if is_predicted(run) { "predicted" } else { "measured" });
        because.push(format!(
            "base is {one} and new is {other}: a prediction is no measurement (compare predictions \
             with predictions: knee simulate)"
        ));
        return because;
    }
    if terms.across {
        return because;
    }
    let differing = base.host_before.differing(&new.host_before, HostRole::Hardware);
    because.extend(differing.iter().map(|HostDifference { key, first, second }| {
        format!(
            "they are of two machines: {key} is {first} in base and {second} in new (--across \
             compares them nevertheless)"
        )
    }));
    because
}

/// Why a workload of the two is not the same, with what mends it.
fn differs(base: &WorkloadInfo, new: &WorkloadInfo) -> Option<Warning> {
    let name = &base.name;
    let what = if base.version != new.version {
        format!("{name} measures something else: version {} and {}", base.version, new.version)
    } else if axis(base) != axis(new) || base.trajectory != new.trajectory {
        format!("{name} grows along another axis: {} and {}", base.axis, new.axis)
    } else {
        return None;
    };
    let remedy = if base.version == new.version {
        "measure both with the same --axis"
    } else {
        "measure base again with the knee of new"
    };
    Some(Warning { what, remedy: remedy.to_owned() })
}

/// Records of old have no parameter for an axis, only its name for people.
fn axis(workload: &WorkloadInfo) -> (&str, &str) {
    (&workload.axis, &workload.axis_parameter)
}
