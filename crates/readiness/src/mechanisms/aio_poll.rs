//! Linux AIO's poll requests: `io_submit` (`IOCB_CMD_POLL`) and `io_getevents`.
//!
//! Each request tells once. New ones are collected and go to the kernel in one `io_submit` at the
//! next wait. A request that is taken back still completes, so each carries a number, and only the
//! one that its descriptor has now is reported.

use crate::{Mechanism, Trigger};

pub(crate) const MECHANISM: Mechanism = Mechanism {
    name: "aio-poll",
    label: "aio-poll",
    summary: "io_submit(2) with IOCB_CMD_POLL, io_getevents(2)",
    trigger: Trigger::Oneshot,
    queued: true,
    reports_hangup: true,
    detaches: false,
    limits: &[
        "watches no more descriptors than the capacity it is opened with: add refuses the next",
        "the sum of all capacities on the machine is bounded by the sysctl fs.aio-max-nr",
        "a hang-up reaches it through a kernel thread, moments after it happened",
        "the kernel lets go of a removed descriptor's file moments later",
    ],
    available,
    open,
};

#[cfg(not(target_os = "linux"))]
crate::elsewhere::elsewhere!("Linux only");

#[cfg(target_os = "linux")]
use here::{available, open};

#[cfg(target_os = "linux")]
mod here {
    use std::io::{self, ErrorKind};
    use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
    use std::time::Duration;

    use sys::aio::{Completion, Polls};

    use crate::slots::Slots;
    use crate::{Event, Interest, Readiness, Token, Why, bits, deadline};

    /// The most completions that one call takes.
    const BATCH_MAX: usize = 65_536;

    /// What is known of one watched descriptor.
    struct Watch {
        token: Token,
        asked: i16,
        /// The number of its latest request; older ones are stale.
        request: u32,
        state: State,
    }

    #[derive(Clone, Copy, PartialEq, Eq)]
    enum State {
        /// It was reported, and not armed again.
        Silent,
        /// Its request waits for the next `io_submit`.
        Queued,
        /// Its request is with the kernel.
        Armed,
    }

    struct AioPoll {
        polls: Polls,
        watches: Slots<Watch>,
        watched: usize,
        capacity: usize,
        next_request: u32,
        /// Requests that were taken back and whose completions are still to come.
        stale: usize,
        /// Completions that were taken before their wait.
        early: Vec<Completion>,
        /// What the kernel writes to.
        done: Vec<Completion>,
    }

    pub(super) fn available() -> Result<(), Why> {
        let try_one = || {
            let mut polls = Polls::new(1)?;
            // Whether the kernel knows the command (4.18) shows in the error for no descriptor.
            polls.queue(0, -1, 0, 0);
            polls.submit().map(drop)
        };
        match try_one() {
            Ok(()) => Ok(()),
            Err(error) => match error.raw_os_error() {
                Some(libc::EBADF) => Ok(()),
                Some(libc::ENOSYS) => Err(Why("this kernel was built without AIO".to_owned())),
                Some(libc::EINVAL) => Err(Why("needs Linux 4.18".to_owned())),
                Some(libc::EPERM) => Err(Why(sys::limits::sandboxed("AIO"))),
                Some(libc::EAGAIN) => Err(Why(exhausted(1))),
                _ => Err(Why(format!("io_setup failed: {error}"))),
            },
        }
    }

    pub(super) fn open(capacity: usize) -> io::Result<Box<dyn Readiness>> {
        let capacity = capacity.max(1);
        let polls = u32::try_from(capacity)
            .map_err(|_| io::Error::from_raw_os_error(libc::EAGAIN))
            .and_then(Polls::new)
            .map_err(|error| match error.raw_os_error() {
                Some(libc::EAGAIN | libc::EINVAL) => {
                    io::Error::new(ErrorKind::QuotaExceeded, exhausted(capacity))
                }
                _ => error,
            })?;
        Ok(Box::new(AioPoll {
            polls,
            watches: Slots::new(capacity),
            watched: 0,
            capacity,
            next_request: 0,
            stale: 0,
            early: Vec::new(),
            done: vec![Completion::default(); capacity.min(BATCH_MAX)],
        }))
    }

    /// What to say when the system-wide limit has no room for `wanted` requests.
    fn exhausted(wanted: usize) -> String {
        let read = |name: &str| sys::proc::setting(name).unwrap_or_else(|| "?".to_owned());
        format!(
            "no room for {wanted} AIO requests: {} of fs.aio-max-nr = {} are taken; raise the \
             sysctl fs.aio-max-nr",
            read("fs.aio-nr"),
            read("fs.aio-max-nr"),
        )
    }

    /// A request's data: its number and its descriptor.
    fn data(request: u32, fd: RawFd) -> u64 {
        u64::from(request) << 32 | u64::from(fd.cast_unsigned())
    }

    impl AioPoll {
        /// Puts a request for `fd` into the batch, or changes the one that is there.
        fn arm(&mut self, fd: RawFd) -> io::Result<()> {
            self.next_request = self.next_request.wrapping_add(1);
            let watch = self.watches.get_mut(fd)?;
            watch.request = self.next_request;
            let (slot, asked) = (fd.cast_unsigned(), watch.asked as u16);
            if watch.state == State::Queued {
                self.polls.requeue(slot, fd, asked, data(self.next_request, fd));
            } else {
                watch.state = State::Queued;
                self.polls.queue(slot, fd, asked, data(self.next_request, fd));
            }
            Ok(())
        }

