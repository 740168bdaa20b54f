//! The program that repeats one row, from memory: small, so that a fork of it is what it is in lmbench. It reads
//! the clock around each batch itself.

use crate::shared::embedded::{in_memory, in_memory_of_all};
use crate::shared::shortage;
use engine::{Failure, Probe};
use std::io::{BufRead, BufReader, Error, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/baseline"));
const HELLO: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/hello"));

/// A copy of the program while it runs. It is ended when this value is dropped, and its peers with it.
pub(super) struct Program {
    child: Child,
    /// Its end ends the program.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    /// What it says about the row.
    pub facts: Vec<(String, String)>,
    /// What one operation counts for.
    pub units: u64,
    /// The same of what is taken off; none where nothing is.
    pub overhead_units: Option<u64>,
}

/// Two readings of the clock.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub before: u64,
    pub after: u64,
}

impl Program {
    /// Starts it for `row`, with its files in `directory`, and waits until it is ready.
    pub fn start(row: &str, directory: &Path, probe: &Probe) -> Result<Program, Failure> {
        let failed = |what| move |error: Error| shortage::failure(what, &error);
        let program = in_memory("baseline", PROGRAM).map_err(failed("the program in memory"))?;
        let hello = in_memory_of_all("hello", HELLO).map_err(failed("hello in memory"))?;
        let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
        command.arg0("baseline").args([row, probe.clock().name()]).arg(directory);
        command.arg(hello.as_raw_fd().to_string()).arg(std::process::id().to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(failed("starting the program from memory"))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            let _ = child.kill();
            let _ = child.wait();
            return Err(Failure::new("a pipe of the program is missing"));
        };
        let (stdin, stdout) = (Some(stdin), BufReader::new(stdout));
        let facts = Vec::new();
        let mut program = Program { child, stdin, stdout, facts, units: 1, overhead_units: None };
        program.get_ready()?;
        Ok(program)
    }

    fn get_ready(&mut self) -> Result<(), Failure> {
        loop {
            let line = self.line()?;
            if let Some((name, text)) =
                line.strip_prefix("fact ").and_then(|fact| fact.split_once(" = "))
            {
                self.facts.push((name.to_owned(), text.to_owned()));
                continue;
            }
            let [units, overhead_units] = numbers(&line, "ready")?;
            self.units = units.max(1);
            self.overhead_units = Some(overhead_units).filter(|units| *units > 0);
            return Ok(());
        }
    }

    /// Does so many operations.
    pub fn run(&mut self, operations: u64) -> Result<Times, Failure> {
        self.times("run", operations)
    }

    /// Does as many times what is not the operation itself.
    pub fn overhead(&mut self, operations: u64) -> Result<Times, Failure> {
        self.times("overhead", operations)
    }

    fn times(&mut self, command: &str, operations: u64) -> Result<Times, Failure> {
        self.send(command, operations)?;
        let [before, after] = numbers(&self.line()?, "ran")?;
        Ok(Times { before, after })
    }

    /// Has it go on with batches of so many operations, until [`Program::stop`].
    pub fn repeat(&mut self, operations: u64) -> Result<(), Failure> {
        self.send("repeat", operations)
    }

    /// Ends the repetition, and returns how many batches there were.
    pub fn stop(&mut self) -> Result<u64, Failure> {
        // Any command does: it comes after what is being repeated.
        self.send("run", 1)?;
        let [batches] = numbers(&self.line()?, "repeated")?;
        numbers::<2>(&self.line()?, "ran").map(|_| batches)
    }

    fn send(&mut self, command: &str, operations: u64) -> Result<(), Failure> {
        let Some(stdin) = &mut self.stdin else {
            return Err(Failure::new("the program has been ended"));
        };
        match writeln!(stdin, "{command} {operations}") {
            Ok(()) => Ok(()),
            // It ended by itself: what it says comes first.
            Err(error) => {
                self.line()?;
                Err(Failure::call("a command to the program", error))
            }
        }
    }

    /// Its next line; the failure that it tells of, if it does.
    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line);
        read.map_err(|error| Failure::call("listening to the program", error))?;
        let line = line.trim_end();
        if line.is_empty() {
            return Err(Failure::new("the program ended early"));
        }
        let Some(failed) = line.strip_prefix("failed ") else { return Ok(line.to_owned()) };
        let (errno, what) = failed.split_once(' ').unwrap_or(("0", failed));
        Err(match errno.parse().unwrap_or(0) {
            0 => Failure::new(what),
            errno => {
                let call = what.rsplit_once(": ").map_or(what, |(call, _)| call);
                shortage::failure(call, &Error::from_raw_os_error(errno))
            }
        })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It ends its peers first, and then itself.
        self.stdin = None;
        let _ = self.child.wait();
    }
}

/// The numbers of a reply that has to begin with `word`.
fn numbers<const N: usize>(line: &str, word: &str) -> Result<[u64; N], Failure> {
    let rest = line.strip_prefix(word).unwrap_or_default();
    let numbers: Vec<u64> =
        rest.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    numbers
        .try_into()
        .map_err(|_| Failure::new(format!("unexpected output of the program: {line:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_has_its_word_and_its_numbers() {
        assert_eq!(numbers("ran 5 17", "ran"), Ok([5, 17]));
        for wrong in ["", "ran", "ran 5", "ran 5 17 3", "run 5 17", "ran 5 x"] {
            assert!(numbers::<2>(wrong, "ran").is_err(), "{wrong}");
        }
    }
}
