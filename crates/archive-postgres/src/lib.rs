//! The archive of many machines, in a PostgreSQL database: whole runs come in one transaction each, and every
//! command that reads a record reads it. docs/archive.md describes the schema.
#![forbid(unsafe_code)]

mod cells;
mod client;
mod columns;
mod connect;
mod fault;
mod meeting;
mod password;
mod profiles;
mod schema;

pub use meeting::PostgresMeeting;

use crate::client::{Client, QueryError};
use crate::columns::{Json, count, get, get_count, get_json, get_json_if_any, text};
use crate::fault::{At, at_with_names, damaged, is_there_already};
use jiff::Timestamp;
use record::keeping::{self, check_clock};
use record::{
    Archive, Cell, DatabaseUrl, Ending, Error, FleetMember, HOST_NAME, Host, Location, Plan,
    Profile, Run, RunState, RunSummary, RunWriter,
};
use std::borrow::Cow;
use std::cell::{RefCell, RefMut};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// The columns of a [`RunSummary`]. All of it is in `summary`, as JSON; the others stand in where that can't be read.
const SUMMARY: &str = "number, id, origin, summary::text, host, fleet, fleet_rank, fleet_size, state, version, \
     cells_planned, labels::text, \
     to_char(started AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"+00:00\"') AS started, \
     to_char(ended AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS\"+00:00\"') AS ended, \
     coalesce(cells_kept, (SELECT count(*) FROM knee.cell WHERE cell.run = run.number)) AS cells_ended";

/// Whether a run has lost rows since it ended.
const IS_SHORT: &str = "coalesce(cells_kept <> (SELECT count(*) FROM knee.cell WHERE cell.run = run.number), false) \
     OR coalesce(metrics_kept <> (SELECT count(*) FROM knee.metric WHERE metric.run = run.number), false) \
     OR coalesce(profiled_kept <> \
     (SELECT count(*) FROM knee.profile_cell WHERE profile_cell.run = run.number), false)";

/// Runs in a PostgreSQL database, which many machines may use at a time.
///
/// Each change is one transaction: it is there wholly or not at all, whatever ends the process, the server or the
/// link between them.
pub struct PostgresArchive {
    location: Location,
    /// The URL without secrets, for messages.
    shown: PathBuf,
    client: RefCell<Client>,
    /// Whether a transaction of [`Archive::wholly`] is open.
    is_whole: bool,
}

impl fmt::Debug for PostgresArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresArchive").field(&self.location).finish()
    }
}

/// Begins a transaction that writes. No limit of the server ends it: what takes long would never be there.
pub(crate) const WRITE: &str = "BEGIN; SELECT set_config(name, '0', true) FROM pg_settings \
     WHERE name IN ('statement_timeout', 'transaction_timeout')";
/// Until a server is given up that is silent while it does what shows nothing before its end.
pub(crate) const LONG_ANSWER_MAX: Duration = Duration::from_secs(1_800);

impl PostgresArchive {
    /// Opens the archive at `url`; makes it where the database has none, and brings an older one up to date.
    ///
    /// # Errors
    /// [`Error::Server`], [`Error::NewerSchema`].
    pub fn open(url: &DatabaseUrl) -> Result<Self, Error> {
        let mut client = connect::connect(url)?;
        schema::migrate(&mut client, url.shown())?;
        Ok(Self::new(url, client))
    }

    /// Opens the archive at `url` to read it.
    ///
    /// # Errors
    /// As [`PostgresArchive::open`]; also where there is no archive yet, or one that an older knee made.
    pub fn open_read_only(url: &DatabaseUrl) -> Result<Self, Error> {
        let mut client = connect::connect(url)?;
        schema::check_current(&mut client, url.shown())?;
        client.batch_execute("SET default_transaction_read_only = on").at(url.shown())?;
        Ok(Self::new(url, client))
    }

    fn new(url: &DatabaseUrl, client: Client) -> Self {
        Self {
            location: Location::Postgres(url.clone()),
            shown: url.shown().into(),
            client: RefCell::new(client),
            is_whole: false,
        }
    }

    /// Lets the server be silent for `silence_max`, and no longer, while it has something to do: two minutes otherwise.
    /// While it does what shows nothing before its end, for `long_answer_max`: half an hour otherwise.
    pub fn set_silence_max(&mut self, silence_max: Duration, long_answer_max: Duration) {
        self.client.get_mut().set_silence_max(silence_max, long_answer_max);
    }

