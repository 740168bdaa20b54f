//! The schema of a record file: what marks it as knee's, and its version.
//!
//! From 0.1.0 on, a field that is added to a body has a default, and the schema stays; anything else is a new schema, with a
//! migration and a kept record of the one before (`tests/sqlite/schema_1.sql`).

use crate::Error;
use crate::error::At;
use rusqlite::Connection;
use std::path::Path;

/// Marks a SQLite database as a knee record: "Knee" in ASCII.
pub(crate) const APPLICATION_ID: i64 = 0x4b6e_6565;
/// Marks that of a knee before 0.1.0: "knee".
pub(crate) const UNRELEASED_ID: i64 = 0x6b6e_6565;

/// The schema that is written and read here.
const SCHEMA: i64 = 1;
const SQL: &str = include_str!("schema.sql");

/// Refuses a record of another schema.
pub(crate) fn check(connection: &Connection, path: &Path) -> Result<(), Error> {
    check_version(version(connection).at(path)?, path)
}

/// Refuses another version of the schema. 0 is that of an empty database.
pub(crate) fn check_version(schema: i64, path: &Path) -> Result<(), Error> {
    match schema {
        0 | SCHEMA => Ok(()),
        schema if schema > SCHEMA => Err(Error::newer(path, schema, SCHEMA)),
        _ => {
            let detail = format!("schema version {schema}");
            Err(Error::Damaged { path: path.into(), detail })
        }
    }
}

/// Makes a record of an empty database, wholly or not at all. One that is there is left as it is.
pub(crate) fn create(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    if version(connection).at(path)? == 0 {
        // How free pages are given back has to be set before there is a first page, and that page has to
        // bear the mark as soon as there is one: no process may see a database without it.
        let transaction = connection.transaction().at(path)?;
        transaction.pragma_update(None, "auto_vacuum", "INCREMENTAL").at(path)?;
        // Another process may have been faster.
        if version(&transaction).at(path)? == 0 {
            transaction.execute_batch(SQL).at(path)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID).at(path)?;
            transaction.pragma_update(None, "user_version", SCHEMA).at(path)?;
        }
        transaction.commit().at(path)?;
    }
    check(connection, path)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
