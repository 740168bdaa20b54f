//! The answers of C calls: -1 with `errno`, or what was asked for.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

#[inline]
pub(crate) fn counted(answer: impl TryInto<usize>) -> io::Result<usize> {
    answer.try_into().map_err(|_| io::Error::last_os_error())
}

#[inline]
pub(crate) fn done(answer: impl TryInto<usize>) -> io::Result<()> {
    counted(answer).map(drop)
}

/// # Safety
/// The answer is of a call that makes a descriptor, which nothing else knows of.
#[inline]
pub(crate) unsafe fn owned(answer: RawFd) -> io::Result<OwnedFd> {
    done(answer)?;
    // SAFETY: the call succeeded, so the descriptor is open; the caller vouches for the rest.
    Ok(unsafe { OwnedFd::from_raw_fd(answer) })
}
