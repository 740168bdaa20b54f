//! BSD's and macOS's `kqueue`, level-triggered; on Linux the emulation `libkqueue` when that library
//! is installed, which tells how the library does there and nothing about the speed of kqueue.
//!
//! One descriptor has an entry for reading and one for writing, each reported by itself; here both
//! become one event.
//!
//! Debian has had no package of the library since version 11 at the latest, and the registries of
//! Rust, Python and npm have none by its name: the Linux side was written from the library's header
//! and has not been run against it. The native side is type-checked for FreeBSD and NetBSD.

#[cfg(not(any(target_os = "solaris", target_os = "illumos")))]
use here::{available, open};

use crate::{Mechanism, Trigger};

const EMULATED: bool = cfg!(any(target_os = "linux", target_os = "android"));

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "kqueue",
    label: if EMULATED { "kqueue (libkqueue)" } else { "kqueue" },
    summary: if EMULATED {
        "the library libkqueue, which emulates kqueue(2) over epoll"
    } else {
        "kqueue(2), level-triggered"
    },
    trigger: Trigger::Level,
    queued: false,
    reports_hangup: true,
    detaches: false,
    limits: if EMULATED { &["an emulation: says nothing about kqueue's own speed"] } else { &[] },
    available,
    open,
};

#[cfg(any(target_os = "solaris", target_os = "illumos"))]
crate::elsewhere! { "BSD, macOS and, through libkqueue, Linux only" }

#[cfg(not(any(target_os = "solaris", target_os = "illumos")))]
mod here {
    use std::io;
    use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
    use std::time::Duration;

    use sys::kqueue::{Action, Filter, Kevent, Queue};

    use crate::slots::Slots;
    use crate::{Event, Interest, Readiness, Token, Why, deadline};

    /// The most entries that one wait takes.
    const EVENTS_MAX: usize = 65_536;

    /// What is kept of a watched descriptor.
    struct Watched {
        token: Token,
        interest: Interest,
        /// Where its event stands among those of the wait of this number, so that its second entry
        /// joins its first.
        reported: (u64, usize),
    }

    struct Kqueue {
        queue: Queue,
        events: Vec<Kevent>,
        watched: Slots<Watched>,
        /// The number of waits so far.
        waits: u64,
    }

    pub(super) fn available() -> Result<(), Why> {
        sys::kqueue::available().map_err(Why)
    }

    pub(super) fn open(capacity: usize) -> io::Result<Box<dyn Readiness>> {
        Ok(Box::new(Kqueue {
            queue: Queue::new()?,
            events: vec![Kevent::blank(); capacity.clamp(16, EVENTS_MAX)],
            watched: Slots::new(capacity),
            waits: 0,
        }))
    }

    impl Kqueue {
        /// Makes the queue's entries for `fd` from those of `old` into those of `new`, in one call.
        fn turn(&self, fd: RawFd, old: Option<Interest>, new: Option<Interest>) -> io::Result<()> {
            let filters = [
                (Filter::Read, Interest::is_readable as fn(Interest) -> bool),
                (Filter::Write, Interest::is_writable),
            ];
            let mut changes = [Kevent::blank(); 2];
            let mut count = 0;
            for (filter, wanted) in filters {
                let action = match (old.is_some_and(wanted), new.is_some_and(wanted)) {
                    (false, true) => Action::Add,
                    (true, false) => Action::Delete,
                    _ => continue,
                };
                changes[count] = Kevent::change(fd, filter, action);
                count += 1;
            }
            if count == 0 { Ok(()) } else { self.queue.change(&changes[..count]) }
        }
    }

    impl Readiness for Kqueue {
        fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
            let fd = fd.as_raw_fd();
            self.watched.vacant(fd)?;
            if let Err(error) = self.turn(fd, None, Some(interest)) {
                // The first of two entries may be in.
                self.turn(fd, Some(interest), None).ok();
                return Err(error);
            }
            self.watched.insert(fd, Watched { token, interest, reported: (0, 0) })
        }

        fn modify(
            &mut self,
            fd: BorrowedFd<'_>,
            token: Token,
            interest: Interest,
        ) -> io::Result<()> {
            let fd = fd.as_raw_fd();
            self.turn(fd, Some(self.watched.get(fd)?.interest), Some(interest))?;
            let watched = self.watched.get_mut(fd)?;
            (watched.token, watched.interest) = (token, interest);
            Ok(())
        }

        fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
            let fd = fd.as_raw_fd();
            let watched = self.watched.remove(fd)?;
            self.turn(fd, Some(watched.interest), None)
        }

        fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
            ready.clear();
            let queue = &self.queue;
            let taken = deadline::wait(timeout, |left| queue.wait(&mut self.events, left))?;
            self.waits += 1;
            for entry in &self.events[..taken] {
                let Some(watched) = self.watched.peek_mut(entry.fd()) else { continue };
                if watched.reported.0 != self.waits {
                    watched.reported = (self.waits, ready.len());
                    ready.push(Event {
                        token: watched.token,
                        readable: false,
                        writable: false,
                        hangup: false,
                    });
                }
                let event = &mut ready[watched.reported.1];
                match entry.filter() {
                    Filter::Read => event.readable = true,
                    Filter::Write => event.writable = true,
                }
                event.hangup |= entry.is_end();
            }
            Ok(())
        }
    }
}
