//! The world: threads that are put on CPUs, preempted, sent to sleep and woken, an event at a time.
//!
//! What the lock has to do with it is in `lock`.

use crate::algorithms::{Algorithm, Blocking};
use crate::cpus::Cpus;
use crate::events::{Event, Events};
use crate::figures::{Figures, Tally};
use crate::lock::Lock;
use crate::setup::{Machine, Work};
use crate::threads::{Activity, ENDLESS, RunState, Thread};
use fastrand::Rng;

/// Something that happened at the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// When.
    pub at_ns: u64,
    /// Which thread.
    pub thread: u32,
    /// What it did.
    pub what: What,
}

/// What a thread did at the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It came to it.
    Arrived,
    /// It has it.
    Took,
    /// It has released it.
    Released,
}

/// Slices between two looks at the lengths of the queues.
const BALANCED_AFTER_SLICES: u64 = 4;
/// A thread that has just been put on a CPU keeps it for this part of a slice, whoever wakes up.
const PROTECTED_PART: u64 = 3;

/// Every thread is to have had the lock once before counting begins, if that comes within this.
const WARM_UP_MAX_NS: u64 = 150_000_000;
/// Fewer acquisitions than this are no rate: it goes on for them.
const FEWEST: u64 = 15;
/// But no longer than this.
const PATIENCE_NS: u64 = 3_000_000_000;

/// All there is, at one moment.
pub struct World<F> {
    pub(crate) now_ns: u64,
    pub(crate) machine: Machine,
    pub(crate) work: Work,
    pub(crate) algorithm: Algorithm,
    pub(crate) events: Events,
    pub(crate) threads: Vec<Thread>,
    pub(crate) lock: Lock,
    pub(crate) tally: Tally,
    pub(crate) rng: Rng,
    /// How many have not had the lock yet.
    unserved: u32,
    /// How often anybody has had it.
    counted: u64,
    cpus: Cpus,
    watch: F,
}

impl<F: FnMut(Moment)> World<F> {
    /// The world before it begins.
    pub fn new(machine: Machine, work: Work, algorithm: Algorithm, watch: F) -> World<F> {
        let mut rng = Rng::with_seed(work.seed);
        let begins = |thread: u32| {
            let left_ns = rng.u64(0..=work.outside_ns);
            Thread::new(thread % machine.cpus, left_ns)
        };
        let threads = (0..work.threads).map(begins).collect();
        World {
            now_ns: 0,
            machine,
            work,
            algorithm,
            events: Events::default(),
            threads,
            lock: Lock::default(),
            tally: Tally::new(PATIENCE_NS),
            rng,
            unserved: work.threads,
            counted: 0,
            cpus: Cpus::new(machine.cpus),
            watch,
        }
    }

    /// Lets it go on until every thread has had the lock once, and counts from then on.
    pub fn run(mut self) -> Figures {
        self.begin();
        self.go_on(WARM_UP_MAX_NS, |world| world.unserved == 0);
        let from_ns = self.now_ns;
        self.count_anew();
        self.go_on(from_ns + self.work.time_ns, |_| false);
        self.go_on(from_ns + PATIENCE_NS, |world| world.counted >= FEWEST);
        self.end(from_ns)
    }

    /// An event after the other, until it is so late, or enough.
    fn go_on(&mut self, until_ns: u64, is_enough: impl Fn(&Self) -> bool) {
        while !is_enough(self) {
            let Some((at_ns, event)) = self.events.next_before(until_ns) else {
                self.now_ns = self.now_ns.max(until_ns);
                return;
            };
            self.now_ns = at_ns;
            self.tally.events += 1;
            match event {
                Event::Done { thread, stamp } => self.done(thread, stamp),
                Event::Slice { cpu, stamp } => self.slice(cpu, stamp),
                Event::Passed { stamp } => self.passed(stamp),
                Event::Balance => self.balance(),
            }
        }
    }

    /// Forgets what was counted until now.
    fn count_anew(&mut self) {
        self.settle_all();
        let events = self.tally.events;
        self.tally = Tally::new(self.work.time_ns.max(PATIENCE_NS));
        self.tally.events = events;
        self.counted = 0;
        self.threads.iter_mut().for_each(|thread| thread.acquisitions = 0);
    }

