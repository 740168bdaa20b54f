//! What can go wrong with a record, and how a user fixes it.

use crate::{ServerFault, sqlite};
use model::RunState;
use rusqlite::ErrorCode;
use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

/// Why a record can't be read or written. Each message is one line: what, where, and how to fix it.
///
/// A file that is refused is left exactly as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No run of that number or id.
    #[error("{path}: no run {run}")]
    NoSuchRun {
        /// The record.
        path: PathBuf,
        /// What was asked for.
        run: String,
    },
    /// The record holds no run.
    #[error("{0} holds no runs yet")]
    EmptyRecord(PathBuf),
    /// Something else has to be named: what was named is no run, no place of a record, or none that this knee reads.
    #[error("{0}")]
    Refused(String),
    /// Another file has to be named: this one is no record, or can't be made one.
    #[error("{0}")]
    NotThisFile(String),
    /// There is no such file.
    #[error("there is no record at {0}")]
    NoRecord(PathBuf),
    /// It is a directory, a device or the like.
    #[error("{path} is {what}, not a file that can hold a record")]
    NotAFile {
        /// What was named.
        path: PathBuf,
        /// What it is: `a directory`.
        what: &'static str,
    },
    /// It is a URL, where only a file will do.
    #[error("{0} is a database, and this needs a file")]
    NotAFileButAUrl(PathBuf),
    /// What is in it contradicts itself.
    #[error("{path} is damaged ({detail})")]
    Damaged {
        /// The record.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The file can't be written.
    #[error("{0} is read-only")]
    ReadOnly(PathBuf),
    /// The directory can't be written, and a record keeps its journal there.
    #[error("the directory {0} is read-only")]
    ReadOnlyDirectory(PathBuf),
    /// The file system can't be written.
    #[error("{0} is on a file system that is mounted read-only")]
    ReadOnlyFileSystem(PathBuf),
    /// The directory could not be made.
    #[error("the directory {path} can't be made ({cause})")]
    NoDirectory {
        /// The directory.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// No room is left where the record is.
    #[error("no room left on the disk for {0}")]
    DiskFull(PathBuf),
    /// Another process held it for too long.
    #[error("{0} is held by another process; wait for it to end (`fuser FILE` names it)")]
    Busy(PathBuf),
    /// A run of that id is there already.
    #[error("{path}: run {id} is there already")]
    RunTwice {
        /// The record.
        path: PathBuf,
        /// The run's id.
        id: String,
    },
    /// Two records have different runs of one id.
    #[error(
        "run {id} is in both records and differs in {what}; one of them was changed since, and \
         neither is taken over the other"
    )]
    RunDiffers {
        /// The run's id.
        id: String,
        /// In what: `cell 7`.
        what: String,
    },
    /// The run has that cell already: most likely two processes resumed it.
    #[error("{path}: run {run} has cell {sequence} already; is another knee resuming it?")]
    CellTwice {
        /// The record.
        path: PathBuf,
        /// The run's number.
        run: i64,
        /// The cell's place in the plan.
        sequence: u64,
    },
    /// The run has ended.
    #[error("{path}: run {run} is {}, not open", .state.name())]
    RunNotOpen {
        /// The record.
        path: PathBuf,
        /// The run's number.
        run: i64,
        /// How it ended.
        state: RunState,
    },
    /// Nothing of the run is left to measure.
    #[error("{path}: run {run} is complete, there is nothing to resume")]
    RunComplete {
        /// The record.
        path: PathBuf,
        /// The run's number.
        run: i64,
    },
    /// It can't be kept: a sample that is not finite (JSON has no NaN and no infinity, and neither
    /// is a measurement), a count above 2⁶³ − 1, positions that don't match the samples, a run that
    /// begins with cells, an ending that is not one.
    #[error("{path}: can't keep {what}; this is a fault of the caller, please report it")]
    Invalid {
        /// The record.
        path: PathBuf,
        /// What it is about: `sample 3 from_sqlite loop in cell 17, which is NaN`.
        what: String,
    },
    /// The user has no data directory.
    #[error("there is no home directory to keep the record in")]
    NoDataDirectory,
    /// A database server did not do what was asked.
    #[error("{path}: {fault}")]
    Server {
        /// The URL, without secrets.
        path: PathBuf,
        /// What went wrong.
        fault: ServerFault,
    },
    /// Whatever else keeps it from being read or written: the operating system, SQLite, permissions.
    #[error("{0}")]
    Failed(String),
}

/// Bytes below which a failed write is put down to a full disk.
const FREE_BYTES_MIN: u64 = 64 * 1024;

