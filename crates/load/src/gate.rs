//! Where the threads of a load wait for each other.

pub(crate) mod reach;

use crate::plan::Plan;
use crate::stopwatch::Stopwatch;
use reach::Reach;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A barrier: threads wait for each other until their connections are open, and then for the start.
pub(crate) struct Gate<'a> {
    pub stop: &'a AtomicBool,
    pub clock: Stopwatch,
    state: Mutex<Waiting>,
    changed: Condvar,
    /// Whether the start is when the last thread is ready.
    opens_itself: bool,
    pub reach: Reach,
}

struct Waiting {
    missing: usize,
    /// One thread can't begin, or the target is not there, so none begins.
    called_off: bool,
    /// The common start, when it is known.
    begin_ns: Option<i64>,
}

impl Gate<'_> {
    pub(crate) fn new<'a>(plan: &Plan, stop: &'a AtomicBool, opens_itself: bool) -> Gate<'a> {
        let missing = plan.threads;
        let state = Waiting { missing, called_off: false, begin_ns: None };
        Gate {
            stop,
            clock: Stopwatch::start(),
            state: Mutex::new(state),
            changed: Condvar::new(),
            opens_itself,
            reach: Reach::new(plan.ends_if_refused),
        }
    }

    /// Counts a thread that has tried to open its connections, or can't begin.
    pub(crate) fn arrive(&self, can_begin: bool) {
        let mut state = self.state();
        state.missing -= 1;
        state.called_off |= !can_begin;
        if state.missing == 0 {
            self.reach.settle();
            state.called_off |= self.reach.is_absent();
            if self.opens_itself || state.called_off {
                state.begin_ns = Some(self.clock.now_ns());
            }
            self.changed.notify_all();
        }
    }

    /// Waits for the start, and returns it; none if one thread can't begin.
    pub(crate) fn wait(&self, can_begin: bool) -> Option<i64> {
        self.arrive(can_begin);
        let state = self.wait_while(|state| state.begin_ns.is_none());
        state.begin_ns.filter(|_| !state.called_off)
    }

    /// Waits until all threads are ready, and returns whether all can begin.
    pub(crate) fn is_ready(&self) -> bool {
        !self.wait_while(|state| state.missing > 0).called_off
    }

    /// Lets the threads begin at a moment, or not at all; returns whether they do.
    pub(crate) fn open_at(&self, begin: Option<Instant>) -> bool {
        let ns = |length: Duration| i64::try_from(length.as_nanos()).unwrap_or(i64::MAX / 4);
        let now = Instant::now();
        let from_now_ns = begin.map(|begin| {
            ns(begin.saturating_duration_since(now)) - ns(now.saturating_duration_since(begin))
        });
        let mut state = self.state();
        state.called_off |= from_now_ns.is_none();
        state.begin_ns = Some(self.clock.now_ns() + from_now_ns.unwrap_or(0));
        self.changed.notify_all();
        !state.called_off
    }

    /// Sleeps until a start that lies ahead, and returns how late it is then; not longer than until `stop` is set.
    pub(crate) fn sleep_until(&self, begin_ns: i64) -> u64 {
        const STOP_NOTICED_NS: i64 = 50_000_000;
        loop {
            let ahead_ns = begin_ns - self.clock.now_ns();
            if ahead_ns <= 0 || self.stop.load(Ordering::Relaxed) {
                return u64::try_from(-ahead_ns).unwrap_or(0);
            }
            std::thread::sleep(Duration::from_nanos(ahead_ns.min(STOP_NOTICED_NS) as u64));
        }
    }

    fn wait_while(&self, is_early: impl Fn(&Waiting) -> bool) -> MutexGuard<'_, Waiting> {
        let state = self.changed.wait_while(self.state(), |state| is_early(state));
        state.unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, Waiting> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;
    use crate::plan::Target;

    /// The start after the connections of two threads were accepted and refused so often, and whether the target is
    /// absent then.
    fn gate(accepted: u32, refused: u32, can_begin: bool) -> (Option<i64>, bool) {
        let target = Target::new(Address::Tcp(([127, 0, 0, 1], 1).into()), "x", "/");
        let plan = Plan { threads: 2, ends_if_refused: true, ..Plan::new(target) };
        let stop = AtomicBool::new(false);
        let gate = Gate::new(&plan, &stop, true);
        (0..refused).for_each(|_| gate.reach.refused_before_start());
        (0..accepted).for_each(|_| gate.reach.accepted());
        gate.arrive(true);
        (gate.wait(can_begin), gate.reach.is_absent())
    }

    #[test]
    fn refused_connections_end_a_load_only_if_none_succeeded() {
        assert_eq!(gate(0, 2, true), (None, true));
        let (begin, is_absent) = gate(1, 1, true);
        assert!(begin.is_some() && !is_absent);
        // Those of sessions are opened later.
        let (begin, is_absent) = gate(0, 0, true);
        assert!(begin.is_some() && !is_absent);
        assert_eq!(gate(1, 0, false), (None, false));
    }
}
