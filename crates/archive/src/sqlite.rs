//! The archive in one SQLite file.

mod file;
mod schema;

pub use file::default_path;
pub(crate) use file::{check_name, is_file_system_read_only};

use self::file::{Journal, Survey};
use crate::body::damaged;
use crate::body::{CellRow, ProfileRow, RunBodies, RunRow};
use crate::database::{Database, Done, RunChange, Which};
use crate::error::At;
use crate::{Error, Location};
use model::RunSummary;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Params, Row};
use std::path::Path;
use std::time::Duration;

/// How long a write waits for other processes. One of theirs takes milliseconds; only deleting a
/// large run takes seconds.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Stands for a text that can't be read: no seal is over it.
const UNREADABLE: &str = "\u{fffd}";
/// What is left of the journal's file after a checkpoint, at most.
const JOURNAL_BYTES_MAX: i64 = 8 << 20;

/// Rows of runs, but for what only a loaded run shows.
const ROW: &str = "SELECT number, id, origin, summary, seal, \
     (SELECT count(*) FROM cell WHERE cell.run = run.number) AS cells, \
     (SELECT count(*) FROM profile WHERE profile.run = run.number) AS profiled FROM run";

/// Runs in one SQLite file, which several processes may use at a time. SCHEMA.md describes the
/// file.
///
/// ```
/// use archive::{Archive, RunWriter, SqliteArchive};
/// use model::{Ending, Host, Run, RunState, RunSummary};
///
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("knee.db");
/// let mut archive = SqliteArchive::open(&file)?;
/// let summary = RunSummary {
///     id: "0123456789abcdef".into(),
///     started: "2026-11-21T13:51:34+00:00".into(),
///     command: vec!["knee".into(), "run".into()],
///     version: "0.1.0".into(),
///     ..RunSummary::default()
/// };
/// let run = Run { summary, ..Run::default() };
/// let number = archive.begin(&run)?;
/// // … archive.commit(number, &cell)? for each cell as it ends …
/// let ending = Ending {
///     state: RunState::Complete,
///     ended: "2026-11-21T13:53:20+00:00".into(),
///     host_after: Host::default(),
///     warnings: vec![],
/// };
/// archive.finish(number, &ending)?;
///
/// let reader = SqliteArchive::open_read_only(&file)?;
/// let run = reader.load(reader.resolve("last")?)?;
/// assert_eq!(run.summary.state, RunState::Complete);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SqliteArchive {
    /// As the user named it.
    location: Location,
    connection: Connection,
}

