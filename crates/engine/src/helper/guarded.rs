//! A program that is not ours, under a guard: it ends, with all that it started, when whoever started it does.

use super::guard::{GUARD_COMMAND, Guard, outlive_session};
use crate::process::{children_of, die_with_parent, kill_children, wait_for_child_or_stdin};
use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use sys::process::this_program;

/// Precedes the words of the program in the process that becomes it.
pub(crate) const BECOME: &str = "become";

/// A program under guard. It is killed, with all that it started, when this value is dropped.
#[derive(Debug)]
pub struct Guarded {
    guard: Guard,
}

impl Guarded {
    /// Starts the program that `words` names, first the program and then its arguments, in `directory` and on
    /// `cpus` only, or on any if there are none. `knee` is a program that knows [`GUARD_COMMAND`]: this one,
    /// unless another asks.
    pub fn start(
        knee: &Path,
        words: &[OsString],
        directory: &Path,
        cpus: &[usize],
    ) -> io::Result<Guarded> {
        let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
        let mut command = Command::new(knee);
        command.arg0("knee").arg(GUARD_COMMAND).arg(cpus.join(",")).args(words);
        let guard = Guard::start(command.current_dir(directory))?;
        Ok(Guarded { guard })
    }

    /// The next line that the program writes to its standard output; empty at the end.
    pub fn line(&mut self) -> io::Result<String> {
        self.guard.line()
    }

    /// The processes of the program: itself first, then all that it started.
    pub fn pids(&self) -> Vec<i32> {
        let mut pids: Vec<Pid> = children_of(&self.guard.pid().to_string());
        let mut next = 0;
        while next < pids.len() {
            pids.extend(children_of(&pids[next].as_raw_pid().to_string()));
            next += 1;
        }
        pids.into_iter().map(Pid::as_raw_pid).collect()
    }

    /// Whether the program has ended by itself.
    pub fn has_ended(&mut self) -> io::Result<bool> {
        self.guard.has_ended()
    }

    /// Asks the program to end (SIGTERM), waits until it has, and returns the rest of its output.
    pub fn terminate(mut self) -> io::Result<String> {
        if let Some(pid) = self.pids().first().copied().and_then(Pid::from_raw) {
            kill_process(pid, Signal::TERM)?;
        }
        let rest = self.guard.rest()?;
        self.end()?;
        Ok(rest)
    }

    /// Kills the program, and waits until all that it started is gone.
    pub fn end(mut self) -> io::Result<()> {
        self.guard.release();
        self.guard.wait()
    }
}

/// The guard: starts the program of `words` on `cpus` (numbers with commas), and kills it when standard input
/// ends.
pub(crate) fn main(cpus: &str, words: &[String]) -> io::Result<()> {
    outlive_session()?;
    set_child_subreaper(Some(getpid()))?;
    let cpus: Result<Vec<usize>, _> =
        cpus.split(',').filter(|cpu| !cpu.is_empty()).map(str::parse).collect();
    sys::cpus::pin(&cpus.map_err(io::Error::other)?)?;
    let child = this_program()
        .args([GUARD_COMMAND, BECOME, &getpid().as_raw_pid().to_string()])
        .args(words)
        .stdin(Stdio::null())
        .spawn()?;
    let waited = wait_for_child_or_stdin(&child).map(drop);
    kill_children();
    waited
}

/// Becomes the program of `words`, which dies with the guard: the request for that survives the exec.
pub(crate) fn become_program(words: &[String]) -> io::Result<()> {
    let [guard, program, arguments @ ..] = words else {
        return Err(io::Error::other("nothing to become"));
    };
    die_with_parent(guard.parse().unwrap_or_default())?;
    let error = Command::new(program).args(arguments).exec();
    Err(io::Error::new(error.kind(), format!("{program}: {error}")))
}
