//! The archive at a location: a file, or a database.

use ::record::{Archive, Error, Location, SqliteArchive};

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

/// Refuses what can never be opened, without opening it.
pub fn check(location: &Location) -> Result<(), Error> {
    match location {
        Location::File(_) => Ok(()),
        Location::Postgres(url) => postgres::check(url),
    }
}

#[cfg(feature = "postgres")]
mod postgres {
    use ::record::{Archive, DatabaseUrl, Error};
    use archive_postgres::PostgresArchive;

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
    use ::record::{Archive, DatabaseUrl, Error};

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
