//! `kqueue`: the system's on BSD and macOS; on Linux the emulation `libkqueue`, looked for when it
//! is first asked for. Only what watching descriptors for reading and writing needs.

// The widths and signs of C's types differ from system to system.
#![allow(clippy::cast_possible_wrap, clippy::useless_conversion)]

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::answer::{counted, owned};
use crate::timeout;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
use self::native as calls;
#[cfg(any(target_os = "linux", target_os = "android"))]
use emulated as calls;

/// What a descriptor is watched for by one entry of the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// Data, an end of file or a connection to accept.
    Read,
    /// Room to write.
    Write,
}

/// What to do with an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Add it, level-triggered.
    Add,
    /// Delete it.
    Delete,
}

/// A change to make, or an event that was taken.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Kevent(calls::kevent);

// SAFETY: the pointer in it is always null: `change` leaves it so, and the kernel gives it back.
unsafe impl Send for Kevent {}

impl Kevent {
    /// An entry of no meaning, for the kernel to write over.
    pub fn blank() -> Self {
        // SAFETY: it is made of integers and a pointer, for which all zeroes is a valid value.
        Kevent(unsafe { std::mem::zeroed() })
    }

    /// A change of the entry for `fd` and `filter`.
    pub fn change(fd: RawFd, filter: Filter, action: Action) -> Self {
        let mut event = Kevent::blank();
        event.0.ident = fd as libc::uintptr_t;
        // The widths and signs of these two differ from system to system.
        event.0.filter = match filter {
            Filter::Read => calls::EVFILT_READ as _,
            Filter::Write => calls::EVFILT_WRITE as _,
        };
        event.0.flags = match action {
            Action::Add => calls::EV_ADD as _,
            Action::Delete => calls::EV_DELETE as _,
        };
        event
    }

    /// The descriptor that it is about.
    #[inline]
    pub fn fd(&self) -> RawFd {
        self.0.ident as RawFd
    }

    /// What is ready.
    #[inline]
    pub fn filter(&self) -> Filter {
        let read: bool = self.0.filter == calls::EVFILT_READ as _;
        if read { Filter::Read } else { Filter::Write }
    }

    /// Whether the other side is gone, or the entry is in error.
    #[inline]
    pub fn is_end(&self) -> bool {
        let ends = u32::from(calls::EV_EOF) | u32::from(calls::EV_ERROR);
        u32::from(self.0.flags) & ends != 0
    }
}

/// A queue of the kernel's (or of the library's), closed when dropped.
pub struct Queue {
    fd: OwnedFd,
    calls: &'static calls::Calls,
}

/// Whether there is a kqueue here, or why not.
pub fn available() -> Result<(), String> {
    calls::find().map(drop)
}

impl Queue {
    /// A new, empty queue.
    ///
    /// # Errors
    /// `Unsupported` if [`available`] says no; else what the kernel says.
    pub fn new() -> io::Result<Self> {
        let calls = calls::find().map_err(|why| io::Error::new(io::ErrorKind::Unsupported, why))?;
        // SAFETY: the call takes no pointer, and makes a descriptor.
        let fd = unsafe { owned((calls.kqueue)()) }?;
        Ok(Queue { fd, calls })
    }

    /// Makes these changes, in order, up to the first that fails.
    pub fn change(&self, changes: &[Kevent]) -> io::Result<()> {
        self.call(changes, &mut [], Some(Duration::ZERO)).map(drop)
    }

    /// Waits for events, writes them to the front of `events` and returns how many.
    #[inline]
    pub fn wait(&self, events: &mut [Kevent], timeout: Option<Duration>) -> io::Result<usize> {
        self.call(&[], events, timeout)
    }

    #[inline]
    fn call(
        &self,
        changes: &[Kevent],
        events: &mut [Kevent],
        timeout: Option<Duration>,
    ) -> io::Result<usize> {
        let limit = timeout.map(timeout::timespec);
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: each pointer and count are those of one slice, whose elements have the layout
        // that the call expects; `limit` is null or a valid timespec.
        counted(unsafe {
            (self.calls.kevent)(
                self.fd.as_raw_fd(),
                changes.as_ptr().cast(),
                changes.len() as calls::Count,
                events.as_mut_ptr().cast(),
                events.len() as calls::Count,
                limit,
            )
        })
    }
}

