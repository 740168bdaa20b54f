//! A program that is not ours, under a guard: it ends, with all that it started, when whoever started it does.

use super::guard::{GUARD_COMMAND, Guard, outlive_session, without_own_variables};
use super::log::Log;
use super::runner::{PROCESSES_MAX, has_more_processes_than};
use crate::descriptors::restore_caller_limit;
use crate::process::{
    die_with_parent, kill_children, wait_for_child_or_stdin, wait_for_child_or_stdin_until,
};
use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use sys::process::this_program;

/// Precedes the words of the program in the process that becomes it.
pub(crate) const BECOME: &str = "become";
/// Precedes the log, the CPUs and the words of a program that has a log.
pub(crate) const LOGGED: &str = "logged";

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
        Guarded::start_as(knee, &[cpus_word(cpus).into()], words, directory)
    }

    /// The same for a program of which nothing is known: the end of its output is kept in the file `log`, and it
    /// is ended where it has more processes than a machine can spare.
    pub fn start_with_log(
        knee: &Path,
        words: &[OsString],
        directory: &Path,
        cpus: &[usize],
        log: &Path,
    ) -> io::Result<Guarded> {
        Guarded::start_as(
            knee,
            &[LOGGED.into(), log.into(), cpus_word(cpus).into()],
            words,
            directory,
        )
    }

    fn start_as(
        knee: &Path,
        role: &[OsString],
        words: &[OsString],
        directory: &Path,
    ) -> io::Result<Guarded> {
        let mut command = Command::new(knee);
        command.arg0("knee").arg(GUARD_COMMAND).args(role).args(words);
        let guard = Guard::start(command.current_dir(directory))?;
        Ok(Guarded { guard })
    }

    /// The next line that the program writes to its standard output; empty at the end.
    pub fn line(&mut self) -> io::Result<String> {
        self.guard.line()
    }

    /// What is left of its output when it [has ended](Guarded::has_ended), or why it was not started.
    pub fn rest(&mut self) -> io::Result<String> {
        self.guard.rest()
    }

    /// The processes of the program: itself first, then all that it started.
    pub fn pids(&self) -> Vec<i32> {
        let pids = sys::proc::descendants(self.guard.pid(), usize::MAX).into_iter();
        pids.map(u32::cast_signed).collect()
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

/// CPUs as a word of the guard.
fn cpus_word(cpus: &[usize]) -> String {
    cpus.iter().map(ToString::to_string).collect::<Vec<String>>().join(",")
}

/// The guard: starts the program of `words` on `cpus` (numbers with commas), and kills it when standard input
/// ends.
pub(crate) fn main(cpus: &str, words: &[String]) -> io::Result<()> {
    guard(cpus, words, None)
}

/// The same, with the program's output in a log that is kept short: `words` begins with its path and the CPUs.
pub(crate) fn main_with_log(words: &[String]) -> io::Result<()> {
    let [log, cpus, words @ ..] = words else { return Err(io::Error::other("nothing to guard")) };
    // Nothing is known of the program: it is the user's.
    restore_caller_limit();
    guard(cpus, words, Some(Log::create(Path::new(log))?))
}

fn guard(cpus: &str, words: &[String], log: Option<Log>) -> io::Result<()> {
    outlive_session()?;
    set_child_subreaper(Some(getpid()))?;
    let cpus: Result<Vec<usize>, _> =
        cpus.split(',').filter(|cpu| !cpu.is_empty()).map(str::parse).collect();
    sys::cpus::pin(&cpus.map_err(io::Error::other)?)?;
    let mut program = this_program();
    program.args([GUARD_COMMAND, BECOME, &getpid().as_raw_pid().to_string()]).args(words);
    if let Some(log) = &log {
        program.stdout(log.file.try_clone()?).stderr(log.file.try_clone()?);
    }
    let started = program.stdin(Stdio::null()).spawn().map_err(sys::limits::explained);
    let child = started.inspect_err(|error| {
        // Where the starter looks for what the program says. If that fails too, standard error has it.
        let _ = match &log {
            Some(log) => writeln!(&log.file, "not started: {error}"),
            None => writeln!(io::stdout(), "not started: {error}"),
        };
    })?;
    let waited = match log {
        Some(log) => watch(&child, log),
        None => wait_for_child_or_stdin(&child).map(drop),
    };
    kill_children();
    waited
}

/// Waits for the end of `child` or of standard input, keeps the log short meanwhile, and gives the child up where
/// it has too many processes.
fn watch(child: &Child, mut log: Log) -> io::Result<()> {
    const PERIOD: Duration = Duration::from_millis(100);
    let processes_of_machine = || sys::proc::pids().count();
    let before = processes_of_machine();
    while wait_for_child_or_stdin_until(child, Some(PERIOD))?.is_none() {
        log.shorten()?;
        // Following all that a server with many threads started costs time, which is the server's.
        let grown = processes_of_machine().saturating_sub(before);
        if grown >= PROCESSES_MAX && has_more_processes_than(PROCESSES_MAX) {
            return log.add(&format!("it was ended at more than {PROCESSES_MAX} processes\n"));
        }
    }
    Ok(())
}

/// Becomes the program of `words`, which dies with the guard: the request for that survives the exec.
pub(crate) fn become_program(words: &[String]) -> io::Result<()> {
    let [guard, program, arguments @ ..] = words else {
        return Err(io::Error::other("nothing to become"));
    };
    die_with_parent(guard.parse().unwrap_or_default())?;
    let mut command = Command::new(program);
    without_own_variables(&mut command);
    let error = command.args(arguments).exec();
    Err(io::Error::new(error.kind(), format!("{program}: {error}")))
}