impl Error {
    /// What SQLite's answer about the record at `path` means to a person.
    pub(crate) fn from_sqlite(path: &Path, cause: &rusqlite::Error) -> Self {
        let (shown, path) = (path.display(), path.to_owned());
        if is_contradiction(cause) {
            return Self::Damaged { path, detail: on_one_line(cause) };
        }
        match cause.sqlite_error_code() {
            // The file ends before a page that its journal counts: the two are copies of different moments.
            Some(ErrorCode::SystemIoFailure) if is_past_the_end(cause) => Self::truncated(&path),
            Some(ErrorCode::DiskFull) => Self::DiskFull(path),
            Some(ErrorCode::NotADatabase) => {
                let why = "is not a record (not a SQLite database) and was left alone";
                Self::NotThisFile(format!("{shown} {why}"))
            }
            // Our own SQL is right, and asks for nothing that a record of this schema refuses: if it fails,
            // the record has another schema than it says, or contradicts itself.
            Some(
                ErrorCode::DatabaseCorrupt
                | ErrorCode::ConstraintViolation
                | ErrorCode::TypeMismatch
                | ErrorCode::TooBig
                | ErrorCode::Unknown,
            ) => Self::Damaged { path, detail: on_one_line(cause) },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy(path),
            Some(ErrorCode::ReadOnly) if sqlite::is_file_system_read_only(&path) => {
                Self::ReadOnlyFileSystem(path)
            }
            Some(ErrorCode::ReadOnly) => Self::ReadOnly(path),
            Some(ErrorCode::PermissionDenied) => Self::no_permission(&path),
            // SQLite calls a failure to grow its shared-memory file an I/O error, full disk or not.
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if !has_free_space(&path) => {
                Self::DiskFull(path)
            }
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => Self::io(&path, cause),
            _ => Self::Failed(format!("{shown}: {cause}; please report it")),
        }
    }

    /// The end of the file is missing.
    pub(crate) fn truncated(path: &Path) -> Self {
        let path = path.display();
        Self::Refused(format!(
            "{path} is cut short and was left alone; restore it from a copy, or name another file"
        ))
    }

    /// A newer knee wrote it.
    pub(crate) fn newer(path: &Path, schema: i64, supported: i64) -> Self {
        let path = path.display();
        Self::Refused(format!(
            "{path} was written by a newer knee (schema {schema}, this one reads up to {supported}) and was left alone; \
             update knee"
        ))
    }

    /// The user may not look at it.
    pub(crate) fn no_permission(path: &Path) -> Self {
        let path = path.display();
        Self::Failed(format!(
            "no permission to read {path}; see `ls -ld` on it and on its directories"
        ))
    }

    /// The operating system refused.
    pub(crate) fn io(path: &Path, cause: &dyn Display) -> Self {
        let path = path.display();
        Self::Failed(format!("{path}: {cause}; check that the disk is there and healthy"))
    }
}

/// Whether a page was asked for that lies beyond the end of the file.
fn is_past_the_end(cause: &rusqlite::Error) -> bool {
    let code = cause.sqlite_error().map(|error| error.extended_code);
    code == Some(rusqlite::ffi::SQLITE_IOERR_SHORT_READ)
}

/// SQLite quotes what it found, whatever that is.
fn on_one_line(cause: &rusqlite::Error) -> String {
    let text = match cause {
        // Without the whole of our question.
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        _ => cause.to_string(),
    };
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(200).collect()
}

/// Whether a column holds what the schema says it can't, or isn't there at all.
fn is_contradiction(cause: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    matches!(
        cause,
        E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::InvalidColumnName(..)
            | E::InvalidColumnType(..)
            | E::SqlInputError { .. }
            | E::Utf8Error(..)
    )
}

fn has_free_space(path: &Path) -> bool {
    let directory = path.parent().filter(|directory| !directory.as_os_str().is_empty());
    match rustix::fs::statvfs(directory.unwrap_or(Path::new("."))) {
        // A file system without blocks, such as proc, has no room and needs none.
        Ok(disk) if disk.f_blocks == 0 => true,
        Ok(disk) => disk.f_bavail.saturating_mul(disk.f_frsize) >= FREE_BYTES_MIN,
        Err(_) => true,
    }
}

/// Says of which record SQLite or a server speaks.
pub(crate) trait At<T> {
    /// Turns its answer into ours.
    fn at(self, path: &Path) -> Result<T, Error>;
}

impl<T> At<T> for rusqlite::Result<T> {
    fn at(self, path: &Path) -> Result<T, Error> {
        self.map_err(|cause| Error::from_sqlite(path, &cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    /// What a record and a journal of different moments do, now and then: tests/sqlite/copies.rs makes such.
    #[test]
    fn a_page_beyond_the_end_says_that_the_file_is_cut_short() {
        let path = Path::new("knee.db");
        let message = |code| {
            let error = Error::from_sqlite(
                path,
                &rusqlite::Error::SqliteFailure(ffi::Error::new(code), None),
            );
            error.to_string()
        };
        assert!(message(ffi::SQLITE_IOERR_SHORT_READ).starts_with("knee.db is cut short"));
        assert!(
            message(ffi::SQLITE_IOERR_READ).contains("check that the disk is there and healthy")
        );
    }
}
