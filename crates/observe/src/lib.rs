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
//! work (medians of nine pairs; `cargo run --release -p observe --example slowdown` measures it), and a
//! process with time to spare loses nothing that shows. While a busy one is looked at it is slower
//! than usual, so what is seen of a process that is never idle is a little less than its usual rate.
//!
//! Reading the size of an epoll set holds its lock for about 1 µs a descriptor. It is read up to ten
//! times, and seldom enough for that to stay below 0.5 % of the time.
//!
//! # Who may
//!
//! Root may watch any process. Others may watch their own where `kernel.perf_event_paranoid` is 1 or
//! less and they may read the tracepoints' descriptions (`mount -o remount,gid=GROUP,mode=750
//! /sys/kernel/tracing`); neither is usual. Where tracefs is not mounted, root's is opened without
//! being mounted anywhere.
#![forbid(unsafe_code)]

mod calls;
mod error;
mod estimate;
mod format;
mod process;
mod records;
mod sizes;
mod tally;
mod tap;
mod tracefs;
mod watch;

use std::fmt;
use std::time::Duration;

pub use calls::Call;
pub use error::{Child, Error, NoWaits};
pub use estimate::Estimate;

/// So many threads of a process are watched.
pub const THREADS_MAX: usize = 512;

/// What was seen of a process.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The process.
    pub pid: u32,
    /// Its name, fit to print.
    pub name: String,
    /// The most of its threads that were watched at once.
    pub threads: usize,
    /// How long it took, pauses included.
    pub took: Duration,
    /// For how long its waits were seen.
    pub looked: Duration,
    /// In how many looks.
    pub looks: u32,
    /// The share of its time that being watched cost the busiest thread, by estimate.
    pub cost: f64,
    /// What it waits on, what returned most events first.
    pub waiters: Vec<Waiter>,
    /// Samples that found no room; each is a wait that was not counted.
    pub lost: u64,
    /// Remarks besides the figures.
    pub remarks: Vec<Remark>,
}

/// One thing that is waited on: an epoll set, or what one thread hands to poll or select.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiter {
    /// The call; for an epoll set, the one that is used most on it.
    pub call: Call,
    /// The epoll set's descriptor.
    pub epoll: Option<i32>,
    /// The threads that wait on it, by number.
    pub threads: Vec<u32>,
    /// How many descriptors it watches; `None` if the set was gone before that could be read, or is
    /// one of more than 4,096.
    pub watched: Option<Watched>,
    /// Waits that returned.
    pub waits: u64,
    /// Waits that returned nothing because their time was up.
    pub empty: u64,
    /// Waits that ended with an error, which is a signal as a rule.
    pub failed: u64,
    /// Waits of epoll that returned as many events as they had room for: more may have been ready.
    pub full: u64,
    /// Events that were returned. select counts a descriptor once for each set that it is in.
    pub events: u64,
    /// The most events that one wait returned.
    pub events_most: u64,
    /// Events per wait that returned any; `None` if none did.
    pub events_per_wait: Option<Estimate>,
    /// Active to total: events to watched descriptors, over the waits that returned any event.
    pub ratio: Option<Estimate>,
    /// Waits a second.
    pub waits_per_s: f64,
}

/// How many descriptors were watched: over the readings for an epoll set and for select, over the
/// waits for poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The least.
    pub min: u64,
    /// The median.
    pub median: u64,
    /// The most.
    pub max: u64,
    /// They were counted. If not, these are upper bounds from the call's arguments: select's highest
    /// descriptor plus one, or poll's entries, of which some may be marked as unused.
    pub exact: bool,
}