impl SqliteArchive {
    /// Opens the record at `path`; makes it, with its directories, where there is none.
    ///
    /// # Errors
    /// Why it can't be opened. A file that is not a record, is damaged or is of a newer schema is
    /// left as it is.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let state = file::survey(path)?;
        if state == Survey::Missing {
            file::make_directory(path)?;
        }
        let real = file::real(path, state)?;
        file::check_writable(&real, state)?;
        if state == Survey::File {
            file::probe(&real, path)?;
        }
        Self::open_to_write(&real, path).map_err(|error| match state {
            // SQLite says only that it can't open a file, and not why.
            Survey::Missing => file::why_not_created(&real, path).unwrap_or(error),
            Survey::Empty | Survey::File => error,
        })
    }

    /// Opens the record at `path` to read it. Where file or directory can't be written, as on a
    /// read-only medium, and no process has it open, it is read without locks.
    ///
    /// # Errors
    /// [`Error::NoRecord`], [`Error::EmptyRecord`] when there is nothing to read;
    /// [`Error::Failed`] when cells are in a journal that SQLite can't read there; else why it can't be opened.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let state = file::survey(path)?;
        match state {
            Survey::Missing => return Err(Error::NoRecord(path.into())),
            Survey::Empty => return Err(Error::EmptyRecord(path.into())),
            Survey::File => {}
        }
        let real = file::real(path, state)?;
        file::probe(&real, path)?;
        if file::check_writable(&real, state).is_err() {
            return Self::open_where_read_only(&real, path);
        }
        // A connection that may write can recover the journal of a killed process, and leaves no
        // journal of its own behind.
        let archive = match Self::open_to_write(&real, path) {
            // No room even for that: it may do without.
            Err(full @ Error::DiskFull { .. }) => {
                return Self::open_where_read_only(&real, path).map_err(|_| full);
            }
            result => result?,
        };
        archive.connection.pragma_update(None, "query_only", true).at(path)?;
        Ok(archive)
    }

    /// The file, as it was named.
    pub fn path(&self) -> &Path {
        self.location.shown()
    }

    fn from_connection(shown: &Path, connection: Connection) -> Result<Self, Error> {
        // Else SQLite plans a query again for each run or cell that it is asked of, lest another number needs
        // another plan.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).at(shown)?;
        Ok(Self { location: Location::File(shown.into()), connection })
    }

    fn open_to_write(real: &Path, shown: &Path) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(real, flags).at(shown)?;
        connection.busy_timeout(WAIT_MAX).at(shown)?;
        connection.pragma_update(None, "trusted_schema", false).at(shown)?;
        schema::create(&mut connection, shown)?;
        use_wal(&connection).at(shown)?;
        connection.pragma_update(None, "synchronous", "FULL").at(shown)?;
        connection.pragma_update(None, "foreign_keys", true).at(shown)?;
        // Deleted is gone: zeros over the rows of pages that stay; `shrink` takes the others out.
        // (Zeros over all of them would need as much room as the run that is to make room.)
        connection.query_row("PRAGMA secure_delete = FAST", [], |_| Ok(())).at(shown)?;
        Self::from_connection(shown, connection)
    }

    fn open_where_read_only(real: &Path, shown: &Path) -> Result<Self, Error> {
        let connection = connect_where_read_only(real, shown)?;
        schema::check(&connection, shown)?;
        Self::from_connection(shown, connection)
    }

    fn select<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Error> {
        let mut select = self.connection.prepare_cached(sql).at(self.path())?;
        let rows = select.query_map(values, read).at(self.path())?;
        rows.collect::<rusqlite::Result<_>>().at(self.path())
    }

    fn execute(&self, sql: &str, values: impl Params) -> Result<usize, Error> {
        let mut statement = self.connection.prepare_cached(sql).at(self.path())?;
        statement.execute(values).at(self.path())
    }

    /// Gives the room of deleted runs back, and takes their bytes out of the journal.
    fn shrink(&self) -> rusqlite::Result<()> {
        let mut vacuum = self.connection.prepare("PRAGMA incremental_vacuum")?;
        let mut freed = vacuum.query([])?;
        while freed.next()?.is_some() {}
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }
}

impl Database for SqliteArchive {
    fn location(&self) -> &Location {
        &self.location
    }

    fn write<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        // An outer one keeps all or takes all back.
        if !self.connection.is_autocommit() {
            return work(self);
        }
        self.connection.execute_batch("BEGIN IMMEDIATE").at(self.path())?;
        // A newer knee may have brought it up to date since it was opened.
        let done = schema::check(&self.connection, self.path()).and_then(|()| work(self)).and_then(
            |value| self.connection.execute_batch("COMMIT").at(self.path()).map(|()| value),
        );
        if done.is_err() {
            // What failed may have ended the transaction itself.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    fn read<T>(&self, work: impl FnOnce(&Self) -> Result<T, Error>) -> Result<T, Error> {
        let _transaction = self.connection.unchecked_transaction().at(self.path())?;
        work(self)
    }

