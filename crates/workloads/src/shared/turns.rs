//! Turns of a loop: work that is done on a CPU alone.

use std::hint::black_box;

/// So many turns of the loop, each of which needs the one before, so that a CPU can't overlap them. The loop
/// is one piece of code for all, since where it lies may change what it takes, and has nothing in memory:
/// what a CPU makes of a store that is read at once depends on more than that. What comes back needs the last turn.
#[inline(never)]
pub(crate) fn turn(turns: u64) -> u64 {
    let mut word = turns | 1;
    for _ in 0..turns {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
    }
    black_box(word)
}