/// A remark on an observation, besides its figures.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Remark {
    /// The process ended.
    Ended {
        /// After so long.
        after: Duration,
    },
    /// Whoever asked wanted no more.
    Stopped {
        /// After so long.
        after: Duration,
    },
    /// Not all threads were watched.
    ThreadsLeftOut {
        /// So many were.
        watched: usize,
        /// So many there are.
        total: usize,
        /// There were no descriptors left; else it is the limit [`THREADS_MAX`].
        out_of_descriptors: bool,
    },
    /// Samples found no room.
    Lost {
        /// So many.
        samples: u64,
    },
    /// Of the waits that returned any event, so many returned as many as they had room for: more
    /// descriptors may have been active. Reported for what returned most events.
    Full {
        /// Their share.
        share: f64,
    },
    /// The process's memory may not be read, so poll and select are only known by their arguments.
    MemoryDenied,
    /// It also has an io_uring; what it waits for there is not seen.
    Uring,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remark::Ended { after } => {
                write!(
                    f,
                    "the process ended after {:.1} s; this is what was seen",
                    after.as_secs_f64()
                )
            }
            Remark::Stopped { after } => write!(f, "stopped after {:.1} s", after.as_secs_f64()),
            Remark::ThreadsLeftOut { watched, total, out_of_descriptors } => {
                write!(f, "{watched} of {total} threads were watched: ")?;
                if *out_of_descriptors {
                    f.write_str("no descriptors were left (ulimit -n)")
                } else {
                    write!(f, "no more than {THREADS_MAX} are")
                }
            }
            Remark::Lost { samples } => write!(f, "{samples} samples of waits were lost"),
            Remark::Full { share } => write!(
                f,
                "{:.0} % of the waits returned as many events as they had room for: more may have \
                 been active, so the ratio is a lower bound",
                100.0 * share
            ),
            Remark::MemoryDenied => f.write_str(
                "the process's memory may not be read, so what poll and select watch is an upper \
                 bound; root may read it",
            ),
            Remark::Uring => f.write_str(
                "it also has an io_uring, and what it waits for there can't be seen this way",
            ),
        }
    }
}

/// Fewer full waits than this are no matter: they change the ratio by less than its interval, as a
/// rule.
const FULL_SHARE: f64 = 0.05;

impl Waiter {
    /// The remark for waits whose array was too small.
    fn full(&self) -> Option<Remark> {
        let productive = self.waits.saturating_sub(self.empty + self.failed);
        let share = self.full as f64 / productive.max(1) as f64;
        // With room for everything that is watched, nothing more can have been active.
        let all = self.watched.is_some_and(|watched| watched.max <= self.events_most);
        (share > FULL_SHARE && !all).then_some(Remark::Full { share })
    }
}

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
        if remarks.iter().any(|remark| matches!(remark, Remark::Ended { .. })) {
            return Err(Error::Ended { pid });
        }
        let (name, looked) = (process.name.clone(), Duration::from_nanos(watch.looked_ns));
        let children = process.children();
        return Err(Error::NoWaits(Box::new(NoWaits { pid, name, looked, uring, children })));
    }
    if uring {
        remarks.push(Remark::Uring);
    }
    let (took, looked) = (watch.took(), Duration::from_nanos(watch.looked_ns));
    let waiters = watch.tally.waiters(looked.as_secs_f64());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_waits_are_remarked_on_where_more_may_have_been_active() {
        let waiter = |full: u64, events_most: u64, watched: u64| Waiter {
            call: Call::EpollWait,
            epoll: Some(5),
            threads: vec![1],
            watched: Some(Watched { min: 1, median: watched, max: watched, exact: true }),
            waits: 250,
            empty: 100,
            failed: 50,
            full,
            events: 1_000,
            events_most,
            events_per_wait: None,
            ratio: None,
            waits_per_s: 1.0,
        };
        // Of 100 waits that returned any event.
        let remark = waiter(12, 64, 1_000).full().unwrap();
        let wanted = "12 % of the waits returned as many events as they had room for: more may have \
                      been active, so the ratio is a lower bound";
        assert_eq!(remark.to_string(), wanted);
        assert_eq!(waiter(5, 64, 1_000).full(), None);
        assert_eq!(waiter(100, 64, 64).full(), None, "there was room for all that is watched");
        assert!(Waiter { watched: None, ..waiter(100, 64, 0) }.full().is_some());
        let idle = Waiter { waits: 150, ..waiter(0, 0, 10) };
        assert_eq!(idle.full(), None);
    }
}
