//! The rows of `baseline`: one line each. What a row does is in the C file of its family, in
//! `crates/workloads/baseline`.

use super::program::PROGRAM;
use engine::{Check, Subject, SubjectInfo};

/// One row: an operation of its own.
#[derive(Debug)]
pub(crate) struct BasicOperation {
    /// The name of the subject, by which the program knows it too.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// The heading that it stands under.
    pub group: &'static str,
    /// The metric that it is measured for.
    pub metric: &'static str,
    /// What is taken off each figure, which is not the operation itself; may be empty.
    pub without: &'static str,
    /// Whether it connects over loopback of IPv4.
    pub over_loopback: bool,
    /// Memory and files of one copy, in MiB.
    pub mib: u64,
    /// Operations of one cell at most.
    pub operations_max: u64,
    /// A batch is no shorter, in nanoseconds.
    pub batch_ns_min: f64,
}

/// Batches are no shorter than this.
const BATCH_NS_MIN: f64 = 20_000.0;
/// An interval of lmbench. The first few hundred files are cheaper, as the kernel makes them of what those before them
/// left. And the scheduler, which wakes a process here or there by what else runs, comes to rest: between two batches knee
/// runs, too.
const LONG_BATCH_NS_MIN: f64 = 10e6;

/// The time of one operation.
pub(crate) const LATENCY: &str = "latency";
/// Bytes a second.
pub(crate) const BANDWIDTH: &str = "bandwidth";

impl BasicOperation {
    const fn new(name: &'static str, summary: &'static str, group: &'static str) -> BasicOperation {
        BasicOperation {
            name,
            summary,
            group,
            metric: LATENCY,
            without: "",
            over_loopback: false,
            mib: 4,
            operations_max: u64::MAX,
            batch_ns_min: BATCH_NS_MIN,
        }
    }

    /// The same without what the program times besides.
    const fn without(self, without: &'static str) -> BasicOperation {
        BasicOperation { without, ..self }
    }

    /// The same in batches of an interval of lmbench.
    const fn long(self) -> BasicOperation {
        BasicOperation { batch_ns_min: LONG_BATCH_NS_MIN, ..self }
    }

    /// The same over loopback.
    const fn over_loopback(self) -> BasicOperation {
        BasicOperation { over_loopback: true, ..self }
    }

    /// The same with so much memory.
    const fn mib(self, mib: u64) -> BasicOperation {
        BasicOperation { mib, ..self }
    }

    /// As a subject.
    pub fn subject(&self) -> Subject {
        let (group, headline) = (self.group.into(), self.metric.into());
        let info = SubjectInfo { group, headline, ..SubjectInfo::separate(self.name) };
        let over_loopback = self.over_loopback;
        let loopback = move || if over_loopback { sys::loopback::check(false) } else { Ok(()) };
        let available = Check::new(move || PROGRAM.available().and_then(|()| loopback()));
        Subject { available, ..Subject::new(info, self.summary) }
    }
}

const PROCESSOR: &str = "Processor and processes";
const SWITCHING: &str = "Context switching";
const LOCAL: &str = "Local communication";
const FILES: &str = "Files and virtual memory";
const BANDWIDTHS: &str = "Bandwidths";
const MEMORY: &str = "Memory latencies";

const fn processor(name: &'static str, summary: &'static str) -> BasicOperation {
    BasicOperation::new(name, summary, PROCESSOR)
}

const fn switch(name: &'static str, summary: &'static str) -> BasicOperation {
    BasicOperation::new(name, summary, SWITCHING)
        .long()
        .without("the token and the sum in one process alone")
}

const fn local(name: &'static str, summary: &'static str) -> BasicOperation {
    BasicOperation::new(name, summary, LOCAL).long()
}

const fn files(name: &'static str, summary: &'static str) -> BasicOperation {
    BasicOperation::new(name, summary, FILES)
}

const fn many_files(name: &'static str, summary: &'static str) -> BasicOperation {
    files(name, summary).long().mib(128)
}

const fn bandwidth(name: &'static str, summary: &'static str) -> BasicOperation {
    BasicOperation { metric: BANDWIDTH, mib: 32, ..BasicOperation::new(name, summary, BANDWIDTHS) }
}

