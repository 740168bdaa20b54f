//! What `fork` and `reap` share: processes that a small program of ours makes and ends.
//!
//! That program, the forker, reads the clock itself, because what is compared is how it is linked: a
//! program that contains the probe can't be linked both ways. It is embedded, and run from memory.
//! Whatever ends it ends all that it made: each asks the kernel to die with its parent.

use crate::processes::limits;
use crate::processes::parameters::{PARENT, PROCESSES};
use crate::shared::cpus;
use crate::shared::embedded::{Inherited, Native, STATIC, in_memory};
use engine::{Cell, Check, Failure, Fit, Probe, Stamp, Subject, SubjectInfo};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use sys::proc;

/// How the forker is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linked {
    Dynamically,
    Statically,
}

const DYNAMIC: Native = Native {
    name: "forker",
    packed: include_bytes!(concat!(env!("OUT_DIR"), "/forker-dynamic.deflate")),
    sources: &[
        ("forker/forker.c", include_str!("../../forker/forker.c")),
        ("clock/clock.h", include_str!("../../clock/clock.h")),
    ],
};

impl Linked {
    /// The program in memory.
    fn in_memory(self) -> std::io::Result<File> {
        match self {
            Linked::Dynamically => DYNAMIC.in_memory(Inherited::No),
            Linked::Statically => in_memory("forker", STATIC, Inherited::No),
        }
    }
}

/// A subject: how processes are made and ended.
#[derive(Debug)]
pub(crate) struct ForkRow {
    /// Its name.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// How the parent is linked.
    pub linked: Linked,
    /// How the forker makes a process.
    pub how: &'static str,
    /// How it ends one: by `kill` or by `pidfd`.
    pub ending: &'static str,
    /// See [`SubjectInfo::operation`].
    pub operation: &'static str,
    /// See [`SubjectInfo::group`].
    pub group: &'static str,
}

impl ForkRow {
    /// A fork of the forker, linked dynamically; a signal ends each process.
    pub const DYNAMIC: ForkRow = ForkRow {
        name: "dynamic",
        summary: "",
        linked: Linked::Dynamically,
        how: "fork",
        ending: "kill",
        operation: "",
        group: "",
    };

    /// The same, linked statically.
    pub const STATIC: ForkRow =
        ForkRow { name: "static", linked: Linked::Statically, ..ForkRow::DYNAMIC };

    /// As a subject, which is unavailable where it can't be built or the kernel is too old.
    pub fn subject(&'static self) -> Subject {
        let (operation, group) = (self.operation.into(), self.group.into());
        let info = SubjectInfo { operation, group, ..SubjectInfo::named(self.name) };
        let available = Check::new(|| self.available());
        Subject { available, ..Subject::new(info, self.summary) }
    }

    fn available(&self) -> Result<(), String> {
        if self.linked == Linked::Statically && STATIC.is_empty() {
            return Err("no static C library when knee was built (install libc6-dev, \
                        glibc-static or musl-dev, and build again)"
                .into());
        }
        if self.linked == Linked::Dynamically {
            DYNAMIC.available()?;
        }
        if self.how.starts_with("clone3") || self.ending == "pidfd" {
            limits::waits_for_pidfds()
        } else {
            Ok(())
        }
    }
}

/// The row that a cell is about.
pub(crate) fn row<'a>(rows: &'a [ForkRow], cell: &Cell) -> Result<&'a ForkRow, Failure> {
    cell.find_subject(rows, |row| row.name)
}

/// Whether there are ids and memory for all of them. What else the kernel runs out of it says; but
/// without ids no user of the machine can make a process, and for want of memory the kernel ends some,
/// and they may be somebody else's.
pub(crate) fn fit(cell: &Cell) -> Fit {
    let number = |name| cell.number(name).unwrap_or(0);
    match limits::ids_for(number(PROCESSES.name)) {
        Fit::Measure => limits::memory_for(number(PROCESSES.name), number(PARENT.name)),
        too_many => too_many,
    }
}

/// How long making and ending each process of a cell took.
pub(crate) struct ProcessTimes {
    /// Making each.
    pub made: Vec<Stamp>,
    /// Ending each: the one that found n alive is at n.
    pub ended: Vec<Stamp>,
    /// Why there were fewer than wanted.
    pub shortage: Option<Failure>,
}

/// Makes as many processes as the cell wants, and ends them.
pub(crate) fn run(row: &ForkRow, cell: &Cell, probe: &mut Probe) -> Result<ProcessTimes, Failure> {
    let wanted = cell.number(PROCESSES.name)?;
    cpus::choose(cell)?;
    let mut forker = Forker::start(row, wanted, cell.number(PARENT.name)?, probe.clock().name())?;
    let (made, errno) = forker.made()?;
    debug_assert!(made <= wanted, "the forker makes no more than it was asked for");
    forker.state(probe);
    // While all of them live, it can be seen which limit they meet.
    let shortage = (errno != 0)
        .then(|| Failure::start(row.how, &std::io::Error::from_raw_os_error(errno), wanted));
    forker.end_all(made)?;
    let stamps = forker.stamps()?;
    let (first, rest) = stamps.split_at((wanted as usize).min(stamps.len()));
    let stamp = |position, &(before, after): &(u64, u64)| Stamp { position, before, after };
    Ok(ProcessTimes {
        made: (1..=made).zip(first).map(|(position, pair)| stamp(position, pair)).collect(),
        ended: (1..=made).rev().zip(rest).map(|(position, pair)| stamp(position, pair)).collect(),
        shortage,
    })
}

