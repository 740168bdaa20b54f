//! Which figures of a table are marked as the best, and what the marks mean.

use crate::text::metrics::superlative;
use analysis::{Lead, Row, Table};
use findings::answer::Range;
use findings::format::{count, factor, list};

/// How a figure is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The best, clearly.
    Best,
    /// Among the best: too close to call between them, and others clearly behind.
    Shared,
}

/// Directly behind the best figure at a point, for eyes and pipes that see no colour.
pub(crate) fn sign(mark: Mark) -> char {
    match mark {
        Mark::Best => '*',
        Mark::Shared => '~',
    }
}

/// If more subjects share a lead, none is marked.
const LEADERS_MAX: usize = 4;

fn is_marked_as_shared(lead: &Lead) -> bool {
    lead.is_shared() && lead.tied.len() < LEADERS_MAX
}

/// The mark of `subject`'s figure in a column; none where all figures are too close to call.
pub(crate) fn mark(table: &Table, column: usize, subject: &str) -> Option<Mark> {
    let lead = table.lead(column, subject)?;
    let leads = lead.best == subject || lead.tied.iter().any(|tied| tied == subject);
    if leads && lead.clear {
        Some(Mark::Best)
    } else {
        (leads && is_marked_as_shared(lead)).then_some(Mark::Shared)
    }
}

/// What the marks of a table mean, with the `sign` of each; nothing where no subjects were compared.
pub(crate) fn legend(table: &Table, sign: fn(Mark) -> char) -> Option<String> {
    let leads: Vec<&Lead> = table.leads.iter().flatten().collect();
    if leads.is_empty() {
        return None;
    }
    let has_clear = leads.iter().any(|lead| lead.clear);
    let has_shared = leads.iter().any(|lead| is_marked_as_shared(lead));
    let has_unmarked = leads.iter().any(|lead| !lead.clear && !is_marked_as_shared(lead));
    if !has_clear && !has_shared {
        let tie = tie(table).unwrap_or_else(|| "every lead is too close to call".to_owned());
        return Some(format!("No figure is marked: {tie}"));
    }
    let best = superlative(&table.metric);
    let mut parts = Vec::new();
    if has_clear {
        parts.push(format!("{} the {best}", sign(Mark::Best)));
    }
    if has_shared {
        parts.push(format!("{} among the {best}, too close to call", sign(Mark::Shared)));
    }
    if has_unmarked && has_shared {
        parts.push(format!("no mark where more than {LEADERS_MAX}, or all, are"));
    } else if !has_shared {
        parts.push("no mark where the lead is too close to call".to_owned());
    }
    if table.leads.iter().any(|leads| leads.len() > 1) {
        parts.push("each of those that do the same".to_owned());
    }
    Some(parts.join("; "))
}

/// The best at the last point where others are clearly behind, by how much, and how many are neither: `at 10,000
/// epoll-level is ×870 to ×928 ahead of select and poll; mio and 3 more are too close to call with it`.
fn tie(table: &Table) -> Option<String> {
    let shared = |leads: &[Lead]| leads.iter().rposition(Lead::is_shared);
    let (column, at) = table
        .leads
        .iter()
        .enumerate()
        .rev()
        .find_map(|(column, leads)| Some((column, shared(leads)?)))?;
    let lead = &table.leads[column][at];
    let alternatives = || {
        let do_the_same = |row: &&Row| table.lead(column, &row.subject) == Some(lead);
        table.rows.iter().filter(do_the_same)
    };
    let median = |row: &Row| Some(row.cells.get(column)?.as_ref()?.median.value);
    let first = table.rows.iter().find(|row| row.subject == lead.best)?;
    let best = median(first)?;
    let times = |value: f64| (value / best).max(best / value);
    let rivals = alternatives().filter(|row| row.subject != lead.best && median(row).is_some());
    let (tied, behind): (Vec<&Row>, Vec<&Row>) =
        rivals.partition(|row| lead.tied.contains(&row.subject));
    let factors = behind.iter().filter_map(|row| Some(times(median(row)?)));
    let by = Range::new(factors).format(factor);
    let point = count(*table.points.get(column)?);
    let (first, behind, are) =
        (&first.label, named(&behind), if tied.len() == 1 { "is" } else { "are" });
    Some(format!(
        "at {point} {first} is {by} ahead of {behind}; {} {are} too close to call with it",
        named(&tied)
    ))
}

/// The labels of a few rows, and the number of the rest.
fn named(rows: &[&Row]) -> String {
    const NAMES_MAX: usize = 4;
    let mut names: Vec<String> = rows.iter().take(NAMES_MAX).map(|row| row.label.clone()).collect();
    let rest = rows.len() - names.len();
    if rest > 0 {
        names.push(format!("{rest} more"));
    }
    list(&names)
}
