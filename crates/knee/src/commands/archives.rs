//! The archive at a place: a file, or a database.

use ::record::{Archive, Error, Location, SqliteArchive};

/// Opens the record at `place` to read and write it. A file is made where there is none.
pub fn open(location: &Location) -> Result<Box<dyn Archive>, Error> {
    match location {
        Location::File(file) => Ok(Box::new(SqliteArchive::open(file)?)),
        Location::Postgres(url) => Err(Error::NoPostgres { path: url.shown().into() }),
    }
}

/// Opens the record at `place` to read it.
pub fn open_read_only(location: &Location) -> Result<Box<dyn Archive>, Error> {
    match location {
        Location::File(file) => Ok(Box::new(SqliteArchive::open_read_only(file)?)),
        Location::Postgres(url) => Err(Error::NoPostgres { path: url.shown().into() }),
    }
}