/// The forker while it runs. It is ended when this value is dropped, and its processes with it.
struct Forker {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    stamps: File,
    stamps_bytes: usize,
}

/// A stamp in memory: two readings.
const STAMP_BYTES: usize = 16;

impl Forker {
    fn start(row: &ForkRow, count: u64, megabytes: u64, clock: &str) -> Result<Forker, Failure> {
        let failed = |what| move |error: std::io::Error| Failure::call(what, error);
        let stamps_bytes = 2 * count as usize * STAMP_BYTES;
        // Without CLOEXEC: the forker has it under the same number.
        let stamps = memfd_create("stamps", MemfdFlags::empty())
            .map_err(|error| Failure::call("memfd_create", error))?;
        ftruncate(&stamps, stamps_bytes as u64)
            .map_err(|error| Failure::call("memory for the figures", error))?;
        let program = row.linked.in_memory().map_err(failed("the forker in memory"))?;
        let mut command = Command::new(format!("/proc/self/fd/{}", program.as_raw_fd()));
        command.arg0("forker").args([row.how, row.ending]);
        command.args([count, megabytes].map(|number| number.to_string()));
        command.args([clock, &stamps.as_raw_fd().to_string()]);
        command.arg(std::process::id().to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| Failure::start("starting the forker from memory", &error, count))?;
        let missing = || Failure::new("a pipe of the forker is missing");
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().ok_or_else(missing));
        let stdout = stdout.inspect_err(|_| {
            let _ = child.kill();
            let _ = child.wait();
        })?;
        Ok(Forker {
            child,
            stdin,
            stdout: BufReader::new(stdout),
            stamps: stamps.into(),
            stamps_bytes,
        })
    }

    /// How many it made, and the error that it met or 0.
    fn made(&mut self) -> Result<(u64, i32), Failure> {
        let line = self.line("made")?;
        let mut words = line.split(' ');
        let made = words.next().and_then(|word| word.parse().ok());
        let errno = words.next().and_then(|word| word.parse().ok());
        let odd = || Failure::new(format!("unexpected output of the forker: made {line}"));
        made.zip(errno).ok_or_else(odd)
    }

    /// Has it end all that it made, and end itself.
    fn end_all(&mut self, made: u64) -> Result<(), Failure> {
        self.stdin = None;
        let ended = self.line("reaped")?;
        if ended != made.to_string() {
            return Err(Failure::new(format!("of {made} processes {ended} were ended")));
        }
        let status = self.child.wait().map_err(|error| Failure::call("the forker", error))?;
        if status.success() {
            return Ok(());
        }
        Err(Failure::new(format!("the forker ended with {status}")))
    }

    /// The rest of its next line, which has to begin with `word`.
    fn line(&mut self, word: &str) -> Result<String, Failure> {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line);
        read.map_err(|error| Failure::call("listening to the forker", error))?;
        let line = line.trim_end();
        if let Some(rest) = line.strip_prefix(word) {
            return Ok(rest.trim_start().to_owned());
        }
        let message = line.strip_prefix("failed ").map(str::to_owned);
        Err(Failure::new(message.unwrap_or_else(|| format!("the forker ended early: {line:?}"))))
    }

    /// States what the cost of a fork depends on: how large the parent is.
    fn state(&self, probe: &mut Probe) {
        let text = |file: &str| proc::text(self.child.id(), file).unwrap_or_default();
        let (status, maps) = (text("status"), text("maps"));
        let resident_kib = proc::number(&status, "VmRSS:").unwrap_or(0);
        probe.fact("resident memory of the parent_mib", resident_kib.div_ceil(1 << 10));
        probe.fact("memory maps of the parent", maps.lines().count() as u64);
    }

    /// The clock before and after each, as the forker wrote them.
    fn stamps(&self) -> Result<Vec<(u64, u64)>, Failure> {
        let mut bytes = vec![0; self.stamps_bytes];
        let read = self.stamps.read_exact_at(&mut bytes, 0);
        read.map_err(|error| Failure::call("reading the figures", error))?;
        let (numbers, _) = bytes.as_chunks::<8>();
        let numbers: Vec<u64> = numbers.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect();
        let (pairs, _) = numbers.as_chunks::<2>();
        Ok(pairs.iter().map(|&[before, after]| (before, after)).collect())
    }
}

impl Drop for Forker {
    fn drop(&mut self) {
        // After a good end there is no process to kill: the id was given back by waiting.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forker_can_be_compiled_where_it_runs() {
        DYNAMIC.assert_compiles();
    }
}
