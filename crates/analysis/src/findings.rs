//! What is left of sentences on comparisons of runs; those on one run are in the crate `findings`.

pub(crate) mod told;
pub mod words;

use crate::Table;
use std::collections::BTreeSet;

/// What tells this table's series from those of the workload's other tables: ` (wait)`,
/// ` (active = 10)`, or nothing.
pub(crate) fn qualifiers(tables: &[Table], table: &Table) -> String {
    let mut parts = Vec::new();
    if !table.headline {
        parts.push(table.metric.name.clone());
    }
    let siblings: Vec<&Table> = tables.iter().filter(|t| t.workload == table.workload).collect();
    for (name, value) in &table.parameters {
        let values: BTreeSet<Option<&record::Value>> =
            siblings.iter().map(|t| t.parameters.get(name)).collect();
        if values.len() > 1 {
            parts.push(format!("{name} = {value}"));
        }
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) }
}
