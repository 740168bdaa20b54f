//! The guard of a program that is not ours: that ends, with all that it started, when whoever started it does.

use super::guard::{GUARD_COMMAND, ProgramEnd, outlive_session, without_own_variables};
use super::log::Log;
use super::quota::enter;
use super::runner::RunEnd;
use super::watch::{Before, PROCESSES_MAX, WaitEnd, watch};
use crate::descriptors::restore_caller_limit;
use crate::process::kill_children;
use rustix::process::{getpid, set_child_subreaper};
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use sys::fork::die_with_parent;
use sys::process::{reap, this_program};

/// Precedes the words of the program in the process that becomes it.
pub(super) const BECOME: &str = "become";
/// Precedes the log, the CPUs, the control group and the words of a program in the arguments of its guard.
pub(super) const PROGRAM: &str = "program";

/// The guard: starts a program on some CPUs (numbers with commas), and kills it when standard input ends. `words` are its log,
/// the CPUs, the entrance of its control group, all of which may be empty, and the words of the program.
pub(super) fn main(words: &[String]) -> io::Result<()> {
    let [log, cpus, group, words @ ..] = words else {
        return Err(io::Error::other("nothing to guard"));
    };
    let log = (!log.is_empty()).then(|| Log::create(Path::new(log))).transpose()?;
    if log.is_some() {
        // Nothing is known of the program: it is the user's.
        restore_caller_limit();
    }
    outlive_session()?;
    set_child_subreaper(Some(getpid()))?;
    sys::cpus::pin(&sys::cpus::in_list(cpus).unwrap_or_default())?;
    let before = Before::now();
    let mut program = this_program();
    program.args([GUARD_COMMAND, BECOME, &getpid().as_raw_pid().to_string(), group]).args(words);
    if let Some(log) = &log {
        program.stdout(log.file.try_clone()?).stderr(log.file.try_clone()?);
    }
    let started = program.stdin(Stdio::null()).spawn().map_err(sys::limits::explained);
    let mut child = started.inspect_err(|error| {
        // Where the starter looks for what the program says. If that fails too, standard error has it.
        let _ = match &log {
            Some(log) => writeln!(&log.file, "not started: {error}"),
            None => writeln!(io::stdout(), "not started: {error}"),
        };
    })?;
    let waited = match log {
        Some(mut log) => watch(&child, None, &mut [], Some(&mut || look(&mut log, before))),
        None => watch(&child, None, &mut [], None),
    };
    let ended = waited.and_then(|waited| program_end(&mut child, &waited));
    kill_children();
    // Its starter may be gone.
    let _ = ended?.report(io::stdout());
    Ok(())
}

fn program_end(child: &mut Child, waited: &WaitEnd) -> io::Result<ProgramEnd> {
    let end = match waited {
        WaitEnd::Ended => {
            let status = child.wait()?;
            let killed = || status.signal().map(RunEnd::Killed);
            status.code().map(RunEnd::Exited).or_else(killed)
        }
        WaitEnd::TimeLimit => Some(RunEnd::TimeLimit),
        WaitEnd::Processes => Some(RunEnd::Processes(PROCESSES_MAX)),
        WaitEnd::StarterGone => None,
    };
    let has_left_processes = loop {
        match reap() {
            Ok(Some(_)) => {}
            // Without any child, it is an error.
            result => break result.is_ok(),
        }
    };
    Ok(ProgramEnd { end, has_left_processes, ..ProgramEnd::default() })
}

/// Keeps the log short, and says whether the program has too many processes.
fn look(log: &mut Log, before: Before) -> io::Result<bool> {
    log.shorten()?;
    Ok(before.has_too_many_processes())
}

/// Becomes the program of `words`, which dies with the guard: the request for that survives the exec.
pub(super) fn become_program(words: &[String]) -> io::Result<()> {
    let [guard, group, program, arguments @ ..] = words else {
        return Err(io::Error::other("nothing to become"));
    };
    die_with_parent(guard.parse().unwrap_or_default())?;
    if !group.is_empty() {
        enter(Path::new(group))?;
    }
    let mut command = Command::new(program);
    without_own_variables(&mut command);
    let error = command.args(arguments).exec();
    Err(io::Error::new(error.kind(), format!("{program}: {error}")))
}
