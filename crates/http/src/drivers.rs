//! What drives a worker's connections: one file for all that tell what is ready, one for completions.

mod completion;
mod pace;
mod readiness;

use crate::Error;
use crate::workers::Station;

/// The name of the row that `readiness` has not, since it is no readiness mechanism.
const COMPLETION: &str = "io_uring-completion";

/// What can drive a server.
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// The name on the command line: `epoll-level`.
    pub name: &'static str,
    /// The name in reports.
    pub label: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// What it can't do, in one line each.
    pub limits: &'static [&'static str],
    /// Why it can't be used here, if it can't.
    pub unavailable: Option<String>,
}

/// All that can drive a server: every row of [`readiness::TABLE`], and completions of `io_uring`.
///
/// ```
/// assert!(http::mechanisms().iter().any(|mechanism| mechanism.name == "poll"));
/// ```
pub fn mechanisms() -> Vec<Mechanism> {
    let rows = ::readiness::TABLE.iter().map(|row| Mechanism {
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
pub(crate) enum Row {
    Readiness(&'static ::readiness::Mechanism),
    Completion,
}

/// A worker that is ready to serve.
pub(crate) trait Driver {
    /// Serves until the worker is told to end.
    fn run(self: Box<Self>) -> Result<(), Error>;
}

impl Row {
    pub(crate) fn open(self, station: Station) -> Result<Box<dyn Driver>, Error> {
        match self {
            Row::Readiness(row) => readiness::open(row, station),
            Row::Completion => completion::open(station),
        }
    }
}

/// The row of this name, if it can be used here.
pub(crate) fn find(name: &str) -> Result<Row, Error> {
    let (row, unavailable) = if name == COMPLETION {
        (Row::Completion, completion::available().err())
    } else if let Some(row) = ::readiness::find(name) {
        (Row::Readiness(row), (row.available)().err().map(|why| why.0))
    } else {
        let names: Vec<&str> = mechanisms().iter().map(|mechanism| mechanism.name).collect();
        let names = names.join(", ");
        return Err(Error::Asked(format!(
            "there is no mechanism called `{name}`; it is one of {names}"
        )));
    };
    match unavailable {
        None => Ok(row),
        Some(why) => Err(Error::Failed(format!("{name} is unavailable here: {why}"))),
    }
}
