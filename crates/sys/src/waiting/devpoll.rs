//! Solaris's and illumos's `/dev/poll`.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use libc::{c_int, pollfd};

use crate::{answer::counted, timeout};

/// In `events` of a [`pollfd`] that is written: the descriptor leaves the set.
pub const POLLREMOVE: libc::c_short = 0x0800;

/// The request to wait: `DP_POLL` of `<sys/devpoll.h>`.
const DP_POLL: c_int = (0xD0 << 8) | 1;

/// The argument of [`DP_POLL`]: `struct dvpoll` of `<sys/devpoll.h>`, which the bindings lack.
#[repr(C)]
struct DvPoll {
    /// Where the answer goes.
    fds: *mut pollfd,
    /// How many it has room for.
    count: libc::nfds_t,
    /// In milliseconds; -1 waits for ever.
    timeout_ms: c_int,
}

/// A new, empty set: the device opened once more.
pub fn open() -> io::Result<OwnedFd> {
    let device: File = OpenOptions::new().read(true).write(true).open("/dev/poll")?;
    Ok(device.into())
}

/// The most events that one wait may have room for: a kernel may refuse more than this process can
/// have descriptors.
pub fn events_max() -> usize {
    // SAFETY: the call takes no pointer.
    let limit = unsafe { libc::sysconf(libc::_SC_OPEN_MAX) };
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// Applies these changes, in order. An entry adds its `events` to those of its descriptor, or takes
/// the descriptor out with [`POLLREMOVE`].
pub fn change(set: BorrowedFd<'_>, changes: &[pollfd]) -> io::Result<()> {
    // SAFETY: the pointer and the length are those of one slice.
    let written =
        unsafe { libc::write(set.as_raw_fd(), changes.as_ptr().cast(), size_of_val(changes)) };
    if counted(written)? != size_of_val(changes) {
        return Err(io::ErrorKind::WriteZero.into());
    }
    Ok(())
}

/// Waits for events (the time-out rounds up to milliseconds), writes them to the front of `events`
/// and returns how many.
#[inline]
pub fn wait(
    set: BorrowedFd<'_>,
    events: &mut [pollfd],
    timeout: Option<Duration>,
) -> io::Result<usize> {
    let mut argument = DvPoll {
        fds: events.as_mut_ptr(),
        count: events.len() as libc::nfds_t,
        timeout_ms: timeout::millis(timeout),
    };
    // SAFETY: the argument is the one of this request, and its pointer and count are of one slice.
    counted(unsafe { libc::ioctl(set.as_raw_fd(), DP_POLL, &raw mut argument) })
}
