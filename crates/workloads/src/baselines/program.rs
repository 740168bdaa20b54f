//! The program that repeats one row, from memory: small, so that a fork of it is what it is in lmbench. It reads
//! the clock around each batch itself.

use crate::shared::embedded::{Inherited, Native};
use crate::shared::shortage;
use engine::Failure;
use rustix::io::Errno;
use std::io::{BufRead, BufReader, Error, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

pub(super) const PROGRAM: Native = Native {
    name: "baseline",
    packed: include_bytes!(concat!(env!("OUT_DIR"), "/baseline.deflate")),
    sources: &[
        ("baseline/main.c", include_str!("../../baseline/main.c")),
        ("baseline/processor.c", include_str!("../../baseline/processor.c")),
        ("baseline/switching.c", include_str!("../../baseline/switching.c")),
        ("baseline/local.c", include_str!("../../baseline/local.c")),
        ("baseline/files.c", include_str!("../../baseline/files.c")),
        ("baseline/bandwidth.c", include_str!("../../baseline/bandwidth.c")),
        ("baseline/latency.c", include_str!("../../baseline/latency.c")),
        ("baseline/baseline.h", include_str!("../../baseline/baseline.h")),
        ("clock/clock.h", include_str!("../../clock/clock.h")),
    ],
};
const HELLO: Native = Native {
    name: "hello",
    packed: include_bytes!(concat!(env!("OUT_DIR"), "/hello.deflate")),
    sources: &[("hello.c", include_str!("../../baseline/hello.c"))],
};

/// A program that has not ended so long after its input is killed.
const PATIENCE: Duration = Duration::from_secs(2);

/// A copy of the program while it runs. It is ended when this value is dropped, and its peers with it.
pub(super) struct Program {
    child: Child,
    /// Its end ends the program.
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    /// What it says about the row.
    pub facts: Vec<(String, u64)>,
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
    /// Starts it for `row`, with its files in `directory`, and waits until it is ready. It reads the clock of this
    /// name.
    pub fn start(row: &str, directory: &Path, clock: &str) -> Result<Program, Failure> {
        let failed = |what| move |error: Error| shortage::failure(what, &error);
        let program = PROGRAM.in_memory(Inherited::No).map_err(failed("the program in memory"))?;
        let hello = HELLO.in_memory(Inherited::Yes).map_err(failed("hello in memory"))?;
        let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
        command.arg0("baseline").args([row, clock]).arg(directory);
        command.arg(hello.as_raw_fd().to_string()).arg(std::process::id().to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| Failure::start("starting the program from memory", &error, 1))?;
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
            if let Some((name, number)) =
                line.strip_prefix("fact ").and_then(|fact| fact.split_once(" = "))
            {
                let [number] = numbers(number, "")?;
                self.facts.push((name.to_owned(), number));
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
            // Of its calls that wait for nothing, those that start a process or a thread have this answer.
            errno if errno == Errno::AGAIN.raw_os_error() => {
                Failure::start(what, &Error::from_raw_os_error(errno), 1)
            }
            errno => shortage::failure(what, &Error::from_raw_os_error(errno)),
        })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It ends its peers first, and then itself.
        self.stdin = None;
        let start = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if start.elapsed() > PATIENCE {
                // The kernel ends its peers with it.
                let _ = self.child.kill();
                let _ = self.child.wait();
                return;
            }
            sleep(Duration::from_millis(1));
        }
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
    use rustix::process::{Pid, Signal, kill_process};
    use std::sync::mpsc::{RecvTimeoutError, channel};

    fn send(pid: u32, signal: Signal) {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).unwrap();
        // One that has ended meanwhile gets none.
        let _ = kill_process(pid, signal);
    }

    /// Does something about a program, which is killed where that takes far too long.
    fn guarded<T>(pid: u32, body: impl FnOnce() -> T) -> T {
        let (done, is_done) = channel::<()>();
        let guard = std::thread::spawn(move || {
            let late =
                is_done.recv_timeout(Duration::from_secs(30)) == Err(RecvTimeoutError::Timeout);
            if late {
                send(pid, Signal::KILL);
            }
            late
        });
        let result = body();
        drop(done);
        assert!(!guard.join().unwrap(), "the program did not answer");
        result
    }

    #[test]
    fn the_end_of_a_peer_fails_each_row_that_has_one() {
        for row in [
            "pipe",
            "unix",
            "udp",
            "tcp",
            "tcp-connect",
            "futex",
            "eventfd",
            "switch-2p-0k",
            "switch-16p-16k",
            "bw-pipe",
            "bw-unix",
            "bw-tcp",
        ] {
            let mut program = Program::start(row, Path::new("/"), "monotonic").unwrap();
            program.run(1).unwrap();
            let pid = program.child.id();
            let children =
                std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
            let peer = children.split_whitespace().last().unwrap().parse().unwrap();
            send(peer, Signal::KILL);
            let (mut batches, pid) = (0, program.child.id());
            let failure = guarded(pid, || {
                loop {
                    match program.run(10) {
                        // It may have been answered before.
                        Ok(_) if batches < 1_000 => batches += 1,
                        result => return result.unwrap_err(),
                    }
                }
            });
            assert_eq!(failure.to_string(), "a process that answers ended early", "{row}");
        }
    }

    #[test]
    fn both_programs_can_be_compiled_where_they_run() {
        PROGRAM.assert_compiles();
        HELLO.assert_compiles();
    }

    #[test]
    fn a_program_that_does_not_end_is_killed() {
        let program = Program::start("pipe", Path::new("/"), "monotonic").unwrap();
        let pid = program.child.id();
        send(pid, Signal::STOP);
        guarded(pid, || drop(program));
        assert!(!Path::new(&format!("/proc/{pid}")).exists());
    }

    #[test]
    fn a_reply_has_its_word_and_its_numbers() {
        assert_eq!(numbers("ran 5 17", "ran"), Ok([5, 17]));
        for wrong in ["", "ran", "ran 5", "ran 5 17 3", "run 5 17", "ran 5 x"] {
            assert!(numbers::<2>(wrong, "ran").is_err(), "{wrong}");
        }
    }
}
