//! A command of somebody else's, run to its end with all that it starts, and what the kernel counted for
//! it.
//!
//! Between the two stands a guard, as for any program that is not ours: it waits for the word to begin, so
//! that its own start is none of the command's, takes the command's resources as its parent, and ends
//! whatever is left of it. Where whoever asked is gone, it ends the command too.

use crate::helper::guard::{GUARD_COMMAND, end_all, wait_for};
use crate::worker::supervise::{SELF, children_of};
use rustix::process::{WaitOptions, getpid, set_child_subreaper, waitpid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use sys::process::{End, Resources, wait};

/// Stands before the words of such a command where a guard is told what to do.
pub(crate) const TIMED: &str = "timed";
/// Variables by which a make tells another one, which it started, what to do.
const OF_MAKE: [&str; 4] = ["MAKEFLAGS", "MFLAGS", "GNUMAKEFLAGS", "MAKELEVEL"];

/// A command that is about to begin. It is ended, with all that it started, when this is dropped.
#[derive(Debug)]
pub struct Timed {
    guard: Child,
    line: Option<ChildStdin>,
    said: BufReader<ChildStdout>,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How its first process ended.
    pub end: End,
    /// What the kernel counted for that process and all that were waited for among those that it started.
    pub used: Resources,
}

impl Timed {
    /// Makes ready to run `script` by the shell in `folder`; what it says goes to the file `output`. The
    /// environment is that of this process, but for what another make may have left there.
    pub fn ready(script: &str, folder: &Path, output: &Path) -> io::Result<Timed> {
        let mut guard = Command::new(SELF)
            .arg0("knee")
            .args([GUARD_COMMAND, TIMED])
            .arg(output)
            .arg(script)
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
        let mut timed = Timed { guard, line, said: BufReader::new(said) };
        match timed.told()?.as_str() {
            "ready" => Ok(timed),
            other => Err(io::Error::other(format!("the guard said `{other}`, and is not ready"))),
        }
    }

    /// Begins, and waits until the command has ended.
    pub fn run(&mut self) -> io::Result<Ended> {
        let line = self.line.as_mut().ok_or_else(|| io::Error::other("it ran already"))?;
        line.write_all(b"b")?;
        let said = self.told()?;
        parsed(&said).ok_or_else(|| io::Error::other(format!("the guard said `{said}`")))
    }

    /// Ends what is left of the command, and says how many processes that were.
    pub fn end(mut self) -> io::Result<u64> {
        self.line = None;
        let left = self.told()?;
        self.guard.wait()?;
        left.parse().map_err(|_| io::Error::other(format!("the guard said `{left}`")))
    }

    /// The next line of the guard.
    fn told(&mut self) -> io::Result<String> {
        let mut line = String::new();
        self.said.read_line(&mut line)?;
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Timed {
    fn drop(&mut self) {
        self.line = None;
        // The guard ends it all the same, if a little later.
        let _ = self.guard.wait();
    }
}

/// The guard's side: says that it is ready, waits for the word, runs the command, and says what came of it
/// and then how many processes were left. Signals that end a whole session don't keep it from that.
pub(crate) fn main(words: &[String]) -> io::Result<()> {
    let [output, script] = words else { return Err(io::Error::other("nothing to time")) };
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    set_child_subreaper(Some(getpid()))?;
    let (said, too) = (File::create(output)?, File::options().append(true).open(output)?);
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdin(Stdio::null()).stdout(said).stderr(too);
    for name in OF_MAKE {
        command.env_remove(name);
    }
    say("ready")?;
    // Nobody waits for it any more where there is no word.
    if io::stdin().read(&mut [0])? == 0 {
        return Ok(());
    }
    let ended = run(&mut command);
    end_all_left()?;
    ended
}

/// Runs the command; it is left to `end_all` where whoever asked is gone.
fn run(command: &mut Command) -> io::Result<()> {
    let child = command.spawn()?;
    if !wait_for(&child)? {
        return Ok(());
    }
    let (end, used) = wait(child.id())?;
    say(&written(end, &used))?;
    // What is left may be of use to it until whoever asked has read the clock.
    io::copy(&mut io::stdin(), &mut io::sink()).map(drop)
}

fn end_all_left() -> io::Result<()> {
    // Orphans that have ended by themselves are none that were left.
    while let Ok(Some(_)) = waitpid(None, WaitOptions::NOHANG) {}
    let left = children_of("self").len();
    end_all();
    say(&left.to_string())
}

/// A line to whoever asked; where nobody hears it any more, there is nobody to tell that either.
fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout();
    match writeln!(out, "{line}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// How it ended and what it used, in a line of numbers.
fn written(end: End, used: &Resources) -> String {
    let (how, code) = match end {
        End::Exited(code) => ("exited", code),
        End::Killed(signal) => ("killed", signal),
    };
    let Resources { user_ns, system_ns, .. } = used;
    let (waited, taken) = (used.switches_voluntary, used.switches_involuntary);
    let (minor, major) = (used.faults_minor, used.faults_major);
    format!("{how} {code} {user_ns} {system_ns} {waited} {taken} {minor} {major}")
}

fn parsed(line: &str) -> Option<Ended> {
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
    };
    Some(Ended { end, used })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_guard_says_is_read_as_it_was_meant() {
        let used = Resources {
            user_ns: 1,
            system_ns: 2,
            switches_voluntary: 3,
            switches_involuntary: 4,
            faults_minor: 5,
            faults_major: 6,
        };
        for end in [End::Exited(7), End::Killed(9)] {
            assert_eq!(parsed(&written(end, &used)), Some(Ended { end, used }));
        }
        for wrong in
            ["", "exited", "exited 0 1 2 3 4 5", "left 0 1 2 3 4 5 6", "exited 0 a 2 3 4 5 6"]
        {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
