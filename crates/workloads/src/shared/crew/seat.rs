//! What one worker has: its place on the board, and the loop that repeats an operation.

use super::board::Board;
use super::{Crew, Ending};
use crate::shared::shortage;
use engine::Failure;
use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use sys::clock::Clock;

/// The place of one worker.
#[derive(Debug)]
pub(crate) struct Seat<'a> {
    board: &'a Board,
    counts: &'a AtomicU64,
    /// The worker's number, from 0.
    pub(crate) me: usize,
    /// What a check finds where all is right. Tests set the opposite, and then every operation has to fail.
    right: bool,
    ending: Ending,
    clock: Clock,
}

impl<'a> Seat<'a> {
    pub(crate) fn new(board: &'a Board, me: usize, crew: &Crew<'_>) -> Seat<'a> {
        let Crew { right, ending, clock, .. } = *crew;
        Seat { board, counts: board.counts(), me, right, ending, clock }
    }

    /// Whether what is done now counts: from the beginning, or once each worker has done something.
    #[inline]
    pub(crate) fn counts(&self) -> bool {
        self.counts.load(Relaxed) != 0
    }

    /// Repeats `operation` from the moment that all workers are prepared until they are stopped, or it was done as often as
    /// each is to do it.
    #[inline]
    pub(crate) fn repeat(
        &self,
        mut operation: impl FnMut(Check) -> io::Result<()>,
    ) -> Result<(), Failure> {
        self.repeat_counted(|check| operation(check).map(|()| 1))
    }

    /// The same where one turn does several operations, or none: it says how many.
    #[inline]
    pub(crate) fn repeat_counted(
        &self,
        mut turn: impl FnMut(Check) -> io::Result<u64>,
    ) -> Result<(), Failure> {
        let done_max = match self.ending {
            Ending::After(_) => u64::MAX,
            Ending::Done(each) => each,
        };
        self.board.arrive().map_err(|error| Failure::call("waiting for the others", error))?;
        let (mut done, check) = (0, Check { right: self.right });
        let (tally, stopped) = (self.board.tally(self.me), self.board.stopped());
        let is_stopped = || stopped.load(Relaxed) != 0;
        while done < done_max && !is_stopped() {
            match turn(check) {
                Ok(operations) => done += operations,
                // Another worker may have ended, and closed what this one was about to use.
                Err(_) if is_stopped() => return Ok(()),
                Err(error) => return Err(shortage::failure(self.during(done).as_str(), &error)),
            }
            tally.store(done, Relaxed);
        }
        if done >= done_max {
            self.board.ended_at(self.me).store(self.clock.now(), Relaxed);
        }
        Ok(())
    }

    fn during(&self, done: u64) -> String {
        format!("operation {} of worker {}", done + 1, self.me + 1)
    }
}

/// Checks the answer of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Check {
    pub(crate) right: bool,
}

impl Check {
    /// That what a call answered is right; else an error with `what` was wrong.
    #[inline]
    pub(crate) fn that(self, is_right: bool, what: &'static str) -> io::Result<()> {
        if is_right == self.right { Ok(()) } else { Err(wrong(what)) }
    }
}

#[cold]
fn wrong(what: &'static str) -> io::Error {
    io::Error::other(what)
}
