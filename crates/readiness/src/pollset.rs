//! The array that `poll` and `ppoll` take, kept dense.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

use libc::pollfd;
use sys::poll::Poll;

use crate::slots::Slots;
use crate::{Event, Interest, Readiness, Token, bits, deadline};

/// The watched descriptors, without holes: removal moves the last one into the gap.
struct PollSet {
    call: Poll,
    fds: Vec<pollfd>,
    /// The token of each of `fds`, at the same place; apart, so that the scan walks 8 bytes each.
    tokens: Vec<Token>,
    /// Where in `fds` a descriptor stands.
    positions: Slots<usize>,
}

/// Opens a row that waits by `call`.
pub(crate) fn open(capacity: usize, call: Poll) -> Box<dyn Readiness> {
    let capacity = capacity.min(1 << 20);
    Box::new(PollSet {
        call,
        fds: Vec::with_capacity(capacity),
        tokens: Vec::with_capacity(capacity),
        positions: Slots::new(capacity),
    })
}

impl Readiness for PollSet {
    fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        let fd = fd.as_raw_fd();
        self.positions.insert(fd, self.fds.len())?;
        self.fds.push(pollfd { fd, events: bits::from_interest(interest), revents: 0 });
        self.tokens.push(token);
        Ok(())
    }

    fn modify(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        let position = *self.positions.get(fd.as_raw_fd())?;
        self.fds[position].events = bits::from_interest(interest);
        self.tokens[position] = token;
        Ok(())
    }

    fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let position = self.positions.remove(fd.as_raw_fd())?;
        self.fds.swap_remove(position);
        self.tokens.swap_remove(position);
        if let Some(moved) = self.fds.get(position) {
            *self.positions.get_mut(moved.fd)? = position;
        }
        Ok(())
    }

    fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
        ready.clear();
        let mut left = deadline::wait(timeout, |left| (self.call)(&mut self.fds, left))?;
        if left == 0 {
            return Ok(());
        }
        for (polled, &token) in self.fds.iter().zip(&self.tokens) {
            if polled.revents != 0 {
                ready.push(bits::event(token, polled.revents));
                left -= 1;
                if left == 0 {
                    break;
                }
            }
        }
        Ok(())
    }
}
