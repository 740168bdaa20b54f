//! The guard: this program under [`GUARD_COMMAND`], between whoever starts a program that is not ours and that
//! program. It waits for the end of the program or of a pipe that its starter holds, whatever ends that, and
//! then kills all that came of the program: the kernel hands it the orphans.

use crate::descriptors::{CALLER_LIMIT, with_caller_limit};
use rustix::process::Pid;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

/// The hidden subcommand under which the program is to call [`guard_main`](super::guard_main).
pub const GUARD_COMMAND: &str = "__guard";

/// A guard, seen by its starter. It ends with what it guards when this value is dropped.
#[derive(Debug)]
pub(crate) struct Guard {
    process: Child,
    stdin: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Guard {
    /// Starts `command`, which has to become a guard.
    pub fn start(command: &mut Command) -> io::Result<Guard> {
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
        Ok(Guard { process, stdin, output: BufReader::new(output) })
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// The next line of its standard output; empty at the end.
    pub fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        Ok(line)
    }

    /// The rest of its standard output.
    pub fn rest(&mut self) -> io::Result<String> {
        let mut rest = String::new();
        self.output.read_to_string(&mut rest)?;
        Ok(rest)
    }

    /// Its standard input; none once [`release`](Guard::release) closed it.
    pub fn stdin(&mut self) -> Option<&mut ChildStdin> {
        self.stdin.as_mut()
    }

    pub fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.process.try_wait()?.is_some())
    }

    /// Closes its standard input: the guard kills what it guards, and ends.
    pub fn release(&mut self) {
        self.stdin = None;
    }

    /// Waits for its end.
    pub fn wait(&mut self) -> io::Result<()> {
        self.process.wait().map(drop)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.release();
        // Where this fails, the guard ends what it guards all the same.
        let _ = self.wait();
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
