//! The rows of a table that an original prints.

use analysis::{Row, Table};

/// Those with a figure.
pub fn measured(table: &Table) -> impl Iterator<Item = &Row> {
    table.rows.iter().filter(|row| row.cells.iter().any(Option::is_some))
}
