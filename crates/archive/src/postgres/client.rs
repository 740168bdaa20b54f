//! A connection that gives up a server which falls silent. The system of a stopped server still acknowledges what it is
//! sent, so keepalives notice nothing; and a wait that a signal is to end has to look for it.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Config, Error, Row, Socket};

/// From one look at the clock and for a signal to the next, while a server is awaited.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How long a server may be silent after a signal: what is under way may still end.
const SILENCE_AFTER_SIGNAL_MAX: Duration = Duration::from_secs(1);
/// How long the end of a connection is waited for: until the server has closed it, or until it is known why it was lost.
const CLOSE_MAX: Duration = Duration::from_secs(1);

/// Why a statement has no result.
#[derive(Debug)]
pub(crate) enum QueryError {
    /// The server, or the connection.
    Postgres(Error),
    /// The operating system refuses what a connection needs.
    System(io::Error),
    /// Nothing came or went for this time.
    Silent(Duration),
    /// A signal ended the wait.
    Interrupted,
    /// An earlier statement was given up, and the connection with it.
    GivenUp,
}

impl From<Error> for QueryError {
    fn from(error: Error) -> QueryError {
        QueryError::Postgres(error)
    }
}

/// How long a server is waited for.
#[derive(Clone, Default)]
pub(crate) struct Waiting {
    /// How long it may be silent while it has something to do.
    pub silence_max: Duration,
    /// The same while it does what shows nothing before its end.
    pub long_answer_max: Duration,
    /// Set when the wait is to end.
    pub stop: Arc<AtomicBool>,
}

/// A connection to a server, one statement at a time.
pub(crate) struct Client {
    /// Absent once the connection was given up.
    open: Option<Open>,
    waiting: Waiting,
}

struct Open {
    runtime: Runtime,
    client: tokio_postgres::Client,
    driver: JoinHandle<Result<(), Error>>,
    progress: Progress,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("is_open", &self.open.is_some()).finish_non_exhaustive()
    }
}

impl Client {
    /// Connects within `limit`. After that, `waiting` holds.
    pub fn connect<T>(
        config: &Config,
        tls: T,
        limit: Duration,
        waiting: Waiting,
    ) -> Result<Client, QueryError>
    where
        T: MakeTlsConnect<Socket>,
        T::Stream: Send + 'static,
    {
        let runtime =
            Builder::new_current_thread().enable_all().build().map_err(QueryError::System)?;
        // What a login gets through is not seen: the limit is for all of it.
        let progress = Progress::default();
        let within = Waiting { silence_max: limit, ..waiting.clone() };
        let connected = runtime.block_on(wait(&within, &progress, config.connect(tls)));
        let (client, connection) = match connected {
            Ok(connected) => connected,
            Err(error) => {
                // The system may still be looking for the name of the host.
                runtime.shutdown_background();
                return Err(error);
            }
        };
        let driver = runtime.spawn(Watched { inner: connection, progress: progress.clone() });
        Ok(Client { open: Some(Open { runtime, client, driver, progress }), waiting })
    }

    pub fn set_silence_max(&mut self, silence_max: Duration, long_answer_max: Duration) {
        self.waiting.silence_max = silence_max;
        self.waiting.long_answer_max = long_answer_max;
    }

    /// Lets the server be silent for long during `work`, which shows nothing before its end.
    pub fn with_long_answer<T>(&mut self, work: impl FnOnce(&mut Client) -> T) -> T {
        self.with_silence_max(self.waiting.long_answer_max, work)
    }

    /// Does `work` to its end, as if no signal had come: what it writes would be lost.
    pub fn despite_signals<T>(&mut self, work: impl FnOnce(&mut Client) -> T) -> T {
        let usual = std::mem::take(&mut self.waiting.stop);
        let result = work(self);
        self.waiting.stop = usual;
        result
    }

    /// Lets the server be silent for `silence_max` during `work`.
    pub fn with_silence_max<T>(
        &mut self,
        silence_max: Duration,
        work: impl FnOnce(&mut Client) -> T,
    ) -> T {
        let usual = std::mem::replace(&mut self.waiting.silence_max, silence_max);
        let result = work(self);
        self.waiting.silence_max = usual;
        result
    }

    pub fn batch_execute(&mut self, sql: &str) -> Result<(), QueryError> {
        self.run(async |client| client.batch_execute(sql).await)
    }

