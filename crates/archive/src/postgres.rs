//! The archive of many machines, in a PostgreSQL database: whole runs come in one transaction each, and every
//! command that reads a record reads it. docs/archive.md describes the schema.

mod client;
mod columns;
mod connect;
mod fault;
mod meeting;
mod password;
mod schema;

pub use meeting::PostgresMeeting;

use self::client::Client;
use self::columns::{Column, Json, copy_into};
use self::fault::{at_with_names, is_there_already};
use crate::body::{CellRow, ProfileRow, RunBodies, RunRow, damaged};
use crate::database::{Database, Done, RunChange, Which};
use crate::error::At;
use crate::{DatabaseUrl, Error, Location, keeping};
use jiff::Timestamp;
use model::RunSummary;
use std::cell::{RefCell, RefMut};
use std::fmt;
use std::path::Path;
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, ToSql, Type};

/// Rows of runs, but for what only a loaded run shows.
const ROW: &str = "SELECT number, id, origin, summary::text, seal, \
     (SELECT count(*) FROM knee.cell WHERE cell.run = run.number) AS cells, \
     (SELECT count(*) FROM knee.profile WHERE profile.run = run.number) AS profiled FROM knee.run";
/// The columns of `knee.cell` that are written, in their order.
static CELL: [Column; 8] = [
    ("run", Type::INT8),
    ("sequence", Type::INT8),
    ("ordinal", Type::INT8),
    ("body", Type::JSON),
    ("positions", Type::JSON),
    ("samples", Type::FLOAT8_ARRAY),
    ("lengths", Type::INT8_ARRAY),
    ("seal", Type::INT8),
];
/// The same of `knee.profile`.
static PROFILE: [Column; 5] = [
    ("run", Type::INT8),
    ("ordinal", Type::INT8),
    ("key", Type::TEXT),
    ("body", Type::JSON),
    ("seal", Type::INT8),
];

/// Runs in a PostgreSQL database, which many machines may use at a time.
///
/// Each change is one transaction: it is there wholly or not at all, whatever ends the process, the server or the
/// link between them.
pub struct PostgresArchive {
    location: Location,
    client: RefCell<Client>,
    /// Whether a transaction that writes is open.
    is_whole: bool,
}

impl fmt::Debug for PostgresArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresArchive").field(&self.location).finish()
    }
}

/// PostgreSQL has no such character in a text. It is kept as this one.
const NUL_AS: &str = "␀";
/// Begins a transaction that writes. No limit of the server ends it: what takes long would never be there.
const WRITE: &str = "BEGIN; SELECT set_config(name, '0', true) FROM pg_settings \
     WHERE name IN ('statement_timeout', 'transaction_timeout')";
/// Until a server is given up that is silent while it does what shows nothing before its end.
pub(crate) const LONG_ANSWER_MAX: Duration = Duration::from_secs(1_800);

impl PostgresArchive {
    /// Opens the archive at `url`; makes it where the database has none.
    ///
    /// # Errors
    /// [`Error::Server`]; [`Error::Refused`] where a newer knee made it.
    pub fn open(url: &DatabaseUrl) -> Result<Self, Error> {
        let mut client = connect::connect(url)?;
        schema::create(&mut client, url.shown())?;
        Ok(Self::new(url, client))
    }

    /// Opens the archive at `url` to read it.
    ///
    /// # Errors
    /// As [`PostgresArchive::open`]; also where there is no archive yet.
    pub fn open_read_only(url: &DatabaseUrl) -> Result<Self, Error> {
        let mut client = connect::connect(url)?;
        schema::check(&mut client, url.shown())?;
        client.batch_execute("SET default_transaction_read_only = on").at(url.shown())?;
        Ok(Self::new(url, client))
    }

