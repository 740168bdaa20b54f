//! Which figures of a table are marked as the best, and what the marks mean.

use crate::text::metrics::superlative;
use analysis::{Lead, Table};

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
        return Some("No figure is marked: every lead is too close to call".to_owned());
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
