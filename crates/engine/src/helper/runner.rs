//! Commands of a user, run one after the other, each with all that it starts, and what the kernel counted for
//! each.
//!
//! One guard runs them all, in a session of its own, so that no command has a terminal. It kills what a command
//! leaves before it replies. Each command is started, timed and waited for by a small program of its own, the
//! starter, which the workload embeds: the kernel counts a process's resident set from that of its parent on, and
//! this program's is larger than that of many a command.

mod child;

pub(crate) use child::main;

use super::guard::{GUARD_COMMAND, Guarded};
use crate::process::MARK;
use crate::worker::marked::GUARD_MARK;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::time::Duration;
use sys::clock::Clock;
use sys::process::{Resources, this_program};

/// Says in a guard's arguments that it runs commands.
pub(crate) const RUNNER: &str = "runner";

/// The guard of a cell's commands. It is killed, with all that they started, when this is dropped.
#[derive(Debug)]
pub struct Runner {
    guard: Guarded,
    /// The program that starts each command, in memory.
    _starter: File,
}

/// A command that can be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Where it runs.
    pub directory: PathBuf,
    /// The file that it reads; `/dev/null` where it is absent.
    pub input: Option<PathBuf>,
    /// Where its standard output goes.
    pub output: RunnerOutput,
    /// The [entrance](crate::QuotaGroup::entrance) of the control group that it runs in, where it has one of its own.
    pub group: Option<PathBuf>,
    /// The tracepoint by which its system calls are counted, where they are: see [`Ran::calls`]. That makes each take longer.
    pub call_tracepoint: Option<u64>,
    /// It is killed when it takes longer, or has more than 4,096 processes at once. Where it is absent, the cell's deadline
    /// is the only limit.
    pub time_limit: Option<Duration>,
}

/// Where the standard output of a command goes. The end of its standard error is kept, unless it goes into a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunnerOutput {
    /// To `/dev/null`.
    Null,
    /// Into this file, which is made or emptied first.
    File(PathBuf),
    /// To the end of this file, which may be a terminal.
    Append(PathBuf),
    /// Into this file, which is made or emptied first, with its standard error.
    Log(PathBuf),
    /// Its end is kept.
    Kept,
}

/// How a command ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ran {
    /// The clock before it started.
    pub before: u64,
    /// The clock after it ended.
    pub after: u64,
    /// How its first process ended.
    pub end: RunEnd,
    /// What the kernel counted for that process, and for those of its descendants that were waited for.
    #[serde(with = "PassedResources")]
    pub used: Resources,
    /// The same for all other descendants that ended by themselves.
    #[serde(with = "PassedResources")]
    pub orphans: Resources,
    /// What the kernel counted of its reads and writes, those of descendants that were waited for included; `None` where it
    /// does not say.
    pub io: Option<ProcessIo>,
    /// System calls of it and all that it started, where they were counted: all, then each of
    /// [`COUNTED_CALLS`](observe::COUNTED_CALLS).
    pub calls: Vec<u64>,
    /// The end of its standard output, if that is kept.
    pub output: String,
    /// The end of its standard error.
    pub errors: String,
    /// Processes that it left behind, which were killed.
    pub left: u64,
    /// CPU time that these had used.
    pub left_cpu_ns: u64,
}

/// What `/proc/PID/io` counts, of files, pipes and sockets alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIo {
    /// Bytes that were read.
    pub bytes_read: u64,
    /// Bytes that were written.
    pub bytes_written: u64,
    /// Calls that read.
    pub reads: u64,
    /// Calls that wrote.
    pub writes: u64,
}

/// How the first process of a command ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunEnd {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// It was killed at its time limit.
    #[default]
    TimeLimit,
    /// It was killed because it had more than this number of processes.
    Processes(usize),
}

/// As the end of a sentence about the command.
impl fmt::Display for RunEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunEnd::Exited(code) => write!(f, "exited with {code}"),
            RunEnd::Killed(signal) => write!(f, "was killed by signal {signal}"),
            RunEnd::TimeLimit => f.write_str("took too long and was killed"),
            RunEnd::Processes(max) => {
                write!(f, "had more than {max} processes at once and was killed")
            }
        }
    }
}

impl Runner {
    /// Starts a guard that times commands by `clock`, each by a process of the program `starter`, which programs that are
    /// started get under the same number.
    pub fn start(clock: Clock, starter: File) -> io::Result<Runner> {
        let mut command = this_program();
        // Without the mark of workers it is not killed before it has killed what it guards.
        command.args([GUARD_COMMAND, RUNNER, clock.name(), &starter.as_raw_fd().to_string()]);
        if let Some(mark) = std::env::var_os(MARK) {
            command.env(GUARD_MARK, mark).env_remove(MARK);
        }
        Ok(Runner { guard: Guarded::begin(&mut command)?, _starter: starter })
    }

    /// Runs a command to its end, and kills what it leaves.
    ///
    /// # Errors
    /// Where it can't be started, with the reason of the kernel.
    pub fn run(&mut self, command: &RunnerCommand) -> io::Result<Ran> {
        let line = serde_json::to_string(command).map_err(io::Error::other)?;
        self.guard.write_line(&line)?;
        let reply = self.guard.line()?;
        match serde_json::from_str(&reply) {
            Ok(Reply::Ran(ran)) => Ok(*ran),
            Ok(Reply::NotStarted { code: Some(code), .. }) => {
                Err(io::Error::from_raw_os_error(code))
            }
            Ok(Reply::NotStarted { error, .. }) => Err(io::Error::other(error)),
            Err(_) if reply.is_empty() => Err(io::Error::other("the guard has ended")),
            Err(error) => Err(io::Error::other(format!("the guard's reply: {error}"))),
        }
    }

    /// Ends the guard.
    pub fn end(self) -> io::Result<()> {
        self.guard.end()
    }
}

#[derive(Debug, Serialize, Deserialize)]
enum Reply {
    Ran(Box<Ran>),
    NotStarted { code: Option<i32>, error: String },
}

/// [`Resources`] as they pass from the guard.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Resources")]
struct PassedResources {
    user_ns: u64,
    system_ns: u64,
    switches_voluntary: u64,
    switches_involuntary: u64,
    faults_minor: u64,
    faults_major: u64,
    rss_max_bytes: u64,
}
