//! Where a record lies, and whether what lies there may be touched at all.

use super::schema;
use crate::{Error, url};
use etcetera::BaseStrategy;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::Access;
use rustix::io::Errno;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Smallest SQLite database: one page of the smallest size.
const BYTES_MIN: u64 = 512;

/// The record that is used when none is named: `knee/knee.db` in the user's data directory
/// (`$XDG_DATA_HOME`, else `~/.local/share`).
///
/// # Errors
/// [`Error::NoDataDirectory`] when the user has no home directory.
pub fn default_path() -> Result<PathBuf, Error> {
    let strategy = etcetera::choose_base_strategy().map_err(|_| Error::NoDataDirectory)?;
    Ok(strategy.data_dir().join("knee").join("knee.db"))
}

/// What lies where a record is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Survey {
    /// Nothing.
    Missing,
    /// A file of no bytes, which may become a record.
    Empty,
    /// A file that can be read.
    File,
}

/// Looks without opening: a descriptor that is closed again would drop the locks that SQLite holds
/// for another connection of this process on the same file.
///
/// A URL is refused: it would become a directory, with its password in the name.
pub(crate) fn survey(path: &Path) -> Result<Survey, Error> {
    check_name(path)?;
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) => {
            return match error.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => Ok(Survey::Missing),
                ErrorKind::PermissionDenied => Err(Error::no_permission(path)),
                _ => Err(Error::io(path, &error)),
            };
        }
    };
    let kind = metadata.file_type();
    if !kind.is_file() {
        let what = match kind {
            kind if kind.is_dir() => "a directory",
            kind if kind.is_fifo() => "a pipe",
            kind if kind.is_socket() => "a socket",
            _ => "a device",
        };
        return Err(Error::NotAFile { path: path.into(), what });
    }
    if !may(path, Access::READ_OK) {
        return Err(Error::no_permission(path));
    }
    Ok(if metadata.len() == 0 { Survey::Empty } else { Survey::File })
}

/// Refuses what names something else than a file. The file would have its password in the name.
///
/// # Errors
/// [`Error::Refused`].
pub fn check_name(path: &Path) -> Result<(), Error> {
    let Some(text) = path.to_str() else { return Ok(()) };
    if let Some(scheme) = url::scheme(text) {
        return Err(Error::Refused(format!(
            "a record is a file or a PostgreSQL database (postgres://…), and {scheme}:// is neither"
        )));
    }
    if !url::is_keywords(text) {
        return Ok(());
    }
    // It may have a password in it.
    let why = "a database is named by a URL, postgres://USER@HOST:PORT/DATABASE, not by `host=…`; a file of such a \
               name is ./NAME";
    Err(Error::Refused(why.to_owned()))
}

/// Makes the directory that a new record goes into, with those above it.
pub(crate) fn make_directory(path: &Path) -> Result<(), Error> {
    let directory = directory_of(path);
    fs::create_dir_all(directory)
        .map_err(|cause| Error::NoDirectory { path: directory.into(), cause })
}

/// The absolute path without links: SQLite keeps its journal next to the file itself, and gives
/// names such as `:memory:` a meaning of their own.
pub(crate) fn real(path: &Path, survey: Survey) -> Result<PathBuf, Error> {
    let io = |cause: io::Error| Error::io(path, &cause);
    if survey != Survey::Missing {
        return fs::canonicalize(path).map_err(io);
    }
    let name =
        path.file_name().ok_or(Error::NotAFile { path: path.into(), what: "a directory" })?;
    Ok(fs::canonicalize(directory_of(path)).map_err(io)?.join(name))
}

/// Says what keeps the record at the real path `path` from being written.
pub(crate) fn check_writable(path: &Path, survey: Survey) -> Result<(), Error> {
    let directory = directory_of(path);
    if is_file_system_read_only(directory) {
        return Err(Error::ReadOnlyFileSystem(path.into()));
    }
    if survey != Survey::Missing && !may(path, Access::WRITE_OK) {
        return Err(Error::ReadOnly(path.into()));
    }
    if !may(directory, Access::WRITE_OK | Access::EXEC_OK) {
        return Err(Error::ReadOnlyDirectory(directory.into()));
    }
    Ok(())
}

