//! The crate `mio`, as its users use it (edge-triggered): what a library adds to the system's best
//! mechanism.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use ::mio::{Events, Poll, unix::SourceFd};

use crate::slots::Slots;
use crate::{Event, Interest, Mechanism, Readiness, Token, Trigger, deadline};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "mio",
    label: "mio",
    summary: "the crate mio, edge-triggered, over this system's best mechanism",
    trigger: Trigger::Edge,
    queued: false,
    reports_hangup: true,
    detaches: false,
    limits: &["a library's figures, not a mechanism's"],
    available: || Ok(()),
    open: |capacity| {
        Ok(Box::new(Mio {
            poll: Poll::new()?,
            events: Events::with_capacity(capacity.clamp(16, EVENTS_MAX)),
            tokens: Slots::new(capacity),
        }))
    },
};

/// The most events that one wait takes.
const EVENTS_MAX: usize = 65_536;

struct Mio {
    poll: Poll,
    events: Events,
    /// By descriptor, which is what mio gets for a token: as its users index their connections.
    tokens: Slots<Token>,
}

/// A descriptor as mio's token. It is open, so it isn't negative.
fn key(fd: i32) -> ::mio::Token {
    ::mio::Token(fd as usize)
}

fn asked(interest: Interest) -> ::mio::Interest {
    match interest {
        Interest::Readable => ::mio::Interest::READABLE,
        Interest::Writable => ::mio::Interest::WRITABLE,
        Interest::Both => ::mio::Interest::READABLE | ::mio::Interest::WRITABLE,
    }
}

fn event(token: Token, reported: &::mio::event::Event) -> Event {
    let (read_end, write_end) = (reported.is_read_closed(), reported.is_write_closed());
    let error = reported.is_error();
    Event {
        token,
        readable: reported.is_readable() || read_end || error,
        writable: reported.is_writable() || write_end || error,
        hangup: read_end || write_end || error,
    }
}

impl Readiness for Mio {
    fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        let fd = fd.as_raw_fd();
        self.tokens.vacant(fd)?;
        self.poll.registry().register(&mut SourceFd(&fd), key(fd), asked(interest))?;
        self.tokens.insert(fd, token)
    }

    fn modify(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        let fd = fd.as_raw_fd();
        let registered = self.tokens.get_mut(fd)?;
        self.poll.registry().reregister(&mut SourceFd(&fd), key(fd), asked(interest))?;
        *registered = token;
        Ok(())
    }

    fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let fd = fd.as_raw_fd();
        self.tokens.remove(fd)?;
        self.poll.registry().deregister(&mut SourceFd(&fd))
    }

    fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
        ready.clear();
        deadline::wait(timeout, |left| {
            self.poll.poll(&mut self.events, left)?;
            Ok(usize::from(!self.events.is_empty()))
        })?;
        for reported in &self.events {
            if let Some(&token) = self.tokens.at(reported.token().0) {
                ready.push(event(token, reported));
            }
        }
        Ok(())
    }
}
