//! Linux's `epoll`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use libc::{c_int, epoll_event};

use crate::{poll::counted, timeout};

/// A new, empty instance, closed on exec.
pub fn create() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointer.
    let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so `fd` is open, and nobody else knows of it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Adds `fd`: its events will carry `data`. `AlreadyExists` if it is a member.
#[inline]
pub fn add(epoll: BorrowedFd<'_>, fd: BorrowedFd<'_>, events: u32, data: u64) -> io::Result<()> {
    control(epoll, libc::EPOLL_CTL_ADD, fd, events, data)
}

/// Replaces what `fd` is watched for, and arms it again. `NotFound` if it is not a member.
#[inline]
pub fn modify(epoll: BorrowedFd<'_>, fd: BorrowedFd<'_>, events: u32, data: u64) -> io::Result<()> {
    control(epoll, libc::EPOLL_CTL_MOD, fd, events, data)
}

/// Removes `fd`. `NotFound` if it is not a member.
#[inline]
pub fn remove(epoll: BorrowedFd<'_>, fd: BorrowedFd<'_>) -> io::Result<()> {
    control(epoll, libc::EPOLL_CTL_DEL, fd, 0, 0)
}

#[inline]
fn control(
    epoll: BorrowedFd<'_>,
    operation: c_int,
    fd: BorrowedFd<'_>,
    events: u32,
    data: u64,
) -> io::Result<()> {
    let mut event = epoll_event { events, u64: data };
    // SAFETY: `event` is valid for the length of the call, which is all that the kernel needs.
    match unsafe { libc::epoll_ctl(epoll.as_raw_fd(), operation, fd.as_raw_fd(), &raw mut event) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// `epoll_wait(2)`: waits for events (the time-out rounds up to milliseconds), writes them to the
/// front of `events` and returns how many.
///
/// # Errors
/// `InvalidInput` if `events` is empty; else what the kernel says.
#[inline]
pub fn wait(
    epoll: BorrowedFd<'_>,
    events: &mut [epoll_event],
    timeout: Option<Duration>,
) -> io::Result<usize> {
    let capacity = c_int::try_from(events.len()).unwrap_or(c_int::MAX);
    let limit_ms = timeout::millis(timeout);
    // SAFETY: the kernel writes at most `capacity` events, which `events` can hold.
    let taken =
        unsafe { libc::epoll_wait(epoll.as_raw_fd(), events.as_mut_ptr(), capacity, limit_ms) };
    counted(taken)
}