    fn rows(&self, which: Which<'_>) -> Result<Vec<RunRow>, Error> {
        let read = |row: &Row<'_>| {
            Ok(RunRow {
                number: row.get("number")?,
                // The other runs are there all the same where one can't be read.
                id: row.get("id").unwrap_or_else(|_| UNREADABLE.into()),
                origin: row.get("origin").unwrap_or_else(|_| UNREADABLE.into()),
                summary: row.get("summary").unwrap_or_else(|_| UNREADABLE.into()),
                seal: row.get("seal").unwrap_or_default(),
                cells: row.get("cells")?,
                profiled: row.get("profiled")?,
            })
        };
        match which {
            Which::All => self.select(&format!("{ROW} ORDER BY number"), [], read),
            Which::Id(id) => self.select(&by_id(), [id], read),
            Which::Number(run) | Which::Locked(run) => {
                self.select(&format!("{ROW} WHERE number = ?1"), [run], read)
            }
        }
    }

    fn bodies(&self, run: i64) -> Result<RunBodies, Error> {
        let sql = "SELECT begun, ending FROM run WHERE number = ?1";
        let read = |row: &Row<'_>| Ok(RunBodies { begun: row.get(0)?, ending: row.get(1)? });
        let mut select = self.connection.prepare_cached(sql).at(self.path())?;
        select.query_row([run], read).at(self.path())
    }

    fn insert_run(
        &mut self,
        row: &RunRow,
        _: &RunSummary,
        bodies: &RunBodies,
    ) -> Result<i64, Error> {
        let there = self.select("SELECT 1 FROM run WHERE id = ?1", [&row.id], |_| Ok(()))?;
        if !there.is_empty() {
            return Err(Error::RunTwice { path: self.path().into(), id: row.id.clone() });
        }
        let sql = "INSERT INTO run (id, origin, summary, begun, ending, seal) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let values = (&row.id, &row.origin, &row.summary, &bodies.begun, &bodies.ending, row.seal);
        self.execute(sql, values)?;
        Ok(self.connection.last_insert_rowid())
    }

    fn update_run(&mut self, change: &RunChange<'_>) -> Result<(), Error> {
        let RunChange { row, begun, ending, .. } = change;
        let sql = "UPDATE run SET summary = ?2, seal = ?3, begun = coalesce(?4, begun), \
             ending = coalesce(?5, ending) WHERE number = ?1";
        self.execute(sql, (row.number, &row.summary, row.seal, begun, ending)).map(drop)
    }

    fn has_cell(&self, run: i64, sequence: i64) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM cell WHERE run = ?1 AND sequence = ?2";
        Ok(!self.select(sql, (run, sequence), |_| Ok(()))?.is_empty())
    }

    fn insert_cells(
        &mut self,
        run: i64,
        rows: &mut dyn Iterator<Item = Result<CellRow, Error>>,
    ) -> Result<(), Error> {
        let sql = "INSERT INTO cell (run, sequence, body, positions, samples, seal) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        for row in rows {
            let CellRow { sequence, body, positions, samples, seal } = row?;
            // They are finite: whatever they are, JSON holds them.
            let samples = serde_json::to_string(&samples).unwrap_or_default();
            self.execute(sql, (run, sequence, body, positions, samples, seal))?;
        }
        Ok(())
    }

    fn cells(&self, run: i64) -> Result<Vec<CellRow>, Error> {
        let sql = "SELECT sequence, body, positions, samples, seal FROM cell \
             WHERE run = ?1 ORDER BY number";
        let rows = self.select(sql, [run], |row| {
            let samples: String = row.get("samples")?;
            let cell = CellRow {
                sequence: row.get("sequence")?,
                body: row.get("body")?,
                positions: row.get("positions")?,
                samples: Vec::new(),
                seal: row.get("seal")?,
            };
            Ok((cell, samples))
        })?;
        let with_samples = |(cell, samples): (CellRow, String)| {
            let samples = serde_json::from_str(&samples).map_err(|error| {
                damaged(self.path(), format!("samples of cell {}: {error}", cell.sequence))
            })?;
            Ok(CellRow { samples, ..cell })
        };
        rows.into_iter().map(with_samples).collect()
    }

    fn has_profiled(&self, run: i64, key: &str) -> Result<bool, Error> {
        let sql = "SELECT 1 FROM profile WHERE run = ?1 AND key = ?2";
        Ok(!self.select(sql, (run, key), |_| Ok(()))?.is_empty())
    }

    fn insert_profiled(&mut self, run: i64, rows: &[ProfileRow]) -> Result<(), Error> {
        let sql = "INSERT INTO profile (run, key, body, seal) VALUES (?1, ?2, ?3, ?4)";
        for row in rows {
            self.execute(sql, (run, &row.key, &row.body, row.seal))?;
        }
        Ok(())
    }

    fn profiled(&self, run: i64, only_last: bool) -> Result<Vec<ProfileRow>, Error> {
        let order = if only_last { "DESC LIMIT 1" } else { "" };
        let sql =
            format!("SELECT key, body, seal FROM profile WHERE run = ?1 ORDER BY number {order}");
        self.select(&sql, [run], |row| {
            Ok(ProfileRow { key: row.get(0)?, body: row.get(1)?, seal: row.get(2)? })
        })
    }

    fn name_run(&mut self, name: &str, run: i64) -> Result<(), Error> {
        let sql = "INSERT INTO baseline (name, run) VALUES (?1, ?2) \
             ON CONFLICT (name) DO UPDATE SET run = excluded.run";
        self.execute(sql, (name, run)).map(drop)
    }

    fn names(&self) -> Result<Vec<(String, i64)>, Error> {
        let sql = "SELECT name, run FROM baseline ORDER BY name";
        self.select(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
    }

    fn remove(&mut self, run: i64) -> Result<bool, Error> {
        Ok(self.execute("DELETE FROM run WHERE number = ?1", [run])? > 0)
    }

    fn settle(&mut self, done: Done) -> Result<(), Error> {
        match done {
            // So that the file by itself holds the whole run, for whoever copies it. The run is safe
            // in the journal if this fails, and a later checkpoint makes up for it.
            Done::Ended => {
                let _ = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
                Ok(())
            }
            Done::Removed => match self.shrink() {
                // Somebody else is at work: the room will be used again all the same.
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
                result => result.at(self.path()),
            },
        }
    }
}

