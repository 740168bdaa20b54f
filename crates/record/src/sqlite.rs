//! The archive in one SQLite file.

use crate::archive::keep_by_steps;
use crate::error::At;
use crate::location::{self, Journal, Survey};
use crate::{
    Archive, Cell, Ending, Error, FleetMember, Host, Location, MetricInfo, Plan, Profile, Run,
    RunState, RunSummary, RunWriter, profile_rows, rows, schema, seal,
};
use rusqlite::backup::Backup;
use rusqlite::config::DbConfig;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Row, TransactionBehavior, named_params,
};
use std::ffi::c_int;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a write waits for other processes. One of theirs takes milliseconds; only deleting a
/// large run takes seconds.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// What is left of the journal's file after a checkpoint, at most.
const JOURNAL_BYTES_MAX: i64 = 8 << 20;

/// The columns of a [`RunSummary`].
const SUMMARY: &str = "number, id, started, ended, state, command, version, cells_planned, labels, \
     origin, (SELECT count(*) FROM cell WHERE cell.run = run.number) AS cells_ended, \
     CASE WHEN json_valid(host_before) THEN json_extract(host_before, '$.facts.\"host.name\"', \
     '$.facts.\"fleet.id\"', '$.facts.\"fleet.rank\"', '$.facts.\"fleet.size\"') END AS measured_on";