    fn client(&self) -> RefMut<'_, Client> {
        self.client.borrow_mut()
    }

    /// Does `work` in a transaction: in that of [`Archive::wholly`] where there is one.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Client, &Path) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (client, path) = (self.client.get_mut(), self.shown.as_path());
        if self.is_whole {
            return work(client, path);
        }
        in_transaction(client, WRITE, path, |client| work(client, path))
    }
}

/// Refuses a URL that can't be understood, without connecting.
///
/// # Errors
/// [`Error::Server`].
pub fn check(url: &DatabaseUrl) -> Result<(), Error> {
    connect::check(url)
}

/// Keeps all that `work` does, or nothing.
pub(crate) fn in_transaction<T>(
    client: &mut Client,
    begin: &str,
    path: &Path,
    work: impl FnOnce(&mut Client) -> Result<T, Error>,
) -> Result<T, Error> {
    client.batch_execute(begin).at(path)?;
    let done = work(client);
    let ended = end_transaction(client, done.is_ok()).at(path);
    let value = done?;
    ended?;
    Ok(value)
}

/// Commits a transaction, for which the server may check what was put off until then, or rolls it back.
fn end_transaction(client: &mut Client, is_done: bool) -> Result<(), QueryError> {
    if is_done {
        client.with_long_answer(|client| client.batch_execute("COMMIT"))
    } else {
        client.batch_execute("ROLLBACK")
    }
}

impl RunWriter for PostgresArchive {
    fn begin(&mut self, run: &Run) -> Result<i64, Error> {
        if !run.cells.is_empty() || !run.profile.is_empty() {
            let what = "a run that begins with cells".into();
            return Err(Error::Invalid { path: self.shown.clone(), what });
        }
        self.write(|client, path| {
            let begun = RunSummary { state: RunState::Open, ended: None, ..run.summary.clone() };
            insert_run(client, run, &begun, None, path)
        })
    }

    fn commit(&mut self, run: i64, cell: &Cell) -> Result<(), Error> {
        self.write(|client, path| {
            check_open(client, run, path)?;
            let sql = "SELECT coalesce(max(ordinal) + 1, 0) AS next, \
                 coalesce(bool_or(sequence = $2), false) AS is_there FROM knee.cell WHERE run = $1";
            let sequence = count(cell.sequence, "the place", path)?;
            let row = client.query_one(sql, &[&run, &sequence]).at(path)?;
            if get(&row, "is_there", path)? {
                let sequence = cell.sequence;
                return Err(Error::CellTwice { path: path.into(), run, sequence });
            }
            let next = get(&row, "next", path)?;
            cells::insert(client, run, next, std::slice::from_ref(cell), path)
        })
    }

    fn commit_profiled(&mut self, run: i64, profile: &Profile, cell: usize) -> Result<(), Error> {
        self.write(|client, path| {
            check_open(client, run, path)?;
            profiles::insert(client, run, profile, cell, path)
        })
    }

    fn finish(&mut self, run: i64, ending: &Ending) -> Result<(), Error> {
        if ending.state == RunState::Open {
            let what = "an ending that leaves the run open".into();
            return Err(Error::Invalid { path: self.shown.clone(), what });
        }
        self.write(|client, path| {
            let mut summary = check_open(client, run, path)?;
            summary.state = ending.state;
            summary.ended = Some(ending.ended.clone());
            let sql = "UPDATE knee.run SET state = $2, ended = $3::text::timestamptz, summary = $4, \
                 host_after = $5, warnings = $6, \
                 cells_kept = (SELECT count(*) FROM knee.cell WHERE run = $1), \
                 metrics_kept = (SELECT count(*) FROM knee.metric WHERE run = $1), \
                 profiled_kept = (SELECT count(*) FROM knee.profile_cell WHERE run = $1) \
                 WHERE number = $1";
            let row: [&(dyn ToSql + Sync); 6] = [
                &run,
                &summary.state.name(),
                &moment(Some(&ending.ended)),
                &Json::new(&summary, path)?,
                &Json::new(&ending.host_after, path)?,
                &Json::new(&ending.warnings, path)?,
            ];
            client.execute(sql, &row).map(drop).at(path)
        })
    }
}

impl Archive for PostgresArchive {
    fn location(&self) -> &Location {
        &self.location
    }