        /// Takes the request of `fd` back, wherever it is, except out of the batch.
        fn disarm(&mut self, fd: RawFd) -> io::Result<()> {
            let watch = self.watches.get_mut(fd)?;
            if watch.state == State::Armed {
                self.polls.cancel(fd.cast_unsigned())?;
                watch.state = State::Silent;
                self.stale += 1;
            }
            Ok(())
        }

        /// Hands the batch to the kernel. What it refuses does not hold up the others.
        fn flush(&mut self) -> io::Result<()> {
            let mut outcome = Ok(());
            while self.polls.queued() > 0 {
                let Err(error) = self.submit() else { continue };
                if error.raw_os_error() == Some(libc::EAGAIN) {
                    if self.stale == 0 {
                        return Err(error);
                    }
                    self.free_capacity()?;
                } else if error.kind() != ErrorKind::Interrupted {
                    outcome = Err(self.refused(&error));
                }
            }
            outcome
        }

        /// One `io_submit`: the kernel takes the first requests of the batch, or all.
        fn submit(&mut self) -> io::Result<()> {
            for slot in self.polls.submit()? {
                if let Some(watch) = self.watches.peek_mut(slot.cast_signed()) {
                    watch.state = State::Armed;
                }
            }
            Ok(())
        }

        /// Waits for requests that were taken back to complete: each holds a place in the queue.
        fn free_capacity(&mut self) -> io::Result<()> {
            let taken = deadline::wait(None, |left| self.polls.wait(&mut self.done, left))?;
            for completion in &self.done[..taken] {
                if current(&mut self.watches, completion.data).is_some() {
                    self.early.push(*completion);
                } else {
                    self.stale = self.stale.saturating_sub(1);
                }
            }
            Ok(())
        }

        /// Drops the first request of the batch, and says that the kernel refused it.
        fn refused(&mut self, error: &io::Error) -> io::Error {
            let slot = self.polls.skip().unwrap_or_default();
            if let Some(watch) = self.watches.peek_mut(slot.cast_signed()) {
                watch.state = State::Silent;
            }
            io::Error::new(error.kind(), format!("descriptor {slot} can't be polled: {error}"))
        }
    }

    /// The watch that a completion belongs to, unless it is stale.
    #[inline]
    fn current(watches: &mut Slots<Watch>, data: u64) -> Option<&mut Watch> {
        let watch = watches.peek_mut((data as u32).cast_signed())?;
        (watch.request == (data >> 32) as u32 && watch.state == State::Armed).then_some(watch)
    }

    /// Turns completions into events; returns how many were stale.
    #[inline]
    fn report(
        watches: &mut Slots<Watch>,
        completions: &[Completion],
        ready: &mut Vec<Event>,
    ) -> usize {
        let mut stale = 0;
        for completion in completions {
            let Some(watch) = current(watches, completion.data) else {
                stale += 1;
                continue;
            };
            watch.state = State::Silent;
            // The kernel tells all that woke it, asked for or not.
            let wanted = watch.asked | libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;
            ready.push(bits::event(watch.token, completion.result as i16 & wanted));
        }
        stale
    }

    impl Readiness for AioPoll {
        fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
            let fd = fd.as_raw_fd();
            self.watches.vacant(fd)?;
            if self.watched == self.capacity {
                let capacity = self.capacity;
                return Err(io::Error::new(
                    ErrorKind::QuotaExceeded,
                    format!("opened with a capacity of {capacity} descriptors, all are taken"),
                ));
            }
            let asked = bits::from_interest(interest);
            self.watches.insert(fd, Watch { token, asked, request: 0, state: State::Silent })?;
            self.watched += 1;
            self.arm(fd)
        }

        fn modify(
            &mut self,
            fd: BorrowedFd<'_>,
            token: Token,
            interest: Interest,
        ) -> io::Result<()> {
            let fd = fd.as_raw_fd();
            self.disarm(fd)?;
            let watch = self.watches.get_mut(fd)?;
            watch.token = token;
            watch.asked = bits::from_interest(interest);
            self.arm(fd)
        }

        fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
            let fd = fd.as_raw_fd();
            // Out of the batch, a request can only be taken back from the kernel.
            if self.watches.get(fd)?.state == State::Queued {
                self.flush()?;
            }
            self.disarm(fd)?;
            self.watches.remove(fd)?;
            self.watched -= 1;
            Ok(())
        }

        fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
            ready.clear();
            self.flush()?;
            if !self.early.is_empty() {
                let stale = report(&mut self.watches, &self.early, ready);
                self.early.clear();
                self.stale = self.stale.saturating_sub(stale);
            }
            let timeout = if ready.is_empty() { timeout } else { Some(Duration::ZERO) };
            deadline::wait(timeout, |left| {
                loop {
                    let taken = self.polls.wait(&mut self.done, left)?;
                    let stale = report(&mut self.watches, &self.done[..taken], ready);
                    self.stale = self.stale.saturating_sub(stale);
                    // Stale ones may hide others that there is no time to wait for.
                    let hidden = taken == self.done.len() && left == Some(Duration::ZERO);
                    if !(hidden && ready.is_empty()) {
                        return Ok(ready.len());
                    }
                }
            })
            .map(drop)
        }
    }
}
