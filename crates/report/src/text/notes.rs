//! What stands behind a row or below a table: notes, reasons, gaps, facts.

use crate::text::tables::rows;
use analysis::{Analysis, FactByPoint, Row, Table};
use findings::format::{count, list, rank_sentence};
use findings::grouping::grouped;
use findings::reasons;
use model::{Fact, LoadOutcome, fact_name, fact_text};
use std::collections::BTreeMap;

/// The subjects that can't be measured here, grouped by reason.
pub(crate) fn unavailable(table: &Table) -> Vec<(&str, Vec<String>)> {
    let reasons =
        table.rows.iter().filter_map(|row| Some((row.unavailable.as_deref()?, row.label.clone())));
    grouped(reasons)
}

/// Why a row has gaps, points with one reason together: `2,000 and 10,000: beyond FD_SETSIZE`.
pub(crate) fn missing(row: &Row) -> Vec<String> {
    let text = |(reason, points): (String, Vec<u64>)| {
        if points.len() > 1 && points.len() == row.cells.len() {
            return format!("all points: {reason}");
        }
        format!("{}: {reason}", findings::format::points(&points))
    };
    let gaps = row.missing.iter().map(|(point, reason)| (reasons::missing_figure(reason), *point));
    grouped(gaps).into_iter().map(text).collect()
}

/// Why there is no figure at a point, in one line.
pub(crate) fn gap(row: &Row, point: u64) -> Option<String> {
    let missing = row.missing.iter().find(|(missing, _)| *missing == point);
    missing.map(|(_, reason)| reasons::missing_figure(reason))
}

/// What stands where there are no findings.
pub(crate) fn no_findings(analysis: &Analysis) -> &'static str {
    if analysis.averages.is_empty() {
        "None: too little was measured."
    } else {
        "None: averages of a few runs are too little to conclude from."
    }
}

/// The note of a row, why it is undecided, and why it has gaps.
pub(crate) fn notes(row: &Row) -> Vec<String> {
    let note = (!row.note.is_empty()).then(|| row.note.clone());
    note.into_iter().chain(reasons(row)).collect()
}

/// Why a row is undecided, and why it has gaps.
pub(crate) fn reasons(row: &Row) -> Vec<String> {
    open(row).into_iter().chain(missing(row)).collect()
}

/// Why a row is undecided, or its order open.
pub(crate) fn open(row: &Row) -> Option<String> {
    let of_rate = || row.rate.as_ref()?.reason.as_ref();
    let reason = row.speedup.as_ref().map_or_else(of_rate, |speedup| speedup.reason.as_ref());
    if let Some(reason) = reason {
        return Some(reasons::trend(reason));
    }
    row.growth.as_ref()?.reason.as_ref().map(reasons::growth)
}

/// The notes of the rows, equal ones once: `epoll-edge and sigio: edge-triggered, …`.
pub(crate) fn shared_notes(table: &Table) -> Vec<String> {
    let with_note = rows(table).filter(|row| row.unavailable.is_none() && !row.note.is_empty());
    let by_note = grouped(with_note.map(|row| (&row.note, row.label.clone())));
    by_note.into_iter().map(|(note, labels)| format!("{}: {note}", list(&labels))).collect()
}

/// A fact of the workload's own.
pub(crate) struct StatedFact {
    /// Its name without its unit.
    pub name: String,
    /// What its lines are by: the axis, or `subject`.
    pub by: String,
    /// Points or a subject, each with the values there: `10 to 100`, `3 ms to 5 ms`.
    pub lines: Vec<(String, String)>,
}

/// The workload's own facts. Those that are 0 everywhere are left out.
pub(crate) fn facts(table: &Table) -> Vec<StatedFact> {
    let is_shown = |fact: &&FactByPoint| {
        let mut values = fact.values.iter().flat_map(|(_, values)| values);
        values.any(|value| value.number() != Some(0.0))
    };
    let load = load_facts(&table.load);
    let shown = table.facts.iter().chain(&load).filter(is_shown);
    let by_name = grouped(shown.map(|fact| (&fact.name, fact)));
    let stated = |(name, facts): (&String, Vec<&FactByPoint>)| {
        let lines = facts.iter().flat_map(|fact| fact_lines(table, fact));
        let (by, lines) = match facts[0].subject {
            None => (table.axis.as_str(), lines.collect()),
            Some(_) => ("subject", of_alike_subjects(lines)),
        };
        StatedFact { name: fact_name(name).to_owned(), by: by.to_owned(), lines }
    };
    by_name.into_iter().map(stated).collect()
}

/// Subjects with the same values have one line.
fn of_alike_subjects(lines: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let by_values = grouped(lines.map(|(subject, values)| (values, subject)));
    by_values.into_iter().map(|(values, subjects)| (list(&subjects), values)).collect()
}

fn fact_lines(table: &Table, fact: &FactByPoint) -> Vec<(String, String)> {
    let text = |values: &[Fact]| {
        let or = if values.iter().all(|value| value.number().is_some()) { " to " } else { " or " };
        let texts: Vec<String> = values.iter().map(|value| fact_text(&fact.name, value)).collect();
        texts.join(or)
    };
    if let Some(subject) = &fact.subject {
        let row = table.rows.iter().find(|row| row.subject == *subject);
        let label = row.map_or(subject, |row| &row.label);
        return vec![(label.clone(), text(&fact.overall()))];
    }
    let by_points = |equal: &[(u64, Vec<Fact>)]| {
        let (first, last) = (count(equal[0].0), count(equal[equal.len() - 1].0));
        let points = if first == last { first } else { format!("{first} to {last}") };
        (points, text(&equal[0].1))
    };
    fact.values.chunk_by(|a, b| a.1 == b.1).map(by_points).collect()
}

/// What became of the requests of loads, and then a sentence for each rank.
fn load_facts(load: &[(u64, LoadOutcome)]) -> Vec<FactByPoint> {
    type OfRank = (Option<u32>, String);
    let mut by_name: BTreeMap<OfRank, Vec<(u64, Vec<Fact>)>> = BTreeMap::new();
    for (point, LoadOutcome { counts, ranks }) in load {
        let mut state = |rank: Option<u32>, name: &str, value: Fact| {
            by_name.entry((rank, name.to_owned())).or_default().push((*point, vec![value]));
        };
        state(None, "requests", counts.requests.into());
        state(None, "replies", counts.replies.into());
        state(None, "never sent", counts.unsent.into());
        state(None, "unfinished", counts.unfinished.into());
        state(None, "waited for a connection", counts.waited.into());
        state(None, "connections opened", counts.connections.into());
        for (kind, &number) in &counts.errors {
            state(None, &format!("errors: {kind}"), number.into());
        }
        for rank in ranks {
            state(Some(rank.rank), &format!("rank {}", rank.rank), rank_sentence(rank).into());
        }
    }
    let fact = |((_, name), values)| FactByPoint { name, subject: None, values };
    by_name.into_iter().map(fact).collect()
}

/// Why the Universal Scalability Law does not apply to a row.
pub(crate) fn unscaled(row: &Row) -> Option<String> {
    let reason = reasons::scaling(row.scaling.as_ref()?.reason.as_ref()?);
    Some(format!("the Universal Scalability Law does not apply: {reason}"))
}
