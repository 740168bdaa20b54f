//! Why a database server did not do what was asked.

/// What went wrong between knee and a database server. Each message goes on from the place of the archive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerFault {
    /// The URL has something wrong in it.
    #[error("{0}")]
    BadUrl(String),
    /// Nothing answers there, or not in time.
    #[error(
        "no PostgreSQL server answers ({0}); see whether it runs, and whether host and port are right"
    )]
    Unreachable(String),
    /// Something else answers there.
    #[error("what answers is not a PostgreSQL server ({0}); check host and port")]
    NotPostgres(String),
    /// No connection that is safe could be made.
    #[error(
        "no encrypted connection ({0}); name the server's root certificate by `sslrootcert=FILE` in the \
         URL, or do without encryption by `sslmode=disable`"
    )]
    Tls(String),
    /// The server refused user, password or database.
    #[error("the server refused the connection ({0}); PGPASSWORD or ~/.pgpass gives the password")]
    LoginRefused(String),
    /// The server has no such database.
    #[error("the server has no such database ({0}); `createdb NAME` makes one")]
    NoDatabase(String),
    /// The role may not do that.
    #[error("the role may not do that ({0}); docs/archive.md has the grants that it needs")]
    Denied(String),
    /// The connection was cut, or the server ended.
    #[error("the connection was lost ({0}); do it again when the server is back")]
    Lost(String),
    /// The server has not answered for a long time, though its machine does.
    #[error("the server was silent for {0} s; do it again when it answers")]
    Silent(u64),
    /// A signal ended the wait for the server.
    #[error("interrupted while the server was awaited")]
    Interrupted,
    /// The server ended a statement: a limit of its own, or an administrator.
    #[error("the server canceled the statement ({0})")]
    Canceled(String),
    /// Its disk has no room left.
    #[error("the server has no room left on its disk")]
    DiskFull,
    /// The server has other work, or is just starting or ending.
    #[error("the server can't do it now ({0}); do it again later")]
    Busy(String),
    /// The database has no archive in it.
    #[error("the database has no archive in it yet")]
    NoArchive,
    /// A knee that was never released made the archive.
    #[error(
        "its archive was made by a knee before 0.1.0, which no released one reads; name another database, or drop the \
         schema (`DROP SCHEMA knee CASCADE`)"
    )]
    Unreleased,
    /// The database's encoding can't hold every text.
    #[error("the database's encoding is {0}; make one in UTF8 (`createdb -E UTF8 -T template0`)")]
    Encoding(String),
    /// A name is longer than an index of the server takes.
    #[error(
        "the name `{start}…` has {bytes} bytes, which is more than the server's indexes take (about 2,600)"
    )]
    NameTooLong {
        /// How it begins.
        start: String,
        /// Its length.
        bytes: usize,
    },
    /// Whatever else the server says.
    #[error("the server says: {0}")]
    Other(String),
}