const fn load(name: &'static str, summary: &'static str) -> BasicOperation {
    BasicOperation::new(name, summary, MEMORY)
}

/// All rows, in the order of lmbench's summary.
pub(crate) const ROWS: &[BasicOperation] = &[
    processor("add", "add two registers, the sum before to the next: a cycle of the clock"),
    processor("null-call", "getppid, the shortest system call"),
    processor("null-io", "read a byte of /dev/zero, write one to /dev/null: the mean of both"),
    processor("stat", "stat of a file by its whole path"),
    processor("open-close", "open a file by its whole path, and close it"),
    processor("select-tcp-100", "select of 100 TCP sockets that can be written to").over_loopback(),
    processor("signal-install", "sigaction: install a handler"),
    processor("signal-catch", "send a signal to oneself and handle it").without("sending it"),
    processor("fork-exit", "fork a process that exits, and wait for it"),
    processor("fork-exec", "fork a process that executes a small program, and wait for it"),
    processor("fork-sh", "fork a process in which /bin/sh runs a small program, and wait for it"),
    switch("switch-2p-0k", "a token goes round 2 processes"),
    switch("switch-2p-16k", "the same; each sums 16 KiB of its own"),
    switch("switch-2p-64k", "the same; each sums 64 KiB of its own"),
    switch("switch-8p-16k", "a token goes round 8 processes; each sums 16 KiB of its own"),
    switch("switch-8p-64k", "the same; each sums 64 KiB of its own"),
    switch("switch-16p-16k", "a token goes round 16 processes; each sums 16 KiB of its own"),
    switch("switch-16p-64k", "the same; each sums 64 KiB of its own"),
    local("pipe", "a byte to another process and back through two pipes"),
    local("unix", "a byte to another process and back over an AF_UNIX stream"),
    local("udp", "4 bytes to another process and back over UDP").over_loopback(),
    local("tcp", "a byte to another process and back over TCP").over_loopback(),
    BasicOperation {
        operations_max: 2_000,
        ..local("tcp-connect", "connect to another process over TCP, and close").over_loopback()
    },
    local("futex", "wake another process by a futex, and be woken by it"),
    local("eventfd", "wake another process by an eventfd, and be woken by it"),
    many_files("create-0k", "create an empty file, a hundred in a directory"),
    many_files("delete-0k", "delete an empty file"),
    many_files("create-10k", "create a file and write 10 KiB"),
    many_files("delete-10k", "delete a file of 10 KiB"),
    files("mmap", "map 32 MiB of a file, write to every fourth page of a tenth of it, unmap")
        .mib(32),
    files("protection-fault", "write to a page that may only be read, and handle the signal")
        .without("handling a signal"),
    files("page-fault", "read a page of a mapped file in the cache: a fault maps up to 16 of them")
        .without("mapping the file")
        .mib(32),
    files("select-100", "select of 100 descriptors of a file"),
    bandwidth("bw-pipe", "64 KiB after 64 KiB from another process through a pipe").long(),
    bandwidth("bw-unix", "64 KiB after 64 KiB from another process over an AF_UNIX stream").long(),
    bandwidth("bw-tcp", "10 MiB after 10 MiB from another process over TCP").over_loopback(),
    bandwidth("bw-file-reread", "read 32 MiB of a file in the cache, and sum them"),
    bandwidth("bw-mmap-reread", "sum 32 MiB of a file in the cache that is mapped"),
    bandwidth("copy-libc", "memmove of 32 MiB").mib(64),
    bandwidth("copy-hand", "copy 32 MiB int by int").mib(64),
    bandwidth("memory-read", "sum 32 MiB int by int"),
    bandwidth("memory-write", "write 32 MiB int by int"),
    load("latency-l1", "a load that needs the one before, from 1 KiB"),
    load("latency-l2", "the same from 128 KiB, 128 bytes apart"),
    load("latency-main", "the same from 128 MiB, 128 bytes apart in order").mib(130),
    load("latency-random", "the same from 128 MiB, each in another page").mib(130),
];
