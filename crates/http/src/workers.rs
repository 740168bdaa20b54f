//! The threads of a server: how they start, how they get orders, and how they end.

mod access_log;
pub(crate) mod context;
pub(crate) mod counters;
pub(crate) mod drivers;
pub(crate) mod listener;
pub(crate) mod sending;
pub(crate) mod session;
pub(crate) mod wakeup;

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use rustls::ServerConfig;

use crate::site::Site;
use crate::workers::access_log::AccessLog;
use crate::workers::context::Context;
use crate::workers::counters::Counters;
use crate::workers::drivers::{Driver, DriverRow, Setup};
use crate::workers::sending::Way;
use crate::workers::wakeup::{Wakeup, WorkerOrder};
use crate::{Config, Counts, Error};

/// Drains or stops a server from another thread, and reads its counts. After the server's end it has no
/// effect.
#[derive(Clone, Debug)]
pub struct Stopper {
    wakeups: Vec<Arc<Wakeup>>,
    counters: Vec<Arc<Counters>>,
}

impl Stopper {
    /// As [`crate::Server::drain`].
    pub fn drain(&self) {
        self.order(WorkerOrder::Drain);
    }

    /// As [`crate::Server::stop`].
    pub fn stop(&self) {
        self.order(WorkerOrder::Stop);
    }

    /// As [`crate::Server::counts`].
    pub fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        self.counters.iter().for_each(|counters| counters.add_to(&mut sum));
        sum
    }

    fn order(&self, order: WorkerOrder) {
        self.wakeups.iter().for_each(|wakeup| wakeup.send(order));
    }
}

#[derive(Debug)]
pub(crate) struct Workers {
    stopper: Stopper,
    threads: Vec<JoinHandle<()>>,
    ends: Receiver<Result<(), Error>>,
    remarks: Vec<String>,
}

fn died() -> Error {
    Error::Failed("a worker died".to_owned())
}

/// What a worker reports at its start: a remark about what is not as it should be, if there is one.
type Started = Result<Option<String>, Error>;

impl Workers {
    pub(crate) fn start(
        config: &Config,
        row: DriverRow,
        way: &'static Way,
        address: SocketAddr,
        tls: Option<&Arc<ServerConfig>>,
    ) -> Result<Workers, Error> {
        let failed = |error| Error::Failed(format!("starting a worker: {error}"));
        let wakeups = (0..config.workers).map(|_| Wakeup::new().map(Arc::new));
        let stopper = Stopper {
            wakeups: wakeups.collect::<Result<_, _>>().map_err(failed)?,
            counters: (0..config.workers).map(|_| Arc::default()).collect(),
        };
        let (end, ends) = channel();
        let mut workers = Workers { stopper, threads: Vec::new(), ends, remarks: Vec::new() };
        let (started, starts) = channel::<Started>();
        for number in 0..config.workers {
            let wakeup = Arc::clone(&workers.stopper.wakeups[number]);
            let counters = Arc::clone(&workers.stopper.counters[number]);
            let worker = WorkerThread {
                number,
                config: config.clone(),
                row,
                way,
                address,
                tls: tls.cloned(),
                wakeup,
                counters,
            };
            let (started, end) = (started.clone(), end.clone());
            let body = move || {
                let ended = catch_unwind(AssertUnwindSafe(|| worker.run(started)));
                // The receiver is gone if the server was dropped.
                let _ = end.send(ended.unwrap_or_else(|_| Err(died())));
            };
            let thread = std::thread::Builder::new().name(format!("httpd-{number}")).spawn(body);
            workers.threads.push(thread.map_err(sys::limits::explained).map_err(failed)?);
        }
        drop(started);
        for _ in 0..config.workers {
            let remark = starts.recv().unwrap_or_else(|_| Err(died()))?;
            workers.remarks.extend(remark);
        }
        workers.remarks.sort();
        workers.remarks.dedup();
        Ok(workers)
    }

    pub(crate) fn order(&self, order: WorkerOrder) {
        self.stopper.order(order);
    }

    pub(crate) fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    pub(crate) fn remarks(&self) -> &[String] {
        &self.remarks
    }

    pub(crate) fn counts(&self) -> Counts {
        self.stopper.counts()
    }

    /// Waits until all have ended. If one fails, it stops the others.
    pub(crate) fn wait(&mut self) -> Result<Counts, Error> {
        let mut outcome = Ok(());
        for _ in 0..self.threads.len() {
            let end = self.ends.recv().unwrap_or_else(|_| Err(died()));
            if end.is_err() && outcome.is_ok() {
                outcome = end;
                self.order(WorkerOrder::Stop);
            }
        }
        for thread in self.threads.drain(..) {
            if thread.join().is_err() && outcome.is_ok() {
                outcome = Err(died());
            }
        }
        outcome.map(|()| self.counts())
    }
}

impl Drop for Workers {
    /// Joins the threads first: the wakeup pipes belong to their tables of descriptors.
    fn drop(&mut self) {
        self.order(WorkerOrder::Stop);
        for thread in self.threads.drain(..) {
            // A dropped server reports no result.
            let _ = thread.join();
        }
    }
}

struct WorkerThread {
    number: usize,
    config: Config,
    row: DriverRow,
    way: &'static Way,
    address: SocketAddr,
    tls: Option<Arc<ServerConfig>>,
    wakeup: Arc<Wakeup>,
    counters: Arc<Counters>,
}

impl WorkerThread {
    /// Starts, reports that, and serves to the end.
    fn run(self, started: Sender<Started>) -> Result<(), Error> {
        let remark = isolate_thread(&self.wakeup);
        match self.open_driver() {
            // If nothing receives, the start has failed elsewhere, and the order to stop is given.
            Ok(driver) => {
                let _ = started.send(Ok(remark));
                drop(started);
                driver.run()
            }
            Err(error) => {
                let _ = started.send(Err(error));
                Ok(())
            }
        }
    }

    fn open_driver(self) -> Result<Box<dyn Driver>, Error> {
        if !self.config.pin.is_empty() {
            pin(self.config.pin[self.number % self.config.pin.len()])?;
        }
        let site = Site::open(&self.config.root, self.config.cache_bytes)?;
        let log = self.config.log.as_deref().map(AccessLog::open).transpose()?;
        let context = Context::new(site, log, self.counters);
        let listener = listener::open(self.address)?;
        let (wakeup, config, way, tls) = (self.wakeup, self.config, self.way, self.tls);
        self.row.open(Setup { wakeup, context, listener, config, way, tls })
    }
}

/// Gives the thread its own table of descriptors, and no signals; returns a remark if the kernel refuses.
#[expect(unsafe_code, reason = "no type can say which descriptors a thread has")]
fn isolate_thread(wakeup: &Wakeup) -> Option<String> {
    // A handler of the process could otherwise write to a descriptor of this table.
    let blocked = sys::thread::block_signals();
    let isolated = blocked.and_then(|()| {
        // SAFETY: the thread has just begun. Of descriptors it was given the wakeup's alone: it reads from the one that it
        // keeps, and `Workers` closes both when it has joined the thread. What the thread opens stays with it.
        unsafe { sys::thread::own_descriptors(&[wakeup.fd()]) }
    });
    isolated
        .err()
        .map(|error| format!("workers share one table of descriptors, and its limit: {error}"))
}

fn pin(cpu: usize) -> Result<(), Error> {
    sys::cpus::pin(&[cpu])
        .map_err(|error| Error::Failed(format!("pinning a worker to CPU {cpu}: {error}")))
}
