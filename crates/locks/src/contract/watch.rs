//! Threads that say when they ask for a lock, and whether they wait for it: watched from outside, by
//! what the kernel tells of them.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread::yield_now;

/// How much CPU time a thread has to spend before it counts as one that spins: a thousand times what
/// it takes to come in.
const SPENT_NS: u64 = 500_000;

/// A thread on its way to a lock.
pub struct Asker {
    /// Its number, once it asks.
    tid: AtomicI32,
    came_in: AtomicBool,
}

/// What became of a thread that asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It sleeps, or has spent CPU time on nothing but waiting.
    Waits,
    /// It holds the lock, or held it.
    CameIn,
}

impl Asker {
    /// One that has not asked yet.
    pub const fn new() -> Asker {
        Asker { tid: AtomicI32::new(0), came_in: AtomicBool::new(false) }
    }

    /// Called by the thread itself, right before it asks for the lock.
    pub fn announce(&self) {
        self.tid.store(rustix::thread::gettid().as_raw_nonzero().get(), Ordering::SeqCst);
    }

    /// Called by the thread itself, inside.
    pub fn comes_in(&self) {
        self.came_in.store(true, Ordering::SeqCst);
    }

    /// Whether it came in.
    pub fn came_in(&self) -> bool {
        self.came_in.load(Ordering::SeqCst)
    }

    /// Watches it until it is sure what became of it.
    pub fn fate(&self) -> Fate {
        while self.tid.load(Ordering::SeqCst) == 0 {
            yield_now();
        }
        let tid = self.tid.load(Ordering::SeqCst);
        // What the kernel tells may be as old as its last tick. So the time counts from the first
        // figure that is certainly younger than the moment at which the thread asked.
        let stale_ns = spent_ns(tid);
        let mut since_ns = None;
        loop {
            if self.came_in() {
                return Fate::CameIn;
            }
            let Some(now_ns) = spent_ns(tid) else { continue };
            match since_ns {
                None if Some(now_ns) != stale_ns => since_ns = Some(now_ns),
                Some(since_ns) if now_ns >= since_ns + SPENT_NS => break,
                _ => {}
            }
            if sleeps(tid) {
                break;
            }
            yield_now();
        }
        // It may have come in at the very last moment.
        if self.came_in() { Fate::CameIn } else { Fate::Waits }
    }
}

/// The CPU time of a thread, or nothing when it has ended.
fn spent_ns(tid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/self/task/{tid}/schedstat")).ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// Whether the kernel has it asleep, waiting for somebody to wake it.
fn sleeps(tid: i32) -> bool {
    let text = fs::read_to_string(format!("/proc/self/task/{tid}/stat")).unwrap_or_default();
    // The name before it may hold anything, brackets too.
    text.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('S'))
}
