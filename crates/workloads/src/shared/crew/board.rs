//! What the workers of a cell and the thread that watches them share: words, in memory that forked processes see
//! too.

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::{Errno, write};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use sys::shared::SharedWords;

/// Words between two that different workers write: two cache lines, since CPUs fetch them in pairs.
const STRIDE: usize = 16;

/// The words that stand before those of the workers.
#[derive(Clone, Copy)]
enum Word {
    Arrived,
    Counts,
    Stopped,
    Failed,
}

/// So many words stand before those of the workers.
const COMMON: usize = 4;

/// The words of a cell, and the gate that its workers begin at.
#[derive(Debug)]
pub(crate) struct Board {
    words: SharedWords,
    workers: usize,
    /// An eventfd that is readable once it is open: it wakes all at once, threads and processes.
    gate: OwnedFd,
}

impl Board {
    pub(crate) fn new(workers: usize) -> io::Result<Board> {
        let words = SharedWords::new(STRIDE * (COMMON + workers))?;
        Ok(Board { words, workers, gate: eventfd(0, EventfdFlags::CLOEXEC)? })
    }

    fn word(&self, word: Word) -> &AtomicU64 {
        &self.words[STRIDE * word as usize]
    }

    /// What worker `me`, counted from 0, has done.
    pub(crate) fn tally(&self, me: usize) -> &AtomicU64 {
        &self.words[STRIDE * (COMMON + me)]
    }

    /// When worker `me` was done with all of its work; 0 before, and where it is stopped instead.
    pub(crate) fn ended_at(&self, me: usize) -> &AtomicU64 {
        &self.words[STRIDE * (COMMON + me) + 1]
    }

    /// What each has done.
    pub(crate) fn tallies(&self) -> Vec<u64> {
        (0..self.workers).map(|me| self.tally(me).load(Relaxed)).collect()
    }

    /// A worker is prepared: waits until all may begin.
    pub(crate) fn arrive(&self) -> io::Result<()> {
        self.word(Word::Arrived).fetch_add(1, Release);
        loop {
            match poll(&mut [PollFd::new(&self.gate, PollFlags::IN)], None) {
                Err(Errno::INTR) => {}
                ended => return Ok(ended.map(|_| ())?),
            }
        }
    }

    /// Whether all are prepared.
    pub(crate) fn all_arrived(&self) -> bool {
        self.word(Word::Arrived).load(Acquire) as usize >= self.workers
    }

    /// Lets all begin.
    pub(crate) fn begin(&self) {
        // An eventfd takes more of these than there are.
        let _ = write(&self.gate, &1_u64.to_ne_bytes());
    }

    /// From now on operations count.
    pub(crate) fn count(&self) {
        self.word(Word::Counts).store(1, Relaxed);
    }

    /// Has all stop after their next operation, and those that have not begun before it.
    pub(crate) fn stop(&self) {
        self.word(Word::Stopped).store(1, Release);
        self.begin();
    }

    /// Not 0 once operations count.
    pub(crate) fn counts(&self) -> &AtomicU64 {
        self.word(Word::Counts)
    }

    /// Not 0 once they are to stop: found once, it costs a loop a look at its own memory.
    pub(crate) fn stopped(&self) -> &AtomicU64 {
        self.word(Word::Stopped)
    }

    /// A worker has failed; whether it is the first.
    pub(crate) fn fail(&self) -> bool {
        self.word(Word::Failed).fetch_add(1, Relaxed) == 0
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.word(Word::Failed).load(Relaxed) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn each_worker_has_a_word_and_all_begin_together() {
        let board = Board::new(3).unwrap();
        thread::scope(|scope| {
            for me in 0..3 {
                let board = &board;
                scope.spawn(move || {
                    board.arrive().unwrap();
                    board.tally(me).store(me as u64 + 1, Relaxed);
                });
            }
            while !board.all_arrived() {
                thread::yield_now();
            }
            assert_eq!(board.tallies(), [0, 0, 0]);
            board.begin();
        });
        assert_eq!(board.tallies(), [1, 2, 3]);
        assert!(board.fail() && !board.fail() && board.has_failed());
        assert_eq!(board.stopped().load(Relaxed), 0);
        board.stop();
        assert_eq!(board.stopped().load(Relaxed), 1);
    }
}
