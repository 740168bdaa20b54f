//! Linux's `epoll`.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use libc::c_int;
pub use libc::epoll_event;

use crate::answer::{counted, done, owned};
use crate::timeout;

/// A new, empty instance, closed on exec.
pub fn create() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointer, and makes a descriptor.
    unsafe { owned(libc::epoll_create1(libc::EPOLL_CLOEXEC)) }
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
    done(unsafe { libc::epoll_ctl(epoll.as_raw_fd(), operation, fd.as_raw_fd(), &raw mut event) })
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
    counted(unsafe { libc::epoll_wait(epoll.as_raw_fd(), events.as_mut_ptr(), capacity, limit_ms) })
}

/// [`wait`] with a time-out in nanoseconds: by `epoll_pwait2(2)`; on kernels before 5.11, by `ppoll(2)` first.
///
/// # Errors
/// As [`wait`].
#[cfg(target_os = "linux")]
#[inline]
pub fn wait_precisely(
    epoll: BorrowedFd<'_>,
    events: &mut [epoll_event],
    timeout: Duration,
) -> io::Result<usize> {
    use std::sync::atomic::{AtomicBool, Ordering};
    static IS_MISSING: AtomicBool = AtomicBool::new(false);
    if !IS_MISSING.load(Ordering::Relaxed) {
        match pwait2(epoll, events, timeout) {
            // Some sandboxes refuse what they don't know.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
                IS_MISSING.store(true, Ordering::Relaxed);
            }
            result => return result,
        }
    }
    wait_by_ppoll(epoll, events, timeout)
}

#[cfg(target_os = "linux")]
#[inline]
fn pwait2(
    epoll: BorrowedFd<'_>,
    events: &mut [epoll_event],
    timeout: Duration,
) -> io::Result<usize> {
    let capacity = c_int::try_from(events.len()).unwrap_or(c_int::MAX);
    // The call's timespec has 64 bits in each field, also where the C library's has not.
    let limit = [timeout.as_secs().min(timeout::SECONDS_MAX), u64::from(timeout.subsec_nanos())];
    let no_mask = std::ptr::null::<libc::sigset_t>();
    // SAFETY: the kernel writes at most `capacity` events, which `events` can hold; `limit` is valid; there is no mask.
    counted(unsafe {
        libc::syscall(
            libc::SYS_epoll_pwait2,
            epoll.as_raw_fd(),
            events.as_mut_ptr(),
            capacity,
            &raw const limit,
            no_mask,
            0_usize,
        )
    })
}

#[cfg(target_os = "linux")]
fn wait_by_ppoll(
    epoll: BorrowedFd<'_>,
    events: &mut [epoll_event],
    timeout: Duration,
) -> io::Result<usize> {
    if let Some(ppoll) = crate::poll::PPOLL.filter(|_| !timeout.is_zero()) {
        let member = libc::pollfd { fd: epoll.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        if ppoll(&mut [member], Some(timeout))? == 0 {
            return Ok(0);
        }
    }
    wait(epoll, events, Some(Duration::ZERO))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    #[test]
    fn a_precise_wait_takes_its_time_and_its_events_with_and_without_the_new_call() {
        let instance = create().unwrap();
        let (mut writer, mut reader) = UnixStream::pair().unwrap();
        add(instance.as_fd(), reader.as_fd(), libc::EPOLLIN as u32, 7).unwrap();
        for wait in [wait_precisely, wait_by_ppoll] {
            let mut events = [epoll_event { events: 0, u64: 0 }; 2];
            let (begun, timeout) = (Instant::now(), Duration::from_micros(1_500));
            assert_eq!(wait(instance.as_fd(), &mut events, timeout).unwrap(), 0);
            assert!(begun.elapsed() >= timeout);
            writer.write_all(b"x").unwrap();
            for timeout in [Duration::ZERO, Duration::from_secs(60)] {
                assert_eq!(wait(instance.as_fd(), &mut events, timeout).unwrap(), 1);
                assert_eq!({ events[0].u64 }, 7);
            }
            assert_eq!(reader.read(&mut [0; 2]).unwrap(), 1);
            let refusal = wait(instance.as_fd(), &mut [], Duration::ZERO).unwrap_err();
            assert_eq!(refusal.kind(), io::ErrorKind::InvalidInput);
        }
    }
}
