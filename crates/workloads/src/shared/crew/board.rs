//! What the workers of a cell and the thread that watches them share: words, in memory that forked processes see
//! too.

use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::thread;
use std::time::Duration;
use sys::shared::SharedWords;

/// Words between two that different workers write: two cache lines, since CPUs fetch them in pairs.
const STRIDE: usize = 16;
/// How long a worker sleeps before it looks again whether it may begin.
const LOOK: Duration = Duration::from_micros(200);

/// The words that stand before those of the workers.
#[derive(Clone, Copy)]
enum Word {
    Arrived,
    Begun,
    Stopped,
    Failed,
}

/// So many words stand before those of the workers.
const COMMON: usize = 4;

/// The words of a cell.
#[derive(Debug)]
pub(crate) struct Board {
    words: SharedWords,
    workers: usize,
}

impl Board {
    pub(crate) fn new(workers: usize) -> io::Result<Board> {
        Ok(Board { words: SharedWords::new(STRIDE * (COMMON + workers))?, workers })
    }

    fn word(&self, word: Word) -> &AtomicU64 {
        &self.words[STRIDE * word as usize]
    }

    /// What worker `me`, counted from 0, has done.
    pub(crate) fn tally(&self, me: usize) -> &AtomicU64 {
        &self.words[STRIDE * (COMMON + me)]
    }

    /// What each has done.
    pub(crate) fn tallies(&self) -> Vec<u64> {
        (0..self.workers).map(|me| self.tally(me).load(Relaxed)).collect()
    }

    /// A worker is prepared: waits until all may begin.
    pub(crate) fn arrive(&self) {
        self.word(Word::Arrived).fetch_add(1, Release);
        while self.word(Word::Begun).load(Acquire) == 0 && !self.stopped() {
            thread::sleep(LOOK);
        }
    }

    /// Whether all are prepared.
    pub(crate) fn all_arrived(&self) -> bool {
        self.word(Word::Arrived).load(Acquire) as usize >= self.workers
    }

    /// Lets all begin.
    pub(crate) fn begin(&self) {
        self.word(Word::Begun).store(1, Release);
    }

    /// Has all stop after their next operation.
    pub(crate) fn stop(&self) {
        self.word(Word::Stopped).store(1, Release);
    }

    #[inline]
    pub(crate) fn stopped(&self) -> bool {
        self.word(Word::Stopped).load(Relaxed) != 0
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

    #[test]
    fn each_worker_has_a_word_and_all_begin_together() {
        let board = Board::new(3).unwrap();
        thread::scope(|scope| {
            for me in 0..3 {
                let board = &board;
                scope.spawn(move || {
                    board.arrive();
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
        assert!(board.fail() && !board.fail() && board.has_failed() && !board.stopped());
        board.stop();
        assert!(board.stopped());
    }
}
