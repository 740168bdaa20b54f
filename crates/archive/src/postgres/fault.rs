//! What a server's or a connection's error means to a person.

use super::client::QueryError;
use crate::error::At;
use crate::{Error, ServerFault};
use std::error::Error as _;
use std::io;
use std::path::Path;
use tokio_postgres::error::SqlState;

/// Longest text of a cause, in characters.
const CAUSE_CHARS_MAX: usize = 200;

/// Of a name that is too long, the number of characters that are shown.
const NAME_CHARS_MAX: usize = 60;

impl<T> At<T> for Result<T, QueryError> {
    fn at(self, path: &Path) -> Result<T, Error> {
        self.map_err(|error| server_error(path, of_work(&error)))
    }
}

impl<T> At<T> for Result<T, tokio_postgres::Error> {
    fn at(self, path: &Path) -> Result<T, Error> {
        self.map_err(QueryError::Postgres).at(path)
    }
}

pub(crate) fn server_error(path: &Path, fault: ServerFault) -> Error {
    Error::Server { path: path.into(), fault }
}

/// The fault of something that was asked of a server that had let us in.
fn of_work(error: &QueryError) -> ServerFault {
    let error = match error {
        QueryError::Postgres(error) => error,
        QueryError::System(error) => return ServerFault::Lost(error.to_string()),
        QueryError::Silent(time) => return ServerFault::Silent(time.as_secs()),
        QueryError::Interrupted => return ServerFault::Interrupted,
        QueryError::GivenUp => {
            return ServerFault::Lost("it was given up before".to_owned());
        }
    };
    match of_state(error) {
        Some(fault) => fault,
        None if error.is_closed() || io_cause(error).is_some() => ServerFault::Lost(cause(error)),
        None => ServerFault::Other(cause(error)),
    }
}

/// The fault of a connection that did not come about.
pub(crate) fn of_connecting(error: &QueryError) -> ServerFault {
    let error = match error {
        QueryError::Postgres(error) => error,
        QueryError::System(error) => return ServerFault::Unreachable(error.to_string()),
        QueryError::Silent(time) => {
            let cause = format!("nothing came back within {} s", time.as_secs());
            return ServerFault::Unreachable(cause);
        }
        QueryError::Interrupted | QueryError::GivenUp => return ServerFault::Interrupted,
    };
    if let Some(fault) = of_state(error) {
        return fault;
    }
    let cause = cause(error);
    match stage(error) {
        Stage::Connect => ServerFault::Unreachable(cause),
        Stage::Tls => ServerFault::Tls(cause),
        Stage::Login => ServerFault::LoginRefused(cause),
        Stage::Protocol => ServerFault::NotPostgres(cause),
    }
}

/// How far a connection came.
enum Stage {
    Connect,
    Tls,
    Login,
    Protocol,
}

/// The client keeps the kind of an error to itself, except in how its message begins.
fn stage(error: &tokio_postgres::Error) -> Stage {
    let text = error.to_string();
    let begins = |start: &str| text.starts_with(start);
    if begins("error connecting") || begins("timeout") {
        Stage::Connect
    } else if begins("error performing TLS") {
        Stage::Tls
    } else if begins("authentication") || begins("invalid configuration") {
        Stage::Login
    } else {
        Stage::Protocol
    }
}

/// What the server's own code says, if it has one.
fn of_state(error: &tokio_postgres::Error) -> Option<ServerFault> {
    let answer = error.as_db_error()?;
    let cause = one_line(answer.message());
    let code = answer.code();
    let fault = if *code == SqlState::DISK_FULL {
        ServerFault::DiskFull
    } else if *code == SqlState::INSUFFICIENT_PRIVILEGE
        || *code == SqlState::READ_ONLY_SQL_TRANSACTION
    {
        ServerFault::Denied(cause)
    } else if *code == SqlState::INVALID_CATALOG_NAME {
        ServerFault::NoDatabase(cause)
    } else if [SqlState::INVALID_PASSWORD, SqlState::INVALID_AUTHORIZATION_SPECIFICATION]
        .contains(code)
    {
        ServerFault::LoginRefused(cause)
    } else if [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN].contains(code) {
        ServerFault::Lost(cause)
    } else if [
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::LOCK_NOT_AVAILABLE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::OUT_OF_MEMORY,
    ]
    .contains(code)
    {
        ServerFault::Busy(cause)
    } else if *code == SqlState::QUERY_CANCELED {
        ServerFault::Canceled(cause)
    } else {
        ServerFault::Other(cause)
    };
    Some(fault)
}

/// Whether a row that has to be unique is there already.
pub(crate) fn is_there_already(error: &QueryError) -> bool {
    matches!(error, QueryError::Postgres(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION))
}

/// As [`At::at`]; a value that is too long for an index is the longest of `names`.
pub(crate) fn at_with_names<'a, T>(
    result: Result<T, QueryError>,
    path: &Path,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<T, Error> {
    let too_long_name = match &result {
        Err(error) if is_too_long(error) => names.into_iter().max_by_key(|name| name.len()),
        _ => None,
    };
    match too_long_name {
        Some(name) => Err(server_error(path, too_long(name))),
        None => result.at(path),
    }
}

fn is_too_long(error: &QueryError) -> bool {
    matches!(error, QueryError::Postgres(error) if error.code() == Some(&SqlState::PROGRAM_LIMIT_EXCEEDED))
}

fn too_long(name: &str) -> ServerFault {
    let start = printable::one_line(name).chars().take(NAME_CHARS_MAX).collect();
    ServerFault::NameTooLong { start, bytes: name.len() }
}

fn io_cause(error: &tokio_postgres::Error) -> Option<&io::Error> {
    causes(error).find_map(|cause| cause.downcast_ref())
}

fn causes(
    error: &tokio_postgres::Error,
) -> impl Iterator<Item = &(dyn std::error::Error + 'static)> {
    std::iter::successors(error.source(), |&cause| cause.source())
}

/// The innermost cause, on one line.
fn cause(error: &tokio_postgres::Error) -> String {
    let text = causes(error).last().map_or_else(|| error.to_string(), ToString::to_string);
    one_line(&text)
}

pub(crate) fn one_line(text: &str) -> String {
    let clean = printable::without_passwords(text);
    printable::one_line(&clean).chars().take(CAUSE_CHARS_MAX).collect()
}