    fn reopen(&mut self, run: i64) -> Result<(), Error> {
        self.write(|client, path| {
            let mut summary = lock(client, run, path)?;
            if summary.state == RunState::Complete {
                return Err(Error::RunComplete { path: path.into(), run });
            }
            summary.state = RunState::Open;
            summary.ended = None;
            let sql = "UPDATE knee.run SET state = $2, ended = NULL, summary = $3, host_after = NULL, \
                 cells_kept = NULL, metrics_kept = NULL, profiled_kept = NULL WHERE number = $1";
            let summary = (summary.state.name(), Json::new(&summary, path)?);
            client.execute(sql, &[&run, &summary.0, &summary.1]).map(drop).at(path)
        })
    }

    fn runs(&self) -> Result<Vec<RunSummary>, Error> {
        let path = &self.shown;
        // A number says only when a run was pushed.
        let sql =
            format!("SELECT {SUMMARY} FROM knee.run ORDER BY run.started NULLS FIRST, run.number");
        let rows = self.client().query(&sql, &[]).at(path)?;
        rows.iter().map(|row| read_summary_or_columns(row, path)).collect()
    }

    fn find(&self, id: &str) -> Result<Option<RunSummary>, Error> {
        let path = &self.shown;
        let sql = format!("SELECT {SUMMARY} FROM knee.run WHERE id = $1");
        let row = self.client().query_opt(&sql, &[&id]).at(path)?;
        row.map(|row| read_summary_or_columns(&row, path)).transpose()
    }

    fn load(&self, run: i64) -> Result<Run, Error> {
        let path = self.shown.as_path();
        // One transaction, so that run and cells are of one moment.
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        in_transaction(&mut self.client(), begin, path, |client| load(client, run, path))
    }

    fn plan_and_host(&self, run: i64) -> Result<(Plan, Host), Error> {
        let path = &self.shown;
        let sql = "SELECT plan::text, host_before::text FROM knee.run WHERE number = $1";
        let row = self.client().query_opt(sql, &[&run]).at(path)?;
        let row = row.ok_or_else(|| no_such_run(run, path))?;
        let plan: Plan = get_json(&row, "plan", path)?;
        Ok((plan.as_today(), get_json(&row, "host_before", path)?))
    }

    fn damaged(&self) -> Result<Vec<i64>, Error> {
        let path = &self.shown;
        let sql = format!("SELECT {SUMMARY}, {IS_SHORT} AS is_short FROM knee.run ORDER BY number");
        let rows = self.client().with_long_answer(|client| client.query(&sql, &[])).at(path)?;
        let mut damaged = Vec::new();
        for row in &rows {
            if get(row, "is_short", path)? || read_summary(row, path).is_err() {
                damaged.push(get(row, "number", path)?);
            }
        }
        Ok(damaged)
    }

    fn keep(&mut self, run: &Run, origin: &str) -> Result<i64, Error> {
        let ending = Ending::from_run(run);
        self.write(|client, path| {
            let summary = RunSummary { origin: origin.to_owned(), ..run.summary.clone() };
            let number = insert_run(client, run, &summary, ending.as_ref(), path)?;
            cells::insert(client, number, 0, &run.cells, path)?;
            profiles::insert_all(client, number, &run.profile, path)?;
            Ok(number)
        })
    }

    fn as_kept<'a>(&self, run: &'a Run) -> Result<Cow<'a, Run>, Error> {
        keeping::as_kept(run, &columns::text, &self.shown)
    }

    fn set_baseline(&mut self, name: &str, run: i64) -> Result<(), Error> {
        self.write(|client, path| {
            lock(client, run, path)?;
            let sql = "INSERT INTO knee.baseline (name, run) VALUES ($1, $2) \
                 ON CONFLICT (name) DO UPDATE SET run = excluded.run";
            at_with_names(client.execute(sql, &[&name, &run]).map(drop), path, [name])
        })
    }

    fn baselines(&self) -> Result<Vec<(String, i64)>, Error> {
        let path = &self.shown;
        let sql = "SELECT name, run FROM knee.baseline ORDER BY name COLLATE \"C\"";
        let rows = self.client().query(sql, &[]).at(path)?;
        rows.iter().map(|row| Ok((get(row, "name", path)?, get(row, "run", path)?))).collect()
    }

    fn wholly(
        &mut self,
        work: &mut dyn FnMut(&mut dyn Archive) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.client.get_mut().batch_execute(WRITE).at(&self.shown)?;
        self.is_whole = true;
        let done = work(self);
        self.is_whole = false;
        let ended = end_transaction(self.client.get_mut(), done.is_ok()).at(&self.shown);
        done.and(ended)
    }

    fn delete(&mut self, run: i64) -> Result<(), Error> {
        self.write(|client, path| {
            let sql = "DELETE FROM knee.run WHERE number = $1";
            let delete = |client: &mut Client| client.execute(sql, &[&run]);
            let runs = client.with_long_answer(delete).at(path)?;
            if runs == 0 { Err(no_such_run(run, path)) } else { Ok(()) }
        })
    }
}

