//! `select`, `poll` and `ppoll`, each through the C library's function of that name.

// The widths and signs of C's types differ from system to system.
#![allow(clippy::unnecessary_cast)]

use std::io;
use std::time::Duration;

use libc::{c_int, pollfd};

use crate::{answer::counted, timeout};

/// The word of which a target's `fd_set` is an array.
#[cfg(any(target_os = "netbsd", target_os = "openbsd", target_vendor = "apple"))]
pub type Word = u32;
/// The word of which a target's `fd_set` is an array.
#[cfg(not(any(target_os = "netbsd", target_os = "openbsd", target_vendor = "apple")))]
pub type Word = libc::c_ulong;

/// The first descriptor number that `select` refuses here, whatever the size of the sets; `None`
/// where sets can grow.
pub const SELECT_LIMIT: Option<usize> = {
    let grows = cfg!(any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly",
    ));
    if grows { None } else { Some(libc::FD_SETSIZE as usize) }
};

/// `select(2)` with sets of any size. Waits until a descriptor below `count` that is a member of
/// `read` or `write` is ready, leaves only the ready ones in the sets and returns how many bits are
/// left. An absent set is a null pointer. After an error the sets hold nothing useful.
///
/// # Errors
/// `InvalidInput` if a set is shorter than `count` bits; else what the kernel says.
#[inline]
pub fn select(
    count: usize,
    read: Option<&mut [Word]>,
    write: Option<&mut [Word]>,
    timeout: Option<Duration>,
) -> io::Result<usize> {
    let words = count.div_ceil(Word::BITS as usize);
    let short = |set: &Option<&mut [Word]>| set.as_ref().is_some_and(|set| set.len() < words);
    let Ok(nfds) = c_int::try_from(count) else { return Err(io::ErrorKind::InvalidInput.into()) };
    if short(&read) || short(&write) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let pointer = |set: Option<&mut [Word]>| {
        set.map_or(std::ptr::null_mut(), |set| set.as_mut_ptr().cast::<libc::fd_set>())
    };
    let mut limit = timeout.map(timeout::timeval);
    let limit = limit.as_mut().map_or(std::ptr::null_mut(), std::ptr::from_mut);
    // SAFETY: each set is null or has the words that hold `nfds` bits, which is all that the call
    // reads or writes; the words have an fd_set's alignment; `limit` is null or a valid timeval.
    counted(unsafe {
        libc::select(nfds, pointer(read), pointer(write), std::ptr::null_mut(), limit)
    })
}

/// `poll(2)`. Waits until one of `fds` has an event (the time-out rounds up to milliseconds) and
/// returns how many `revents` aren't zero.
#[inline]
pub fn poll(fds: &mut [pollfd], timeout: Option<Duration>) -> io::Result<usize> {
    let limit_ms = timeout::millis(timeout);
    // SAFETY: the pointer and the count are those of one slice.
    counted(unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, limit_ms) })
}

/// A call with the arguments and the answer of [`poll`].
pub type Poll = fn(&mut [pollfd], Option<Duration>) -> io::Result<usize>;

/// `ppoll(2)` without a signal mask, which is [`poll`] with a time-out in nanoseconds; `None` where
/// the C library has no such function.
pub const PPOLL: Option<Poll> = {
    #[cfg(not(any(target_vendor = "apple", target_os = "solaris", target_os = "illumos")))]
    {
        Some(ppoll)
    }
    #[cfg(any(target_vendor = "apple", target_os = "solaris", target_os = "illumos"))]
    {
        None
    }
};

#[cfg(not(any(target_vendor = "apple", target_os = "solaris", target_os = "illumos")))]
fn ppoll(fds: &mut [pollfd], timeout: Option<Duration>) -> io::Result<usize> {
    let limit = timeout.map(timeout::timespec);
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let count = fds.len() as libc::nfds_t;
    // SAFETY: the pointer and the count are those of one slice; `limit` is null or a valid timespec.
    counted(unsafe { libc::ppoll(fds.as_mut_ptr(), count, limit, std::ptr::null()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn select_refuses_sets_that_do_not_reach_the_count() {
        let bits = Word::BITS as usize;
        let zero = Some(Duration::ZERO);
        let mut set = [0; 2];
        assert_eq!(select(2 * bits, Some(&mut set), None, zero).unwrap(), 0);
        for (read, write) in [(Some(&mut [0][..]), None), (None, Some(&mut [0][..]))] {
            let refusal = select(bits + 1, read, write, zero).unwrap_err();
            assert_eq!(refusal.kind(), io::ErrorKind::InvalidInput);
        }
        let refusal = select(usize::MAX, None, None, zero).unwrap_err();
        assert_eq!(refusal.kind(), io::ErrorKind::InvalidInput);
    }
}