/// Runs in one SQLite file, which several processes may use at a time. SCHEMA.md describes the
/// file.
///
/// ```
/// use record::{Archive, Ending, Host, Plan, Run, RunState, RunSummary, RunWriter, SqliteArchive};
///
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("knee.db");
/// let mut archive = SqliteArchive::open(&file)?;
/// let run = Run {
///     summary: RunSummary {
///         number: 0,
///         id: "0123456789abcdef".into(),
///         started: "2026-11-21T13:51:34+00:00".into(),
///         ended: None,
///         state: RunState::Open,
///         command: vec!["knee".into(), "run".into()],
///         version: "0.1.0".into(),
///         cells_ended: 0,
///         cells_planned: 0,
///         labels: Default::default(),
///         origin: String::new(),
///         host: String::new(),
///         fleet: None,
///     },
///     plan: Plan::default(),
///     clock: Default::default(),
///     host_before: Host::default(),
///     host_after: None,
///     warnings: vec![],
///     cells: vec![],
///     profile: Default::default(),
/// };
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
    /// As the user named it, for messages.
    path: PathBuf,
    /// The same.
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
        let state = location::survey(path)?;
        if state == Survey::Missing {
            location::make_directory(path)?;
        }
        let real = location::real(path, state)?;
        location::check_writable(&real, state)?;
        if state == Survey::File {
            location::probe(&real, path)?;
        }
        Self::open_to_write(&real, path).map_err(|error| match state {
            // SQLite says only that it can't open a file, and not why.
            Survey::Missing => location::why_not_created(&real, path).unwrap_or(error),
            Survey::Empty | Survey::File => error,
        })
    }

    /// Opens the record at `path` to read it. Where file or directory can't be written, as on a
    /// read-only medium, and no process has it open, it is read without locks.
    ///
    /// What an older knee wrote stays as it is, because that knee may be writing it still: it is copied to a
    /// temporary database, which nobody else sees, and brought up to date there.
    ///
    /// # Errors
    /// [`Error::NoRecord`], [`Error::EmptyRecord`] when there is nothing to read;
    /// [`Error::UnreadableJournal`] when cells are in a journal that SQLite can't read there; else
    /// why it can't be opened.
    pub fn open_read_only(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
        let state = location::survey(path)?;
        match state {
            Survey::Missing => return Err(Error::NoRecord { path: path.into() }),
            Survey::Empty => return Err(Error::EmptyRecord { path: path.into() }),
            Survey::File => {}
        }
        let real = location::real(path, state)?;
        location::probe(&real, path)?;
        if location::check_writable(&real, state).is_err() {
            return Self::open_where_read_only(&real, path);
        }
        // A connection that may write can recover the journal of a killed process, and leaves no
        // journal of its own behind.
        let opened = if location::is_older(&real, path)? {
            Self::open_copy(&real, path)
        } else {
            Self::open_to_write(&real, path)
        };
        let archive = match opened {
            // No room even for that: it may do without.
            Err(full @ Error::DiskFull { .. }) => {
                return Self::open_where_read_only(&real, path).map_err(|_| full);
            }
            result => result?,
        };
        archive.connection.pragma_update(None, "query_only", true).at(path)?;
        Ok(archive)
    }

    /// Gives an open run another plan: of a load that ends after so many requests, the number of rounds is not known
    /// before. Its workloads and their metrics stay.
    ///
    /// # Errors
    /// [`Error::NoSuchRun`], [`Error::RunNotOpen`]; else why it can't be written.
    pub fn replan(&mut self, run: i64, plan: &Plan) -> Result<(), Error> {
        self.write(|transaction, path| {
            check_open(transaction, run, path)?;
            let sealed = seal::check_run(transaction, run, path)?;
            let planned = rows::run_count(plan.cells.len() as u64, "cells planned", path)?;
            let update = "UPDATE run SET plan = ?2, cells_planned = ?3 WHERE number = ?1";
            transaction.execute(update, (run, rows::json(plan, path)?, planned)).at(path)?;
            seal_again(transaction, run, sealed).at(path)
        })
    }

    /// The file, as it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn from_connection(shown: &Path, connection: Connection) -> Result<Self, Error> {
        // Else SQLite plans a query again for each run or cell that it is asked of, lest another number needs
        // another plan.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).at(shown)?;
        Ok(Self { path: shown.into(), location: Location::File(shown.into()), connection })
    }

    fn open_to_write(real: &Path, shown: &Path) -> Result<Self, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(real, flags).at(shown)?;
        connection.busy_timeout(WAIT_MAX).at(shown)?;
        connection.pragma_update(None, "trusted_schema", false).at(shown)?;
        schema::migrate(&mut connection, shown)?;
        use_wal(&connection).at(shown)?;
        connection.pragma_update(None, "synchronous", "FULL").at(shown)?;
        connection.pragma_update(None, "foreign_keys", true).at(shown)?;
        // Deleted is gone: zeros over the rows of pages that stay; `shrink` takes the others out.
        // (Zeros over all of them would need as much room as the run that is to make room.)
        connection.query_row("PRAGMA secure_delete = FAST", [], |_| Ok(())).at(shown)?;
        Self::from_connection(shown, connection)
    }

    fn open_copy(real: &Path, shown: &Path) -> Result<Self, Error> {
        // One that may write can read the journal of a killed process.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let original = Connection::open_with_flags(real, flags).at(shown)?;
        original.busy_timeout(WAIT_MAX).at(shown)?;
        Self::copied(&original, shown)
    }

    /// A temporary copy, which nobody else sees, brought up to date.
    fn copied(original: &Connection, shown: &Path) -> Result<Self, Error> {
        // Without a name it is in a file that goes with the connection.
        let mut connection = Connection::open("").at(shown)?;
        connection.pragma_update(None, "trusted_schema", false).at(shown)?;
        let all = c_int::MAX;
        Backup::new(original, &mut connection)
            .and_then(|copy| copy.run_to_completion(all, Duration::from_millis(10), None))
            .at(shown)?;
        schema::migrate(&mut connection, shown)?;
        connection.pragma_update(None, "query_only", true).at(shown)?;
        Self::from_connection(shown, connection)
    }

    /// Of an older schema a copy is brought up to date.
    fn open_where_read_only(real: &Path, shown: &Path) -> Result<Self, Error> {
        let connection = connect_where_read_only(real, shown)?;
        if schema::is_current(&connection, shown)? {
            return Self::from_connection(shown, connection);
        }
        Self::copied(&connection, shown)
    }

    fn write<T>(
        &mut self,
        work: impl FnOnce(&Connection, &Path) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // Within `wholly` there is a transaction, which keeps all or takes all back.
        if !self.connection.is_autocommit() {
            return work(&self.connection, &self.path);
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .at(&self.path)?;
        // A newer knee may have brought it up to date since it was opened.
        schema::is_current(&transaction, &self.path)?;
        let value = work(&transaction, &self.path)?;
        transaction.commit().at(&self.path)?;
        Ok(value)
    }

    /// Gives the room of deleted runs back, and takes their bytes out of the journal.
    fn shrink(&self) -> rusqlite::Result<()> {
        let mut vacuum = self.connection.prepare("PRAGMA incremental_vacuum")?;
        let mut freed = vacuum.query([])?;
        while freed.next()?.is_some() {}
        self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
    }
}

