//! The checks for programs, for help and for the document: all of it from the tables.

use super::{ALL, Check, Examined, GROUPS, Machine, Mended, Outcome, Remedy, State, Undone};
use serde_json::{Value, json};
use std::fmt::Write;

/// Raised when a key of [`json`] changes its meaning or goes.
const SCHEMA: u32 = 1;

/// Every check with what it found, and what was done where something was.
pub fn json(
    machine: &Machine,
    examined: &[Examined],
    mended: Option<&[Mended]>,
    undone: Option<&[Undone]>,
) -> Value {
    let number = |state| examined.iter().filter(|one| one.found.state == state).count();
    let counts: serde_json::Map<String, Value> =
        State::ALL.iter().map(|&state| (state.name().to_owned(), number(state).into())).collect();
    let checks: Vec<Value> = examined.iter().map(|one| of_check(machine, one)).collect();
    let mut all = json!({ "schema": SCHEMA, "counts": counts, "checks": checks });
    if let Some(mended) = mended {
        all["fixed"] = mended.iter().map(of_mended).collect();
    }
    if let Some(undone) = undone {
        all["undone"] = undone.iter().map(of_undone).collect();
    }
    all
}

fn of_check(machine: &Machine, one: &Examined) -> Value {
    let Examined { group, check, found } = one;
    let known = found.state != State::Unknown;
    json!({
        "group": group,
        "name": check.name,
        "looks_at": check.looks_at,
        "why": check.why,
        "workloads": check.workloads,
        "state": found.state.name(),
        "value": Some(&found.value).filter(|_| known),
        "says": found.says,
        "remedy": found.remedy.spelled(machine),
        "is_command": matches!(found.remedy, Remedy::Type(_) | Remedy::Set(_)),
        "fixable": matches!(found.remedy, Remedy::Set(_)),
        "only_by_name": check.by_name,
    })
}

fn of_mended(mended: &Mended) -> Value {
    let check = mended.check;
    match &mended.outcome {
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

fn of_undone(one: &Undone) -> Value {
    json!({
        "check": one.check,
        "file": one.file,
        "was": one.was,
        "found": one.now,
        "left": one.left,
    })
}

/// Whom a check is for.
pub fn workloads(check: &Check) -> String {
    if check.workloads == ALL { "all workloads".to_owned() } else { check.workloads.join(", ") }
}

/// Columns of the names in `--help`.
const HELP_WIDTH: usize = 56;

/// Every check by its family, for `--help`.
pub fn checks_by_group() -> String {
    let mut text = String::from("Checks:\n");
    for group in GROUPS {
        let names: Vec<&str> = group.checks.iter().map(|check| check.name).collect();
        let names = names.join(", ");
        let lines = report::layout::wrapped_whole(&names, HELP_WIDTH, 0, 0);
        for (number, line) in lines.iter().enumerate() {
            let head = if number == 0 { group.name } else { "" };
            // Writing to a String can't fail.
            let _ = writeln!(text, "  {head:<18} {line}");
        }
    }
    text
}

/// The tables of the document.
#[cfg(test)]
pub fn markdown() -> String {
    let mut text = String::new();
    for group in GROUPS {
        let _ = writeln!(text, "### {}\n\n| check | looks at | why | workloads |", group.name);
        text.push_str("| --- | --- | --- | --- |\n");
        for check in group.checks {
            let Check { name, looks_at, why, .. } = check;
            let by_name = check
                .by_name
                .map_or_else(String::new, |hold| format!("; `--fix` wants it named: {hold}"));
            let whom = workloads(check);
            let _ = writeln!(text, "| `{name}` | {looks_at} | {why}{by_name} | {whom} |");
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}
