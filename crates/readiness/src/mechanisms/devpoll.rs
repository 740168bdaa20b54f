//! Solaris's and illumos's `/dev/poll`: the set stays in the kernel, the ready ones come back.

#[cfg(any(target_os = "solaris", target_os = "illumos"))]
use here::{available, open};

use crate::{Mechanism, Trigger};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "devpoll",
    label: "/dev/poll",
    summary: "/dev/poll: the set is written once, DP_POLL returns the ready ones",
    trigger: Trigger::Level,
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
    use std::io;
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
    use std::time::Duration;

    use libc::{c_short, pollfd};
    use sys::devpoll::{self, POLLREMOVE};

    use crate::slots::Slots;
    use crate::{Event, Interest, Readiness, Token, Why, bits, deadline};

    /// The most events that one wait takes.
    const EVENTS_MAX: usize = 65_536;

    struct DevPoll {
        set: OwnedFd,
        events: Vec<pollfd>,
        tokens: Slots<Token>,
    }

    pub(super) fn available() -> Result<(), Why> {
        devpoll::open().map(drop).map_err(|error| Why(format!("/dev/poll does not open: {error}")))
    }

    pub(super) fn open(capacity: usize) -> io::Result<Box<dyn Readiness>> {
        let capacity = capacity.clamp(16, EVENTS_MAX).min(devpoll::events_max());
        Ok(Box::new(DevPoll {
            set: devpoll::open()?,
            events: vec![entry(-1, 0); capacity],
            tokens: Slots::new(capacity),
        }))
    }

    fn entry(fd: RawFd, events: c_short) -> pollfd {
        pollfd { fd, events, revents: 0 }
    }

    impl Readiness for DevPoll {
        fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
            let fd = fd.as_raw_fd();
            self.tokens.vacant(fd)?;
            devpoll::change(self.set.as_fd(), &[entry(fd, bits::from_interest(interest))])?;
            self.tokens.insert(fd, token)
        }

        fn modify(
            &mut self,
            fd: BorrowedFd<'_>,
            token: Token,
            interest: Interest,
        ) -> io::Result<()> {
            let fd = fd.as_raw_fd();
            let registered = self.tokens.get_mut(fd)?;
            // Taken out first, because what is written is added to what is there.
            let changes = [entry(fd, POLLREMOVE), entry(fd, bits::from_interest(interest))];
            devpoll::change(self.set.as_fd(), &changes)?;
            *registered = token;
            Ok(())
        }

        fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
            let fd = fd.as_raw_fd();
            self.tokens.remove(fd)?;
            devpoll::change(self.set.as_fd(), &[entry(fd, POLLREMOVE)])
        }

        fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
            ready.clear();
            let set = self.set.as_fd();
            let taken = deadline::wait(timeout, |left| devpoll::wait(set, &mut self.events, left))?;
            for entry in &self.events[..taken] {
                if let Some(&token) = self.tokens.peek(entry.fd) {
                    ready.push(bits::event(token, entry.revents));
                }
            }
            Ok(())
        }
    }
}
