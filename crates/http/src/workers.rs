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
use std::sync::Arc;
use std::sync::mpsc::Sender;

use rustls::ServerConfig;

use crate::site::Site;
use crate::workers::access_log::AccessLog;
use crate::workers::context::Context;
use crate::workers::counters::Counters;
use crate::workers::drivers::{Driver, DriverRow, Setup};
use crate::workers::sending::Way;
use crate::workers::wakeup::{Wakeup, WorkerOrder};
use crate::{Config, Counts, Error};

/// Drains or stops a server, also from another thread, and reads its counts. After the server's end it has no
/// effect.
#[derive(Clone, Debug)]
pub struct Stopper {
    pub(crate) wakeups: Vec<Arc<Wakeup>>,
    pub(crate) counters: Vec<Arc<Counters>>,
}

impl Stopper {
    /// Stops accepting, finishes the replies that have begun, and ends. Connections in the listen queue are
    /// served; a connection without a request is closed. Whatever takes longer than [`crate::Limits::drain`] is cut
    /// off.
    pub fn drain(&self) {
        self.order(WorkerOrder::Drain);
    }

    /// Closes everything at once.
    pub fn stop(&self) {
        self.order(WorkerOrder::Stop);
    }

    /// The counts so far, over all workers.
    pub fn counts(&self) -> Counts {
        let mut sum = Counts::default();
        self.counters.iter().for_each(|counters| counters.add_to(&mut sum));
        sum
    }

    fn order(&self, order: WorkerOrder) {
        self.wakeups.iter().for_each(|wakeup| wakeup.send(order));
    }
}

/// What a worker reports at its start: a remark about what is not as it should be, if there is one.
pub(crate) type Started = Result<Option<String>, Error>;

pub(crate) struct WorkerThread {
    pub number: usize,
    pub config: Config,
    pub row: DriverRow,
    pub way: &'static Way,
    pub address: SocketAddr,
    pub tls: Option<Arc<ServerConfig>>,
    pub wakeup: Arc<Wakeup>,
    pub counters: Arc<Counters>,
}

impl WorkerThread {
    /// Starts, reports that, and serves to the end.
    pub(crate) fn run(self, started: Sender<Started>) -> Result<(), Error> {
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