    /// A thread has had the lock.
    pub(crate) fn count(&mut self, thread: u32) {
        let entry = self.at(thread);
        entry.acquisitions += 1;
        let is_first = !std::mem::replace(&mut entry.was_served, true);
        self.unserved -= u32::from(is_first);
        self.counted += 1;
    }

    /// Counts the time of all threads and CPUs up to now.
    fn settle_all(&mut self) {
        for thread in 0..self.work.threads {
            if matches!(self.at(thread).run_state, RunState::Running | RunState::Switching) {
                self.settle(thread);
            }
        }
        (0..self.machine.cpus).for_each(|cpu| self.settle_idle(cpu));
    }

    /// Puts the first thread of each queue on its CPU. The first slices are of any length, as those of
    /// CPUs that have been busy before.
    fn begin(&mut self) {
        for (number, thread) in self.threads.iter().enumerate() {
            self.cpus.queue(thread.cpu, number as u32, 0);
        }
        for cpu in 0..self.machine.cpus.min(self.work.threads) {
            self.vacate(cpu);
            let first_ns = self.machine.switch_ns + self.rng.u64(0..self.machine.slice_ns);
            self.plan_slice(cpu, first_ns);
        }
        self.events.plan(BALANCED_AFTER_SLICES * self.machine.slice_ns, Event::Balance);
    }

    fn end(mut self, from_ns: u64) -> Figures {
        self.settle_all();
        let each: Vec<u64> = self.threads.iter().map(|thread| thread.acquisitions).collect();
        self.tally.figures(self.now_ns - from_ns, &each)
    }

    pub(crate) fn at(&mut self, thread: u32) -> &mut Thread {
        &mut self.threads[thread as usize]
    }

    pub(crate) fn record(&mut self, thread: u32, what: What) {
        (self.watch)(Moment { at_ns: self.now_ns, thread, what });
    }

    /// Counts the CPU time of a thread up to now.
    fn settle(&mut self, thread: u32) {
        let now_ns = self.now_ns;
        let entry = self.at(thread);
        // One that a CPU has still to wake up for has had nothing yet.
        let spent_ns = now_ns.saturating_sub(entry.since_ns);
        entry.since_ns = entry.since_ns.max(now_ns);
        entry.virtual_ns += spent_ns;
        if entry.run_state == RunState::Switching || entry.activity.is_system() {
            self.tally.system_ns += spent_ns;
        } else {
            self.tally.user_ns += spent_ns;
        }
    }

    /// A thread that runs does this from now on, for so long.
    pub(crate) fn set(&mut self, thread: u32, activity: Activity, ns: u64) {
        self.settle(thread);
        self.forget_spinner(thread);
        let now_ns = self.now_ns;
        let entry = self.at(thread);
        entry.activity = activity;
        entry.stamp = entry.stamp.wrapping_add(1);
        entry.ends_ns = now_ns.saturating_add(ns);
        let (stamp, ends_ns) = (entry.stamp, entry.ends_ns);
        if ends_ns != ENDLESS {
            self.events.plan(ends_ns, Event::Done { thread, stamp });
        }
        if activity == Activity::Spinning {
            self.note_spinner(thread);
        }
    }

    /// What a thread does has come to its end, or its CPU has been switched to it.
    fn done(&mut self, thread: u32, stamp: u32) {
        let entry = self.at(thread);
        if entry.stamp != stamp {
            return;
        }
        if entry.run_state == RunState::Switching {
            return self.goes_on(thread);
        }
        match entry.activity {
            Activity::Outside => self.arrive(thread),
            Activity::Taking => self.hold(thread),
            Activity::Held => self.release(thread),
            Activity::Spinning => self.set(thread, Activity::GoesToSleep, self.machine.call_ns),
            Activity::GoesToSleep => self.sleep_unless_free(thread),
            Activity::Wakes(waiter) => {
                let woken = self.wakes(waiter);
                // First, since who is woken may take the CPU at once.
                self.outside(thread);
                if let Some(woken) = woken {
                    self.wake(woken);
                }
            }
        }
    }

