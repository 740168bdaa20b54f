//! What the three epoll rows share: they differ in one bit of what they ask for.

/// What `list` says of all three.
pub(crate) const LIMITS: &[&str] =
    &["takes no regular files or directories (EPERM), which are always ready"];

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) use here::{available, open};

#[cfg(any(target_os = "linux", target_os = "android"))]
mod here {
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::time::Duration;

    use libc::epoll_event;

    use crate::{Event, Interest, Readiness, Token, Trigger, Why, bits, deadline};

    /// The most events that one wait takes. As many as a program with that many connections would
    /// take, since a smaller buffer costs another call.
    const EVENTS_MAX: usize = 65_536;

    struct Epoll {
        instance: OwnedFd,
        /// What the kernel writes to; its length is the most that one wait takes.
        events: Vec<epoll_event>,
        /// `EPOLLET`, `EPOLLONESHOT` or neither.
        trigger: u32,
    }

    #[allow(clippy::unnecessary_wraps)] // the shape of the table
    pub(crate) fn available() -> Result<(), Why> {
        Ok(())
    }

    /// Opens a row whose descriptors have this trigger.
    pub(crate) fn open(capacity: usize, trigger: Trigger) -> io::Result<Box<dyn Readiness>> {
        let trigger = match trigger {
            Trigger::Level => 0,
            Trigger::Edge => libc::EPOLLET as u32,
            Trigger::Oneshot => libc::EPOLLONESHOT as u32,
        };
        let events = vec![epoll_event { events: 0, u64: 0 }; capacity.clamp(16, EVENTS_MAX)];
        Ok(Box::new(Epoll { instance: sys::epoll::create()?, events, trigger }))
    }

    impl Epoll {
        /// The bits of poll and of epoll are the same.
        fn asked(&self, interest: Interest) -> u32 {
            u32::from(bits::from_interest(interest) as u16) | self.trigger
        }
    }

    impl Readiness for Epoll {
        fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
            sys::epoll::add(self.instance.as_fd(), fd, self.asked(interest), token.0)
        }

        fn modify(
            &mut self,
            fd: BorrowedFd<'_>,
            token: Token,
            interest: Interest,
        ) -> io::Result<()> {
            sys::epoll::modify(self.instance.as_fd(), fd, self.asked(interest), token.0)
        }

        fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
            sys::epoll::remove(self.instance.as_fd(), fd)
        }

        /// Nothing to do: an item of the kernel's is a file with a number, and goes with the file.
        fn detach(&mut self, _fd: BorrowedFd<'_>) -> io::Result<()> {
            Ok(())
        }

        fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
            ready.clear();
            let instance = self.instance.as_fd();
            let taken =
                deadline::wait(timeout, |left| sys::epoll::wait(instance, &mut self.events, left))?;
            ready.extend(
                self.events[..taken]
                    .iter()
                    .map(|event| bits::event(Token(event.u64), event.events as i16)),
            );
            Ok(())
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod elsewhere {
    use std::io;

    use crate::{Readiness, Trigger, Why};

    fn reason() -> Why {
        Why("Linux only".to_owned())
    }

    pub(crate) fn available() -> Result<(), Why> {
        Err(reason())
    }

    pub(crate) fn open(_capacity: usize, _trigger: Trigger) -> io::Result<Box<dyn Readiness>> {
        Err(reason().into())
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) use elsewhere::{available, open};
