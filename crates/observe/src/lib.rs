//! What a live process waits for: how many descriptors its waits watch, how many events they return,
//! hence its real ratio of active to total.
//!
//! [`observe`] needs no cooperation of the process. Its waits (epoll, poll, select) are sampled at
//! their beginning and end through the kernel's tracepoints of system calls; how many descriptors
//! they watch comes from `/proc/PID/fdinfo` for epoll sets, from the arguments for poll, and from the
//! sets themselves, read while the thread sleeps in the call, for select.
//!
//! # What it costs the process
//!
//! A traced wait costs its thread about 1.5 µs, and any other system call about 0.3 µs. So the
//! process is watched in *looks*: one lasts until it has cost the busiest thread 2.5 ms, unless that
//! is within 1 % of its time; then everything is detached, and the process is left alone until the
//! cost is within 1 % again, for a twelfth of the whole time at most. A process of some thousand
//! waits a second is watched without a break. What it cost by this reckoning is
//! [`Observation::cost`].
//!
//! While tracepoints are attached (a look, and some 50 ms after it), *every* process of the machine
//! pays about 0.08 µs for each of its system calls: that is how Linux traces system calls.
//!
//! A busy event loop over 1,000 descriptors kept 0.95 to 0.98 of its speed on a machine with others at
//! work (medians of nine pairs; `cargo run --release -p knee-observe --example slowdown` measures it), and a
//! process with time to spare loses nothing that shows. While a busy one is looked at it is slower
//! than usual, so what is seen of a process that is never idle is a little less than its usual rate.
//!
//! Reading the size of an epoll set holds its lock for about 1 µs a descriptor. It is read up to ten
//! times, and seldom enough for that to stay below 0.5 % of the time. Each time the descriptors are
//! duplicated for a moment and asked whether they are ready. Where one always is, the calls that serve
//! descriptors are sampled too: what stays ready and is not served makes each wait return at once.
//!
//! # Who may
//!
//! Root may watch any process. Others may watch their own where `kernel.perf_event_paranoid` is 1 or
//! less and they may read the tracepoints' descriptions (`mount -o remount,gid=GROUP,mode=750
//! /sys/kernel/tracing`); neither is usual. Where tracefs is not mounted, root's is opened without
//! being mounted anywhere.
#![forbid(unsafe_code)]

mod calls;
mod counted;
mod error;
mod estimate;
mod file;
mod format;
mod observation;
mod process;
mod ready;
mod records;
mod sizes;
mod tally;
mod tap;
mod tracefs;
mod watch;

use std::cell::LazyCell;
use std::time::Duration;

pub use calls::Call;
pub use counted::{COUNTED_CALLS, CallCounters, call_tracepoint};
pub use error::{Child, Error, NoWaits};
pub use estimate::Estimate;
pub use file::File;
pub use format::Field;
pub use observation::{
    Answer, Observation, ReadyFor, Remark, StaysReady, THREADS_MAX, Triggers, Waiter, Watched,
};
pub use process::check_alive;
pub use tracefs::{Description, check as check_tracepoints, described};

/// Watches process `pid` for so long, or until `stop` says so, which it is asked some fifty times a
/// second. It takes up to 0.2 s longer to detach.
///
/// Watching takes three descriptors a thread: where it has many, raise the limit before.
///
/// # Errors
/// What is in the way, in one line that says how to fix it: see [`Error`].
pub fn observe(pid: u32, time: Duration, stop: &dyn Fn() -> bool) -> Result<Observation, Error> {
    let process = process::Process::find(pid)?;
    let points = tracefs::Tracepoints::find()?;
    let mut watch = watch::Watch::new(&process, points, time, stop);
    watch.run()?;
    let mut remarks = watch.remarks();
    let uring = process.has_uring();
    if watch.tally.is_empty() {
        if remarks.iter().any(|remark| matches!(remark, Remark::Ended(_))) {
            return Err(Error::Ended(pid));
        }
        let (name, looked) = (process.name.clone(), Duration::from_nanos(watch.looked_ns));
        let children = process.children();
        return Err(Error::NoWaits(Box::new(NoWaits { pid, name, looked, uring, children })));
    }
    if uring {
        remarks.push(Remark::Uring);
    }
    let (took, looked) = (watch.took(), Duration::from_nanos(watch.looked_ns));
    let mut waiters = watch.tally.waiters(looked.as_secs_f64());
    let maps = process.maps();
    let pipes = LazyCell::new(|| process::PipeEnds::read(process.pid));
    for waiter in &mut waiters {
        waiter.cpus = watch.cpus(&waiter.threads);
        // What is served by memory that it shares with the kernel, or by io_uring, is served unseen.
        waiter.stay_ready.retain(|stays| !uring && !process.is_in(&maps, stays.descriptor));
        if waiter.stay_ready.is_empty() {
            waiter.for_nothing = 0;
        }
        for stays in &mut waiter.stay_ready {
            stays.file = File::find(&process, stays.descriptor, &pipes);
        }
    }
    remarks.extend(waiters.iter().find(|waiter| waiter.events > 0).and_then(Waiter::full));
    Ok(Observation {
        pid,
        name: process.name.clone(),
        threads: watch.threads_watched,
        took,
        looked,
        looks: watch.looks,
        cost: watch.cost_ns / (took.as_nanos() as f64).max(1.0),
        waiters,
        lost: watch.lost,
        remarks,
    })
}

/// The examples of the crate's page on the registry.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page {}
