//! What can go wrong with a record, said so that a person can mend it.

use crate::RunState;
use rusqlite::ErrorCode;
use std::io;
use std::path::{Path, PathBuf};

/// Why a record can't be read or written. Each says in one line what, where and how to mend it.
///
/// A file that is refused is left exactly as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No run of that number or id.
    #[error("{path}: no run {run}; `knee record list` shows what there is")]
    NoSuchRun {
        /// The record.
        path: PathBuf,
        /// What was asked for.
        run: String,
    },
    /// Several runs' ids begin that way.
    #[error("{path}: {prefix} could be {}; name it with more digits", .matches.join(" or "))]
    AmbiguousRun {
        /// The record.
        path: PathBuf,
        /// What was asked for.
        prefix: String,
        /// The runs it could be, as `run 7 (id, start)`.
        matches: Vec<String>,
    },
    /// The record holds no run.
    #[error("{path} holds no runs yet; `knee run` measures one")]
    EmptyRecord {
        /// The record.
        path: PathBuf,
    },
    /// It does not name a run.
    #[error(
        "'{text}' does not name a run; use last, a number, the beginning of an id, FILE.db or \
         FILE.db:RUN"
    )]
    BadRunRef {
        /// What was given.
        text: String,
    },
    /// There is no such file.
    #[error("there is no record at {path}; `knee run` makes one")]
    NoRecord {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// It is a folder, a device or the like.
    #[error("{path} is {what}, not a file that can hold a record; name a file with --record")]
    NotAFile {
        /// What was named.
        path: PathBuf,
        /// What it is: `a folder`.
        what: &'static str,
    },
    /// It is a file of another format.
    #[error(
        "{path} is not a record (not a SQLite database) and was left alone; name another file \
         with --record"
    )]
    NotSqlite {
        /// The file.
        path: PathBuf,
    },
    /// It is a SQLite database of another program.
    #[error(
        "{path} is another program's SQLite database, not a record, and was left alone; name \
         another file with --record"
    )]
    NotKnee {
        /// The file.
        path: PathBuf,
    },
    /// A newer knee wrote it.
    #[error(
        "{path} was written by a newer knee (schema {found}, this one knows up to {known}) and \
         was left alone; update knee"
    )]
    NewerSchema {
        /// The record.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The newest one that is known here.
        known: i64,
    },
    /// An older knee wrote it, and it can't be brought up to date where it is.
    #[error(
        "{path} has an older schema ({found}, this knee needs {known}) and can't be updated there \
         because it is read-only; copy it to a folder that can be written"
    )]
    OlderSchema {
        /// The record.
        path: PathBuf,
        /// Its schema version.
        found: i64,
        /// The one that is needed.
        known: i64,
    },
    /// The end of the file is missing.
    #[error("{path} is cut short and was left alone; restore it from a copy, or name another file")]
    Truncated {
        /// The file.
        path: PathBuf,
    },
    /// What is in it contradicts itself.
    #[error(
        "{path} is damaged ({detail}); restore it from a copy, or salvage it with `sqlite3 FILE .recover`"
    )]
    Damaged {
        /// The record.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The user may not look at it.
    #[error("no permission to read {path}; see `ls -ld` on it and on its folders")]
    NoPermission {
        /// The file or folder.
        path: PathBuf,
    },
    /// The file can't be written.
    #[error(
        "{path} is read-only; make it writable (chmod u+w), or name another file with --record"
    )]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The folder can't be written, and a record needs to keep its journal beside it.
    #[error("the folder {path} is read-only; make it writable, or name another file with --record")]
    ReadOnlyFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The folder could not be made.
    #[error("the folder {path} can't be made ({cause}); name another file with --record")]
    NoFolder {
        /// The folder.
        path: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// No room is left where the record is.
    #[error("no room left on the disk for {path}; free some, then `knee run --resume`")]
    DiskFull {
        /// The record.
        path: PathBuf,
    },
    /// Another process held it for too long.
    #[error("{path} is held by another process; wait for it to end (`fuser FILE` names it)")]
    Busy {
        /// The record.
        path: PathBuf,
    },
    /// Its latest cells are in a journal that can't be read where it is.
    #[error(
        "the latest cells of {path} are in {path}-wal, which can't be read in a read-only folder; \
         copy both files to a folder that can be written"
    )]
    UnreadableJournal {
        /// The record.
        path: PathBuf,
    },
    /// A run of that id is there already.
    #[error("{path}: run {id} is there already")]
    RunTwice {
        /// The record.
        path: PathBuf,
        /// The run's id.
        id: String,
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
    #[error("{path}: run {run} is {}, not open; `knee run --resume` opens it again", .state.name())]
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
        /// What it is about: `sample 3 of loop in cell 17, which is NaN`.
        what: String,
    },
    /// The user has no data folder.
    #[error(
        "there is no home folder to keep the record in; set HOME, or name a file with --record"
    )]
    NoDataFolder,
    /// The operating system refused.
    #[error("{path}: {cause}; check that the disk is there and healthy")]
    Io {
        /// The file.
        path: PathBuf,
        /// Its answer.
        cause: io::Error,
    },
    /// SQLite refused for a reason that has no name here.
    #[error("{path}: {cause}; please report it")]
    Sqlite {
        /// The record.
        path: PathBuf,
        /// Its answer.
        cause: rusqlite::Error,
    },
}

/// Bytes below which a failed write is put down to a full disk.
const ROOM_MIN: u64 = 64 * 1024;

impl Error {
    /// What SQLite's answer about the record at `path` means to a person.
    pub(crate) fn of(path: &Path, cause: rusqlite::Error) -> Self {
        let path = path.to_owned();
        if is_contradiction(&cause) {
            return Self::Damaged { path, detail: cause.to_string() };
        }
        match cause.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::NotADatabase) => Self::NotSqlite { path },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged { path, detail: cause.to_string() },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { path },
            Some(ErrorCode::PermissionDenied) => Self::NoPermission { path },
            // SQLite calls a failure to grow its shared-memory file an I/O error, full disk or not.
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if !has_room(&path) => {
                Self::DiskFull { path }
            }
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => {
                Self::Io { path, cause: io::Error::other(cause) }
            }
            _ => Self::Sqlite { path, cause },
        }
    }
}

/// Whether a column holds what the schema says it can't.
fn is_contradiction(cause: &rusqlite::Error) -> bool {
    use rusqlite::Error as E;
    matches!(
        cause,
        E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::InvalidColumnType(..)
            | E::Utf8Error(..)
    )
}

fn has_room(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match rustix::fs::statvfs(folder.unwrap_or(Path::new("."))) {
        Ok(disk) => disk.f_bavail.saturating_mul(disk.f_frsize) >= ROOM_MIN,
        Err(_) => true,
    }
}

/// Says of which record SQLite speaks.
pub(crate) trait At<T> {
    /// Turns SQLite's answer into ours.
    fn at(self, path: &Path) -> Result<T, Error>;
}

impl<T> At<T> for rusqlite::Result<T> {
    fn at(self, path: &Path) -> Result<T, Error> {
        self.map_err(|cause| Error::of(path, cause))
    }
}
