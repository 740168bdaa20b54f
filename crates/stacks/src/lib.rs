//! What processes do, and all that they start: sampled call stacks over some time, and thread states at a moment.
//!
//! [`Profiler`] samples call stacks of the kernel and of programs, with their times, from `perf_event_open`: cycles where
//! the CPU has a counter, else its clock. Nothing is added to the processes where the system lets every CPU be sampled
//! (root, `CAP_PERFMON`, `kernel.perf_event_paranoid` of 0); else each thread has clocks that it hands on to what it
//! starts. Records of forks, names and mappings say what an address was when its process has gone. Names come from ELF
//! files, `kallsyms`, the vDSO and the lists of just-in-time compilers (`/tmp/perf-PID.map`), and are read once for the
//! life of the program. [`SampledStacks`] also has the machine code of the functions with most samples, and
//! [`SampledStacks::limits`] says what could not be seen.
//!
//! ```no_run
//! use rustix::process::Pid;
//! use stacks::Profiler;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let mut child = std::process::Command::new("sort").arg("words.txt").spawn()?;
//!     let mut profiler = Profiler::start(Pid::from_child(&child), stacks::usual_rate_hz())?;
//!     while child.try_wait()?.is_none() {
//!         std::thread::sleep(std::time::Duration::from_millis(50));
//!         profiler.take();
//!     }
//!     let profile = profiler.finish(&|_, _| true);
//!     for sample in &profile.samples {
//!         let name = |frame: &u32| profile.frames[*frame as usize].function.as_str();
//!         let stack: Vec<&str> = sample.stack.iter().map(name).collect();
//!         println!("{} {} under {:?}", sample.time_ns, stack.join(";"), profile.entry(sample));
//!     }
//!     Ok(())
//! }
//! ```
//!
//! Where all CPUs are sampled, [`SampledStacks::waits`] has when threads did not run, by the kernel's tracepoints of
//! switches: for what they waited, with the stacks of who waits and of who ends that ([`model::Wait`]).
//!
//! On x86-64 the callers of a program's function are found by its unwind tables (`.eh_frame`) in a copy of the top of the
//! stack. Where there are none, as of code that was made at run time, where the copy ends, and on other machines, frame
//! pointers lead on; addresses where no code is are dropped.
//!
//! [`sample`] answers what hangs: it observes processes for a fraction of a second and changes nothing. A profiler
//! samples the threads that run, and `/proc` says in which system call the others wait. It never fails; [`StackSample::limitations`] says what could not be seen. The result is typed. Its
//! [`Display`](std::fmt::Display) writes all of it in some lines; [`StackSample::summary`] writes the most important part,
//! which fits in a sentence.
#![forbid(unsafe_code)]

mod code;
mod kernel_memory;
mod profile;
mod profiler;
mod stack_sample;
mod symbols;
mod threads;

pub use kernel_memory::kernel_variables;
pub use model::Entry;
pub use profile::{SampledStacks, SampledWait, TimedSample};
pub use profiler::{ProfileError, Profiler, usual_rate_hz};
pub use stack_sample::{Function, Limitation, Program, StackSample, ThreadState};
pub use symbols::demangle::readable;
pub use symbols::maps::{Mapping, Maps};
pub use symbols::{FileSymbols, KernelSymbols, ListedSymbols, Symbol};
pub use threads::is_helper;

use profiler::Open;
use rustix::process::Pid;
use stack_sample::sampler::Sampler;
use std::time::{Duration, Instant};
use sys::perf::Event;

/// How often new threads are looked for, and samples are taken out of the kernel.
const SCAN_INTERVAL: Duration = Duration::from_millis(50);
/// Finding all threads takes some milliseconds, unless there is hardly a CPU left for it.
const FIRST_SCAN_MAX: Duration = Duration::from_secs(1);
/// Looking for new threads takes at most this part of an interval.
const SCAN_PART: u32 = 2;

/// What to sample, and how to name it.
pub struct StackRequest<'a> {
    /// The processes to sample with all their descendants. The first is the target; the others may be its
    /// orphans.
    pub roots: &'a [Pid],
    /// How long to sample, once the threads are found.
    pub duration: Duration,
    /// Called after the last sample, before symbols are looked up. It may halt the processes, so that they do
    /// not compete for the CPUs, but has to leave them alive.
    pub sampled: &'a dyn Fn(),
    /// The maximum time of looking up the functions: an emulated machine takes seconds to list those of its kernel.
    pub lookup_max: Duration,
}

/// Enough to look up the functions on a real machine.
pub const LOOKUP_MAX: Duration = Duration::from_secs(1);

/// Samples for about `request.duration`. Finding threads before takes a second at most, and looking up functions after
/// takes at most `request.lookup_max`.
pub fn sample(request: &StackRequest<'_>) -> StackSample {
    sample_with(request, &Event::clock)
}

fn sample_with(request: &StackRequest<'_>, open: Open<'_>) -> StackSample {
    let start = Instant::now();
    let mut sampler = Sampler::start(request.roots, open);
    sampler.scan(request.roots, start + FIRST_SCAN_MAX);
    let end = Instant::now() + request.duration;
    loop {
        let remaining = end.saturating_duration_since(Instant::now());
        std::thread::sleep(remaining.min(SCAN_INTERVAL));
        sampler.collect();
        if Instant::now() >= end {
            (request.sampled)();
            return sampler.finish(request.roots, start.elapsed(), request.lookup_max);
        }
        sampler.scan(request.roots, Instant::now() + SCAN_INTERVAL / SCAN_PART);
    }
}

/// The examples of the crate's page on the registry.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page {}

#[cfg(test)]
mod tests;
