//! futex(2): a wait that finds another value, and a wake that finds no thread.

use crate::answer::{counted, done};
use std::io;
use std::sync::atomic::AtomicU32;

/// Waits on `word`, which is private to this process, while it is `expected`. It never waits for long: the time
/// limit is a second.
///
/// # Errors
/// `WouldBlock` where the word is not `expected`, `TimedOut` after the second, `Interrupted` by a signal.
#[inline]
pub fn wait(word: &AtomicU32, expected: u32) -> io::Result<()> {
    let limit = libc::timespec { tv_sec: 1, tv_nsec: 0 };
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word and the limit are valid for the length of the call.
    done(unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), operation, expected, &raw const limit)
    })
}

/// Wakes at most `count` threads of this process that wait on `word`, and returns how many there were.
#[inline]
pub fn wake(word: &AtomicU32, count: u32) -> io::Result<usize> {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the word is valid for the length of the call.
    counted(unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, count) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_for_another_value_returns_and_a_wake_without_waiters_wakes_none() {
        let word = AtomicU32::new(1);
        assert_eq!(wait(&word, 2).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        assert_eq!(wake(&word, 1).unwrap(), 0);
    }
}
