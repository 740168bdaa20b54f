//! Solaris's and illumos's event ports: an association gives one event and is gone.

#[cfg(any(target_os = "solaris", target_os = "illumos"))]
use here::{available, open};

use crate::{Mechanism, Trigger};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "event-ports",
    label: "event-ports",
    summary: "event ports: port_associate for one event, port_getn takes many",
    trigger: Trigger::Oneshot,
    queued: false,
    reports_hangup: true,
    detaches: false,
    limits: &[],
    available,
    open,
};

#[cfg(not(any(target_os = "solaris", target_os = "illumos")))]
crate::elsewhere! { "Solaris and illumos only" }

#[cfg(any(target_os = "solaris", target_os = "illumos"))]
mod here {
    use std::io::{self, ErrorKind};
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
    use std::time::Duration;

    use sys::port::{self, PortEvent};

    use crate::slots::Slots;
    use crate::{Event, Interest, Readiness, Token, Why, bits, deadline};

    /// The most events that one wait takes.
    const EVENTS_MAX: usize = 65_536;

    struct Port {
        instance: OwnedFd,
        events: Vec<PortEvent>,
        tokens: Slots<Token>,
    }

    pub(super) fn available() -> Result<(), Why> {
        port::create().map(drop).map_err(|error| Why(format!("port_create fails: {error}")))
    }

    pub(super) fn open(capacity: usize) -> io::Result<Box<dyn Readiness>> {
        Ok(Box::new(Port {
            instance: port::create()?,
            events: vec![PortEvent::blank(); capacity.clamp(16, EVENTS_MAX)],
            tokens: Slots::new(capacity),
        }))
    }

    impl Readiness for Port {
        fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
            self.tokens.vacant(fd.as_raw_fd())?;
            port::associate(self.instance.as_fd(), fd, bits::from_interest(interest))?;
            self.tokens.insert(fd.as_raw_fd(), token)
        }

        fn modify(
            &mut self,
            fd: BorrowedFd<'_>,
            token: Token,
            interest: Interest,
        ) -> io::Result<()> {
            let registered = self.tokens.get_mut(fd.as_raw_fd())?;
            port::associate(self.instance.as_fd(), fd, bits::from_interest(interest))?;
            *registered = token;
            Ok(())
        }

        fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
            self.tokens.remove(fd.as_raw_fd())?;
            match port::dissociate(self.instance.as_fd(), fd) {
                // Its event was taken, and the association went with it.
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                done => done,
            }
        }

        fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
            ready.clear();
            let instance = self.instance.as_fd();
            let taken =
                deadline::wait(timeout, |left| port::wait(instance, &mut self.events, left))?;
            for event in &self.events[..taken] {
                if let Some(&token) = self.tokens.peek(event.fd()) {
                    ready.push(bits::event(token, event.bits()));
                }
            }
            Ok(())
        }
    }
}