    /// A thread begins with its own affairs.
    pub(crate) fn outside(&mut self, thread: u32) {
        let ns = self.outside_ns();
        self.set(thread, Activity::Outside, ns);
    }

    /// A tenth more or less, so that no two threads go in step for good.
    fn outside_ns(&mut self) -> u64 {
        let tenth_ns = self.work.outside_ns / 10;
        self.work.outside_ns - tenth_ns + self.rng.u64(0..=2 * tenth_ns)
    }

    /// A thread goes on with what it did before it was taken off its CPU.
    fn goes_on(&mut self, thread: u32) {
        self.settle(thread);
        let entry = self.at(thread);
        entry.run_state = RunState::Running;
        let (activity, left_ns) = (entry.activity, entry.left_ns);
        match activity {
            Activity::Spinning => self.look_again(thread, left_ns),
            _ => self.set(thread, activity, left_ns),
        }
    }

    /// Puts `thread` on `cpu`, which has to wake up for it first where it was idle.
    fn put(&mut self, cpu: u32, thread: u32, delay_ns: u64) {
        let starts_ns = self.now_ns + delay_ns;
        let ends_ns = starts_ns + self.machine.switch_ns;
        self.settle_idle(cpu);
        self.cpus.run(cpu, Some(thread));
        let (now_ns, entry) = (self.now_ns, self.cpus.get(cpu));
        (entry.picked_ns, entry.idle_from_ns) = (starts_ns, now_ns);
        let entry = self.at(thread);
        (entry.run_state, entry.cpu, entry.since_ns) = (RunState::Switching, cpu, starts_ns);
        entry.stamp = entry.stamp.wrapping_add(1);
        let stamp = entry.stamp;
        self.events.plan(ends_ns, Event::Done { thread, stamp });
        self.plan_slice(cpu, ends_ns - self.now_ns + self.machine.slice_ns);
    }

    fn plan_slice(&mut self, cpu: u32, after_ns: u64) {
        let entry = self.cpus.get(cpu);
        entry.stamp = entry.stamp.wrapping_add(1);
        let stamp = entry.stamp;
        self.events.plan(self.now_ns + after_ns, Event::Slice { cpu, stamp });
    }

    /// Counts the time in which a CPU has had nothing to run, up to now: that in which it wakes up, too.
    fn settle_idle(&mut self, cpu: u32) {
        let now_ns = self.now_ns;
        let entry = self.cpus.get(cpu);
        let until_ns = if entry.running.is_some() { entry.picked_ns.min(now_ns) } else { now_ns };
        self.tally.idle_ns += until_ns.saturating_sub(entry.idle_from_ns);
        entry.idle_from_ns = entry.idle_from_ns.max(until_ns);
    }

    /// The slice of the thread on `cpu` is over: who has had less goes on.
    fn slice(&mut self, cpu: u32, stamp: u32) {
        let entry = self.cpus.get(cpu);
        if entry.stamp != stamp {
            return;
        }
        let Some(running) = entry.running else { return };
        let least_ns = entry.least_ns();
        self.settle(running);
        let had_ns = self.at(running).virtual_ns;
        if least_ns.is_some_and(|least_ns| least_ns < had_ns) {
            self.preempt(cpu, running);
        } else {
            self.plan_slice(cpu, self.machine.slice_ns);
        }
    }

    /// Takes the thread that runs on `cpu` off it, for the next one of its queue. It keeps what it has.
    fn preempt(&mut self, cpu: u32, running: u32) {
        let Some(next) = self.cpus.next(cpu) else { return };
        self.leave(running, RunState::Queued);
        self.tally.involuntary += 1;
        let had_ns = self.at(running).virtual_ns;
        self.cpus.queue(cpu, running, had_ns);
        self.put(cpu, next, 0);
    }

    /// A thread is on its CPU no more.
    fn leave(&mut self, thread: u32, run_state: RunState) {
        self.settle(thread);
        self.forget_spinner(thread);
        let now_ns = self.now_ns;
        let entry = self.at(thread);
        if entry.run_state == RunState::Running {
            entry.left_ns = if entry.ends_ns == ENDLESS { ENDLESS } else { entry.ends_ns - now_ns };
        }
        entry.run_state = run_state;
        entry.stamp = entry.stamp.wrapping_add(1);
    }

