//! The server and its handle, and why there is none.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use crate::workers::wakeup::Wakeup;
use crate::workers::{Started, Stopper, WorkerThread, drivers, listener, sending};
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
    stopper: Stopper,
    threads: Vec<JoinHandle<()>>,
    ends: Receiver<Result<(), Error>>,
    remarks: Vec<String>,
    claim: listener::Claim,
}

fn died() -> Error {
    Error::Failed("a worker died".to_owned())
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
        let row = drivers::find(&config.mechanism)?;
        let way = sending::find(&config.sending).ok_or_else(|| {
            let names: Vec<&str> = sending::SENDING.iter().map(|way| way.name).collect();
            let (name, names) = (&config.sending, names.join(", "));
            Error::Invalid(format!(
                "there is no way to send files called `{name}`; it is one of {names}"
            ))
        })?;
        let tls = config.certificate.as_ref().map(Certificate::config).transpose()?;
        let claim = listener::claim(config.address, config.port)?;
        let failed = |error| Error::Failed(format!("starting a worker: {error}"));
        let wakeups = (0..config.workers).map(|_| Wakeup::new().map(Arc::new));
        let stopper = Stopper {
            wakeups: wakeups.collect::<Result<_, _>>().map_err(failed)?,
            counters: (0..config.workers).map(|_| Arc::default()).collect(),
        };
        let (end, ends) = channel();
        let mut server = Server { stopper, threads: Vec::new(), ends, remarks: Vec::new(), claim };
        let (started, starts) = channel::<Started>();
        for number in 0..config.workers {
            let worker = WorkerThread {
                number,
                config: config.clone(),
                row,
                way,
                address: server.claim.address,
                tls: tls.clone(),
                wakeup: Arc::clone(&server.stopper.wakeups[number]),
                counters: Arc::clone(&server.stopper.counters[number]),
            };
            let (started, end) = (started.clone(), end.clone());
            let body = move || {
                let ended = catch_unwind(AssertUnwindSafe(|| worker.run(started)));
                // The receiver is gone if the server was dropped.
                let _ = end.send(ended.unwrap_or_else(|_| Err(died())));
            };
            let thread = std::thread::Builder::new().name(format!("httpd-{number}")).spawn(body);
            server.threads.push(thread.map_err(sys::limits::explained).map_err(failed)?);
        }
        drop(started);
        for _ in 0..config.workers {
            let remark = starts.recv().unwrap_or_else(|_| Err(died()))?;
            server.remarks.extend(remark);
        }
        server.remarks.sort();
        server.remarks.dedup();
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.claim.address
    }

    /// Warnings, each with its remedy; usually none.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// What counts, drains and stops it, also from elsewhere, such as a thread that waits for signals.
    pub fn stopper(&self) -> &Stopper {
        &self.stopper
    }

    /// Waits until every worker has ended.
    ///
    /// # Errors
    /// Where a worker could not go on; the others are stopped then.
    pub fn wait(mut self) -> Result<Counts, Error> {
        let mut outcome = Ok(());
        for _ in 0..self.threads.len() {
            let end = self.ends.recv().unwrap_or_else(|_| Err(died()));
            if end.is_err() && outcome.is_ok() {
                outcome = end;
                self.stopper.stop();
            }
        }
        for thread in self.threads.drain(..) {
            if thread.join().is_err() && outcome.is_ok() {
                outcome = Err(died());
            }
        }
        outcome.map(|()| self.stopper.counts())
    }
}

impl Drop for Server {
    /// Joins the threads first: the wakeup pipes belong to their tables of descriptors.
    fn drop(&mut self) {
        self.stopper.stop();
        for thread in self.threads.drain(..) {
            // A dropped server reports no result.
            let _ = thread.join();
        }
    }
}