    fn new(url: &DatabaseUrl, client: Client) -> Self {
        Self {
            location: Location::Postgres(url.clone()),
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

    fn query<T>(
        &self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
        read: impl Fn(&Row) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let rows = self.client().query(sql, values).at(self.location.shown())?;
        rows.iter().map(read).collect()
    }

    fn get<'a, T: FromSql<'a>>(&self, row: &'a Row, column: &str) -> Result<T, Error> {
        row.try_get(column)
            .map_err(|error| damaged(self.location.shown(), format!("column {column}: {error}")))
    }

    fn next_ordinal(&self, table: &str, run: i64) -> Result<i64, Error> {
        let sql = format!(
            "SELECT coalesce(max(ordinal) + 1, 0) AS next FROM knee.{table} WHERE run = $1"
        );
        let row = self.client().query_one(&sql, &[&run]).at(self.location.shown())?;
        self.get(&row, "next")
    }

    fn read_row(&self, row: &Row) -> Result<RunRow, Error> {
        let count = |column| -> Result<u64, Error> {
            Ok(u64::try_from(self.get::<i64>(row, column)?).unwrap_or_default())
        };
        Ok(RunRow {
            number: self.get(row, "number")?,
            id: self.get(row, "id")?,
            origin: self.get(row, "origin")?,
            summary: self.get(row, "summary")?,
            seal: self.get(row, "seal")?,
            cells: count("cells")?,
            profiled: count("profiled")?,
        })
    }

    fn read_cell(&self, row: &Row) -> Result<CellRow, Error> {
        let (mut all, lengths): (Vec<f64>, Vec<i64>) =
            (self.get(row, "samples")?, self.get(row, "lengths")?);
        let mut samples = Vec::with_capacity(lengths.len());
        for length in lengths {
            let length = usize::try_from(length).ok().filter(|&length| length <= all.len());
            let length = length
                .ok_or_else(|| damaged(self.location.shown(), "column lengths".to_owned()))?;
            let rest = all.split_off(length);
            samples.push(std::mem::replace(&mut all, rest));
        }
        Ok(CellRow {
            sequence: u64::try_from(self.get::<i64>(row, "sequence")?).unwrap_or(u64::MAX),
            body: self.get(row, "body")?,
            positions: self.get(row, "positions")?,
            samples,
            seal: self.get(row, "seal")?,
        })
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
    path: &Path,
    work: impl FnOnce(&mut Client) -> Result<T, Error>,
) -> Result<T, Error> {
    client.batch_execute(WRITE).at(path)?;
    let done = work(client);
    end_transaction(client, path, done)
}

/// Commits a transaction in which all was done, for which the server may check what was put off until then, or rolls it
/// back.
fn end_transaction<T>(
    client: &mut Client,
    path: &Path,
    done: Result<T, Error>,
) -> Result<T, Error> {
    let ended = match &done {
        Ok(_) => client.with_long_answer(|client| client.batch_execute("COMMIT")),
        Err(_) => client.batch_execute("ROLLBACK"),
    };
    let value = done?;
    ended.at(path).map(|()| value)
}

impl Database for PostgresArchive {
    fn location(&self) -> &Location {
        &self.location
    }

    /// PostgreSQL has no U+0000 in a text. It is kept as another character.
    fn text(text: &str) -> String {
        keeping::clean(text).replace('\0', NUL_AS)
    }

    fn write<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.is_whole {
            return work(self);
        }
        self.client().batch_execute(WRITE).at(self.location.shown())?;
        self.is_whole = true;
        let done = work(self);
        self.is_whole = false;
        end_transaction(self.client.get_mut(), self.location.shown(), done)
    }

    fn read<T>(&self, work: impl FnOnce(&Self) -> Result<T, Error>) -> Result<T, Error> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
        self.client().batch_execute(begin).at(self.location.shown())?;
        let done = work(self);
        end_transaction(&mut self.client(), self.location.shown(), done)
    }

    fn rows(&self, which: Which<'_>) -> Result<Vec<RunRow>, Error> {
        let read = |row: &Row| self.read_row(row);
        match which {
            // A number says only when a run was pushed.
            Which::All => {
                let sql = format!("{ROW} ORDER BY run.started NULLS FIRST, run.number");
                let rows = self.client().with_long_answer(|client| client.query(&sql, &[]));
                rows.at(self.location.shown())?.iter().map(read).collect()
            }
            Which::Id(id) => self.query(&format!("{ROW} WHERE id = $1"), &[&id], read),
            Which::Number(run) => self.query(&format!("{ROW} WHERE number = $1"), &[&run], read),
            Which::Locked(run) => {
                self.query(&format!("{ROW} WHERE number = $1 FOR UPDATE"), &[&run], read)
            }
        }
    }

    fn bodies(&self, run: i64) -> Result<RunBodies, Error> {
        let sql = "SELECT begun::text, ending::text FROM knee.run WHERE number = $1";
        let row = self.client().query_one(sql, &[&run]).at(self.location.shown())?;
        Ok(RunBodies { begun: self.get(&row, "begun")?, ending: self.get(&row, "ending")? })
    }

    fn insert_run(
        &mut self,
        row: &RunRow,
        summary: &RunSummary,
        bodies: &RunBodies,
    ) -> Result<i64, Error> {
        let sql = "INSERT INTO knee.run (id, origin, started, ended, summary, begun, ending, seal) \
             VALUES ($1, $2, $3::text::timestamptz, $4::text::timestamptz, $5, $6, $7, $8) RETURNING number, host, fleet";
        let values: [&(dyn ToSql + Sync); 8] = [
            &row.id,
            &row.origin,
            &moment(Some(&summary.started)),
            &moment(summary.ended.as_deref()),
            &Json(&row.summary),
            &Json(&bodies.begun),
            &Json(&bodies.ending),
            &row.seal,
        ];
        let written = self.client.get_mut().query_one(sql, &values);
        let written = match written {
            Err(error) if is_there_already(&error) => {
                return Err(Error::RunTwice {
                    path: self.location.shown().into(),
                    id: row.id.clone(),
                });
            }
            written => {
                let fleet = summary.fleet.as_ref().map(|fleet| fleet.id.as_str());
                at_with_names(
                    written,
                    self.location.shown(),
                    fleet.into_iter().chain([&*summary.host]),
                )?
            }
        };
        let number: i64 = self.get(&written, "number")?;
        let sql = "INSERT INTO knee.metric_info \
             SELECT number, workload ->> 'name', metric ->> 'name', metric ->> 'about', metric ->> 'unit', \
             (metric ->> 'lower_is_better')::boolean \
             FROM knee.run, json_array_elements(begun -> 'plan' -> 'workloads') AS workload, \
             json_array_elements(workload -> 'metrics') AS metric WHERE number = $1 ON CONFLICT DO NOTHING";
        let written = self.client.get_mut().execute(sql, &[&number]);
        at_with_names(
            written,
            self.location.shown(),
            names_in(&bodies.begun).iter().map(String::as_str),
        )?;
        Ok(number)
    }

    fn update_run(&mut self, change: &RunChange<'_>) -> Result<(), Error> {
        let RunChange { row, summary, begun, ending } = change;
        let sql = "UPDATE knee.run SET summary = $2, seal = $3, ended = $4::text::timestamptz WHERE number = $1";
        let ended = moment(summary.ended.as_deref());
        let values: [&(dyn ToSql + Sync); 4] =
            [&row.number, &Json(&row.summary), &row.seal, &ended];
        self.client.get_mut().execute(sql, &values).at(self.location.shown())?;
        for (column, body) in [("begun", begun), ("ending", ending)] {
            if let Some(body) = body {
                let sql = format!("UPDATE knee.run SET {column} = $2 WHERE number = $1");
                let client = self.client.get_mut();
                client.execute(&sql, &[&row.number, &Json(body)]).at(self.location.shown())?;
            }
        }
        Ok(())
    }

    fn has_cell(&self, run: i64, sequence: i64) -> Result<bool, Error> {
        let sql = "SELECT FROM knee.cell WHERE run = $1 AND sequence = $2";
        Ok(!self.query(sql, &[&run, &sequence], |_| Ok(()))?.is_empty())
    }

    fn insert_cells(
        &mut self,
        run: i64,
        rows: &mut dyn Iterator<Item = Result<CellRow, Error>>,
    ) -> Result<(), Error> {
        let next = self.next_ordinal("cell", run)?;
        let path = self.location.shown();
        let mut writer = copy_into(self.client.get_mut(), "knee.cell", &CELL, path)?;
        for (ordinal, row) in (next..).zip(rows) {
            let CellRow { sequence, body, positions, samples, seal } = row?;
            let lengths: Vec<i64> =
                samples.iter().map(|samples| samples.len().cast_signed() as i64).collect();
            let row: [&(dyn ToSql + Sync); CELL.len()] = [
                &run,
                &sequence.cast_signed(),
                &ordinal,
                &Json(&body),
                &Json(&positions),
                &samples.concat(),
                &lengths,
                &seal,
            ];
            writer.write(&row).at(path)?;
        }
        writer.finish().map(drop).at(path)
    }

    fn cells(&self, run: i64) -> Result<Vec<CellRow>, Error> {
        let sql = "SELECT sequence, body::text, positions::text, samples, lengths, seal \
             FROM knee.cell WHERE run = $1 ORDER BY ordinal";
        self.query(sql, &[&run], |row| self.read_cell(row))
    }

    fn has_profiled(&self, run: i64, key: &str) -> Result<bool, Error> {
        let sql = "SELECT FROM knee.profile WHERE run = $1 AND hashtextextended(key, 0) = hashtextextended($2, 0)";
        Ok(!self.query(sql, &[&run, &key], |_| Ok(()))?.is_empty())
    }

    fn insert_profiled(&mut self, run: i64, rows: &[ProfileRow]) -> Result<(), Error> {
        let next = self.next_ordinal("profile", run)?;
        let path = self.location.shown();
        let mut writer = copy_into(self.client.get_mut(), "knee.profile", &PROFILE, path)?;
        for (ordinal, row) in (next..).zip(rows) {
            let ProfileRow { key, body, seal } = row;
            let row: [&(dyn ToSql + Sync); PROFILE.len()] =
                [&run, &ordinal, key, &Json(body), seal];
            writer.write(&row).at(path)?;
        }
        writer.finish().map(drop).at(path)
    }

    fn profiled(&self, run: i64, only_last: bool) -> Result<Vec<ProfileRow>, Error> {
        let order = if only_last { "DESC LIMIT 1" } else { "" };
        let sql = format!(
            "SELECT key, body::text, seal FROM knee.profile WHERE run = $1 ORDER BY ordinal {order}"
        );
        self.query(&sql, &[&run], |row| {
            Ok(ProfileRow {
                key: self.get(row, "key")?,
                body: self.get(row, "body")?,
                seal: self.get(row, "seal")?,
            })
        })
    }

    fn name_run(&mut self, name: &str, run: i64) -> Result<(), Error> {
        let sql = "INSERT INTO knee.baseline (name, run) VALUES ($1, $2) \
             ON CONFLICT (name) DO UPDATE SET run = excluded.run";
        let written = self.client.get_mut().execute(sql, &[&name, &run]).map(drop);
        at_with_names(written, self.location.shown(), [name])
    }

    fn names(&self) -> Result<Vec<(String, i64)>, Error> {
        let sql = "SELECT name, run FROM knee.baseline ORDER BY name COLLATE \"C\"";
        self.query(sql, &[], |row| Ok((self.get(row, "name")?, self.get(row, "run")?)))
    }

    fn remove(&mut self, run: i64) -> Result<bool, Error> {
        let sql = "DELETE FROM knee.run WHERE number = $1";
        let delete = |client: &mut Client| client.execute(sql, &[&run]);
        Ok(self.client.get_mut().with_long_answer(delete).at(self.location.shown())? > 0)
    }

    fn settle(&mut self, _: Done) -> Result<(), Error> {
        Ok(())
    }
}

/// A moment as the server reads it; none where the text is not one.
fn moment(text: Option<&str>) -> Option<String> {
    text.and_then(|text| text.parse::<Timestamp>().ok()).map(|moment| moment.to_string())
}

/// The names that `knee.metric_info` has in its index, for a message.
fn names_in(begun: &str) -> Vec<String> {
    let begun: serde_json::Value = serde_json::from_str(begun).unwrap_or_default();
    let workloads = begun["plan"]["workloads"].as_array().cloned().unwrap_or_default();
    let metrics = workloads.iter().filter_map(|workload| workload["metrics"].as_array().cloned());
    let named = metrics.flatten().chain(workloads.iter().cloned());
    named.filter_map(|named| named["name"].as_str().map(str::to_owned)).collect()
}