/// The system's own.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod native {
    pub(super) use libc::{EV_ADD, EV_DELETE, EV_EOF, EV_ERROR, EVFILT_READ, EVFILT_WRITE, kevent};

    /// How the call counts.
    #[cfg(target_os = "netbsd")]
    pub(super) type Count = libc::size_t;
    /// How the call counts.
    #[cfg(not(target_os = "netbsd"))]
    pub(super) type Count = libc::c_int;

    /// The two calls, as where they are looked for.
    pub(super) struct Calls {
        pub(super) kqueue: unsafe extern "C" fn() -> libc::c_int,
        pub(super) kevent: unsafe extern "C" fn(
            libc::c_int,
            *const kevent,
            Count,
            *mut kevent,
            Count,
            *const libc::timespec,
        ) -> libc::c_int,
    }

    static CALLS: Calls = Calls { kqueue: libc::kqueue, kevent: libc::kevent };

    /// Always there.
    #[allow(clippy::unnecessary_wraps)] // the shape of the other one
    pub(super) fn find() -> Result<&'static Calls, String> {
        Ok(&CALLS)
    }
}

/// The library `libkqueue`.
#[cfg(any(target_os = "linux", target_os = "android"))]
mod emulated {
    use std::sync::OnceLock;

    use libc::c_int;
    use libloading::Library;

    pub(super) const EVFILT_READ: i16 = -1;
    pub(super) const EVFILT_WRITE: i16 = -2;
    pub(super) const EV_ADD: u16 = 0x0001;
    pub(super) const EV_DELETE: u16 = 0x0002;
    pub(super) const EV_ERROR: u16 = 0x4000;
    pub(super) const EV_EOF: u16 = 0x8000;

    /// The names that the library goes by: what programs are linked to, and what is installed for
    /// building them.
    const NAMES: [&str; 2] = ["libkqueue.so.0", "libkqueue.so"];

    /// How the call counts.
    pub(super) type Count = c_int;

    /// An entry as the library lays it out on Linux: FreeBSD's of before version 12.
    #[derive(Clone, Copy)]
    #[repr(C)]
    #[allow(non_camel_case_types)] // as on the systems that have it
    pub(super) struct kevent {
        pub(super) ident: libc::uintptr_t,
        pub(super) filter: i16,
        pub(super) flags: u16,
        pub(super) fflags: u32,
        pub(super) data: libc::intptr_t,
        pub(super) udata: *mut libc::c_void,
    }

    type Kqueue = unsafe extern "C" fn() -> c_int;
    type KeventCall = unsafe extern "C" fn(
        c_int,
        *const kevent,
        Count,
        *mut kevent,
        Count,
        *const libc::timespec,
    ) -> c_int;

    /// The two calls, and the library that they are in.
    pub(super) struct Calls {
        pub(super) kqueue: Kqueue,
        pub(super) kevent: KeventCall,
        /// Stays open, so that the functions stay where they are.
        _library: Library,
    }

    /// Loads the library, once in the life of the process.
    pub(super) fn find() -> Result<&'static Calls, String> {
        static CALLS: OnceLock<Result<Calls, String>> = OnceLock::new();
        CALLS.get_or_init(load).as_ref().map_err(Clone::clone)
    }

    fn load() -> Result<Calls, String> {
        let library = NAMES.into_iter().find_map(|name| {
            // SAFETY: what the library does as it is loaded is what a program linked to it asks for.
            unsafe { Library::new(name) }.ok()
        });
        let library = library
            .ok_or_else(|| format!("the library libkqueue is not installed ({})", NAMES[0]))?;
        let missing = |error: libloading::Error| format!("libkqueue lacks a function: {error}");
        // SAFETY: the type is that of the function in the library's header.
        let kqueue = *unsafe { library.get::<Kqueue>("kqueue") }.map_err(missing)?;
        // SAFETY: the type is that of the function in the library's header.
        let kevent = *unsafe { library.get::<KeventCall>("kevent") }.map_err(missing)?;
        Ok(Calls { kqueue, kevent, _library: library })
    }
}
