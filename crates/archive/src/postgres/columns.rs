//! Values between Rust and the columns of tables.

use super::client::{Client, CopyIn};
use crate::Error;
use crate::error::At;
use std::error::Error as StdError;
use std::path::Path;
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// A column of a table, and its type.
pub(crate) type Column = (&'static str, Type);

/// The names of columns, as a statement lists them.
fn names(columns: &[Column]) -> String {
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    names.join(", ")
}

/// Begins to write rows of these columns by COPY: twenty times as fast as row by row.
pub(crate) fn copy_into<'a>(
    client: &'a mut Client,
    table: &str,
    columns: &[Column],
    path: &Path,
) -> Result<CopyIn<'a>, Error> {
    let sql = format!("COPY {table} ({}) FROM STDIN BINARY", names(columns));
    let types: Vec<Type> = columns.iter().map(|(_, column)| column.clone()).collect();
    client.copy_in(&sql, &types).at(path)
}

/// The text of a column of type `json`.
#[derive(Debug)]
pub(crate) struct Json<'a>(pub &'a str);

impl ToSql for Json<'_> {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn StdError + Sync + Send>> {
        out.extend_from_slice(self.0.as_bytes());
        Ok(IsNull::No)
    }

    fn accepts(column: &Type) -> bool {
        *column == Type::JSON
    }

    to_sql_checked!();
}
