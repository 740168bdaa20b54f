//! The crate `polling`, as its users use it (oneshot): what a library adds to the system's best
//! mechanism.

use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use ::polling::{Events, Poller};

use crate::slots::Slots;
use crate::{Event, Interest, Mechanism, Readiness, Token, Trigger, deadline};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "polling",
    label: "polling",
    summary: "the crate polling, oneshot, over this system's best mechanism",
    trigger: Trigger::Oneshot,
    queued: false,
    // Its other backends leave the flag unset.
    reports_hangup: cfg!(any(target_os = "linux", target_os = "android")),
    detaches: false,
    limits: &[
        "a library's figures, not a mechanism's",
        "a peer that stops sending and goes on reading is just readable, not a hang-up",
    ],
    available: || Ok(()),
    open: |capacity| {
        let capacity = NonZeroUsize::MIN.saturating_add(capacity.clamp(16, EVENTS_MAX) - 1);
        Ok(Box::new(Polling {
            poller: Poller::new()?,
            events: Events::with_capacity(capacity),
            tokens: Slots::new(capacity.get()),
        }))
    },
};

/// The most events that one wait takes.
const EVENTS_MAX: usize = 65_536;

struct Polling {
    poller: Poller,
    events: Events,
    /// By descriptor, which is the key that the crate gets: as its users index their connections.
    tokens: Slots<Token>,
}

/// What the crate is to watch a descriptor for. It is open, so it isn't negative.
fn asked(fd: i32, interest: Interest) -> ::polling::Event {
    ::polling::Event::new(fd as usize, interest.is_readable(), interest.is_writable())
}

impl Readiness for Polling {
    fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        let number = fd.as_raw_fd();
        self.tokens.vacant(number)?;
        // SAFETY: what the crate asks, that a descriptor be removed before it is closed, the trait
        // asks of every caller; on these systems the kernel forgets one that is closed, and a
        // number without a token is passed over.
        unsafe { self.poller.add(number, asked(number, interest)) }?;
        self.tokens.insert(number, token)
    }

    fn modify(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        let registered = self.tokens.get_mut(fd.as_raw_fd())?;
        self.poller.modify(fd, asked(fd.as_raw_fd(), interest))?;
        *registered = token;
        Ok(())
    }

    fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        self.tokens.remove(fd.as_raw_fd())?;
        self.poller.delete(fd)
    }

    fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
        ready.clear();
        deadline::wait(timeout, |left| {
            self.events.clear();
            self.poller.wait(&mut self.events, left)
        })?;
        for reported in self.events.iter() {
            if let Some(&token) = self.tokens.at(reported.key) {
                ready.push(Event {
                    token,
                    readable: reported.readable,
                    writable: reported.writable,
                    hangup: reported.is_interrupt() || reported.is_err().unwrap_or(false),
                });
            }
        }
        Ok(())
    }
}
