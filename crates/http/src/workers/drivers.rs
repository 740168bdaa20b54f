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

/// A worker that is ready to serve.
pub(crate) trait Driver {
    /// Serves until an order ends the worker.
    fn run(self: Box<Self>) -> Result<(), Error>;
}

/// What a driver needs to begin.
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
    /// Why it is unavailable here, if it is.
    pub unavailable: Option<String>,
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
        unavailable: (row.available)().err().map(|why| why.0),
    });
    let completion = Mechanism {
        name: COMPLETION,
        label: COMPLETION,
        summary: "io_uring, multishot accept and receive, provided buffers",
        limits: &[],
        unavailable: completion::available().err(),
    };
    rows.chain([completion]).collect()
}

/// What drives a worker.
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

/// The row of this name, if it is available here.
pub(crate) fn find(name: &str) -> Result<DriverRow, Error> {
    let (row, unavailable) = if name == COMPLETION {
        (DriverRow::Completion, completion::available().err())
    } else if let Some(row) = ::readiness::find(name) {
        (DriverRow::Readiness(row), (row.available)().err().map(|why| why.0))
    } else {
        let names: Vec<&str> = mechanisms().iter().map(|mechanism| mechanism.name).collect();
        let names = names.join(", ");
        return Err(Error::Invalid(format!(
            "there is no mechanism called `{name}`; it is one of {names}"
        )));
    };
    match unavailable {
        None => Ok(row),
        Some(why) => Err(Error::Failed(format!("{name} is unavailable here: {why}"))),
    }
}
