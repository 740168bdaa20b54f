//! The two passes of a cell: threads that take turns at a lock, and only count, or read the clock as well.

use super::figures::{Timed, Waits};
use super::game::Game;
use super::shared::{Release, Shared};
use crate::shared::crew::{Counted, Crew, Ending, Life, Seat};
use engine::Failure;
use locks::{CacheLine, Lock};
use std::sync::{Mutex, PoisonError};
use sys::clock::Clock;
use sys::process::{Resources, resources, thread_resources};

/// A lock with what it guards, for one pass.
pub(super) struct Pass<'a, L> {
    game: &'a Game,
    /// What ends it.
    ending: Ending,
    clock: Clock,
    /// On cache lines of its own: its neighbours do not change its figures.
    lock: CacheLine<L>,
    shared: Shared,
}

impl<'a, L: Lock> Pass<'a, L> {
    pub fn new(game: &'a Game, ending: Ending, clock: Clock) -> Self {
        let (lock, shared) = (CacheLine(L::new(&game.setup)), Shared::default());
        Pass { game, ending, clock, lock, shared }
    }

    /// The pass in which threads only count.
    pub fn count(&self) -> Result<Counted<Resources>, Failure> {
        self.play(&|seat: &Seat<'_>| {
            let (me, mut lock_seat) = (number(seat), self.lock.seat());
            seat.repeat(|_| {
                self.lock
                    .hold(&mut lock_seat, || self.shared.inside(me, || self.game.inside.work()));
                self.game.outside.work();
                Ok(())
            })
        })
    }

    /// The pass in which they read the clock at each turn; a reading costs `overhead_ns`.
    pub fn time(&self, overhead_ns: f64) -> Result<Timed, Failure> {
        let clock = self.clock;
        let ns = |from, to| (clock.ns(from, to) - overhead_ns).max(0.0) as u64;
        let all = Mutex::new(Waits::new());
        let counted = self.play(&|seat: &Seat<'_>| {
            let (me, mut lock_seat, mut waits) = (number(seat), self.lock.seat(), Waits::new());
            seat.repeat(|_| {
                let requested_at = clock.now();
                let (got, last) = self.lock.hold(&mut lock_seat, || {
                    let (got, last) = (clock.now(), self.shared.release());
                    self.shared.inside(me, || self.game.inside.work());
                    self.shared.announce(Release { at: clock.now(), by: me });
                    (got, last)
                });
                if seat.counts() {
                    waits.waited(ns(requested_at, got));
                    // A request after the release found the lock free.
                    if last.by != 0 && last.by != me && last.at > requested_at {
                        waits.handed(ns(last.at, got));
                    }
                }
                self.game.outside.work();
                Ok(())
            })?;
            all.lock().unwrap_or_else(PoisonError::into_inner).add(&waits);
            Ok(())
        })?;
        let waits = all.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Timed { waits, window: counted.window })
    }

    /// Has all threads live this `life`. The lock is judged when all are done.
    fn play(&self, life: &Life<'_>) -> Result<Counted<Resources>, Failure> {
        let crew = Crew {
            workers: self.game.threads as usize,
            life,
            cpus: Vec::new(),
            clock: self.clock,
            ending: self.ending,
            right: true,
        };
        // What the thread that watches them uses, which looks and sleeps, is none of theirs.
        let counted = crew.threads(|| Ok(resources().since(&thread_resources())))?;
        self.shared.verdict(counted.in_all).map_err(Failure::new)?;
        // What was waited for in the end counts as well: each thread has one turn more, and whoever has starved for all of the
        // time shows it then.
        Ok(counted)
    }
}

/// The number of a thread, from 1.
fn number(seat: &Seat<'_>) -> u32 {
    seat.me as u32 + 1
}
