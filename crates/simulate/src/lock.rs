//! The lock: who has it, who waits, and how it gets from one to the other.
//!
//! There are two kinds. With *first in, first out*, a release gives the lock to the next in the queue,
//! whether that thread runs or not. With *any order*, it is free: whoever runs and looks first has it.

use crate::algorithms::{Blocking, Discipline, HandOver};
use crate::events::Event;
use crate::threads::{Activity, NO_SPOT, RunState};
use crate::world::{Moment, What, World};
use std::collections::VecDeque;

/// A system call that finds no thread to wake takes this part of one that does.
const IDLE_CALL_PART: u64 = 4;

/// The state of the lock.
#[derive(Clone, Debug, Default)]
pub struct Lock {
    /// Who has it, or will have it as soon as it gets to it.
    owner: Option<u32>,
    /// First in, first out: who waits, in order.
    queue: VecDeque<u32>,
    /// Who looks at it at this moment, on a CPU.
    spinners: Vec<u32>,
    /// Any order: who sleeps, in order.
    sleepers: VecDeque<u32>,
    /// Any order: whether the lock is marked as wanted, so that a release has to wake somebody.
    wanted: bool,
    /// Any order: how many sleep, or have not run since.
    asleep: u64,
    /// Any order: whether one of those that spin is about to have it.
    passes: bool,
    /// Raised when such a passing is called off.
    stamp: u32,
    /// The CPU that its cache line is at.
    line: u32,
    /// When it was released last.
    released_ns: u64,
}

impl<F: FnMut(Moment)> World<F> {
    /// A thread comes to the lock.
    pub(crate) fn arrive(&mut self, thread: u32) {
        let now_ns = self.now_ns;
        let entry = self.at(thread);
        (entry.arrived_ns, entry.slept) = (now_ns, false);
        self.record(thread, What::Arrived);
        let patience_ns = self.patience_ns();
        match self.algorithm.order {
            Discipline::Any => self.look(thread, patience_ns),
            Discipline::Fifo if self.lock.owner.is_none() => self.take(thread),
            Discipline::Fifo => {
                self.lock.queue.push_back(thread);
                self.set(thread, Activity::Spinning, patience_ns);
            }
        }
    }

    /// A thread that waits is on a CPU again.
    pub(crate) fn look_again(&mut self, thread: u32, left_ns: u64) {
        if std::mem::take(&mut self.at(thread).was_woken) && self.algorithm.order == Discipline::Any
        {
            self.lock.asleep -= 1;
        }
        match self.algorithm.order {
            Discipline::Any => self.look(thread, left_ns),
            Discipline::Fifo if self.lock.owner == Some(thread) => self.finds_its_turn(thread),
            Discipline::Fifo => self.set(thread, Activity::Spinning, left_ns),
        }
    }

    /// Any order: a thread takes the lock where it is free, or spins. Where the lock is about to pass to
    /// one of those that spin, it is one of them; but those that stay away don't see it come.
    fn look(&mut self, thread: u32, left_ns: u64) {
        let is_late = self.lock.passes && !matches!(self.algorithm.hand_over, HandOver::Away(_));
        if self.lock.owner.is_some() || is_late {
            self.set(thread, Activity::Spinning, left_ns);
        } else {
            self.take(thread);
        }
    }

    /// A thread takes the lock that is free.
    fn take(&mut self, thread: u32) {
        if std::mem::take(&mut self.lock.passes) {
            self.lock.stamp = self.lock.stamp.wrapping_add(1);
        }
        let ns = self.taking_ns(thread);
        self.lock.owner = Some(thread);
        self.lock.line = self.at(thread).cpu;
        self.set(thread, Activity::Taking, ns);
    }

    /// What it costs a thread to take a lock that is free.
    fn taking_ns(&mut self, thread: u32) -> u64 {
        let is_here = self.at(thread).cpu == self.lock.line;
        self.machine.atomic_ns + if is_here { 0 } else { self.machine.transfer_ns }
    }

    /// First in, first out: a thread whose turn came while it was off its CPU sees it.
    fn finds_its_turn(&mut self, thread: u32) {
        self.lock.line = self.at(thread).cpu;
        self.set(thread, Activity::Taking, self.machine.transfer_ns);
    }

    /// A thread has the lock from now on.
    pub(crate) fn hold(&mut self, thread: u32) {
        let now_ns = self.now_ns;
        let entry = self.at(thread);
        let (arrived_ns, slept) = (entry.arrived_ns, entry.slept);
        self.tally.waited(now_ns - arrived_ns);
        let released_ns = self.lock.released_ns;
        // Who came after the release found it free.
        if arrived_ns < released_ns {
            self.tally.handed_over(now_ns - released_ns);
        }
        // Who has slept can't know whether others still do.
        self.lock.wanted |= slept;
        self.record(thread, What::Took);
        self.set(thread, Activity::Held, self.work.held_ns);
    }

