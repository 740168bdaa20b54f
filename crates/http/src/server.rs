//! The server: its configuration, its counts and its handle.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use crate::workers::{Order, Stopper, Workers};
use crate::{drivers, listener, sending};

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// The directory that is served; nothing outside of it ever is.
    pub root: PathBuf,
    /// The address to listen on; none stands for all, of IPv6 and IPv4.
    pub address: Option<IpAddr>,
    /// The port to listen on; 0 lets the kernel choose.
    pub port: u16,
    /// The mechanism that drives it: a row of [`readiness::TABLE`], or
    /// `io_uring-completion`. See [`crate::mechanisms`].
    pub mechanism: String,
    /// How files are sent: `sendfile`, `mmap` or `splice`, see [`crate::SENDING`].
    pub sending: String,
    /// Threads that each listen, accept and serve on their own.
    pub workers: usize,
    /// The CPUs that workers are pinned to, in turn; empty leaves that to the kernel.
    pub pin: Vec<usize>,
    /// The limits of a connection.
    pub limits: Limits,
    /// Bytes of small files that each worker keeps.
    pub cache_bytes: usize,
    /// Where a line for each reply goes.
    pub log: Option<PathBuf>,
}

impl Default for Config {
    /// The directory where the program runs, on a port that the kernel chooses, by one worker.
    fn default() -> Config {
        Config {
            root: PathBuf::from("."),
            address: None,
            port: 0,
            mechanism: "epoll-level".to_owned(),
            sending: "sendfile".to_owned(),
            workers: 1,
            pin: Vec::new(),
            limits: Limits::default(),
            cache_bytes: 16 << 20,
            log: None,
        }
    }
}

/// The limits of a connection; one that exceeds them is closed.
///
/// They are checked at a quarter of the shortest, every 10 ms to every second, so a connection may last that
/// much longer.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// From the first byte of a request to the end of its head.
    pub header: Duration,
    /// Without a request.
    pub idle: Duration,
    /// From its acceptance on.
    pub lifetime: Duration,
    /// Without taking a byte of a reply.
    pub stalled: Duration,
    /// To end what is under way, after the server was asked to stop.
    pub drain: Duration,
    /// Connections of one worker at a time.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            header: Duration::from_secs(10),
            idle: Duration::from_secs(60),
            lifetime: Duration::from_secs(3_600),
            stalled: Duration::from_secs(30),
            drain: Duration::from_secs(10),
            connections: 65_536,
        }
    }
}

/// The counts so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections accepted.
    pub accepted: u64,
    /// Connections open now.
    pub open: u64,
    /// Replies sent to their end.
    pub replies: u64,
    /// Replies that ended before, because the client left, a limit was reached or the file shrank.
    pub aborted: u64,
    /// Bytes sent, those of heads included.
    pub bytes: u64,
    /// Times that accepting was paused, since descriptors ran out.
    pub pauses: u64,
    /// Lines of the log that were dropped.
    pub unlogged: u64,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The configuration is wrong: a directory, a file, a name.
    #[error("{0}")]
    Invalid(String),
    /// It can't be done now.
    #[error("{0}")]
    Failed(String),
}

/// A running server. It stops when it is dropped.
///
/// Each worker has a table of descriptors of its own, where the kernel allows: what it has open stands
/// in `/proc/PID/task/TID/fd`, and not in `/proc/PID/fd`.
#[derive(Debug)]
pub struct Server {
    workers: Workers,
    claim: listener::Claim,
}

impl Server {
    /// Starts it: when this returns, connections are accepted.
    ///
    /// # Errors
    /// Where an address, the directory, the mechanism or the log can't be had, or a setting is out of range:
    /// in one line, with what mends it.
    #[expect(clippy::needless_pass_by_value, reason = "it is the server's from then on")]
    pub fn start(config: Config) -> Result<Server, Error> {
        if config.workers == 0 {
            return Err(Error::Invalid("a server needs one worker at least".to_owned()));
        }
        let driver = drivers::find(&config.mechanism)?;
        let way = sending::find(&config.sending).ok_or_else(|| {
            let names: Vec<&str> = sending::SENDING.iter().map(|way| way.name).collect();
            let (name, names) = (&config.sending, names.join(", "));
            Error::Invalid(format!(
                "there is no way to send files called `{name}`; it is one of {names}"
            ))
        })?;
        let claim = listener::claim(config.address, config.port)?;
        let workers = Workers::start(&config, driver, way, claim.address)?;
        Ok(Server { workers, claim })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.claim.address
    }

    /// Warnings, each with its remedy; usually none.
    pub fn remarks(&self) -> &[String] {
        self.workers.remarks()
    }

    /// The counts so far, over all workers.
    pub fn counts(&self) -> Counts {
        self.workers.counts()
    }

    /// Stops accepting, finishes the replies that have begun, and ends. Connections in the listen queue are
    /// served; a connection without a request is closed. Whatever takes longer than [`Limits::drain`] is cut
    /// off.
    pub fn drain(&self) {
        self.workers.order(Order::Drain);
    }

    /// Closes everything at once.
    pub fn stop(&self) {
        self.workers.order(Order::Stop);
    }

    /// A handle that drains and stops it from elsewhere, such as a thread that waits for signals.
    pub fn stopper(&self) -> Stopper {
        self.workers.stopper()
    }

    /// Waits until every worker has ended.
    ///
    /// # Errors
    /// Where a worker could not go on; the others are stopped then.
    pub fn wait(mut self) -> Result<Counts, Error> {
        self.workers.wait()
    }
}
