//! The schema of a record file: what marks it as knee's, its version, and the way up to it.

use crate::Error;
use crate::error::At;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// Marks a SQLite database as a knee record: "knee" in ASCII.
pub(crate) const APPLICATION_ID: i64 = 0x6b6e_6565;

/// The n-th entry leads from schema n to schema n + 1. Entries are only ever added.
const MIGRATIONS: &[&str] = &[
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
    include_str!("schema_6.sql"),
    include_str!("schema_7.sql"),
];

/// Refuses a schema version that only a newer knee knows.
pub(crate) fn check_known(schema: i64, path: &Path) -> Result<(), Error> {
    check(schema, MIGRATIONS, path)
}

/// Whether there is a way up from that schema version; an empty database has none yet.
pub(crate) fn is_older(schema: i64) -> bool {
    (1..newest(MIGRATIONS)).contains(&schema)
}

/// Whether the schema is the one that is written here; one that only a newer knee knows is refused.
pub(crate) fn is_current(connection: &Connection, path: &Path) -> Result<bool, Error> {
    let schema = version(connection).at(path)?;
    check_known(schema, path)?;
    Ok(schema == newest(MIGRATIONS))
}

/// Brings a record up to the newest schema, an empty database included, wholly or not at all.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    climb(connection, MIGRATIONS, path)
}

fn climb(connection: &mut Connection, migrations: &[&str], path: &Path) -> Result<(), Error> {
    let schema = version(connection).at(path)?;
    check(schema, migrations, path)?;
    if schema == newest(migrations) {
        return Ok(());
    }
    let transaction = if schema == 0 {
        // How free pages are given back has to be set before there is a first page, and that page has to
        // bear the mark as soon as there is one: nobody may see a database without it.
        let transaction = connection.transaction().at(path)?;
        transaction.pragma_update(None, "auto_vacuum", "INCREMENTAL").at(path)?;
        transaction
    } else {
        connection.transaction_with_behavior(TransactionBehavior::Immediate).at(path)?
    };
    // Another process may have been faster.
    let schema = version(&transaction).at(path)?;
    check(schema, migrations, path)?;
    for migration in migrations.iter().skip(schema as usize) {
        transaction.execute_batch(migration).at(path)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).at(path)?;
    transaction.pragma_update(None, "user_version", newest(migrations)).at(path)?;
    transaction.commit().at(path)
}

fn check(schema: i64, migrations: &[&str], path: &Path) -> Result<(), Error> {
    let supported = newest(migrations);
    if schema > supported {
        return Err(Error::NewerSchema { path: path.into(), schema, supported });
    }
    if schema < 0 {
        let detail = format!("schema version {schema}");
        return Err(Error::Damaged { path: path.into(), detail });
    }
    Ok(())
}

/// The schema version that the migrations lead to.
fn newest(migrations: &[&str]) -> i64 {
    i64::try_from(migrations.len()).unwrap_or(i64::MAX)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "CREATE TABLE run (number INTEGER PRIMARY KEY, ns INTEGER NOT NULL);";
    const SECOND: &str = "ALTER TABLE run ADD COLUMN us INTEGER; UPDATE run SET us = ns / 1000;";
    const BROKEN: &str = "CREATE TABLE extra (x); UPDATE nowhere SET us = 0;";

    fn at_schema_1() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        climb(&mut connection, &[FIRST], Path::new("t")).unwrap();
        connection.execute("INSERT INTO run (ns) VALUES (7000)", []).unwrap();
        connection
    }

    fn us(connection: &Connection) -> i64 {
        connection.query_row("SELECT us FROM run", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn an_older_record_climbs_and_keeps_its_rows() {
        let mut connection = at_schema_1();
        climb(&mut connection, &[FIRST, SECOND], Path::new("t")).unwrap();
        assert_eq!(us(&connection), 7);
        assert_eq!(version(&connection).unwrap(), 2);
        connection.execute("UPDATE run SET us = 8", []).unwrap();
        climb(&mut connection, &[FIRST, SECOND], Path::new("t")).unwrap();
        assert_eq!(us(&connection), 8, "a migration runs once");
    }

    #[test]
    fn a_record_of_any_age_ends_at_the_same_schema() {
        let shape = |connection: &Connection| -> Vec<String> {
            let mut query = connection.prepare("SELECT sql FROM sqlite_schema").unwrap();
            query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let mut old = at_schema_1();
        climb(&mut old, &[FIRST, SECOND], Path::new("t")).unwrap();
        let mut new = Connection::open_in_memory().unwrap();
        climb(&mut new, &[FIRST, SECOND], Path::new("t")).unwrap();
        assert_eq!(shape(&old), shape(&new));
        let mark: i64 = new.pragma_query_value(None, "application_id", |row| row.get(0)).unwrap();
        assert_eq!(mark, APPLICATION_ID);
    }

    #[test]
    fn a_migration_that_fails_leaves_the_record_as_it_was() {
        let mut connection = at_schema_1();
        let migrations = [FIRST, SECOND, BROKEN];
        assert!(climb(&mut connection, &migrations, Path::new("t")).is_err());
        assert_eq!(version(&connection).unwrap(), 1);
        let columns: i64 = connection
            .query_row("SELECT count(*) FROM pragma_table_info('run')", [], |row| row.get(0))
            .unwrap();
        assert_eq!(columns, 2, "the second migration is undone too");
    }

    #[test]
    fn a_newer_schema_is_refused() {
        let mut connection = at_schema_1();
        climb(&mut connection, &[FIRST, SECOND], Path::new("t")).unwrap();
        let error = climb(&mut connection, &[FIRST], Path::new("t")).unwrap_err();
        assert!(matches!(error, Error::NewerSchema { schema: 2, supported: 1, .. }), "{error}");
    }
}
