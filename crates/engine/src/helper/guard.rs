//! A program of somebody else's that is gone, with all that it started, when whoever started it is.
//!
//! Between the two stands the guard, this same program under [`GUARD_COMMAND`]. It waits for the end of
//! the program or of a pipe that its starter holds, whatever ends that, and then ends all that came of
//! the program: orphans are handed to the guard. The program in turn dies with the guard.

use crate::helper::timed;
use crate::worker::die_with;
use crate::worker::supervise::{SELF, children_of};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process, pidfd_open, set_child_subreaper,
    waitpid,
};
use rustix::thread::{CpuSet, sched_setaffinity};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

/// The hidden subcommand under which the program is to call [`guard_main`].
pub const GUARD_COMMAND: &str = "__guard";

/// Stands before the words of the program in the process that becomes it.
const BECOME: &str = "become";

/// A program under guard. It is ended, with all that it started, when this value is dropped.
#[derive(Debug)]
pub struct Guarded {
    guard: Child,
    line: Option<ChildStdin>,
    said: BufReader<ChildStdout>,
}

impl Guarded {
    /// Starts the program `words` names, first the program and then its arguments, in `folder` and on
    /// `cpus` only, or on any if there are none. `knee` is this program, or where it is another that
    /// asks, the one that knows [`GUARD_COMMAND`].
    pub fn start(
        knee: &Path,
        words: &[OsString],
        folder: &Path,
        cpus: &[usize],
    ) -> io::Result<Guarded> {
        let cpus: Vec<String> = cpus.iter().map(ToString::to_string).collect();
        let mut guard = Command::new(knee)
            .arg0("knee")
            .arg(GUARD_COMMAND)
            .arg(cpus.join(","))
            .args(words)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let line = guard.stdin.take();
        let said = guard.stdout.take().ok_or_else(|| io::Error::other("the guard has no pipe"));
        let said = said.inspect_err(|_| {
            let _ = guard.kill();
            let _ = guard.wait();
        })?;
        Ok(Guarded { guard, line, said: BufReader::new(said) })
    }

    /// The next line that the program writes to its standard output; empty at the end.
    pub fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.said.read_line(&mut line)?;
        Ok(line)
    }

    /// The processes of the program: itself first, then all that it started.
    pub fn pids(&self) -> Vec<i32> {
        let mut pids: Vec<Pid> = children_of(&self.guard.id().to_string());
        let mut next = 0;
        while next < pids.len() {
            pids.extend(children_of(&pids[next].as_raw_pid().to_string()));
            next += 1;
        }
        pids.into_iter().map(Pid::as_raw_pid).collect()
    }

    /// Whether the program has ended by itself.
    pub fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.guard.try_wait()?.is_some())
    }

    /// Asks the program to end (SIGTERM), waits until it has, and returns the rest of what it said.
    pub fn ask_to_end(mut self) -> io::Result<String> {
        if let Some(pid) = self.pids().first().copied().and_then(Pid::from_raw) {
            kill_process(pid, Signal::TERM)?;
        }
        let mut rest = String::new();
        self.said.read_to_string(&mut rest)?;
        self.end()?;
        Ok(rest)
    }

    /// Ends the program, and waits until all that it started is gone.
    pub fn end(mut self) -> io::Result<()> {
        self.finish()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.line = None;
        self.guard.wait().map(drop)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // The guard ends it all the same, if a little later.
        let _ = self.finish();
    }
}

/// Starts the program of `words` on the CPUs that the first of them lists, and ends it when standard
/// input ends. Signals that end a whole session don't keep it from that.
pub fn guard_main(words: &[String]) -> io::Result<()> {
    let [cpus, program @ ..] = words else { return Err(io::Error::other("nothing to guard")) };
    match cpus.as_str() {
        BECOME => return become_it(program),
        timed::TIMED => return timed::main(program),
        _ => {}
    }
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    set_child_subreaper(Some(getpid()))?;
    pin(cpus)?;
    let parent = getpid().as_raw_pid().to_string();
    let child = Command::new(SELF)
        .arg0("knee")
        .args([GUARD_COMMAND, BECOME, &parent])
        .args(program)
        .stdin(Stdio::null())
        .spawn()?;
    let waited = wait_for(&child).map(drop);
    end_all();
    waited
}

/// Keeps this process, and what it starts, to these CPUs, separated by commas.
fn pin(cpus: &str) -> io::Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus.split(',').filter(|cpu| !cpu.is_empty()) {
        match cpu.parse() {
            Ok(cpu) if cpu < CpuSet::MAX_CPU => set.set(cpu),
            _ => return Err(io::Error::other(format!("there is no CPU {cpu}"))),
        }
    }
    if set.count() == 0 { Ok(()) } else { Ok(sched_setaffinity(None, &set)?) }
}

/// Becomes the program, which dies with the guard: what asks for that outlasts the change.
fn become_it(words: &[String]) -> io::Result<()> {
    let [guard, program, arguments @ ..] = words else {
        return Err(io::Error::other("nothing to become"));
    };
    die_with(guard.parse().unwrap_or_default())?;
    let error = Command::new(program).args(arguments).exec();
    Err(io::Error::new(error.kind(), format!("{program}: {error}")))
}

/// Waits for the end of the program or of standard input, and says whether it was the program's.
pub(crate) fn wait_for(child: &Child) -> io::Result<bool> {
    let ended = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
    let mut byte = [0];
    loop {
        let stdin = io::stdin();
        let mut fds = [PollFd::new(&ended, PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut fds, None) {
            Err(rustix::io::Errno::INTR) => continue,
            other => other?,
        };
        if !fds[0].revents().is_empty() {
            return Ok(true);
        }
        match io::stdin().read(&mut byte) {
            Ok(0) => return Ok(false),
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
    }
}

/// Ends every child, and every orphan that becomes one thereby.
pub(crate) fn end_all() {
    loop {
        let left = children_of("self");
        if left.is_empty() {
            return;
        }
        for pid in left {
            // One that has just ended is only waited for.
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
    }
}