/// Writes the row of a run and what its metrics are. Without an `ending` it is open.
fn insert_run(
    client: &mut Client,
    run: &Run,
    summary: &RunSummary,
    ending: Option<&Ending>,
    path: &Path,
) -> Result<i64, Error> {
    check_clock(&run.clock, path)?;
    let host = run.host_before.facts.get(HOST_NAME).map(|name| text(name)).unwrap_or_default();
    let fleet = run.host_before.fleet();
    let rank = fleet.as_ref().and_then(|fleet| fleet.rank).map(i64::from);
    let size = fleet.as_ref().and_then(|fleet| fleet.size).map(i64::from);
    let kept = |cells: usize| ending.map(|_| i64::try_from(cells).unwrap_or(i64::MAX));
    let (state, ended) = match ending {
        Some(ending) => (ending.state, Some(ending.ended.as_str())),
        None => (RunState::Open, None),
    };
    let summary =
        RunSummary { state, ended: ended.map(str::to_owned), number: 0, ..summary.clone() };
    let metrics = run.cells.iter().map(|cell| cell.metrics.len()).sum();
    let fleet = fleet.map(|fleet| text(&fleet.id));
    let row: [&(dyn ToSql + Sync); 21] = [
        &summary.id,
        &moment(Some(&summary.started)),
        &moment(ended),
        &state.name(),
        &host,
        &text(&summary.version),
        &summary.origin,
        &Json::new(&summary.labels, path)?,
        &count(summary.cells_planned, "cells planned", path)?,
        &kept(run.cells.len()),
        &kept(run.profile.cells.len()),
        &Json::new(&summary, path)?,
        &Json::new(&run.plan, path)?,
        &Json::new(&run.clock, path)?,
        &Json::new(&run.host_before, path)?,
        &ending.map(|ending| Json::new(&ending.host_after, path)).transpose()?,
        &Json::new(&run.warnings, path)?,
        &fleet,
        &rank,
        &size,
        &kept(metrics),
    ];
    let sql = "INSERT INTO knee.run (id, started, ended, state, host, version, origin, labels, \
         cells_planned, cells_kept, profiled_kept, summary, plan, clock, host_before, host_after, \
         warnings, fleet, fleet_rank, fleet_size, metrics_kept) VALUES ($1, $2::text::timestamptz, $3::text::timestamptz, $4, $5, $6, $7, $8, $9, \
         $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21) RETURNING number";
    let written = client.query_one(sql, &row);
    let written = match written {
        Err(error) if is_there_already(&error) => {
            return Err(Error::RunTwice { path: path.into(), id: summary.id });
        }
        written => at_with_names(written, path, [&*host].into_iter().chain(fleet.as_deref()))?,
    };
    let number = get(&written, "number", path)?;
    insert_metric_infos(client, number, run, path)?;
    Ok(number)
}

/// Keeps what the metrics of a plan are. Should a plan name one twice, the first counts, as in the plan.
fn insert_metric_infos(
    client: &mut Client,
    number: i64,
    run: &Run,
    path: &Path,
) -> Result<(), Error> {
    let infos = run.plan.workloads.iter();
    let infos =
        infos.flat_map(|workload| workload.metrics.iter().map(move |info| (workload, info)));
    let (mut workloads, mut names, mut abouts, mut units, mut lower) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (workload, info) in infos {
        workloads.push(text(&workload.name));
        names.push(text(&info.name));
        abouts.push(text(&info.about));
        units.push(text(&info.unit));
        lower.push(info.lower_is_better);
    }
    let sql = "INSERT INTO knee.metric_info (run, workload, metric, about, unit, lower_is_better) \
         SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[]) \
         ON CONFLICT DO NOTHING";
    let written =
        client.execute(sql, &[&number, &workloads, &names, &abouts, &units, &lower]).map(drop);
    at_with_names(written, path, workloads.iter().chain(&names).map(String::as_str))
}

/// A moment as the server reads it; none where the text is not one.
fn moment(text: Option<&str>) -> Option<String> {
    text.and_then(|text| text.parse::<Timestamp>().ok()).map(|moment| moment.to_string())
}

