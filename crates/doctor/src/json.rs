//! The checks and what was fixed, as JSON.

use super::{Examined, Fitness, FixResult, Machine, Outcome, Remedy, State, UndoResult};
use serde_json::{Value, json};

/// Raised when a key of [`json`] changes its meaning or goes.
const SCHEMA: u32 = 2;

/// Every check with what it found, and what was done where something was.
pub fn json(
    machine: &Machine,
    examined: &[Examined],
    fixes: Option<&[FixResult]>,
    undone: Option<&[UndoResult]>,
) -> Value {
    let number = |state| examined.iter().filter(|row| row.diagnosis.state == state).count();
    let counts: serde_json::Map<String, Value> =
        State::ALL.iter().map(|&state| (state.name().to_owned(), number(state).into())).collect();
    let checks: Vec<Value> = examined.iter().map(|row| check(machine, row)).collect();
    let Fitness { distorting, limiting, unknown } = Fitness::new(examined);
    let fitness = json!({ "distorting": distorting, "limiting": limiting, "unknown": unknown });
    let mut all =
        json!({ "schema": SCHEMA, "counts": counts, "fitness": fitness, "checks": checks });
    if let Some(fixes) = fixes {
        all["fixed"] = fixes.iter().map(fix).collect();
    }
    if let Some(undone) = undone {
        all["undone"] = undone.iter().map(undo).collect();
    }
    all
}

fn check(machine: &Machine, row: &Examined) -> Value {
    let Examined { group, check, diagnosis } = row;
    let is_known = diagnosis.state != State::Unknown;
    json!({
        "group": group,
        "name": check.name,
        "looks_at": check.looks_at,
        "why": check.why,
        "workloads": check.workloads,
        "state": diagnosis.state.name(),
        "value": Some(&diagnosis.value).filter(|_| is_known),
        "message": diagnosis.message,
        "remedy": diagnosis.remedy.text(machine),
        "is_command": matches!(diagnosis.remedy, Remedy::Command(_) | Remedy::Settings(_)),
        "fixable": matches!(diagnosis.remedy, Remedy::Settings(_)),
        "only_by_name": check.fix_risk,
    })
}

fn fix(result: &FixResult) -> Value {
    let check = result.check;
    match &result.outcome {
        Outcome::Fine => json!({ "check": check, "outcome": "fine" }),
        Outcome::Left { why, remedy, .. } => {
            json!({ "check": check, "outcome": "left", "why": why, "remedy": remedy })
        }
        Outcome::Changed(changed) => {
            let files: Vec<Value> = changed
                .iter()
                .map(|file| json!({ "file": file.file, "was": file.was, "now": file.now }))
                .collect();
            json!({ "check": check, "outcome": "changed", "files": files })
        }
    }
}

fn undo(setting: &UndoResult) -> Value {
    json!({
        "check": setting.check,
        "file": setting.file,
        "was": setting.was,
        "now": setting.now,
        "left": setting.left,
    })
}