impl RunWriter for SqliteArchive {
    fn begin(&mut self, run: &Run) -> Result<i64, Error> {
        if !run.cells.is_empty() || !run.profile.is_empty() {
            let what = "a run that begins with cells".into();
            return Err(Error::Invalid { path: self.path.clone(), what });
        }
        rows::check_clock(&run.clock, &self.path)?;
        self.write(|transaction, path| {
            insert_run(transaction, run, path)?;
            let number = transaction.last_insert_rowid();
            insert_metric_infos(transaction, number, run).at(path)?;
            seal::seal_run(transaction, number).at(path)?;
            Ok(number)
        })
    }

    fn commit(&mut self, run: i64, cell: &Cell) -> Result<(), Error> {
        self.write(|transaction, path| {
            check_open(transaction, run, path)?;
            let there = transaction
                .prepare_cached("SELECT 1 FROM cell WHERE run = ?1 AND sequence = ?2")
                .and_then(|mut select| {
                    select.exists((run, i64::try_from(cell.sequence).unwrap_or(-1)))
                })
                .at(path)?;
            if there {
                let sequence = cell.sequence;
                return Err(Error::CellTwice { path: path.into(), run, sequence });
            }
            rows::insert_cell(transaction, run, cell, path)
        })
    }

    fn commit_profiled(&mut self, run: i64, profile: &Profile, cell: usize) -> Result<(), Error> {
        self.write(|transaction, path| {
            check_open(transaction, run, path)?;
            profile_rows::insert(transaction, run, profile, cell, path)
        })
    }

    fn finish(&mut self, run: i64, ending: &Ending) -> Result<(), Error> {
        if ending.state == RunState::Open {
            let what = "an ending that leaves the run open".into();
            return Err(Error::Invalid { path: self.path.clone(), what });
        }
        self.write(|transaction, path| {
            check_open(transaction, run, path)?;
            let sealed = seal::check_run(transaction, run, path)?;
            transaction
                .execute(
                    "UPDATE run SET state = :state, ended = :ended, host_after = :host_after, \
                     warnings = :warnings, \
                     cells_kept = (SELECT count(*) FROM cell WHERE run = :run), \
                     profiled_kept = \
                     (SELECT nullif(count(*), 0) FROM profile_cell WHERE run = :run) \
                     WHERE number = :run",
                    named_params! {
                        ":state": ending.state.name(),
                        ":ended": ending.ended,
                        ":host_after": rows::json(&ending.host_after, path)?,
                        ":warnings": rows::json(&ending.warnings, path)?,
                        ":run": run,
                    },
                )
                .at(path)?;
            seal_again(transaction, run, sealed).at(path)
        })?;
        // So that the file by itself holds the whole run, for whoever copies it. The run is safe
        // in the journal if this fails, and a later checkpoint makes up for it.
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
        Ok(())
    }
}

impl Archive for SqliteArchive {
    fn location(&self) -> &Location {
        &self.location
    }

    fn reopen(&mut self, run: i64) -> Result<(), Error> {
        self.write(|transaction, path| {
            if state_of(transaction, run, path)? == RunState::Complete {
                return Err(Error::RunComplete { path: path.into(), run });
            }
            let sealed = seal::check_run(transaction, run, path)?;
            transaction
                .execute(
                    "UPDATE run SET state = 'open', ended = NULL, host_after = NULL, \
                     cells_kept = NULL, profiled_kept = NULL WHERE number = ?1",
                    [run],
                )
                .at(path)?;
            seal_again(transaction, run, sealed).at(path)
        })
    }

    fn runs(&self) -> Result<Vec<RunSummary>, Error> {
        let path = &self.path;
        let mut select = self
            .connection
            .prepare_cached(&format!("SELECT {SUMMARY} FROM run ORDER BY number"))
            .at(path)?;
        let mut rows = select.query([]).at(path)?;
        let mut runs = Vec::new();
        while let Some(row) = rows.next().at(path)? {
            runs.push(read_summary_or_rest(row, path)?);
        }
        Ok(runs)
    }

