//! A command that is not ours, run to its end with all that it starts, and what the kernel counted for it.
//!
//! Its guard waits for the word to begin, so that its own start is not counted; takes the command's resources
//! as its parent; and kills what is left of it. Where its starter is gone, it kills the command too.

use super::guard::{GUARD_COMMAND, Guard, outlive_session, without_own_variables};
use crate::descriptors::restore_caller_limit;
use crate::process::{kill_children, own_children, wait_for_child_or_stdin};
use rustix::process::{WaitOptions, getpid, set_child_subreaper, waitpid};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use sys::process::{End, Resources, this_program, wait};

/// Precedes the words of a timed command in a guard's arguments.
pub(crate) const TIMED: &str = "timed";

/// A command that is about to begin. It is killed, with all that it started, when this is dropped.
#[derive(Debug)]
pub struct Timed {
    guard: Guard,
}

/// How a timed command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How its first process ended.
    pub end: End,
    /// What the kernel counted for that process, and for those of its descendants that were waited for.
    pub used: Resources,
}

impl Timed {
    /// Prepares to run `script` by the shell in `directory`, with its output in the file `output`. The
    /// environment is that of this process, without the variables of a make.
    pub fn prepare(script: &str, directory: &Path, output: &Path) -> io::Result<Timed> {
        let mut command = this_program();
        command.args([GUARD_COMMAND, TIMED]).arg(output).arg(script).current_dir(directory);
        let mut timed = Timed { guard: Guard::start(&mut command)? };
        match timed.reply()?.as_str() {
            "ready" => Ok(timed),
            reply => Err(unexpected(reply)),
        }
    }

    /// Begins, and waits until the command has ended.
    pub fn run(&mut self) -> io::Result<Ended> {
        let stdin = self.guard.stdin().ok_or_else(|| io::Error::other("it ran already"))?;
        stdin.write_all(b"b")?;
        let reply = self.reply()?;
        parse(&reply).ok_or_else(|| unexpected(&reply))
    }

    /// Kills what is left of the command, and returns how many processes that were.
    pub fn end(mut self) -> io::Result<u64> {
        self.guard.release();
        let reply = self.reply()?;
        self.guard.wait()?;
        reply.parse().map_err(|_| unexpected(&reply))
    }

    /// The next line of the guard.
    fn reply(&mut self) -> io::Result<String> {
        Ok(self.guard.line()?.trim_end().to_owned())
    }
}

fn unexpected(reply: &str) -> io::Error {
    io::Error::other(format!("unexpected reply of the guard: `{reply}`"))
}

/// The guard: replies that it is ready, waits for the word, runs the command, and replies with its end and then
/// with how many processes were left.
pub(crate) fn main(words: &[String]) -> io::Result<()> {
    let [output, script] = words else { return Err(io::Error::other("nothing to time")) };
    outlive_session()?;
    restore_caller_limit();
    set_child_subreaper(Some(getpid()))?;
    let stdout = File::create(output)?;
    let stderr = File::options().append(true).open(output)?;
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdin(Stdio::null()).stdout(stdout).stderr(stderr);
    without_own_variables(&mut command);
    send("ready")?;
    // Without the word, the starter is gone.
    if io::stdin().read(&mut [0])? == 0 {
        return Ok(());
    }
    let ended = run(&mut command);
    kill_what_is_left()?;
    ended
}

/// Runs the command; leaves it to `kill_what_is_left` where the starter is gone.
fn run(command: &mut Command) -> io::Result<()> {
    let child = command.spawn().map_err(sys::limits::explained)?;
    if !wait_for_child_or_stdin(&child)? {
        return Ok(());
    }
    let (end, used) = wait(child.id())?;
    send(&format_end(end, &used))?;
    // The starter reads the clock before anything is killed: killing would compete with it.
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop)
}

fn kill_what_is_left() -> io::Result<()> {
    // Orphans that have ended by themselves do not count.
    while let Ok(Some(_)) = waitpid(None, WaitOptions::NOHANG) {}
    let left = own_children().len();
    kill_children();
    send(&left.to_string())
}

/// Sends a line to the starter. One that is gone needs no answer, so a broken pipe is no error.
fn send(line: &str) -> io::Result<()> {
    let mut out = io::stdout();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// How a command ended and what it used, in a line of numbers.
fn format_end(end: End, used: &Resources) -> String {
    let (how, code) = match end {
        End::Exited(code) => ("exited", code),
        End::Killed(signal) => ("killed", signal),
    };
    let Resources { user_ns, system_ns, .. } = used;
    let (voluntary, involuntary) = (used.switches_voluntary, used.switches_involuntary);
    let (minor, major) = (used.faults_minor, used.faults_major);
    format!("{how} {code} {user_ns} {system_ns} {voluntary} {involuntary} {minor} {major}")
}

fn parse(line: &str) -> Option<Ended> {
    let mut words = line.split(' ');
    let (how, code) = (words.next()?, words.next()?.parse().ok()?);
    let end = match how {
        "exited" => End::Exited(code),
        "killed" => End::Killed(code),
        _ => return None,
    };
    let numbers: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
    let numbers = numbers?;
    let [user_ns, system_ns, switches_voluntary, switches_involuntary, faults_minor, faults_major] =
        numbers[..]
    else {
        return None;
    };
    let used = Resources {
        user_ns,
        system_ns,
        switches_voluntary,
        switches_involuntary,
        faults_minor,
        faults_major,
        ..Resources::default()
    };
    Some(Ended { end, used })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_parsed_as_it_was_formatted() {
        let used = Resources {
            user_ns: 1,
            system_ns: 2,
            switches_voluntary: 3,
            switches_involuntary: 4,
            faults_minor: 5,
            faults_major: 6,
            ..Resources::default()
        };
        for end in [End::Exited(7), End::Killed(9)] {
            assert_eq!(parse(&format_end(end, &used)), Some(Ended { end, used }));
        }
        for wrong in
            ["", "exited", "exited 0 1 2 3 4 5", "left 0 1 2 3 4 5 6", "exited 0 a 2 3 4 5 6"]
        {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
