//! The threads of a cell, from the gate that they start at together to the last that is done.

use super::figures::{Counted, Timed, Waits};
use super::game::{Ending, Game};
use super::shared::{Release, Shared};
use engine::{Failure, FailureReason};
use locks::{Line, Lock};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread::{self, Builder, ScopedJoinHandle};
use std::time::{Duration, Instant};
use sys::clock::Clock;
use sys::process::{Resources, resources, thread_resources};

/// A thread needs little of its stack.
const STACK_BYTES: usize = 256 << 10;
/// Every thread is to have had the lock once before counting begins, if that comes within this.
const WARM_UP_MAX: Duration = Duration::from_millis(150);
/// So often is looked at how far they are.
const LOOK: Duration = Duration::from_millis(1);
/// Fewer acquisitions than this are no rate, and no waiting times: a pass takes longer for them.
const FEWEST: u64 = 15;
/// But no longer than this.
const PATIENCE: Duration = Duration::from_secs(3);

/// A lock with its threads.
pub(super) struct Crew<'a, L> {
    game: &'a Game,
    /// What ends this pass.
    ending: Ending,
    /// On cache lines of its own: its neighbours do not change its figures.
    lock: Line<L>,
    shared: Shared,
    gate: Gate,
    stop: AtomicBool,
    /// Whether what is timed counts by now: from the beginning, or once all have come.
    counts: AtomicBool,
    /// Each on cache lines of its own: nobody else's counting slows it.
    tallies: Vec<Line<Tally>>,
}

/// What one thread has done until now.
#[derive(Debug, Default)]
struct Tally {
    done: AtomicU64,
    /// When it was done with all of its work.
    ended: AtomicU64,
}

/// How far all of them are at one moment.
struct Moment {
    at: u64,
    done: Vec<u64>,
    used: Resources,
}

impl Moment {
    fn sum(&self) -> u64 {
        self.done.iter().sum()
    }
}

impl<'a, L: Lock> Crew<'a, L> {
    pub fn new(game: &'a Game, ending: Ending) -> Self {
        Crew {
            game,
            ending,
            lock: Line(L::new(&game.setup)),
            shared: Shared::default(),
            gate: Gate::default(),
            stop: AtomicBool::new(false),
            counts: AtomicBool::new(matches!(ending, Ending::Done(_))),
            tallies: (0..game.threads).map(|_| Line(Tally::default())).collect(),
        }
    }

    /// The pass in which threads only count.
    pub fn count(self, clock: Clock) -> Result<Counted, Failure> {
        let work = |me: u32, seat: &mut L::Seat| {
            self.turns(me, || {
                self.lock.hold(seat, || self.shared.inside(me, || self.game.inside.work()));
            });
            self.tallies[me as usize - 1].ended.store(clock.now(), Relaxed);
        };
        // Where each does all of its work, the window is from the gate to the last that is done.
        let (begun, _, window) = self.play(clock, work, || self.window(clock))?;
        let (from, to) = window.unwrap_or_else(|| (begun, self.moment(clock)));
        if to.sum() == from.sum() {
            let waited_ms = 100 * (clock.ns(from.at, to.at) / 1e8).round() as u64;
            return Err(FailureReason::LockStalled { waited_ms }.into());
        }
        let each: Vec<f64> = match self.ending {
            Ending::After(_) => {
                from.done.iter().zip(&to.done).map(|(from, to)| (to - from) as f64).collect()
            }
            // All have done the same, in times of their own.
            Ending::Done(_) => {
                let took =
                    |tally: &Line<Tally>| clock.ns(from.at, tally.ended.load(Relaxed)).max(1.0);
                self.tallies.iter().map(|tally| 1e9 / took(tally)).collect()
            }
        };
        let (ns, window) = (clock.ns(from.at, to.at), (from.at, to.at));
        let (acquisitions, used) = (to.sum() - from.sum(), to.used.since(&from.used));
        Ok(Counted::new(window, acquisitions, ns, &used, &each))
    }

    /// The pass in which they read the clock at each turn; a reading costs `overhead_ns`.
    pub fn time(self, clock: Clock, overhead_ns: f64) -> Result<Timed, Failure> {
        let work = |me: u32, seat: &mut L::Seat| {
            let mut waits = Waits::new();
            let ns = |from, to| (clock.ns(from, to) - overhead_ns).max(0.0) as u64;
            self.turns(me, || {
                let requested_at = clock.now();
                let (got, last) = self.lock.hold(seat, || {
                    let (got, last) = (clock.now(), self.shared.release());
                    self.shared.inside(me, || self.game.inside.work());
                    self.shared.announce(Release { at: clock.now(), by: me });
                    (got, last)
                });
                if !self.counts.load(Relaxed) {
                    return;
                }
                waits.waited(ns(requested_at, got));
                // A request after the release found the lock free.
                if last.by != 0 && last.by != me && last.at > requested_at {
                    waits.handed(ns(last.at, got));
                }
            });
            waits
        };
        let (begun, waits, window) = self.play(clock, work, || self.window(clock))?;
        let window = window.map_or_else(|| (begun.at, clock.now()), |(from, to)| (from.at, to.at));
        Ok(Timed::new(waits, window))
    }

