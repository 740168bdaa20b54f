//! Exit codes, and the error of a command.

use crate::output;
use crate::remedies::explained;
use archive::{Error, ServerFault};
use engine::Stop;
use printable::clean;
use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    Done,
    Failed,
    Usage,
    Different,
    Inconclusive,
    NotPossibleHere,
    /// Of a bisection: the version is bad.
    Bad,
    /// Of a bisection: whether the version is bad is open.
    Skip,
    /// Of a bisection: no version can be judged.
    Abort,
    Interrupted,
    /// The reader of standard output has gone before its end.
    ReaderGone,
}

pub const CODES: &[(u8, &str)] = &[
    (0, "done"),
    (1, "failed: one line says what; or a control of selftest failed; a bisection: bad"),
    (2, "usage: the command line, or a file that it names, is wrong"),
    (3, "different: --fail-on or --fail-above found what it asks for"),
    (
        4,
        "inconclusive: too little evidence for a gate, or something that it can't judge; or for a control of selftest",
    ),
    (
        5,
        "not possible on this machine as it is, or nothing is recorded yet; doctor: a check is bad",
    ),
    (
        125,
        "a bisection (ab --bisect, vm --against): can't tell whether this version is good or bad",
    ),
    (128, "a bisection: no version can be judged: the arguments, the base, or QEMU"),
    (130, "interrupted: what was measured until then is kept and shown"),
    (141, "the reader of standard output has gone, as `head` does"),
];

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed | Exit::Bad => 1,
            Exit::Usage => 2,
            Exit::Different => 3,
            Exit::Inconclusive => 4,
            Exit::NotPossibleHere => 5,
            Exit::Skip => 125,
            Exit::Abort => 128,
            Exit::Interrupted => 130,
            Exit::ReaderGone => 141,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Prints a line on standard error, without escape sequences. A failure to print it can't be reported anywhere.
pub fn complain(line: &str) {
    let line = printable::without_passwords(line);
    let _ = writeln!(io::stderr(), "{}", clean(&line, false));
}

/// The same of a line that is no error: `--quiet` prints none.
pub fn note(line: &str) {
    if !output::is_quiet() {
        complain(line);
    }
}

/// What ends a command in good order at a signal.
pub fn stop_on_signals() -> Result<Stop, Trouble> {
    Stop::on_signals().map_err(|error| Trouble::failed(format!("listening for signals: {error}")))
}

/// Why a command could not do what it was asked: one line for a person, and the exit code.
#[derive(Debug, thiserror::Error)]
#[error("{line}")]
pub struct Trouble {
    pub exit: Exit,
    line: String,
}

impl Trouble {
    pub fn failed(line: impl Into<String>) -> Trouble {
        Trouble { exit: Exit::Failed, line: line.into() }
    }

    pub fn usage(line: impl Into<String>) -> Trouble {
        Trouble { exit: Exit::Usage, line: line.into() }
    }

    pub fn not_possible(line: impl Into<String>) -> Trouble {
        Trouble { exit: Exit::NotPossibleHere, line: line.into() }
    }

    pub fn interrupted(line: impl Into<String>) -> Trouble {
        Trouble { exit: Exit::Interrupted, line: line.into() }
    }

    /// The same where it keeps a bisection from judging a version.
    pub fn skipped(self) -> Trouble {
        Trouble { exit: Exit::Skip, line: format!("can't tell: {} (exit 125)", self.line) }
    }

    /// What a guest could not do, with the exit code that it would have ended with.
    pub fn of_guest(line: String, code: u8) -> Trouble {
        let all = [Exit::Usage, Exit::NotPossibleHere, Exit::Interrupted];
        let exit = all.into_iter().find(|exit| exit.code() == code).unwrap_or(Exit::Failed);
        Trouble { exit, line }
    }

    pub fn say(&self) {
        if !self.line.is_empty() {
            complain(&format!("knee: {}", self.line));
        }
    }

    pub fn no_thread(error: io::Error) -> Trouble {
        let error = sys::limits::explained(error);
        Trouble::failed(format!("no thread could be started: {error}"))
    }

    /// The command ends like this, and there is nothing more to print.
    pub fn shown(exit: Exit) -> Trouble {
        Trouble { exit, line: String::new() }
    }
}

impl From<engine::RequestError> for Trouble {
    fn from(error: engine::RequestError) -> Trouble {
        let exit = match error {
            engine::RequestError::Usage(_) => Exit::Usage,
            engine::RequestError::NotPossibleHere(_) => Exit::NotPossibleHere,
        };
        Trouble { exit, line: error.to_string() }
    }
}

impl From<foreign_tables::Error> for Trouble {
    fn from(error: foreign_tables::Error) -> Trouble {
        let exit = match error {
            foreign_tables::Error::Refused(_) => Exit::Usage,
            foreign_tables::Error::Unreadable { .. } => Exit::Failed,
        };
        Trouble { exit, line: error.to_string() }
    }
}

impl From<doctor::Error> for Trouble {
    fn from(error: doctor::Error) -> Trouble {
        let exit = match error {
            doctor::Error::NotSavedSettings(_) => Exit::Usage,
            doctor::Error::Failed(_) => Exit::Failed,
        };
        Trouble { exit, line: error.to_string() }
    }
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        let exit = match &error {
            Error::Server { fault: ServerFault::Interrupted, .. } => Exit::Interrupted,
            error if names_the_wrong_thing(error) => Exit::Usage,
            _ => Exit::Failed,
        };
        Trouble { exit, line: explained(&error) }
    }
}

/// Whether another file or another run has to be named.
pub fn names_the_wrong_thing(error: &Error) -> bool {
    matches!(
        error,
        Error::NoRecord { .. }
            | Error::EmptyRecord { .. }
            | Error::NoSuchRun { .. }
            | Error::NotAFile { .. }
            | Error::NotAFileButAUrl { .. }
            | Error::Refused { .. }
            | Error::NotThisFile { .. }
            | Error::Damaged { .. }
    ) || matches!(error, Error::NoDirectory { cause, .. } if cause.kind() != ErrorKind::StorageFull)
        || matches!(error, Error::Server { fault, .. } if is_wrong_server(fault))
}

/// Whether another URL has to be named, or the archive made first.
fn is_wrong_server(fault: &ServerFault) -> bool {
    use ServerFault as F;
    matches!(
        fault,
        F::BadUrl { .. }
            | F::NotPostgres { .. }
            | F::NoArchive
            | F::Unreleased
            | F::Encoding { .. }
    )
}
