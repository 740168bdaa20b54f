//! Where the ranks of a load meet: postings in a table, the server's clock, and a lock that each rank holds as long as it
//! is connected, so that the others know it lives.

use super::client::Client;
use super::connect;
use super::schema;
use crate::error::At;
use crate::{DatabaseUrl, Error, Meeting, Posting};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio_postgres::Row;

/// Postings that are older are deleted: their load is over, and no rank reads them.
const KEPT: &str = "7 days";
/// Until a server that is silent is given up: the other ranks wait too.
const SILENCE_MAX: Duration = Duration::from_secs(20);

/// A connection to the meeting of a fleet.
pub struct PostgresMeeting {
    client: Client,
    /// The URL without secrets, for messages.
    shown: PathBuf,
    fleet: String,
    rank: u32,
    sender: i64,
}

impl fmt::Debug for PostgresMeeting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PostgresMeeting").field(&self.shown).field(&self.rank).finish()
    }
}

impl PostgresMeeting {
    /// Connects to the archive at `url`, which is made where there is none. `sender` is a random number. When `stop` is set,
    /// a server that is silent is not waited for, except to write what is posted.
    ///
    /// # Errors
    /// As [`crate::PostgresArchive::open`].
    pub fn join(
        url: &DatabaseUrl,
        fleet: &str,
        rank: u32,
        sender: i64,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let mut client = connect::connect_until(url, stop, SILENCE_MAX)?;
        schema::create(&mut client, url.shown())?;
        // A role that may only add leaves them to the owner.
        let old = format!("DELETE FROM knee.meeting WHERE at < now() - interval '{KEPT}'");
        let _ = client.execute(&old, &[]);
        client.execute("SELECT pg_advisory_lock($1)", &[&sender]).at(url.shown())?;
        let (shown, fleet) = (url.shown().into(), fleet.to_owned());
        Ok(Self { client, shown, fleet, rank, sender })
    }
}

impl Meeting for PostgresMeeting {
    fn sender(&self) -> i64 {
        self.sender
    }

    fn post(&mut self, kind: &str, body: &str) -> Result<(), Error> {
        let sql = "INSERT INTO knee.meeting (fleet, kind, sender, rank, body) VALUES ($1, $2, $3, $4, $5)";
        let rank = i64::from(self.rank);
        // After a signal to all ranks, all of them write what they measured at once.
        let done = self.client.despite_signals(|client| {
            client.execute(sql, &[&self.fleet, &kind, &self.sender, &rank, &body])
        });
        done.map(drop).at(&self.shown)
    }

    fn postings(&mut self, kind: &str, with_body: bool) -> Result<Vec<Posting>, Error> {
        let sql = "SELECT DISTINCT ON (sender) rank, sender, CASE WHEN $3 THEN body ELSE '' END AS body, \
             EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1 \
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
                 AND ((classid::bigint << 32) | objid::bigint) = sender) AS is_present \
             FROM knee.meeting WHERE fleet = $1 AND kind = $2 ORDER BY sender, number DESC";
        let rows = self.client.query(sql, &[&self.fleet, &kind, &with_body]).at(&self.shown)?;
        let posting = |row: &Row| {
            let rank: i64 = row.try_get("rank")?;
            Ok(Posting {
                sender: row.try_get("sender")?,
                rank: u32::try_from(rank).unwrap_or(u32::MAX),
                is_present: row.try_get("is_present")?,
                body: row.try_get("body")?,
            })
        };
        let all: Result<Vec<Posting>, tokio_postgres::Error> = rows.iter().map(posting).collect();
        let mut all = all.at(&self.shown)?;
        all.sort_by_key(|posting| posting.rank);
        Ok(all)
    }

    fn clock_ns(&mut self) -> Result<i64, Error> {
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
        let row = self.client.query_one(sql, &[]).at(&self.shown)?;
        let us: i64 = row.try_get(0).at(&self.shown)?;
        Ok(us * 1_000)
    }
}