    fn find(&self, id: &str) -> Result<Option<RunSummary>, Error> {
        let path = &self.path;
        let mut select = self.connection.prepare_cached(&by_id()).at(path)?;
        let mut rows = select.query([id]).at(path)?;
        rows.next().at(path)?.map(|row| read_summary_or_rest(row, path)).transpose()
    }

    fn damaged(&self) -> Result<Vec<i64>, Error> {
        let path = &self.path;
        let sql = format!("SELECT {SUMMARY}, cells_kept FROM run ORDER BY number");
        let mut select = self.connection.prepare_cached(&sql).at(path)?;
        let mut rows = select.query([]).at(path)?;
        let mut damaged = Vec::new();
        while let Some(row) = rows.next().at(path)? {
            let run = row.get("number").at(path)?;
            let (kept, ended) = (row.get("cells_kept").at(path)?, row.get("cells_ended").at(path)?);
            let whole = seal::check_run(&self.connection, run, path)
                .and_then(|_| check_count(ended, kept, run, path))
                .and_then(|()| read_summary(row, path).map(drop));
            match whole {
                Ok(()) => {}
                Err(Error::Damaged { .. }) => damaged.push(run),
                Err(error) => return Err(error),
            }
        }
        Ok(damaged)
    }

    fn plan_and_host(&self, run: i64) -> Result<(Plan, Host), Error> {
        let path = &self.path;
        let transaction = self.connection.unchecked_transaction().at(path)?;
        let mut select = transaction
            .prepare_cached("SELECT plan, host_before FROM run WHERE number = ?1")
            .at(path)?;
        let mut rows = select.query([run]).at(path)?;
        let Some(row) = rows.next().at(path)? else {
            return Err(no_such_run(run, path));
        };
        seal::check_run(&transaction, run, path)?;
        let plan: Plan = rows::from_json(row, "plan", path)?;
        Ok((plan.as_today(), rows::from_json(row, "host_before", path)?))
    }

    fn keep(&mut self, run: &Run, origin: &str) -> Result<i64, Error> {
        keep_by_steps(self, run, origin)
    }

    fn load(&self, run: i64) -> Result<Run, Error> {
        let path = &self.path;
        // One transaction, so that run and cells are of one moment.
        let transaction = self.connection.unchecked_transaction().at(path)?;
        let mut select = transaction
            .prepare_cached(&format!(
                "SELECT {SUMMARY}, plan, clock, host_before, host_after, warnings, cells_kept, profiled_kept \
                 FROM run WHERE number = ?1"
            ))
            .at(path)?;
        let mut rows = select.query([run]).at(path)?;
        let Some(row) = rows.next().at(path)? else {
            return Err(no_such_run(run, path));
        };
        let sealed = seal::check_run(&transaction, run, path)?;
        let cells = rows::select_cells(&transaction, run, sealed, path)?;
        check_count(cells.len(), row.get("cells_kept").at(path)?, run, path)?;
        let profile = profile_rows::select(&transaction, run, path)?;
        let kept: Option<usize> = row.get("profiled_kept").at(path)?;
        if let Some(kept) = kept.filter(|&kept| kept != profile.cells.len()) {
            let present = profile.cells.len();
            let detail = format!("{present} of {kept} profiled cells of run {run} are there");
            return Err(seal::damaged(path, detail));
        }
        let host_after: Option<Host> = match row.get_ref("host_after").at(path)? {
            rusqlite::types::ValueRef::Null => None,
            _ => Some(rows::from_json(row, "host_after", path)?),
        };
        let run = Run {
            summary: read_summary(row, path)?,
            plan: rows::from_json(row, "plan", path)?,
            clock: rows::from_json(row, "clock", path)?,
            host_before: rows::from_json(row, "host_before", path)?,
            host_after,
            warnings: rows::from_json(row, "warnings", path)?,
            cells,
            profile,
        };
        Ok(run.as_today())
    }

    fn set_baseline(&mut self, name: &str, run: i64) -> Result<(), Error> {
        self.write(|transaction, path| {
            state_of(transaction, run, path)?;
            let set = "INSERT INTO baseline (name, run) VALUES (?1, ?2) \
                       ON CONFLICT (name) DO UPDATE SET run = excluded.run";
            transaction.execute(set, (name, run)).at(path)?;
            Ok(())
        })
    }

