//! The archive at a location: a file, or a database.

use crate::exit::Trouble;
use ::record::{Archive, Error, Location, Meeting, SqliteArchive};
use engine::Stop;

/// Opens the record at `location` to read and write it. It is made where there is none.
pub fn open(location: &Location) -> Result<Box<dyn Archive>, Error> {
    match location {
        Location::File(file) => Ok(Box::new(SqliteArchive::open(file)?)),
        Location::Postgres(url) => postgres::open(url),
    }
}

/// Opens the record at `location` to read it.
pub fn open_read_only(location: &Location) -> Result<Box<dyn Archive>, Error> {
    match location {
        Location::File(file) => Ok(Box::new(SqliteArchive::open_read_only(file)?)),
        Location::Postgres(url) => postgres::open_read_only(url),
    }
}

/// Joins the meeting of a fleet at an archive. A file is none: other machines don't reach it. A stop ends the wait for a
/// server that is silent.
pub fn meeting(
    location: &Location,
    fleet: &str,
    rank: u32,
    sender: i64,
    stop: &Stop,
) -> Result<Box<dyn Meeting>, Trouble> {
    match location {
        Location::File(file) => Err(Trouble::usage(format!(
            "--together meets at an archive that all ranks reach, postgres://HOST/DATABASE, and {} is a file",
            file.display()
        ))),
        Location::Postgres(url) => Ok(postgres::meeting(url, fleet, rank, sender, stop)?),
    }
}

/// Refuses what can never be opened, without opening it.
pub fn check(location: &Location) -> Result<(), Error> {
    match location {
        Location::File(file) => ::record::check_name(file),
        Location::Postgres(url) => postgres::check(url),
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use ::record::{Archive, DatabaseUrl, Error, Meeting};
    use archive_postgres::{PostgresArchive, PostgresMeeting};
    use engine::Stop;

    pub fn meeting(
        url: &DatabaseUrl,
        fleet: &str,
        rank: u32,
        sender: i64,
        stop: &Stop,
    ) -> Result<Box<dyn Meeting>, Error> {
        Ok(Box::new(PostgresMeeting::join(url, fleet, rank, sender, stop.shared_flag())?))
    }

    pub fn open(url: &DatabaseUrl) -> Result<Box<dyn Archive>, Error> {
        Ok(Box::new(PostgresArchive::open(url)?))
    }

    pub fn open_read_only(url: &DatabaseUrl) -> Result<Box<dyn Archive>, Error> {
        Ok(Box::new(PostgresArchive::open_read_only(url)?))
    }

    pub fn check(url: &DatabaseUrl) -> Result<(), Error> {
        archive_postgres::check(url)
    }
}

#[cfg(not(feature = "postgres"))]
mod postgres {
    use ::record::{Archive, DatabaseUrl, Error, Meeting};
    use engine::Stop;

    pub fn meeting(
        url: &DatabaseUrl,
        _fleet: &str,
        _rank: u32,
        _sender: i64,
        _stop: &Stop,
    ) -> Result<Box<dyn Meeting>, Error> {
        Err(Error::NoPostgres { path: url.shown().into() })
    }

    pub fn open(url: &DatabaseUrl) -> Result<Box<dyn Archive>, Error> {
        Err(Error::NoPostgres { path: url.shown().into() })
    }

    pub fn open_read_only(url: &DatabaseUrl) -> Result<Box<dyn Archive>, Error> {
        open(url)
    }

    pub fn check(url: &DatabaseUrl) -> Result<(), Error> {
        open(url).map(drop)
    }
}