fn load(client: &mut Client, run: i64, path: &Path) -> Result<Run, Error> {
    let sql = format!(
        "SELECT {SUMMARY}, plan::text, clock::text, host_before::text, host_after::text, \
         warnings::text, cells_kept, metrics_kept, profiled_kept FROM knee.run WHERE number = $1"
    );
    let row = client.query_opt(&sql, &[&run]).at(path)?;
    let row = row.ok_or_else(|| no_such_run(run, path))?;
    let cells = cells::select(client, run, path)?;
    let profile = profiles::select(client, run, path)?;
    for (present, column, what) in [
        (cells.len(), "cells_kept", "cells"),
        (cells.iter().map(|cell| cell.metrics.len()).sum(), "metrics_kept", "metrics"),
        (profile.cells.len(), "profiled_kept", "profiled cells"),
    ] {
        let kept: Option<i64> = get(&row, column, path)?;
        if let Some(kept) = kept.filter(|&kept| usize::try_from(kept) != Ok(present)) {
            return Err(damaged(
                path,
                format!("{present} of {kept} {what} of run {run} are there"),
            ));
        }
    }
    let run = Run {
        summary: read_summary(&row, path)?,
        plan: get_json(&row, "plan", path)?,
        clock: get_json(&row, "clock", path)?,
        host_before: get_json(&row, "host_before", path)?,
        host_after: get_json_if_any(&row, "host_after", path)?,
        warnings: get_json(&row, "warnings", path)?,
        cells,
        profile,
    };
    Ok(run.as_today())
}

fn read_summary(row: &Row, path: &Path) -> Result<RunSummary, Error> {
    let mut summary: RunSummary = get_json(row, "summary", path)?;
    summary.number = get(row, "number", path)?;
    summary.origin = get(row, "origin", path)?;
    summary.cells_ended = get_count(row, "cells_ended", path)?;
    summary.host = get(row, "host", path)?;
    summary.fleet = read_fleet(row, path)?;
    Ok(summary)
}

fn read_fleet(row: &Row, path: &Path) -> Result<Option<FleetMember>, Error> {
    let id: Option<String> = get(row, "fleet", path)?;
    let member = |column| -> Result<Option<u32>, Error> {
        let number: Option<i64> = get(row, column, path)?;
        Ok(number.and_then(|number| u32::try_from(number).ok()))
    };
    let (rank, size) = (member("fleet_rank")?, member("fleet_size")?);
    Ok(id.map(|id| FleetMember { id, rank, size }))
}

/// The same; where the JSON can't be read, without what only that has. The other runs are there all the same.
fn read_summary_or_columns(row: &Row, path: &Path) -> Result<RunSummary, Error> {
    match read_summary(row, path) {
        Err(Error::Damaged { .. }) => {}
        result => return result,
    }
    let started: Option<String> = get(row, "started", path)?;
    let state: &str = get(row, "state", path)?;
    let states = [RunState::Open, RunState::Complete];
    Ok(RunSummary {
        number: get(row, "number", path)?,
        id: get(row, "id", path)?,
        started: started.unwrap_or_default(),
        ended: get(row, "ended", path)?,
        state: states
            .into_iter()
            .find(|named| named.name() == state)
            .unwrap_or(RunState::Interrupted),
        command: Vec::new(),
        version: get(row, "version", path)?,
        cells_ended: get_count(row, "cells_ended", path).unwrap_or_default(),
        cells_planned: get_count(row, "cells_planned", path).unwrap_or_default(),
        labels: get_json(row, "labels", path).unwrap_or_default(),
        origin: get(row, "origin", path)?,
        host: get(row, "host", path)?,
        fleet: read_fleet(row, path)?,
    })
}

/// The summary of a run that no other process changes until this transaction ends.
fn lock(client: &mut Client, run: i64, path: &Path) -> Result<RunSummary, Error> {
    let sql = format!("SELECT {SUMMARY} FROM knee.run WHERE number = $1 FOR UPDATE");
    let row = client.query_opt(&sql, &[&run]).at(path)?;
    row.map_or_else(|| Err(no_such_run(run, path)), |row| read_summary(&row, path))
}

fn check_open(client: &mut Client, run: i64, path: &Path) -> Result<RunSummary, Error> {
    let summary = lock(client, run, path)?;
    match summary.state {
        RunState::Open => Ok(summary),
        state => Err(Error::RunNotOpen { path: path.into(), run, state }),
    }
}

fn no_such_run(run: i64, path: &Path) -> Error {
    Error::NoSuchRun { path: path.into(), run: run.to_string() }
}