/// Selects the run with an id.
fn by_id() -> String {
    format!("{ROW} WHERE id = ?1")
}

/// Opens a record where file or directory can't be written.
fn connect_where_read_only(real: &Path, shown: &Path) -> Result<Connection, Error> {
    let journal = file::journal(real);
    if journal == Journal::Absent {
        // No process has it open, or there would be a journal.
        return file::connect_immutable(real).at(shown);
    }
    match connect_locked(real) {
        Ok(connection) => Ok(connection),
        // SQLite needs a shared-memory file next to the journal and can't make one there.
        Err(_) if journal == Journal::Empty => file::connect_immutable(real).at(shown),
        Err(_) => {
            let path = shown.display();
            Err(Error::Failed(format!(
                "the latest cells of {path} are in {path}-wal, which can't be read in a read-only directory; copy both \
                 files to a directory that can be written"
            )))
        }
    }
}

/// Opens a record that may be written meanwhile, without the means to write it.
fn connect_locked(real: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(real, flags)?;
    connection.busy_timeout(WAIT_MAX)?;
    connection.query_row("SELECT count(*) FROM run", [], |_| Ok(()))?;
    Ok(connection)
}

fn use_wal(connection: &Connection) -> rusqlite::Result<()> {
    let set = connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()));
    match set {
        // Another process has just made the file and is about to do the same. Until it has, a
        // commit is as durable, only slower.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {}
        result => result?,
    }
    connection.pragma_update(None, "journal_size_limit", JOURNAL_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Archive;

    /// A merge asks for each run: a look at all of them would be quadratic.
    #[test]
    fn a_run_is_found_by_its_id_without_looking_at_the_others() {
        let directory = tempfile::tempdir().unwrap();
        let archive = SqliteArchive::open(directory.path().join("knee.db")).unwrap();
        let insert = "INSERT INTO run (id, origin, summary, begun, ending, seal) \
                      VALUES (?1, '', '{}', '{}', '{}', 0)";
        for n in 0..50 {
            archive.connection.execute(insert, [format!("{n:016x}")]).unwrap();
        }
        let number = archive.find(&format!("{:016x}", 17)).unwrap().map(|run| run.number);
        assert_eq!((number, archive.find("17").unwrap()), (Some(18), None));
        let select = archive.connection.prepare_cached(&by_id()).unwrap();
        assert!(select.get_status(rusqlite::StatementStatus::VmStep) > 0, "it was run");
        assert_eq!(select.get_status(rusqlite::StatementStatus::FullscanStep), 0);
    }

    /// Planning takes as long as reading a small cell.
    #[test]
    fn a_query_is_planned_once_for_all_runs() {
        let directory = tempfile::tempdir().unwrap();
        let archive = SqliteArchive::open(directory.path().join("knee.db")).unwrap();
        let query = format!("{ROW} WHERE number = ?1");
        let mut select = archive.connection.prepare_cached(&query).unwrap();
        for run in 1..5 {
            assert!(!select.exists([run]).unwrap());
        }
        assert_eq!(select.get_status(rusqlite::StatementStatus::Run), 4);
        assert_eq!(select.get_status(rusqlite::StatementStatus::RePrepare), 0);
    }

    /// What a kill can't show, only a power cut: that each commit reaches the disk.
    #[test]
    fn every_connection_that_writes_is_durable() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("knee.db");
        for _ in ["made", "opened"] {
            let archive = SqliteArchive::open(&path).unwrap();
            let pragma = |name| -> String {
                let sql = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
                archive.connection.query_row(&sql, [], |row| row.get(0)).unwrap()
            };
            assert_eq!(pragma("journal_mode"), "wal");
            assert_eq!(pragma("synchronous"), "2", "FULL");
            assert_eq!(pragma("foreign_keys"), "1");
            assert_eq!(pragma("auto_vacuum"), "2", "INCREMENTAL");
        }
    }
}