    /// Turns of one thread until its pass ends, with the work outside after each.
    #[inline]
    fn turns(&self, me: u32, mut turn: impl FnMut()) {
        let tally = &self.tallies[me as usize - 1];
        let turns_max = match self.ending {
            Ending::After(_) => u64::MAX,
            Ending::Done(each) => each,
        };
        let mut done = 0;
        while done < turns_max && !self.stop.load(Relaxed) {
            turn();
            done += 1;
            tally.done.store(done, Relaxed);
            self.game.outside.work();
        }
    }

    /// Has all threads do `work`, each with its number from 1 and its seat, and `meanwhile` at the same
    /// time; then it stops them. The lock is judged when all are done. Returns the moment at which they
    /// were let go, what came of their work, and of the other.
    fn play<T: Send, W>(
        &self,
        clock: Clock,
        work: impl Fn(u32, &mut L::Seat) -> T + Sync,
        meanwhile: impl FnOnce() -> W,
    ) -> Result<(Moment, Vec<T>, W), Failure> {
        let (work, gate) = (&work, &self.gate);
        let (begun, all, seen) = thread::scope(|scope| {
            let mut crew: Vec<ScopedJoinHandle<'_, Option<T>>> = Vec::new();
            for me in 1..=self.game.threads {
                let mut seat = self.lock.seat();
                let life = move || gate.pass().then(|| work(me, &mut seat));
                match Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, life) {
                    Ok(thread) => crew.push(thread),
                    Err(error) => {
                        let threads = u64::from(self.game.threads);
                        let failure =
                            Failure::start(format!("starting thread {me}"), &error, threads);
                        gate.open(false);
                        return Err(failure);
                    }
                }
            }
            gate.wait_for(self.game.threads);
            let begun = self.moment(clock);
            gate.open(true);
            let seen = meanwhile();
            if matches!(self.ending, Ending::After(_)) {
                self.stop.store(true, Relaxed);
            }
            let ended = crew.into_iter().map(ScopedJoinHandle::join);
            let all: Result<Vec<Option<T>>, _> = ended.collect();
            Ok((begun, all.map_err(|_| Failure::new("a thread panicked"))?, seen))
        })?;
        let made = self.tallies.iter().map(|tally| tally.done.load(Relaxed)).sum();
        self.shared.verdict(made).map_err(Failure::new)?;
        Ok((begun, all.into_iter().flatten().collect(), seen))
    }

    /// Counts over the time of the pass, once every thread has had its first turn; over more, where
    /// little happens.
    fn window(&self, clock: Clock) -> Option<(Moment, Moment)> {
        let Ending::After(time) = self.ending else { return None };
        let begun = Instant::now();
        let all_there = || self.tallies.iter().all(|tally| tally.done.load(Relaxed) > 0);
        while !all_there() && begun.elapsed() < WARM_UP_MAX {
            thread::sleep(LOOK);
        }
        let (begun, from) = (Instant::now(), self.moment(clock));
        self.counts.store(true, Relaxed);
        thread::sleep(time);
        let mut to = self.moment(clock);
        while to.sum() - from.sum() < FEWEST && begun.elapsed() < PATIENCE {
            thread::sleep(LOOK);
            to = self.moment(clock);
        }
        // What is still waited for counts as well: each thread has one turn more, and whoever has starved
        // for all of the time shows it then.
        Some((from, to))
    }

    /// How far they are now. What the thread that watches them uses, which looks and sleeps, is none of theirs.
    fn moment(&self, clock: Clock) -> Moment {
        let done = self.tallies.iter().map(|tally| tally.done.load(Relaxed)).collect();
        Moment { at: clock.now(), done, used: resources().since(&thread_resources()) }
    }
}

/// Where threads wait for each other before they start.
#[derive(Debug, Default)]
struct Gate {
    state: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    arrived: u32,
    /// Whether those who wait may go, or are to go home.
    opened: Option<bool>,
}

impl Gate {
    /// Waits until it is opened, and says whether there is something to do.
    fn pass(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.arrived += 1;
        self.changed.notify_all();
        loop {
            if let Some(go) = state.opened {
                return go;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until so many are there.
    fn wait_for(&self, count: u32) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.arrived < count {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn open(&self, go: bool) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).opened = Some(go);
        self.changed.notify_all();
    }
}
