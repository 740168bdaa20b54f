//! Solaris's and illumos's event ports, with descriptors as the source of events.

// The widths and signs of C's types differ from system to system.
#![allow(clippy::cast_possible_wrap)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use libc::{c_int, c_short, c_uint, uintptr_t};

use crate::answer::{done, owned};
use crate::timeout;

/// An event that was taken.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct PortEvent(libc::port_event);

// SAFETY: the pointer in it is always null: `associate` gives the kernel no other.
unsafe impl Send for PortEvent {}

impl PortEvent {
    /// An event of no meaning, for the kernel to write over.
    pub fn blank() -> Self {
        // SAFETY: it is made of integers and a pointer, for which all zeroes is a valid value.
        PortEvent(unsafe { std::mem::zeroed() })
    }

    /// The descriptor that it is about.
    #[inline]
    pub fn fd(&self) -> RawFd {
        self.0.portev_object as RawFd
    }

    /// What is ready, in the bits of `poll`.
    #[inline]
    pub fn bits(&self) -> c_short {
        self.0.portev_events as c_short
    }
}

/// A new port, closed on exec.
pub fn create() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointer, and makes a descriptor.
    let port = unsafe { owned(libc::port_create()) }?;
    // SAFETY: the call takes no pointer.
    done(unsafe { libc::fcntl(port.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) })?;
    Ok(port)
}

/// Associates `fd` with the port for one event of `bits` (those of `poll`); replaces what it was
/// associated for.
#[inline]
pub fn associate(port: BorrowedFd<'_>, fd: BorrowedFd<'_>, bits: c_short) -> io::Result<()> {
    // SAFETY: the object is a descriptor, as its source says; the user pointer is not followed.
    done(unsafe {
        libc::port_associate(
            port.as_raw_fd(),
            libc::PORT_SOURCE_FD,
            fd.as_raw_fd() as uintptr_t,
            c_int::from(bits),
            std::ptr::null_mut(),
        )
    })
}

/// Undoes an association. `NotFound` if there is none, also because its event was taken.
pub fn dissociate(port: BorrowedFd<'_>, fd: BorrowedFd<'_>) -> io::Result<()> {
    let object = fd.as_raw_fd() as uintptr_t;
    // SAFETY: the object is a descriptor, as its source says.
    done(unsafe { libc::port_dissociate(port.as_raw_fd(), libc::PORT_SOURCE_FD, object) })
}

/// Waits for an event, writes all that there are to the front of `events` and returns how many.
///
/// # Errors
/// `InvalidInput` if `events` is empty; else what the kernel says. That the time is up is none.
#[inline]
pub fn wait(
    port: BorrowedFd<'_>,
    events: &mut [PortEvent],
    timeout: Option<Duration>,
) -> io::Result<usize> {
    let Some(first) = events.first_mut() else { return Err(io::ErrorKind::InvalidInput.into()) };
    // Some kernels hand over events and yet answer that the time is up or a signal came, with the
    // count as it was: an overwritten source tells.
    first.0.portev_source = 0;
    let limit = timeout.map(timeout::timespec);
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let mut count: c_uint = 1;
    let capacity = c_uint::try_from(events.len()).unwrap_or(c_uint::MAX);
    // SAFETY: `PortEvent` has the layout of the event it wraps, and the kernel writes at most
    // `capacity` of them; `count` and `limit` are valid, or null, for the length of the call.
    let answer = unsafe {
        libc::port_getn(
            port.as_raw_fd(),
            events.as_mut_ptr().cast::<libc::port_event>(),
            capacity,
            &raw mut count,
            limit.cast_mut(),
        )
    };
    let taken = (count as usize).min(events.len());
    if answer == 0 {
        return Ok(taken);
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ETIME | libc::EINTR) if events[0].0.portev_source != 0 => Ok(taken),
        Some(libc::ETIME) => Ok(0),
        _ => Err(error),
    }
}
