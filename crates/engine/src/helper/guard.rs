//! The guard: this program under [`GUARD_COMMAND`], between whoever starts a program that is not ours and that
//! program. It waits for the end of the program or of a pipe that its starter holds, whatever ends that, and
//! then kills all that came of the program: the kernel hands it the orphans. The last line of its output says how the
//! program ended.

use super::guarded::PROGRAM;
use super::runner::RunEnd;
use crate::descriptors::{CALLER_LIMIT, with_caller_limit};
use crate::process::wait_for_any;
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// The hidden subcommand under which the program is to call [`guard_main`](super::guard_main).
pub const GUARD_COMMAND: &str = "__guard";

/// A guard, seen by its starter: it and all that it guards end when this value is dropped.
#[derive(Debug)]
pub struct Guarded {
    process: Child,
    /// None once the guard has to end.
    stdin: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    ended: Option<ProgramEnd>,
}

/// How a program under a guard ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramEnd {
    /// How its first process ended; absent where it was not started, or its guard was killed.
    pub end: Option<RunEnd>,
    /// Whether other processes of it were running then. They were killed.
    pub has_left_processes: bool,
    /// What it wrote to its standard output last, or why it was not started.
    #[serde(skip)]
    pub output: String,
}

impl ProgramEnd {
    pub(super) fn report(&self, mut out: impl Write) -> io::Result<()> {
        // The program may have ended in the middle of a line.
        write!(out, "\n{}", serde_json::to_string(self)?)?;
        out.flush()
    }

    fn from_output(output: String) -> ProgramEnd {
        let report = output.rsplit_once('\n').and_then(|(before, report)| {
            let ended: ProgramEnd = serde_json::from_str(report).ok()?;
            Some(ProgramEnd { output: before.to_owned(), ..ended })
        });
        report.unwrap_or(ProgramEnd { output, ..ProgramEnd::default() })
    }
}

impl Guarded {
    /// Starts the program that `words` names, first the program and then its arguments, in `directory` and on
    /// `cpus` only, or on any if there are none. `knee` is a program that knows [`GUARD_COMMAND`]: this one,
    /// unless another asks. A program of which nothing is known has a `log`: the end of its output is kept in that
    /// file, and it is ended where it has more processes than a machine can spare. `group` is the
    /// [entrance](crate::QuotaGroup::entrance) of the control group that it is to run in, if any.
    pub fn start(
        knee: &Path,
        words: &[OsString],
        directory: &Path,
        cpus: &[usize],
        group: Option<&Path>,
        log: Option<&Path>,
    ) -> io::Result<Guarded> {
        let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
        let mut command = Command::new(knee);
        command.arg0("knee").args([GUARD_COMMAND, PROGRAM]).arg(log.unwrap_or(Path::new("")));
        command.arg(cpus.join(",")).arg(group.unwrap_or(Path::new("")));
        Guarded::begin(command.args(words).current_dir(directory))
    }

    pub(crate) fn begin(command: &mut Command) -> io::Result<Guarded> {
        let mut process = with_caller_limit(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(sys::limits::explained)?;
        let stdin = process.stdin.take();
        let Some(output) = process.stdout.take() else {
            let _ = process.kill();
            process.wait()?;
            return Err(io::Error::other("the guard has no pipe"));
        };
        Ok(Guarded { process, stdin, output: BufReader::new(output), ended: None })
    }

    /// The next line of its standard output, which is that of the program; empty at the end.
    pub fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line)
    }

    fn rest(&mut self) -> io::Result<ProgramEnd> {
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest)?;
        Ok(ProgramEnd::from_output(String::from_utf8_lossy(&rest).into_owned()))
    }

    pub(crate) fn write_line(&mut self, line: &str) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or_else(|| io::Error::other("the guard is gone"))?;
        writeln!(stdin, "{line}")
    }

    /// The processes of the program: itself first, then all that it started.
    pub fn pids(&self) -> Vec<i32> {
        let pids = sys::proc::descendants(self.process.id(), usize::MAX).into_iter();
        pids.map(u32::cast_signed).collect()
    }

    /// Whether the program has ended by itself.
    pub fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.process.try_wait()?.is_some())
    }

    /// How the program ended, if it has ended by itself or does so within `max`.
    pub fn ended_within(&mut self, max: Duration) -> io::Result<Option<&ProgramEnd>> {
        if self.ended.is_none() && !self.has_ended()? {
            let ended = pidfd_open(Pid::from_child(&self.process), PidfdFlags::empty())?;
            wait_for_any(&mut [PollFd::new(&ended, PollFlags::IN)], Some(max))?;
        }
        if self.ended.is_none() && self.has_ended()? {
            self.ended = Some(self.rest()?);
        }
        Ok(self.ended.as_ref())
    }

    /// Asks the program to end (SIGTERM), waits until it has, and returns the rest of its output.
    pub fn terminate(mut self) -> io::Result<String> {
        if let Some(pid) = self.pids().first().copied().and_then(Pid::from_raw) {
            kill_process(pid, Signal::TERM)?;
        }
        let rest = self.rest()?.output;
        self.end()?;
        Ok(rest)
    }

    /// Kills the program, and waits until all that it started is gone.
    pub fn end(mut self) -> io::Result<()> {
        self.release()
    }

    /// Closes the guard's standard input, so that it kills what it guards, and waits for its end.
    fn release(&mut self) -> io::Result<()> {
        self.stdin = None;
        self.process.wait().map(drop)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // Where this fails, the guard ends what it guards all the same.
        let _ = self.release();
    }
}

/// Variables that a program of the user's does not inherit: those by which a make controls the makes that it starts,
/// and what knee says to its own processes.
const NOT_INHERITED: [&str; 5] = ["MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKELEVEL", CALLER_LIMIT];

/// Takes from the environment of a program of the user's what is not for it.
pub(crate) fn without_own_variables(command: &mut Command) {
    for name in NOT_INHERITED {
        command.env_remove(name);
    }
}

/// Keeps signals that end a whole session from ending a helper: it has to clean up after the others.
pub(crate) fn outlive_session() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_program_is_the_last_line_of_its_guards_output() {
        let ended = ProgramEnd {
            end: Some(RunEnd::Exited(3)),
            has_left_processes: true,
            output: "{\"a\": 1}\nhalf a line".to_owned(),
        };
        let mut output = ended.output.clone().into_bytes();
        ended.report(&mut output).unwrap();
        let output = String::from_utf8(output).unwrap();
        assert_eq!(ProgramEnd::from_output(output), ended);
        let killed = ProgramEnd { output: ended.output, ..ProgramEnd::default() };
        assert_eq!(ProgramEnd::from_output(killed.output.clone()), killed, "its guard was killed");
    }
}
