//! The schema of an archive, and its version.

use super::client::{Client, QueryError};
use super::fault::server_error;
use super::in_transaction;
use crate::error::At;
use crate::{Error, ServerFault};
use std::path::Path;

/// The schema that is written and read here.
const SCHEMA: i64 = 1;
const SQL: &str = include_str!("schema.sql");

/// The key of the lock that one process at a time holds that makes an archive: "knee" in ASCII.
const LOCK: i64 = 0x6b6e_6565;

const ENCODING: &str = "UTF8";

/// Refuses an archive that is of another schema than the one that is read here.
pub(crate) fn check(client: &mut Client, path: &Path) -> Result<(), Error> {
    match version(client).at(path)? {
        Version::None => Err(server_error(path, ServerFault::NoArchive)),
        there => there.check(path),
    }
}

/// Makes an archive in a database that has none, wholly or not at all.
pub(crate) fn create(client: &mut Client, path: &Path) -> Result<(), Error> {
    let there = version(client).at(path)?;
    if there != Version::None {
        return there.check(path);
    }
    let encoding: String = client.query_one("SHOW server_encoding", &[]).at(path)?.get(0);
    if encoding != ENCODING {
        return Err(server_error(path, ServerFault::Encoding(encoding)));
    }
    client.with_long_answer(|client| {
        // Before the transaction begins: what others made until then, the server looks up only at a beginning. The lock
        // outlasts its own.
        in_transaction(client, path, |client| {
            client.execute("SELECT pg_advisory_lock($1)", &[&LOCK]).at(path)
        })?;
        let done = in_transaction(client, path, |client| create_alone(client, path));
        let unlocked = client.execute("SELECT pg_advisory_unlock($1)", &[&LOCK]).map(drop).at(path);
        done.and(unlocked)
    })
}

/// The same while no other process does it.
fn create_alone(client: &mut Client, path: &Path) -> Result<(), Error> {
    // Another process may have been faster.
    let there = version(client).at(path)?;
    if there != Version::None {
        return there.check(path);
    }
    let sql = "SELECT to_regnamespace('knee') IS NOT NULL";
    let is_made: bool = client.query_one(sql, &[]).at(path)?.try_get(0).at(path)?;
    if !is_made {
        client.batch_execute("CREATE SCHEMA knee").at(path)?;
    }
    client.batch_execute(SQL).at(path)?;
    let insert = "INSERT INTO knee.version (schema) VALUES ($1)";
    client.execute(insert, &[&SCHEMA]).map(drop).at(path)
}

/// The version of an archive's schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// There is no archive.
    None,
    /// That of a knee before 0.1.0, which counted from 1 as well.
    Unreleased,
    Number(i64),
}

impl Version {
    fn check(self, path: &Path) -> Result<(), Error> {
        match self {
            Version::Unreleased => Err(server_error(path, ServerFault::Unreleased)),
            Version::Number(schema) if schema > SCHEMA => Err(Error::newer(path, schema, SCHEMA)),
            Version::None | Version::Number(_) => Ok(()),
        }
    }
}

fn version(client: &mut Client) -> Result<Version, QueryError> {
    let sql = "SELECT to_regclass('knee.version') IS NOT NULL, to_regclass('knee.profile_cell') IS NOT NULL";
    let there = client.query_one(sql, &[])?;
    let (is_there, is_unreleased): (bool, bool) = (there.try_get(0)?, there.try_get(1)?);
    if !is_there || is_unreleased {
        return Ok(if is_unreleased { Version::Unreleased } else { Version::None });
    }
    let row = client.query_one("SELECT coalesce(max(schema), 0) FROM knee.version", &[])?;
    Ok(Version::Number(row.try_get(0)?))
}
