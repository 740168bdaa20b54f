//! The server and its handle, and why there is none.

use std::net::SocketAddr;

use crate::workers::wakeup::WorkerOrder;
use crate::workers::{Stopper, Workers, drivers, listener, sending};
use crate::{Certificate, Config, Counts};

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
    /// in one line, with what fixes it.
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
        let tls = config.certificate.as_ref().map(Certificate::config).transpose()?;
        let claim = listener::claim(config.address, config.port)?;
        let workers = Workers::start(&config, driver, way, claim.address, tls.as_ref())?;
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
    /// served; a connection without a request is closed. Whatever takes longer than [`crate::Limits::drain`] is cut
    /// off.
    pub fn drain(&self) {
        self.workers.order(WorkerOrder::Drain);
    }

    /// Closes everything at once.
    pub fn stop(&self) {
        self.workers.order(WorkerOrder::Stop);
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
