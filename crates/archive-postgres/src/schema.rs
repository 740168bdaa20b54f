//! The schema of an archive: its version, and the way up to it.

use crate::client::{Client, QueryError};
use crate::fault::{At, server_error};
use crate::{WRITE, in_transaction};
use record::{Error, ServerFault};
use std::path::Path;

/// The n-th entry leads from schema n to schema n + 1. Entries are only ever added.
const MIGRATIONS: &[&str] = &[
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
];

/// The key of the lock that one migration at a time holds: "knee" in ASCII.
const LOCK: i64 = 0x6b6e_6565;

const ENCODING: &str = "UTF8";

/// Refuses an archive that is of another schema than the one that is read here.
pub(crate) fn check_current(client: &mut Client, path: &Path) -> Result<(), Error> {
    let (schema, supported) = (version(client, path)?, newest(MIGRATIONS));
    check_known(schema, supported, path)?;
    match schema {
        0 => Err(server_error(path, ServerFault::NoArchive)),
        schema if schema < supported => {
            Err(server_error(path, ServerFault::OlderSchema { schema, supported }))
        }
        _ => Ok(()),
    }
}

/// Brings an archive up to the newest schema, an empty database included, wholly or not at all.
pub(crate) fn migrate(client: &mut Client, path: &Path) -> Result<(), Error> {
    client.with_long_answer(|client| climb(client, MIGRATIONS, path))
}

fn climb(client: &mut Client, migrations: &[&str], path: &Path) -> Result<(), Error> {
    let supported = newest(migrations);
    let schema = version(client, path)?;
    check_known(schema, supported, path)?;
    if schema == supported {
        return Ok(());
    }
    let encoding: String = client.query_one("SHOW server_encoding", &[]).at(path)?.get(0);
    if encoding != ENCODING {
        return Err(server_error(path, ServerFault::Encoding { encoding }));
    }
    // Before the transaction begins: what others made until then, the server looks up only at a beginning. In a transaction of
    // its own, since another migration may take longer than the server lets a statement take. The lock outlasts it.
    in_transaction(client, WRITE, path, |client| {
        client.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).at(path)
    })?;
    let done = in_transaction(client, WRITE, path, |client| climb_alone(client, migrations, path));
    let unlocked = client.execute("SELECT pg_advisory_unlock($1)", &[&LOCK]).map(drop).at(path);
    match done.and(unlocked) {
        // Its owner has to do it.
        Err(Error::Server { fault: ServerFault::Denied { .. }, .. }) if schema > 0 => {
            Err(server_error(path, ServerFault::OlderSchema { schema, supported }))
        }
        done => done,
    }
}

/// The same while no other process does it.
fn climb_alone(client: &mut Client, migrations: &[&str], path: &Path) -> Result<(), Error> {
    let supported = newest(migrations);
    // Another process may have been faster.
    let schema = version(client, path)?;
    check_known(schema, supported, path)?;
    if schema == supported {
        return Ok(());
    }
    if schema == 0 {
        let sql = "SELECT to_regnamespace('knee') IS NOT NULL";
        let is_made: bool = client.query_one(sql, &[]).at(path)?.try_get(0).at(path)?;
        if !is_made {
            client.batch_execute("CREATE SCHEMA knee").at(path)?;
        }
    }
    for migration in migrations.iter().skip(usize::try_from(schema).unwrap_or_default()) {
        client.batch_execute(migration).at(path)?;
    }
    client.execute("DELETE FROM knee.version", &[]).at(path)?;
    client
        .execute("INSERT INTO knee.version (schema) VALUES ($1)", &[&supported])
        .map(drop)
        .at(path)
}

fn check_known(schema: i64, supported: i64, path: &Path) -> Result<(), Error> {
    if schema > supported {
        return Err(Error::NewerSchema { path: path.into(), schema, supported });
    }
    Ok(())
}

fn newest(migrations: &[&str]) -> i64 {
    i64::try_from(migrations.len()).unwrap_or(i64::MAX)
}

/// The version of the archive's schema; 0 where there is no archive.
fn version(client: &mut Client, path: &Path) -> Result<i64, Error> {
    read_version(client).at(path)
}

fn read_version(client: &mut Client) -> Result<i64, QueryError> {
    let is_there = client.query_one("SELECT to_regclass('knee.version') IS NOT NULL", &[])?;
    if !is_there.try_get::<_, bool>(0)? {
        return Ok(0);
    }
    let row = client.query_one("SELECT coalesce(max(schema), 0) FROM knee.version", &[])?;
    Ok(row.try_get(0)?)
}