    pub fn execute(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, QueryError> {
        self.run(async |client| client.execute(sql, values).await)
    }

    pub fn query(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, QueryError> {
        self.run(async |client| client.query(sql, values).await)
    }

    pub fn query_one(
        &mut self,
        sql: &str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Row, QueryError> {
        self.run(async |client| client.query_one(sql, values).await)
    }

    /// Begins a COPY from here, in the binary format.
    pub fn copy_in(&mut self, sql: &str, types: &[Type]) -> Result<CopyIn<'_>, QueryError> {
        let sink = self.run(async |client| client.copy_in(sql).await)?;
        Ok(CopyIn { writer: Box::pin(BinaryCopyInWriter::new(sink, types)), client: self })
    }

    fn run<T>(
        &mut self,
        statement: impl AsyncFnOnce(&tokio_postgres::Client) -> Result<T, Error>,
    ) -> Result<T, QueryError> {
        let open = self.open.as_ref().ok_or(QueryError::GivenUp)?;
        let statement = statement(&open.client);
        let result = open.runtime.block_on(wait(&self.waiting, &open.progress, statement));
        self.settle(result)
    }

    /// Ends the connection if the server was given up, and finds out why a connection has ended.
    fn settle<T>(&mut self, result: Result<T, QueryError>) -> Result<T, QueryError> {
        match result {
            Err(error @ (QueryError::Silent(_) | QueryError::Interrupted)) => {
                if let Some(open) = self.open.take() {
                    open.runtime.shutdown_background();
                }
                Err(error)
            }
            Err(QueryError::Postgres(error)) if error.is_closed() => {
                let Some(Open { runtime, driver, .. }) = self.open.take() else {
                    return Err(QueryError::Postgres(error));
                };
                // The end of the connection says more than that there is none.
                let ended =
                    runtime.block_on(async { tokio::time::timeout(CLOSE_MAX, driver).await });
                runtime.shutdown_background();
                match ended {
                    Ok(Ok(Err(cause))) => Err(QueryError::Postgres(cause)),
                    _ => Err(QueryError::Postgres(error)),
                }
            }
            result => result,
        }
    }
}

impl Drop for Client {
    /// Closes the connection in order, so that the server releases its locks at once.
    fn drop(&mut self) {
        if let Some(Open { runtime, client, driver, .. }) = self.open.take() {
            drop(client);
            let _ = runtime.block_on(async { tokio::time::timeout(CLOSE_MAX, driver).await });
            runtime.shutdown_background();
        }
    }
}

/// A COPY that is under way. Without [`CopyIn::finish`], nothing of it is kept.
pub(crate) struct CopyIn<'a> {
    client: &'a mut Client,
    writer: Pin<Box<BinaryCopyInWriter>>,
}

impl CopyIn<'_> {
    pub fn write(&mut self, row: &[&(dyn ToSql + Sync)]) -> Result<(), QueryError> {
        let writer = self.writer.as_mut();
        self.client.run(async |_| writer.write(row).await)
    }

    /// Ends it. The server may still have most of the rows before it, with their triggers and foreign keys.
    pub fn finish(mut self) -> Result<u64, QueryError> {
        let writer = self.writer.as_mut();
        self.client.with_long_answer(|client| client.run(async |_| writer.finish().await))
    }
}

/// When a connection last had something to do.
#[derive(Clone)]
struct Progress(Arc<Mutex<Instant>>);

impl Default for Progress {
    fn default() -> Progress {
        Progress(Arc::new(Mutex::new(Instant::now())))
    }
}

impl Progress {
    fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The task of a connection. It is polled when bytes have come, when the system takes more, and for a new statement:
/// each of these is progress.
struct Watched<C> {
    inner: C,
    progress: Progress,
}

impl<C: Future + Unpin> Future for Watched<C> {
    type Output = C::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<C::Output> {
        self.progress.note();
        Pin::new(&mut self.inner).poll(context)
    }
}

/// Waits for a statement as long as the connection makes progress.
async fn wait<T>(
    waiting: &Waiting,
    progress: &Progress,
    statement: impl Future<Output = Result<T, Error>>,
) -> Result<T, QueryError> {
    progress.note();
    let mut statement = pin!(statement);
    let mut signalled: Option<Instant> = None;
    loop {
        if let Ok(done) = tokio::time::timeout(LOOK_EVERY, statement.as_mut()).await {
            return done.map_err(QueryError::Postgres);
        }
        if signalled.is_none() && waiting.stop.load(Ordering::Relaxed) {
            signalled = Some(Instant::now());
        }
        let last = progress.last();
        if signalled.is_some_and(|at| at.max(last).elapsed() >= SILENCE_AFTER_SIGNAL_MAX) {
            return Err(QueryError::Interrupted);
        }
        if last.elapsed() >= waiting.silence_max {
            return Err(QueryError::Silent(waiting.silence_max));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_that_makes_progress_is_waited_for_and_a_silent_one_is_not() {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let waiting = Waiting { silence_max: Duration::from_secs(2), ..Waiting::default() };
        let progress = Progress::default();
        let noted = progress.clone();
        let slow = async {
            for _ in 0..30 {
                tokio::time::sleep(Duration::from_millis(100)).await;
                noted.note();
            }
            Ok(7)
        };
        assert_eq!(runtime.block_on(wait(&waiting, &progress, slow)).unwrap(), 7);
        let never = std::future::pending::<Result<(), Error>>();
        let waiting = Waiting { silence_max: Duration::from_millis(10), ..waiting };
        let silent = runtime.block_on(wait(&waiting, &progress, never));
        assert!(matches!(silent, Err(QueryError::Silent(_))), "{silent:?}");
    }
}
