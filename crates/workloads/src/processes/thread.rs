//! How does making a thread grow with the threads that there are?
//!
//! The handshake of `fork`, with threads: one operation is from before the spawn until the byte that
//! the new thread writes into a pipe is read. Then the thread sleeps. When all are there, they are woken
//! and joined one by one, the oldest first: that is the metric *join*, whose sample with n threads
//! alive stands at n.
//!
//! All of them run on one CPU, unless `--cpus all` lets the scheduler place them.
//!
//! A thread is Rust's: besides clone, its spawn maps the stack with a guard page and allocates a handle,
//! and the thread maps a stack for signals before it runs.

use crate::processes::limits;
use crate::shared::{c_library, cpus};
use engine::{
    About, Cell, Defaults, Failure, Fit, MetricInfo, Parameter, Probe, Subject, SubjectInfo, Sweep,
    Values, Workload, WorkloadInfo, strings,
};
use rustix::pipe::{PipeFlags, pipe_with};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{Builder, JoinHandle, park};

/// The row of the table.
pub(crate) const WORKLOAD: Thread = Thread;

pub(crate) struct Thread;

static ABOUT: LazyLock<About> = LazyLock::new(|| About {
    info: WorkloadInfo {
        name: "thread".into(),
        question: "How does making a thread grow with the threads that there are?".into(),
        operation: "spawn a thread that writes a byte and sleeps, and read its byte".into(),
        not_measured: strings([
            "a pool that has its threads already",
            "what threads cost the scheduler while they run: all but one sleep",
            "the memory of a stack beyond the pages that a sleeping thread has touched",
        ]),
        metrics: vec![
            MetricInfo::time("thread", "spawn + first byte of the thread"),
            MetricInfo::time("join", "wake + join"),
        ],
        ..About::trajectory().info
    },
    parameters: vec![
        Parameter {
            name: "threads",
            about: "threads alive at once",
            values: Values::AtLeast(1),
            default: Defaults::always(&["5k"]),
            sweep: Some(Sweep::new("threads", &["500"], &["5k"])),
        },
        Parameter {
            name: "stack",
            about: "stack of each thread in KiB",
            values: Values::Between(16, 1 << 20),
            default: Defaults::always(&["64"]),
            sweep: None,
        },
        cpus::ONE,
    ],
    ..About::trajectory()
});

impl Workload for Thread {
    fn about(&self) -> &About {
        &ABOUT
    }

    fn subjects(&self) -> Vec<Subject> {
        let summary = "a thread of Rust's standard library: pthread_create and what it adds";
        let info = SubjectInfo { note: c_library::note(), ..SubjectInfo::named("std") };
        vec![Subject::new(info, summary)]
    }

    fn fit(&self, cell: &Cell) -> Fit {
        limits::maps_for_threads(cell.number("threads").unwrap_or(0))
    }

    fn measure(&self, cell: &Cell, probe: &mut Probe) -> Result<(), Failure> {
        let wanted = cell.number("threads")?;
        cpus::choose(cell)?;
        let mut crowd = Crowd::new(wanted, cell.number("stack")? as usize * 1024)?;
        let spawned = probe.trajectory("thread", wanted, |n| crowd.add(n));
        let joined = probe.countdown("join", crowd.sleeping.len() as u64, |_| crowd.end_one());
        // What went wrong weighs more than what there was not enough of.
        joined.and(spawned)
    }
}

/// Threads that sleep until it is their turn to end.
struct Crowd {
    sleeping: VecDeque<JoinHandle<()>>,
    stack_bytes: usize,
    wanted: u64,
    /// How many may have ended: the n-th thread sleeps until that is n.
    released: Arc<AtomicU64>,
    read: File,
    write: Arc<File>,
}

impl Crowd {
    fn new(wanted: u64, stack_bytes: usize) -> Result<Crowd, Failure> {
        let ends = pipe_with(PipeFlags::CLOEXEC);
        let (read, write) = ends.map_err(|error| Failure::call("opening a pipe", error))?;
        Ok(Crowd {
            sleeping: VecDeque::with_capacity(wanted as usize),
            stack_bytes,
            wanted,
            released: Arc::default(),
            read: read.into(),
            write: Arc::new(File::from(write)),
        })
    }

    /// Adds the n-th thread, which is there when this returns.
    fn add(&mut self, n: u64) -> Result<(), Failure> {
        let (released, write) = (Arc::clone(&self.released), Arc::clone(&self.write));
        let sleeper = move || {
            if write.as_ref().write_all(b"+").is_err() {
                // No thread would ever read the byte, nor end the wait for it.
                std::process::abort();
            }
            while released.load(Ordering::Acquire) < n {
                park();
            }
        };
        let handle = Builder::new().stack_size(self.stack_bytes).spawn(sleeper);
        let refused = |error| Failure::start("spawning a thread", &error, self.wanted);
        self.sleeping.push_back(handle.map_err(refused)?);
        let mut byte = [0];
        let read = self.read.read_exact(&mut byte);
        read.map_err(|error| Failure::call("waiting for a thread", error))?;
        if byte == *b"+" { Ok(()) } else { Err(Failure::new("a thread wrote a wrong byte")) }
    }

    /// Wakes the oldest thread and waits until it has ended.
    fn end_one(&mut self) -> Result<(), Failure> {
        let Some(handle) = self.sleeping.pop_front() else {
            return Err(Failure::new("a thread is missing"));
        };
        self.released.fetch_add(1, Ordering::Release);
        handle.thread().unpark();
        handle.join().map_err(|_| Failure::new("a thread panicked"))
    }
}