    /// A thread sleeps, and its CPU is free for another.
    pub(crate) fn sleep(&mut self, thread: u32) {
        self.leave(thread, RunState::Asleep);
        self.tally.voluntary += 1;
        let cpu = self.at(thread).cpu;
        self.vacate(cpu);
    }

    /// No thread runs on `cpu`: the next one of its queue does, or one from the longest queue, or none.
    fn vacate(&mut self, cpu: u32) {
        if let Some(next) = self.cpus.next(cpu) {
            return self.put(cpu, next, 0);
        }
        self.settle_idle(cpu);
        self.cpus.run(cpu, None);
        self.cpus.get(cpu).idle_from_ns = self.now_ns;
        if let Some(from) = self.cpus.busiest() {
            self.pull(from, cpu, 0);
        }
    }

    /// The next thread of one queue goes to another CPU.
    fn pull(&mut self, from: u32, to: u32, delay_ns: u64) {
        let Some(thread) = self.cpus.next(from) else { return };
        self.moves(thread, to);
        if self.cpus.idle.has(to) {
            self.put(to, thread, delay_ns);
        } else {
            let had_ns = self.at(thread).virtual_ns;
            self.cpus.queue(to, thread, had_ns);
        }
    }

    /// A thread that is on no CPU goes over to the account of another's queue.
    fn moves(&mut self, thread: u32, to: u32) {
        let from = self.at(thread).cpu;
        let (left_ns, right_ns) = (self.cpus.get(from).floor_ns, self.cpus.get(to).floor_ns);
        let entry = self.at(thread);
        entry.virtual_ns = (entry.virtual_ns + right_ns).saturating_sub(left_ns);
        entry.cpu = to;
    }

    /// A thread that sleeps can run again: where it ran before, if that CPU is idle, or on the next one
    /// that is, or else in the queue of the first.
    fn wake(&mut self, thread: u32) {
        let before = self.at(thread).cpu;
        let to = self.cpus.idle.nearest(before).unwrap_or(before);
        self.moves(thread, to);
        let least_ns = self.cpus.get(to).floor_ns.saturating_sub(self.machine.slice_ns);
        let left_ns = self.patience_ns();
        let entry = self.at(thread);
        // Who has slept for long has a claim to a slice, and to no more.
        entry.virtual_ns = entry.virtual_ns.max(least_ns);
        entry.left_ns = left_ns;
        (entry.activity, entry.run_state) = (Activity::Spinning, RunState::Queued);
        (entry.slept, entry.was_woken) = (true, true);
        let had_ns = entry.virtual_ns;
        if self.cpus.idle.has(to) {
            return self.put(to, thread, self.machine.wake_ns);
        }
        self.cpus.queue(to, thread, had_ns);
        self.preempt_for(to, had_ns);
    }

    /// Who wakes up and has had less than the thread that runs takes its place, unless that one has
    /// only just begun.
    fn preempt_for(&mut self, cpu: u32, had_ns: u64) {
        let entry = self.cpus.get(cpu);
        let (Some(running), picked_ns) = (entry.running, entry.picked_ns) else { return };
        let ran_ns = self.now_ns.saturating_sub(picked_ns);
        if ran_ns < self.machine.slice_ns / PROTECTED_PART {
            return;
        }
        self.settle(running);
        if had_ns < self.at(running).virtual_ns {
            self.preempt(cpu, running);
        }
    }

    /// How long a thread spins before it goes to sleep.
    pub(crate) fn patience_ns(&self) -> u64 {
        let looks = match self.algorithm.blocking {
            Blocking::Never => return ENDLESS,
            Blocking::AfterSpins => self.work.spins,
            Blocking::After(looks) => looks,
        };
        u64::from(looks).saturating_mul(self.machine.look_ns)
    }

    /// Threads go from long queues to short ones.
    fn balance(&mut self) {
        for _ in 0..self.machine.cpus {
            let Some((from, to)) = self.cpus.uneven() else { break };
            self.pull(from, to, self.machine.wake_ns);
        }
        let next_ns = self.now_ns + BALANCED_AFTER_SLICES * self.machine.slice_ns;
        self.events.plan(next_ns, Event::Balance);
    }
}
