//! Drivers: the event loop of a worker, over readiness mechanisms or over completions.

mod completion;
mod pace;
mod readiness;
mod slab;
mod worker;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustls::ServerConfig;

use crate::workers::context::Context;
use crate::workers::sending::Way;
use crate::workers::wakeup::Wakeup;
use crate::{Config, Error};
use completion::COMPLETION;

pub(crate) trait Driver {
    /// Serves until an order ends the worker.
    fn run(self: Box<Self>) -> Result<(), Error>;
}

pub(crate) struct Setup {
    pub wakeup: Arc<Wakeup>,
    pub context: Context,
    pub listener: OwnedFd,
    pub config: Config,
    pub way: &'static Way,
    pub tls: Option<Arc<ServerConfig>>,
}

/// What can drive a server.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// The name on the command line: `epoll-level`.
    pub name: &'static str,
    /// The name in reports.
    pub label: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// Its limits, one line each.
    pub limits: &'static [&'static str],
}

/// All that can drive a server: every row of [`readiness::all`], and completions of `io_uring`.
///
/// ```
/// assert!(http::mechanisms().iter().any(|mechanism| mechanism.name == "poll"));
/// ```
pub fn mechanisms() -> Vec<Mechanism> {
    let rows = ::readiness::all().map(|row| Mechanism {
        name: row.name,
        label: row.label,
        summary: row.summary,
        limits: row.limits,
    });
    let completion = Mechanism {
        name: COMPLETION,
        label: COMPLETION,
        summary: "io_uring, multishot accept and receive, provided buffers",
        limits: &[],
    };
    rows.chain([completion]).collect()
}

#[derive(Clone, Copy)]
pub(crate) enum DriverRow {
    Readiness(&'static ::readiness::Mechanism),
    Completion,
}

impl DriverRow {
    pub(crate) fn open(self, setup: Setup) -> Result<Box<dyn Driver>, Error> {
        match self {
            DriverRow::Readiness(row) => readiness::open(row, setup),
            DriverRow::Completion => completion::open(setup),
        }
    }
}

/// Whether the mechanism of this name drives a server here.
///
/// # Errors
/// With the reason, where it doesn't.
pub fn available(name: &str) -> Result<(), String> {
    match ::readiness::find(name) {
        Some(row) => (row.available)().map_err(|why| why.0),
        None if name == COMPLETION => completion::available(),
        None => Err("there is no such mechanism".to_owned()),
    }
}

/// The row of this name, if it is available here.
pub(crate) fn find(name: &str) -> Result<DriverRow, Error> {
    let row = match ::readiness::find(name) {
        Some(row) => DriverRow::Readiness(row),
        None if name == COMPLETION => DriverRow::Completion,
        None => {
            let names: Vec<&str> = mechanisms().iter().map(|mechanism| mechanism.name).collect();
            let names = names.join(", ");
            return Err(Error::Invalid(format!(
                "there is no mechanism called `{name}`; it is one of {names}"
            )));
        }
    };
    let unavailable = |why| Error::Failed(format!("{name} is unavailable here: {why}"));
    available(name).map(|()| row).map_err(unavailable)
}
