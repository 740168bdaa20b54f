//! What one worker has: its place on the board, and the loop that repeats an operation.

use super::board::Board;
use crate::shared::shortage;
use engine::Failure;
use std::io;
use std::sync::atomic::Ordering::Relaxed;

/// The place of one worker.
#[derive(Debug)]
pub(crate) struct Seat<'a> {
    board: &'a Board,
    /// The worker's number, from 0.
    pub(crate) me: usize,
    /// What a check finds where all is right. Tests set the opposite, and then every operation has to fail.
    right: bool,
}

impl<'a> Seat<'a> {
    pub(crate) fn new(board: &'a Board, me: usize, right: bool) -> Seat<'a> {
        Seat { board, me, right }
    }

    /// Repeats `operation` from the moment that all workers are prepared until they are stopped.
    pub(crate) fn repeat(
        &self,
        mut operation: impl FnMut(Check) -> io::Result<()>,
    ) -> Result<(), Failure> {
        self.repeat_counted(|check| operation(check).map(|()| 1))
    }

    /// The same where one turn does several operations, or none: it says how many.
    pub(crate) fn repeat_counted(
        &self,
        mut turn: impl FnMut(Check) -> io::Result<u64>,
    ) -> Result<(), Failure> {
        self.board.arrive();
        let (mut done, check) = (0, Check { right: self.right });
        let tally = self.board.tally(self.me);
        while !self.board.stopped() {
            match turn(check) {
                Ok(operations) => done += operations,
                // Another worker may have ended, and closed what this one was about to use.
                Err(_) if self.board.stopped() => return Ok(()),
                Err(error) => return Err(shortage::failure(self.during(done).as_str(), &error)),
            }
            tally.store(done, Relaxed);
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