    /// A thread releases the lock, and wakes another where that is its business.
    pub(crate) fn release(&mut self, thread: u32) {
        self.count(thread);
        self.lock.owner = None;
        self.lock.line = self.at(thread).cpu;
        self.lock.released_ns = self.now_ns;
        self.record(thread, What::Released);
        let wakes = match self.algorithm.order {
            Discipline::Fifo => self.give_to_next(),
            Discipline::Any => self.let_go(),
        };
        match wakes {
            Some(wakes) => {
                let ns = self.waking_ns(wakes);
                self.set(thread, wakes, ns);
            }
            None => self.outside(thread),
        }
    }

    /// What a release's system call takes: where no thread sleeps, it is there and back.
    fn waking_ns(&self, wakes: Activity) -> u64 {
        let is_idle = wakes == Activity::Wakes(None) && self.lock.sleepers.is_empty();
        if is_idle { self.machine.call_ns / IDLE_CALL_PART } else { self.machine.call_ns }
    }

    /// First in, first out: the next one has it, whether it runs or not.
    fn give_to_next(&mut self) -> Option<Activity> {
        let next = self.lock.queue.pop_front()?;
        self.lock.owner = Some(next);
        let entry = self.at(next);
        match (entry.run_state, entry.activity) {
            (RunState::Running, Activity::Spinning) => {
                let ns = self.hand_over_ns();
                self.set(next, Activity::Taking, ns);
                None
            }
            (RunState::Asleep, _) => Some(Activity::Wakes(Some(next))),
            // It will see when it looks.
            _ => None,
        }
    }

    /// Any order: it is free; one of those that spin will have it, unless somebody is faster.
    fn let_go(&mut self) -> Option<Activity> {
        if !self.lock.spinners.is_empty() {
            let passes_ns = self.now_ns + self.hand_over_ns();
            self.lock.passes = true;
            self.lock.stamp = self.lock.stamp.wrapping_add(1);
            self.events.plan(passes_ns, Event::Passed { stamp: self.lock.stamp });
        }
        let was_wanted = std::mem::take(&mut self.lock.wanted);
        let has_to_wake = match self.algorithm.blocking {
            Blocking::Never => false,
            Blocking::AfterSpins => self.lock.asleep > 0,
            Blocking::After(_) => was_wanted,
        };
        has_to_wake.then_some(Activity::Wakes(None))
    }

    /// Any order: one of those that spin has it.
    pub(crate) fn passed(&mut self, stamp: u32) {
        if self.lock.stamp != stamp {
            return;
        }
        self.lock.passes = false;
        let spinners = self.lock.spinners.len();
        // They may all have been preempted, or have gone to sleep.
        if spinners > 0 {
            let winner = self.lock.spinners[self.rng.usize(..spinners)];
            self.lock.owner = Some(winner);
            self.lock.line = self.at(winner).cpu;
            self.hold(winner);
        }
    }

    /// A thread has made up its mind to sleep. It looks a last time, so that no release is missed.
    pub(crate) fn sleep_unless_free(&mut self, thread: u32) {
        match (self.algorithm.order, self.lock.owner) {
            (Discipline::Fifo, Some(owner)) if owner == thread => self.finds_its_turn(thread),
            (Discipline::Fifo, _) => self.sleep(thread),
            (Discipline::Any, None) => {
                self.at(thread).slept = true;
                self.take(thread);
            }
            (Discipline::Any, Some(_)) => {
                self.lock.wanted = true;
                self.lock.asleep += 1;
                self.lock.sleepers.push_back(thread);
                self.sleep(thread);
            }
        }
    }

    /// The thread that is woken at the end of a release's system call; none, where none sleeps any more.
    pub(crate) fn wakes(&mut self, waiter: Option<u32>) -> Option<u32> {
        waiter.or_else(|| self.lock.sleepers.pop_front())
    }

    /// The time from a release until one of those that spin has the lock.
    fn hand_over_ns(&mut self) -> u64 {
        let transfer_ns = self.machine.transfer_ns;
        let spinners = self.lock.spinners.len().max(1) as u64;
        match self.algorithm.hand_over {
            HandOver::Tenths(tenths) => transfer_ns * tenths / 10,
            HandOver::Paced(looks) => transfer_ns + self.rng.u64(0..=looks * self.machine.look_ns),
            HandOver::Away(looks) => {
                // The least of as many evenly drawn pauses.
                let left = 1.0 - self.rng.f64().powf(1.0 / spinners as f64);
                transfer_ns + ((looks * self.machine.look_ns) as f64 * left) as u64
            }
            HandOver::Shared => {
                let mean_ns = transfer_ns + transfer_ns * (spinners - 1) / 2;
                match self.algorithm.order {
                    Discipline::Fifo => mean_ns,
                    // A race takes half of that to half as much again.
                    Discipline::Any => mean_ns / 2 + self.rng.u64(0..=mean_ns),
                }
            }
        }
    }

    pub(crate) fn note_spinner(&mut self, thread: u32) {
        self.at(thread).spot = self.lock.spinners.len();
        self.lock.spinners.push(thread);
    }

    pub(crate) fn forget_spinner(&mut self, thread: u32) {
        let entry = self.at(thread);
        if entry.spot == NO_SPOT {
            return;
        }
        let spot = std::mem::replace(&mut entry.spot, NO_SPOT);
        self.lock.spinners.swap_remove(spot);
        if let Some(&moved) = self.lock.spinners.get(spot) {
            self.at(moved).spot = spot;
        }
    }
}
