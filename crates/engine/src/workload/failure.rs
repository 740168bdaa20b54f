//! Why a workload's cell failed.

use model::FailureReason;
use std::fmt::{self, Display};
use std::io;

/// Why a cell failed; or, where it [ran out](Failure::ran_out) of something, why there are no more of its
/// figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(FailureReason);

impl std::error::Error for Failure {}

/// The reason in one line, without the remedy.
impl Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.cause())
    }
}

impl From<FailureReason> for Failure {
    fn from(reason: FailureReason) -> Failure {
        Failure(reason)
    }
}

impl From<Failure> for FailureReason {
    fn from(failure: Failure) -> FailureReason {
        failure.0
    }
}

/// The last line of what a program wrote, or its start where it is long.
pub fn last_line(output: &str) -> String {
    const CHARACTERS_MAX: usize = 500;
    let line = output.trim_end().lines().next_back().unwrap_or_default().trim();
    match line.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{} …", &line[..end]),
        None => line.to_owned(),
    }
}

impl Failure {
    /// The workload's own check failed: with what it found, in one line.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure(FailureReason::CheckFailed { message: message.into() })
    }

    /// What was being done when `error` came: `opening a socketpair: Too many open files`.
    pub fn call(operation: impl Display, error: impl Display) -> Failure {
        let (operation, error) = (operation.to_string(), error.to_string());
        Failure(FailureReason::CallFailed { operation, error })
    }

    /// A command or a server ended otherwise than it should. Its role is empty for what is measured.
    pub fn command(role: &str, command: String, end: String, errors: &str) -> Failure {
        let last_line = last_line(errors);
        Failure(FailureReason::CommandFailed { role: role.to_owned(), command, end, last_line })
    }

    /// The machine has no more of something to give: descriptors, processes, ports, room. What a
    /// trajectory measured up to there counts. The limit and what raises it may be empty.
    pub fn ran_out(
        operation: impl Display,
        error: impl Display,
        (limit, remedy): (String, String),
    ) -> Failure {
        let (operation, error) = (operation.to_string(), error.to_string());
        Failure(FailureReason::ResourceExhausted { operation, error, limit, remedy })
    }

    /// A process or thread could not be started, with `wanted` of them asked for. Where a limit is the cause, the
    /// failure names it: call this while all that was started is still there.
    pub fn start(operation: impl Display, error: &io::Error, wanted: u64) -> Failure {
        match sys::limits::of_start(error, wanted) {
            Some(limit) => Failure::ran_out(operation, error, limit),
            None => Failure::call(operation, error),
        }
    }

    pub(crate) fn is_shortage(&self) -> bool {
        matches!(self.0, FailureReason::ResourceExhausted { .. })
    }
}
