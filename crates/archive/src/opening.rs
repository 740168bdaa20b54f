//! Opens the archive at a location: a file, or a database where this knee was built with PostgreSQL.

#[cfg(feature = "postgres")]
use crate::postgres::{self, PostgresArchive, PostgresMeeting};
use crate::sqlite::{SqliteArchive, check_name};
use crate::{Archive, DatabaseUrl, Error, Location, Meeting};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Opens the archive at `location` to read and write it. It is made where there is none.
///
/// # Errors
/// Why it can't be opened.
pub fn open(location: &Location) -> Result<Box<dyn Archive>, Error> {
    match location {
        Location::File(file) => Ok(Box::new(SqliteArchive::open(file)?)),
        #[cfg(feature = "postgres")]
        Location::Postgres(url) => Ok(Box::new(PostgresArchive::open(url)?)),
        #[cfg(not(feature = "postgres"))]
        Location::Postgres(url) => Err(no_postgres(url)),
    }
}

/// Opens the archive at `location` to read it.
///
/// # Errors
/// Why it can't be opened.
pub fn open_read_only(location: &Location) -> Result<Box<dyn Archive>, Error> {
    match location {
        Location::File(file) => Ok(Box::new(SqliteArchive::open_read_only(file)?)),
        #[cfg(feature = "postgres")]
        Location::Postgres(url) => Ok(Box::new(PostgresArchive::open_read_only(url)?)),
        #[cfg(not(feature = "postgres"))]
        Location::Postgres(url) => Err(no_postgres(url)),
    }
}

/// Refuses what can never be opened, without opening it.
///
/// # Errors
/// Why not.
pub fn check(location: &Location) -> Result<(), Error> {
    match location {
        Location::File(file) => check_name(file),
        #[cfg(feature = "postgres")]
        Location::Postgres(url) => postgres::check(url),
        #[cfg(not(feature = "postgres"))]
        Location::Postgres(url) => Err(no_postgres(url)),
    }
}

/// Joins the meeting of a fleet at an archive. `sender` is a random number. `stop` ends the wait for a server that is
/// silent.
///
/// # Errors
/// Why it can't be joined.
#[cfg_attr(
    not(feature = "postgres"),
    expect(unused_variables, clippy::needless_pass_by_value, reason = "no back end has one")
)]
pub fn meeting(
    url: &DatabaseUrl,
    fleet: &str,
    rank: u32,
    sender: i64,
    stop: Arc<AtomicBool>,
) -> Result<Box<dyn Meeting>, Error> {
    #[cfg(feature = "postgres")]
    return Ok(Box::new(PostgresMeeting::join(url, fleet, rank, sender, stop)?));
    #[cfg(not(feature = "postgres"))]
    Err(no_postgres(url))
}

#[cfg(not(feature = "postgres"))]
fn no_postgres(url: &DatabaseUrl) -> Error {
    Error::Refused(format!(
        "{}: this knee was built without PostgreSQL; build one with `cargo install --path crates/knee --features \
         postgres`, or name a file",
        url.shown().display()
    ))
}