    fn baselines(&self) -> Result<Vec<(String, i64)>, Error> {
        let path = &self.path;
        let mut select = self
            .connection
            .prepare_cached("SELECT name, run FROM baseline ORDER BY name")
            .at(path)?;
        let rows = select.query_map([], |row| Ok((row.get("name")?, row.get("run")?))).at(path)?;
        rows.collect::<rusqlite::Result<Vec<(String, i64)>>>().at(path)
    }

    fn wholly(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Archive) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.connection.execute_batch("BEGIN IMMEDIATE").at(&self.path)?;
        let schema = schema::is_current(&self.connection, &self.path);
        let done = schema
            .and_then(|_| work(self))
            .and_then(|()| self.connection.execute_batch("COMMIT").at(&self.path));
        if done.is_err() {
            // What failed may have ended the transaction itself.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        done
    }

    fn delete(&mut self, run: i64) -> Result<(), Error> {
        self.write(|transaction, path| {
            let runs = transaction.execute("DELETE FROM run WHERE number = ?1", [run]).at(path)?;
            if runs == 0 { Err(no_such_run(run, path)) } else { Ok(()) }
        })?;
        match self.shrink() {
            // Somebody else is at work: the room will be used again all the same.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
            result => result.at(&self.path),
        }
    }
}

/// Selects the summary of the run with an id.
fn by_id() -> String {
    format!("SELECT {SUMMARY} FROM run WHERE id = ?1")
}

