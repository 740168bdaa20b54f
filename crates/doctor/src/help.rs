//! The tables of checks as text: for `--help`, and for the document.

use super::{ALL, Check, GROUPS};
use std::fmt::Write;

/// The workloads that a check is for.
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
            let risk = check.fix_risk.map_or_else(String::new, |risk| {
                format!("; `--fix` changes it only by name: {risk}")
            });
            let workloads = workloads(check);
            let _ = writeln!(text, "| `{name}` | {looks_at} | {why}{risk} | {workloads} |");
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}