/// Why no file can be made at the real path `path`; `None` where one can, or only the disk is full.
pub(crate) fn why_not_created(path: &Path, shown: &Path) -> Option<Error> {
    let made = fs::OpenOptions::new().write(true).create(true).truncate(false).open(path);
    let cause = made.err().filter(|cause| cause.kind() != ErrorKind::StorageFull)?;
    Some(Error::NotThisFile(format!("{} can't be made ({cause})", shown.display())))
}

/// Makes sure that the file at the real path `path` is a record that this knee knows, and whole,
/// without changing it or its journal. `shown` is the path as the user named it.
pub(crate) fn probe(path: &Path, shown: &Path) -> Result<(), Error> {
    let header = Header::read(path, shown)?;
    if header.bytes == 0 {
        // Another process has just found the leavings of one that died making it.
        return Ok(());
    }
    if header.bytes < BYTES_MIN {
        return Err(Error::truncated(shown));
    }
    let refused = |why: &str| {
        Err(Error::NotThisFile(format!("{} {why}, and was left alone", shown.display())))
    };
    if header.application_id == schema::UNRELEASED_ID {
        return refused("was written by a knee before 0.1.0, which no released one reads");
    }
    if header.application_id != schema::APPLICATION_ID {
        return refused("is another program's SQLite database, not a record");
    }
    schema::check_version(header.version, shown)?;
    // While another process writes, the file may lag behind its journal. So it is cut short only
    // if it is so before and after there was no journal.
    if header.is_cut && !is_written(path) && Header::read(path, shown)?.is_cut {
        return Err(Error::truncated(shown));
    }
    Ok(())
}

/// Whether the record has a journal with content: a process writes it, or was killed doing so.
fn is_written(path: &Path) -> bool {
    let rollback = fs::metadata(with_suffix(path, "-journal"));
    journal(path) == Journal::Full || rollback.is_ok_and(|metadata| metadata.len() > 0)
}

/// What the first page of a SQLite database says.
struct Header {
    /// Length of the file.
    bytes: u64,
    application_id: i64,
    version: i64,
    /// Whether the file is shorter than it says.
    is_cut: bool,
}

impl Header {
    /// Reads it through a connection that takes no locks, looks at no journal and can't write.
    fn read(path: &Path, shown: &Path) -> Result<Self, Error> {
        let bytes = fs::metadata(path).map_err(|cause| Error::io(shown, &cause))?.len();
        let look = || -> rusqlite::Result<Self> {
            let connection = connect_immutable(path)?;
            let pragma =
                |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            // With a writable schema SQLite overlooks missing pages.
            connection.pragma_update(None, "writable_schema", true)?;
            let application_id = pragma("application_id")?;
            let version = pragma("user_version")?;
            connection.pragma_update(None, "writable_schema", false)?;
            let is_cut = match pragma("schema_version") {
                // SQLite is content with a last page that is there in part.
                Ok(_) => bytes.cast_signed() % pragma("page_size")? != 0,
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => true,
                Err(error) => return Err(error),
            };
            Ok(Self { bytes, application_id, version, is_cut })
        };
        look().map_err(|error| Error::from_sqlite(shown, &error))
    }
}

/// Opens the database at the absolute path `path` as one without a writer.
pub(crate) fn connect_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let mut uri = OsString::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte).to_string()),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte).to_string()),
            byte => uri.push(format!("%{byte:02X}")),
        }
    }
    uri.push("?immutable=1");
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(PathBuf::from(uri), flags)
}

/// What lies in the journal of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Journal {
    /// There is none: no process has the record open.
    Absent,
    /// Nothing that the record lacks.
    Empty,
    /// Cells that may be nowhere else.
    Full,
}

/// Looks at the journal of the record at the real path `path`.
pub(crate) fn journal(path: &Path) -> Journal {
    match fs::metadata(with_suffix(path, "-wal")).map(|metadata| metadata.len()) {
        Err(_) => Journal::Absent,
        Ok(0) => Journal::Empty,
        Ok(_) => Journal::Full,
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether what is at `path` is on a file system that is mounted read-only: no mode of a file changes that.
pub(crate) fn is_file_system_read_only(path: &Path) -> bool {
    rustix::fs::access(path, Access::WRITE_OK) == Err(Errno::ROFS)
}

fn may(path: &Path, access: Access) -> bool {
    rustix::fs::access(path, access).is_ok()
}
