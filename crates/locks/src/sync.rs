//! All that the algorithms are made of. The models of the tests put their own in its place, and run
//! the very same algorithms through every order of events.

use rustix::thread::futex::{self, Flags};
use std::num::NonZeroU32;

pub use std::hint::spin_loop;
pub use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering, fence};

/// Spins that often before it looks again.
#[inline]
pub fn pause(spins: u32) {
    for _ in 0..spins {
        spin_loop();
    }
}

/// Sleeps until it is woken, if the word has that value still. It may also return for no reason: the
/// caller looks again, and so it doesn't matter what the kernel says.
pub fn futex_wait(word: &AtomicU32, expected: u32) {
    let _ = futex::wait(word, Flags::PRIVATE, expected, None);
}

/// Wakes one of those who sleep at the word.
pub fn futex_wake_one(word: &AtomicU32) {
    let _ = futex::wake(word, Flags::PRIVATE, 1);
}

/// Sleeps like [`futex_wait`], until somebody wakes one of these bits.
pub fn futex_wait_bits(word: &AtomicU32, expected: u32, bits: NonZeroU32) {
    let _ = futex::wait_bitset(word, Flags::PRIVATE, expected, None, bits);
}

/// Wakes all who sleep at the word with one of these bits.
pub fn futex_wake_bits(word: &AtomicU32, bits: NonZeroU32) {
    let _ = futex::wake_bitset(word, Flags::PRIVATE, i32::MAX.unsigned_abs(), bits);
}
