//! The words that terminal and page share: titles, conditions, reasons, the command to repeat.

use crate::figures::{Unit, whole};
use analysis::{Basis, Row, Table};
use record::{Conditions, Outcome, Run, RunState};

/// The fixed word for an order of growth.
pub(crate) use analysis::words::class;

/// How far the run came, in words.
pub(crate) fn state(state: RunState) -> &'static str {
    match state {
        RunState::Open => "not ended",
        RunState::Complete => "complete",
        RunState::Interrupted => "interrupted",
    }
}

/// What is varied and what is held: `1 active of N watched socketpairs · time-out 0`.
///
/// Conditions whose names end a quantity of the axis (`active`) are told with it; `object` names
/// what the axis counts; the others follow as they are.
pub(crate) fn conditions(conditions: &Conditions, axis: &str) -> String {
    let counted = match (conditions.get("object"), axis.strip_suffix("descriptors")) {
        (Some(object), Some(before)) => format!("{before}{}", plural(object)),
        _ => axis.to_owned(),
    };
    let told = |name: &str| name == "active" || (name == "object" && counted != axis);
    let mut parts = vec![match conditions.get("active") {
        Some(active) => format!("{active} active of N {counted}"),
        None => format!("N {counted}"),
    }];
    parts.extend(
        conditions
            .iter()
            .filter(|(name, _)| !told(name))
            .map(|(name, value)| format!("{name} {value}")),
    );
    parts.join(" · ")
}

/// `socketpair` → `socketpairs`; what has a plural already, or more than one word, stays.
fn plural(object: &str) -> String {
    if object.ends_with('s') || object.contains(' ') {
        object.to_owned()
    } else {
        format!("{object}s")
    }
}

/// What one figure of the table is: `µs per write + wait + dispatch`.
pub(crate) fn measure(table: &Table, unit: &Unit) -> String {
    let sign = &unit.symbol;
    let about =
        if table.metric.about.is_empty() { &table.metric.name } else { &table.metric.about };
    if table.metric.unit == "ns" {
        format!("{sign} per {about}")
    } else {
        format!("{about} in {sign}")
    }
}

/// How many rounds a median stands on: `median of 5 rounds`.
pub(crate) fn rounds(run: &Run) -> String {
    match run.plan.rounds {
        1 => "median of 1 round".to_owned(),
        rounds => format!("median of {rounds} rounds"),
    }
}

/// The unit in which a table is readable.
pub(crate) fn unit(table: &Table) -> Unit {
    let medians = table.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let medians: Vec<f64> = medians.map(|cell| cell.median.value).collect();
    Unit::for_table(&table.metric.unit, &medians)
}

/// The rows as reports list them: those with figures first, each group in the workload's order.
pub(crate) fn rows(table: &Table) -> impl Iterator<Item = &Row> {
    let with = table.rows.iter().filter(|row| row.unavailable.is_none());
    with.chain(table.rows.iter().filter(|row| row.unavailable.is_some()))
}

/// For each point the index of the row with the best median; none where only one has a figure.
pub(crate) fn best(table: &Table) -> Vec<Option<usize>> {
    let best_at = |column: usize| {
        let figures: Vec<(usize, f64)> = rows(table)
            .enumerate()
            .filter_map(|(index, row)| Some((index, row.cells.get(column)?.as_ref()?.median.value)))
            .collect();
        let better = |a: &(usize, f64), b: &(usize, f64)| {
            if table.metric.lower_is_better { a.1.total_cmp(&b.1) } else { b.1.total_cmp(&a.1) }
        };
        (figures.len() > 1).then(|| figures.into_iter().min_by(better).map(|found| found.0))?
    };
    (0..table.points.len()).map(best_at).collect()
}

/// Why a row has gaps, same reasons joined: `2,000 and 10,000: beyond FD_SETSIZE`.
pub(crate) fn missing(row: &Row) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<u64>)> = Vec::new();
    for (point, reason) in &row.missing {
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, points)) => points.push(*point),
            None => reasons.push((reason, vec![*point])),
        }
    }
    let say = |(reason, points): (&str, Vec<u64>)| {
        let points: Vec<String> = points.into_iter().map(whole).collect();
        format!("{}: {reason}", list(&points))
    };
    reasons.into_iter().map(say).collect()
}

/// All that a reader has to know of a row: its note, why it is undecided, why it has gaps.
pub(crate) fn notes(row: &Row) -> Vec<String> {
    let note = (!row.note.is_empty()).then(|| row.note.clone());
    note.into_iter().chain(reasons(row)).collect()
}

