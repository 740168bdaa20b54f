//! How many bytes a second a thread reads, writes and copies, by the size of what it goes over again and again.

use super::companions::{self, Exercise};
use crate::shared::shortage;
use engine::{Cell, Failure, MemoryAccess, Probe, Subject, SubjectInfo};
use std::hint::black_box;
use sys::memory::{Memory, Pages};

/// The metric.
pub(super) const BANDWIDTH: &str = "bandwidth";

/// What is done with the working set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    Copy,
}

const ROWS: [(&str, &str, Access); 3] = [
    ("read", "every word is added up, several sums at a time", Access::Read),
    ("write", "every word is written", Access::Write),
    ("copy", "half of the set is copied to the rest by the C library; bytes copied", Access::Copy),
];

/// The subjects.
pub(super) fn subjects() -> Vec<Subject> {
    let subject = |&(name, summary, _): &(&str, &str, Access)| {
        let info = SubjectInfo {
            group: "Bandwidth".into(),
            headline: BANDWIDTH.into(),
            memory_access: Some(MemoryAccess { spread: 1, huge_page_subject: String::new() }),
            ..SubjectInfo::separate(name)
        };
        Subject::new(info, summary)
    };
    ROWS.iter().map(subject).collect()
}

/// A turn goes over at least this much: small sets several times.
const TURN_BYTES: usize = 64 << 10;
/// A word that is no repetition of a byte: storing it is no memset.
const WORD: u64 = 0x0123_4567_89ab_cdef;
/// Sums that don't wait for each other.
const SUMS: usize = 16;

/// A working set and what is done with it.
struct Sweep {
    memory: Memory,
    access: Access,
    /// Of the words, by which a read is checked.
    sum: u64,
    /// What the last turn came to.
    result: u64,
    passes: usize,
}

impl Sweep {
    fn new(access: Access, bytes: usize, seed: u64) -> Result<Sweep, Failure> {
        let mut memory = Memory::new(bytes, Pages::Small)
            .map_err(shortage::during("mapping the working set"))?;
        let mut word = seed | 1;
        for slot in memory.words() {
            word = word.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *slot = word;
        }
        let sum = memory.words().iter().fold(0, |sum: u64, word| sum.wrapping_add(*word));
        Ok(Sweep { memory, access, sum, result: 0, passes: (TURN_BYTES / bytes).max(1) })
    }

    /// Goes over the set, and says how many bytes that were.
    fn sweep(&mut self) -> u64 {
        let words = self.memory.words();
        let mut bytes = 0;
        for _ in 0..self.passes {
            bytes += match self.access {
                Access::Read => {
                    self.result = added_up(black_box(words));
                    words.len()
                }
                Access::Write => {
                    self.result = self.result.wrapping_add(WORD);
                    black_box(&mut *words).fill(self.result);
                    words.len()
                }
                Access::Copy => {
                    let half = words.len() / 2;
                    let (from, to) = black_box(&mut *words).split_at_mut(half);
                    to[..half].copy_from_slice(from);
                    half
                }
            } * 8;
        }
        bytes as u64
    }

    /// Whether the last turn did what it had to. Changes words that are read and copied next: else the first turn would make
    /// all later ones right.
    fn check(&mut self) -> Result<(), Failure> {
        let words = self.memory.words();
        let half = words.len() / 2;
        let is_right = match self.access {
            Access::Read => self.result == self.sum,
            Access::Write => {
                [0, half, words.len() - 1].iter().all(|&index| words[index] == self.result)
            }
            Access::Copy => {
                [0, half / 2, half - 1].iter().all(|&index| words[half + index] == words[index])
            }
        };
        if self.access != Access::Write {
            for index in [0, half / 2, half - 1] {
                words[index] = words[index].wrapping_add(WORD);
                self.sum = self.sum.wrapping_add(WORD);
            }
        }
        let what = self.access;
        if is_right { Ok(()) } else { Err(Failure::new(format!("{what:?}: the words are wrong"))) }
    }
}

impl Exercise for Sweep {
    fn turn(&mut self) -> Result<(), Failure> {
        self.sweep();
        Ok(())
    }

    fn time(&mut self, probe: &mut Probe) -> Result<(), Failure> {
        let turn = |sweep: &mut Sweep| Ok(sweep.sweep());
        probe.steady_turns(BANDWIDTH, self, turn, |sweep, _| sweep.check())
    }
}

/// The sum of all words.
#[inline(never)]
fn added_up(words: &[u64]) -> u64 {
    let mut sums = [0_u64; SUMS];
    let (rows, rest) = words.as_chunks::<SUMS>();
    for row in rows {
        for (sum, word) in sums.iter_mut().zip(row) {
            *sum = sum.wrapping_add(*word);
        }
    }
    sums.iter().chain(rest).fold(0, |sum, word| sum.wrapping_add(*word))
}

/// Whether the cell is of a subject of this file.
pub(super) fn has(cell: &Cell) -> bool {
    ROWS.iter().any(|(name, ..)| *name == cell.subject)
}

/// Times one access, while companions do the same on `cpus`.
pub(super) fn measure(
    cell: &Cell,
    bytes: usize,
    cpus: &[usize],
    probe: &mut Probe,
) -> Result<(), Failure> {
    let (_, _, access) = *cell.find_subject(&ROWS, |(name, ..)| name)?;
    companions::measure(cell, cpus, probe, |seed| Sweep::new(access, bytes, seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_access_is_checked() {
        for (name, _, access) in ROWS {
            let mut sweep = Sweep::new(access, 6 << 10, 5).unwrap();
            let half = if access == Access::Copy { 2 } else { 1 };
            assert_eq!(sweep.sweep(), 10 * (6 << 10) / half, "{name}: ten passes");
            sweep.check().unwrap();
            if access != Access::Write {
                assert!(sweep.check().is_err(), "{name}: what the turn before left is not enough");
            }
            sweep.sweep();
            sweep.check().unwrap();
            sweep.sweep();
            let last = sweep.memory.words().len() - 1;
            sweep.memory.words()[last] ^= 1;
            if access == Access::Read {
                sweep.sweep();
            }
            assert!(sweep.check().is_err(), "{name}: a wrong word is seen");
        }
    }

    #[test]
    fn a_sum_has_every_word() {
        let words: Vec<u64> = (1..=100).collect();
        assert_eq!(added_up(&words), 5_050);
    }
}
