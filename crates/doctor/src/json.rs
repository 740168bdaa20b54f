//! The checks and what was fixed, as JSON.

use super::{Examined, FixResult, Machine, Outcome, Remedy, State, UndoResult};
use serde_json::{Value, json};

/// Raised when a key of [`json`] changes its meaning or goes.
const SCHEMA: u32 = 1;

/// Every check with what it found, and what was done where something was.
pub fn json(
    machine: &Machine,
    examined: &[Examined],
    fixes: Option<&[FixResult]>,
    undone: Option<&[UndoResult]>,
) -> Value {
    let number = |state| examined.iter().filter(|one| one.diagnosis.state == state).count();
    let counts: serde_json::Map<String, Value> =
        State::ALL.iter().map(|&state| (state.name().to_owned(), number(state).into())).collect();
    let checks: Vec<Value> = examined.iter().map(|one| of_check(machine, one)).collect();
    let mut all = json!({ "schema": SCHEMA, "counts": counts, "checks": checks });
    if let Some(fixes) = fixes {
        all["fixed"] = fixes.iter().map(of_fix).collect();
    }
    if let Some(undone) = undone {
        all["undone"] = undone.iter().map(of_undone).collect();
    }
    all
}

fn of_check(machine: &Machine, one: &Examined) -> Value {
    let Examined { group, check, diagnosis } = one;
    let known = diagnosis.state != State::Unknown;
    json!({
        "group": group,
        "name": check.name,
        "looks_at": check.looks_at,
        "why": check.why,
        "workloads": check.workloads,
        "state": diagnosis.state.name(),
        "value": Some(&diagnosis.value).filter(|_| known),
        "says": diagnosis.message,
        "remedy": diagnosis.remedy.text(machine),
        "is_command": matches!(diagnosis.remedy, Remedy::Command(_) | Remedy::Settings(_)),
        "fixable": matches!(diagnosis.remedy, Remedy::Settings(_)),
        "only_by_name": check.fix_risk,
    })
}

fn of_fix(fix: &FixResult) -> Value {
    let check = fix.check;
    match &fix.outcome {
        Outcome::Fine => json!({ "check": check, "outcome": "fine" }),
        Outcome::Left { why, remedy, .. } => {
            json!({ "check": check, "outcome": "left", "why": why, "remedy": remedy })
        }
        Outcome::Changed(changed) => {
            let files: Vec<Value> = changed
                .iter()
                .map(|one| json!({ "file": one.file, "was": one.was, "now": one.now }))
                .collect();
            json!({ "check": check, "outcome": "changed", "files": files })
        }
    }
}

fn of_undone(one: &UndoResult) -> Value {
    json!({
        "check": one.check,
        "file": one.file,
        "was": one.was,
        "found": one.now,
        "left": one.left,
    })
}