/// Why a row is undecided, or its medians alone would leave it so, and why it has gaps.
pub(crate) fn reasons(row: &Row) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(growth) = row.growth.as_ref().filter(|growth| !growth.because.is_empty()) {
        notes.push(match growth.basis {
            Basis::Medians => growth.because.clone(),
            Basis::FastestTenth => "by the fastest tenth of its samples".into(),
        });
    }
    notes.extend(missing(row));
    notes
}

/// The rows' notes, each with the rows that it is about: `epoll-edge and sigio: edge-triggered, …`.
pub(crate) fn shared_notes(table: &Table) -> Vec<String> {
    let mut shared: Vec<(&str, Vec<String>)> = Vec::new();
    let with_figures = rows(table).filter(|row| row.unavailable.is_none());
    for row in with_figures.filter(|row| !row.note.is_empty()) {
        match shared.iter_mut().find(|(note, _)| *note == row.note) {
            Some((_, labels)) => labels.push(row.label.clone()),
            None => shared.push((&row.note, vec![row.label.clone()])),
        }
    }
    shared.into_iter().map(|(note, labels)| format!("{}: {note}", list(&labels))).collect()
}

/// Void cells that went void for the same reason.
pub(crate) struct Void {
    /// `ppoll at 1,000 (2 cells): killed by signal 9`.
    pub text: String,
    /// What could be learnt about the first of them; may be empty.
    pub detail: String,
}

/// The void cells of a run, those with one subject and reason joined.
pub(crate) fn void(run: &Run) -> Vec<Void> {
    type Group<'a> = (&'a str, &'a str, &'a str, &'a str, Vec<u64>, usize);
    let mut groups: Vec<Group> = Vec::new();
    for cell in &run.cells {
        let Outcome::Void { reason, detail } = &cell.outcome else { continue };
        let (workload, subject) = (cell.key.workload.as_str(), cell.key.subject.as_str());
        let same = |group: &&mut Group| (group.0, group.1, group.2) == (workload, subject, reason);
        match groups.iter_mut().find(same) {
            Some(group) => {
                group.4.push(cell.key.point);
                group.5 += 1;
            }
            None => groups.push((workload, subject, reason, detail, vec![cell.key.point], 1)),
        }
    }
    let say = |(workload, subject, reason, detail, mut points, count): Group| {
        points.sort_unstable();
        points.dedup();
        let points: Vec<String> = points.into_iter().map(whole).collect();
        let cells = if count == 1 { "cell" } else { "cells" };
        let at = list(&points);
        let text = format!("{workload} · {subject} at {at} ({count} {cells}): {reason}");
        Void { text, detail: detail.to_owned() }
    };
    groups.into_iter().map(say).collect()
}

/// What is said of a run that did not come to its end.
pub(crate) fn unfinished(run: &Run) -> Option<String> {
    let summary = &run.summary;
    (summary.state != RunState::Complete).then(|| {
        format!(
            "The run is {}: {} of {} cells ended. → knee run --resume",
            state(summary.state),
            whole(summary.cells_ended),
            whole(summary.cells_planned)
        )
    })
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// The command that measures the same again, in the same order, quoted for a shell.
pub(crate) fn command(run: &Run) -> String {
    let mut words: Vec<String> = run.summary.command.iter().map(|word| quoted(word)).collect();
    let has_seed =
        run.summary.command.iter().any(|word| word == "--seed" || word.starts_with("--seed="));
    if !has_seed {
        words.push(format!("--seed {}", run.plan.seed));
    }
    words.join(" ")
}

/// One word of a command line as a POSIX shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./,:@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&str, &str)]) -> Conditions {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn conditions_read_as_a_sentence() {
        let poll = given(&[("active", "1"), ("object", "socketpair"), ("timeout", "0")]);
        assert_eq!(
            conditions(&poll, "watched descriptors"),
            "1 active of N watched socketpairs · timeout 0"
        );
        assert_eq!(conditions(&given(&[]), "threads"), "N threads");
        assert_eq!(conditions(&given(&[("object", "map")]), "threads"), "N threads · object map");
    }

    #[test]
    fn a_command_survives_the_shell() {
        assert_eq!(quoted("--points=10,100"), "--points=10,100");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn lists_end_in_and() {
        let items = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(list(&items), "a, b and c");
        assert_eq!(list(&items[..2]), "a and b");
        assert_eq!(list(&items[..1]), "a");
    }
}