/// Opens a record where file or directory can't be written.
fn connect_where_read_only(real: &Path, shown: &Path) -> Result<Connection, Error> {
    let journal = location::journal(real);
    if journal == Journal::Absent {
        // Nobody has it open, or there would be a journal.
        return location::connect_immutable(real).at(shown);
    }
    match connect_locked(real) {
        Ok(connection) => Ok(connection),
        // SQLite needs a shared-memory file next to the journal and can't make one there.
        Err(_) if journal == Journal::Empty => location::connect_immutable(real).at(shown),
        Err(_) => Err(Error::UnreadableJournal { path: shown.into() }),
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

fn insert_run(connection: &Connection, run: &Run, path: &Path) -> Result<(), Error> {
    let summary = &run.summary;
    let there = connection
        .query_row("SELECT 1 FROM run WHERE id = ?1", [&summary.id], |_| Ok(()))
        .optional()
        .at(path)?;
    if there.is_some() {
        return Err(Error::RunTwice { path: path.into(), id: summary.id.clone() });
    }
    connection
        .execute(
            "INSERT INTO run (id, started, state, version, cells_planned, command, plan, clock, \
             host_before, warnings, labels, origin) VALUES (:id, :started, :state, :version, \
             :cells_planned, :command, :plan, :clock, :host_before, :warnings, :labels, :origin)",
            named_params! {
                ":id": summary.id,
                ":started": summary.started,
                ":state": RunState::Open.name(),
                ":version": summary.version,
                ":cells_planned": rows::run_count(summary.cells_planned, "cells planned", path)?,
                ":command": rows::json(&summary.command, path)?,
                ":plan": rows::json(&run.plan, path)?,
                ":clock": rows::json(&run.clock, path)?,
                ":host_before": rows::json(&run.host_before, path)?,
                ":warnings": rows::json(&run.warnings, path)?,
                ":labels": rows::json(&summary.labels, path)?,
                ":origin": summary.origin,
            },
        )
        .at(path)?;
    Ok(())
}

/// Keeps the metrics of a plan as rows. Should a plan name one twice, the first counts, as in the
/// plan.
fn insert_metric_infos(connection: &Connection, number: i64, run: &Run) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(
        "INSERT OR IGNORE INTO metric_info (run, workload, metric, about, unit, lower_is_better) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for workload in &run.plan.workloads {
        for info in &workload.metrics {
            let MetricInfo { name, about, unit, lower_is_better, .. } = info;
            insert.execute((number, &workload.name, name, about, unit, lower_is_better))?;
        }
    }
    Ok(())
}

/// A run that an older knee began stays without a seal: nobody knows what it was.
fn seal_again(connection: &Connection, run: i64, sealed: bool) -> rusqlite::Result<()> {
    if sealed { seal::seal_run(connection, run) } else { Ok(()) }
}

/// Refuses a run that has lost cells since it ended.
fn check_count(present: usize, kept: Option<u64>, run: i64, path: &Path) -> Result<(), Error> {
    match kept.filter(|&kept| kept != present as u64) {
        None => Ok(()),
        Some(kept) => {
            Err(seal::damaged(path, format!("{present} of {kept} cells of run {run} are there")))
        }
    }
}

fn read_summary(row: &Row<'_>, path: &Path) -> Result<RunSummary, Error> {
    let (host, fleet) = measured_on(row);
    Ok(RunSummary {
        number: row.get("number").at(path)?,
        id: row.get("id").at(path)?,
        started: row.get("started").at(path)?,
        ended: row.get("ended").at(path)?,
        state: rows::state(row, path)?,
        command: rows::from_json(row, "command", path)?,
        version: row.get("version").at(path)?,
        cells_ended: row.get("cells_ended").at(path)?,
        cells_planned: row.get("cells_planned").at(path)?,
        labels: rows::from_json(row, "labels", path)?,
        origin: row.get("origin").at(path)?,
        host,
        fleet,
    })
}

/// The name of the machine of a run, and its place in its fleet. What can't be read of them says nothing of the run.
fn measured_on(row: &Row<'_>) -> (String, Option<FleetMember>) {
    let json: Option<String> = row.get("measured_on").ok().flatten();
    let facts: Option<Vec<Option<String>>> = json.and_then(|text| serde_json::from_str(&text).ok());
    let facts = facts.unwrap_or_default();
    let fact = |index: usize| facts.get(index).and_then(Option::as_deref);
    let fleet = fact(1).map(|id| FleetMember::new(id, fact(2), fact(3)));
    (fact(0).unwrap_or_default().to_owned(), fleet)
}

/// The summary of a run; the other runs are there all the same where some columns of one can't be read.
fn read_summary_or_rest(row: &Row<'_>, path: &Path) -> Result<RunSummary, Error> {
    match read_summary(row, path) {
        Err(Error::Damaged { .. }) => what_is_left(row, path),
        result => result,
    }
}

/// The summary of a run of which some columns can't be read: without them.
fn what_is_left(row: &Row<'_>, path: &Path) -> Result<RunSummary, Error> {
    let (host, fleet) = measured_on(row);
    Ok(RunSummary {
        number: row.get("number").at(path)?,
        id: row.get("id").unwrap_or_default(),
        started: row.get("started").unwrap_or_default(),
        ended: row.get("ended").unwrap_or_default(),
        state: rows::state(row, path).unwrap_or(RunState::Interrupted),
        command: rows::from_json(row, "command", path).unwrap_or_default(),
        version: row.get("version").unwrap_or_default(),
        cells_ended: row.get("cells_ended").unwrap_or_default(),
        cells_planned: row.get("cells_planned").unwrap_or_default(),
        labels: rows::from_json(row, "labels", path).unwrap_or_default(),
        origin: row.get("origin").unwrap_or_default(),
        host,
        fleet,
    })
}

fn state_of(connection: &Connection, run: i64, path: &Path) -> Result<RunState, Error> {
    let mut select =
        connection.prepare_cached("SELECT state FROM run WHERE number = ?1").at(path)?;
    let mut rows = select.query([run]).at(path)?;
    match rows.next().at(path)? {
        Some(row) => rows::state(row, path),
        None => Err(no_such_run(run, path)),
    }
}

fn check_open(connection: &Connection, run: i64, path: &Path) -> Result<(), Error> {
    match state_of(connection, run, path)? {
        RunState::Open => Ok(()),
        state => Err(Error::RunNotOpen { path: path.into(), run, state }),
    }
}

fn no_such_run(run: i64, path: &Path) -> Error {
    Error::NoSuchRun { path: path.into(), run: run.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A merge asks for each run: a look at all of them would be quadratic.
    #[test]
    fn a_run_is_found_by_its_id_without_looking_at_the_others() {
        let directory = tempfile::tempdir().unwrap();
        let archive = SqliteArchive::open(directory.path().join("knee.db")).unwrap();
        let insert = "INSERT INTO run (id, started, state, version, cells_planned, command, plan, clock, \
                      host_before, warnings, labels, origin) \
                      VALUES (?1, '', 'open', '', 0, '[]', '{}', '{}', '{}', '[]', '{}', '')";
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
        let query = seal::select_cell("WHERE run = ?1 ORDER BY number");
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
