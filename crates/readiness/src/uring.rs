//! What the two rows of `io_uring` share: they differ in whether a poll request tells once.
//!
//! New requests are queued and go to the kernel with the next wait, in one `io_uring_enter`. Each
//! carries its descriptor and a number; only the completions of the number that the descriptor has
//! now are reported.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{Builder, IoUring, cqueue, opcode, squeue};

use crate::home::Home;
use crate::slots::Slots;
use crate::{Event, Interest, Readiness, Token, Why, bits, deadline};

/// What `list` says of both.
pub(crate) const LIMITS: &[&str] = &[
    "the thread that opens it is the one that has to wait and to remove",
    "a wait tells what the kernel hands over in one call: on recent kernels 20 events at a time",
];

/// `IORING_ENTER_GETEVENTS`: take completions, run what the kernel has put off for this thread.
const GET_EVENTS: u32 = 1;
/// `IORING_ENTER_EXT_ARG`: the argument is a structure with a time-out.
const EXT_ARG: u32 = 8;

const FOREIGN: &str = "the ring belongs to the thread that opened it: wait and remove there";

/// The data of requests whose completion is not waited for.
const NO_REQUEST: u64 = u64::MAX;

/// How often a poll request tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shots {
    One,
    Many,
}

/// One watched descriptor.
struct Watch {
    token: Token,
    asked: i16,
    /// The number of its latest request; older ones are stale.
    request: u32,
    /// Requests of this descriptor that the kernel has or will get, stale ones included: each keeps
    /// the file open.
    in_flight: u32,
}

/// An event that was taken before its wait.
struct Early {
    fd: RawFd,
    request: u32,
    event: Event,
    /// Whether it is of a file that is detached: its descriptor's number says nothing of it.
    detached: bool,
}

struct Polls {
    ring: IoUring,
    home: Home,
    shots: Shots,
    watches: Slots<Watch>,
    /// Tokens of files whose descriptors are closed here, by the numbers of their requests.
    detached: HashMap<u32, Token>,
    next_request: u32,
    early: Vec<Early>,
    /// Descriptors whose multishot request has ended, to be armed again.
    ended: Vec<RawFd>,
}

/// Whether it works here, for one shot or many.
pub(crate) fn available(shots: Shots) -> Result<(), Why> {
    match build(2, 4) {
        // A sandbox may let a ring be made, and refuse its use.
        Ok(ring) => supports(&ring, shots)
            .and_then(|()| ring.submit().map(drop).map_err(|error| refusal(&error))),
        Err(error) => Err(refusal(&error)),
    }
}

/// Opens a ring with room for `capacity` requests, and twice as many completions; more of either
/// cost another call.
pub(crate) fn open(capacity: usize, shots: Shots) -> io::Result<Box<dyn Readiness>> {
    let requests = capacity.clamp(8, 4_096) as u32;
    let completions = (capacity.clamp(16, 32_768) * 2) as u32;
    let ring = build(requests, completions)
        .map_err(|error| io::Error::new(error.kind(), refusal(&error)))?;
    supports(&ring, shots)?;
    Ok(Box::new(Polls {
        ring,
        home: Home::here(),
        shots,
        watches: Slots::new(capacity),
        detached: HashMap::new(),
        next_request: 0,
        early: Vec::new(),
        ended: Vec::new(),
    }))
}

/// A ring that runs what the kernel has to do only when this thread asks (6.1), or a plain one.
fn build(requests: u32, completions: u32) -> io::Result<IoUring> {
    let size = |builder: &mut Builder<squeue::Entry, cqueue::Entry>| {
        builder.setup_cqsize(completions).setup_clamp();
    };
    let mut deferring = IoUring::builder();
    size(&mut deferring);
    deferring.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag().setup_submit_all();
    match deferring.build(requests) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            let mut plain = IoUring::builder();
            size(&mut plain);
            plain.build(requests)
        }
        result => result,
    }
}

/// Whether the kernel is new enough. Features tell it: there is no bit for each thing we need.
fn supports(ring: &IoUring, shots: Shots) -> Result<(), Why> {
    let features = ring.params();
    if !features.is_feature_ext_arg() {
        return Err(Why("needs Linux 5.11, for a time-out with each wait".to_owned()));
    }
    if shots == Shots::Many && !features.is_feature_resource_tagging() {
        return Err(Why("needs Linux 5.13, for multishot polls".to_owned()));
    }
    Ok(())
}

/// Why the kernel gives no ring.
fn refusal(error: &io::Error) -> Why {
    let switch = sys::proc::setting("kernel.io_uring_disabled").unwrap_or(0);
    Why(match (error.raw_os_error(), switch) {
        (Some(libc::ENOSYS), _) => "this kernel has no io_uring".to_owned(),
        (Some(libc::EPERM), 2) => "switched off: sysctl kernel.io_uring_disabled is 2".to_owned(),
        (Some(libc::EPERM), 1) => "for root or the group kernel.io_uring_group alone: sysctl \
                                     kernel.io_uring_disabled is 1"
            .to_owned(),
        (Some(libc::EPERM | libc::EACCES), _) => sys::limits::sandboxed("io_uring"),
        (Some(libc::ENOMEM), _) if counts_as_locked() => {
            "not enough memory that may be locked: raise ulimit -l".to_owned()
        }
        (Some(libc::ENOMEM), _) => sys::limits::memory().0,
        _ => format!("io_uring fails: {error}"),
    })
}

/// Whether this kernel counts a ring as locked memory.
fn counts_as_locked() -> bool {
    let release: String = sys::proc::setting("kernel.osrelease").unwrap_or_default();
    !sys::kernel::is_at_least(&release, sys::kernel::URING_IS_NOT_LOCKED)
}

/// A request's data: its number and its descriptor.
fn data(request: u32, fd: RawFd) -> u64 {
    u64::from(request) << 32 | u64::from(fd.cast_unsigned())
}

impl Polls {
    /// Queues a request for `fd` under a new number.
    fn arm(&mut self, fd: RawFd) -> io::Result<()> {
        self.next_request = self.next_request.wrapping_add(1);
        let request = self.next_request;
        self.watches.get_mut(fd)?.request = request;
        self.queue_poll(fd)
    }

    /// Queues a request for `fd` under its present number.
    fn queue_poll(&mut self, fd: RawFd) -> io::Result<()> {
        let watch = self.watches.get(fd)?;
        let entry = opcode::PollAdd::new(Fd(fd), u32::from(watch.asked as u16))
            .multi(self.shots == Shots::Many)
            .build()
            .user_data(data(watch.request, fd));
        self.push(&entry)?;
        self.watches.get_mut(fd)?.in_flight += 1;
        Ok(())
    }

    /// Queues the end of the present request of `fd`, if there is one.
    fn queue_cancel(&mut self, fd: RawFd) -> io::Result<()> {
        let watch = self.watches.get(fd)?;
        if watch.in_flight == 0 {
            return Ok(());
        }
        // Not a poll-remove: that one leaves a request alone that is about to tell.
        let entry = opcode::AsyncCancel::new(data(watch.request, fd)).build().user_data(NO_REQUEST);
        self.push(&entry)
    }

    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        loop {
            // SAFETY: polls and cancels refer to no memory of ours.
            if unsafe { self.ring.submission().push(entry) }.is_ok() {
                return Ok(());
            }
            self.enter(0, None)?;
        }
    }

    /// `io_uring_enter(2)`: submits what is queued, then waits until there are `completions` or the
    /// time is up. Runs what the kernel has put off, also if `completions` is 0.
    #[inline]
    fn enter(&mut self, completions: u32, timeout: Option<Duration>) -> io::Result<()> {
        self.home.check(FOREIGN)?;
        let limit = timeout.map(Timespec::from);
        let arguments = match &limit {
            Some(limit) => SubmitArgs::new().timespec(limit),
            None => SubmitArgs::new(),
        };
        loop {
            let queued = self.ring.submission().len() as u32;
            let (submitter, flags) = (self.ring.submitter(), GET_EVENTS | EXT_ARG);
            // SAFETY: the argument is of the shape that the flag announces, and outlives the call.
            let entered = unsafe { submitter.enter(queued, completions, flags, Some(&arguments)) };
            let Err(error) = entered else { return Ok(()) };
            match error.raw_os_error() {
                Some(libc::ETIME) => return Ok(()),
                // Kernels before 5.19 take no requests while completions overflow.
                Some(libc::EBUSY) => self.free_capacity()?,
                Some(libc::EBADR) => {
                    let lost = "the kernel was out of memory and has lost completions";
                    return Err(io::Error::new(error.kind(), lost));
                }
                _ => return Err(error),
            }
        }
    }

    /// Empties the completion queue into `early`, so that what overflowed can follow.
    fn free_capacity(&mut self) -> io::Result<()> {
        self.take(None);
        // SAFETY: no argument, as the flags say.
        unsafe { self.ring.submitter().enter::<()>(0, 0, GET_EVENTS, None) }?;
        self.take(None);
        Ok(())
    }

    /// Takes all completions that are there; events go to `ready`, or are kept for the next wait.
    /// Returns how many completions it took.
    #[inline]
    fn take(&mut self, mut ready: Option<&mut Vec<Event>>) -> usize {
        let mut taken = 0;
        for completion in self.ring.completion() {
            taken += 1;
            let (request, fd) = unpack(completion.user_data());
            let (more, result) = (cqueue::more(completion.flags()), completion.result());
            let (token, detached) = match self.watches.peek_mut(fd) {
                Some(watch) if watch.request == request => {
                    if !more {
                        watch.in_flight = watch.in_flight.saturating_sub(1);
                    }
                    if self.shots == Shots::Many && !more && result >= 0 {
                        self.ended.push(fd);
                    }
                    (watch.token, false)
                }
                watch => {
                    if let Some(token) = detached_token(&mut self.detached, request, more) {
                        (token, true)
                    } else {
                        if let Some(watch) = watch.filter(|_| !more) {
                            watch.in_flight = watch.in_flight.saturating_sub(1);
                        }
                        continue;
                    }
                }
            };
            // A request that failed tells it as the descriptor's error: its next use says more.
            let reported = i16::try_from(result).ok().filter(|&bits| bits >= 0);
            let event = bits::event(token, reported.unwrap_or(libc::POLLERR));
            match &mut ready {
                Some(ready) => ready.push(event),
                None => self.early.push(Early { fd, request, event, detached }),
            }
        }
        taken
    }

    /// Arms again what ended by itself: the kernel ends a multishot request when completions
    /// overflow.
    #[inline]
    fn rearm(&mut self) -> io::Result<()> {
        while let Some(fd) = self.ended.pop() {
            if self.watches.peek(fd).is_some_and(|watch| watch.in_flight == 0) {
                self.queue_poll(fd)?;
            }
        }
        Ok(())
    }

    /// Takes completions until there is an event or no more to take. Those that overflowed are put
    /// into the queue by the kernel at the next wait.
    #[inline]
    fn collect(&mut self, ready: &mut Vec<Event>, left: Option<Duration>) -> io::Result<usize> {
        let at_once = left == Some(Duration::ZERO);
        loop {
            self.rearm()?;
            let (completions, limit) = if at_once { (0, None) } else { (1, left) };
            self.enter(completions, limit)?;
            let taken = self.take(Some(ready));
            self.report_early(ready);
            // What says nothing may hide events that there is no time to wait for.
            let more = taken > 0 || self.ring.submission().taskrun();
            if !(more && at_once && ready.is_empty()) {
                return Ok(ready.len());
            }
        }
    }

    /// Tells what was taken before this wait.
    #[inline]
    fn report_early(&mut self, ready: &mut Vec<Event>) {
        for early in self.early.drain(..) {
            let watch = self.watches.peek(early.fd);
            if early.detached || watch.is_some_and(|watch| watch.request == early.request) {
                ready.push(early.event);
            }
        }
    }

    /// Ends the requests of `fd` and sees them out of the kernel.
    fn cancel(&mut self, fd: RawFd) -> io::Result<()> {
        self.home.check(FOREIGN)?;
        self.take(None);
        self.queue_cancel(fd)?;
        while self.watches.get(fd)?.in_flight > 0 {
            match self.enter(1, None) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => result?,
            }
            self.take(None);
        }
        Ok(())
    }
}

/// The token of a detached file by the number of its request, which ends unless there is `more` to come.
#[cold]
fn detached_token(detached: &mut HashMap<u32, Token>, request: u32, more: bool) -> Option<Token> {
    if more { detached.get(&request).copied() } else { detached.remove(&request) }
}

/// The number and the descriptor of a request.
#[inline]
fn unpack(data: u64) -> (u32, RawFd) {
    ((data >> 32) as u32, (data as u32).cast_signed())
}

impl Readiness for Polls {
    fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        let (fd, asked) = (fd.as_raw_fd(), bits::from_interest(interest));
        self.watches.insert(fd, Watch { token, asked, request: 0, in_flight: 0 })?;
        let armed = self.arm(fd);
        if armed.is_err() {
            self.watches.remove(fd)?;
        }
        armed
    }

    fn modify(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        let fd = fd.as_raw_fd();
        self.queue_cancel(fd)?;
        let watch = self.watches.get_mut(fd)?;
        watch.token = token;
        watch.asked = bits::from_interest(interest);
        self.arm(fd)
    }

    fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let fd = fd.as_raw_fd();
        self.watches.get(fd)?;
        self.cancel(fd)?;
        self.watches.remove(fd).map(drop)
    }

    /// The kernel must have the request before the descriptor is closed, and holds the file from then on.
    fn detach(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let fd = fd.as_raw_fd();
        self.watches.get(fd)?;
        self.rearm()?;
        while !self.ring.submission().is_empty() {
            self.enter(0, None)?;
        }
        let watch = self.watches.remove(fd)?;
        for early in self.early.iter_mut().filter(|early| early.request == watch.request) {
            early.detached = true;
        }
        if watch.in_flight > 0 {
            self.detached.insert(watch.request, watch.token);
        }
        Ok(())
    }

    fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
        ready.clear();
        self.home.check(FOREIGN)?;
        self.report_early(ready);
        let timeout = if ready.is_empty() { timeout } else { Some(Duration::ZERO) };
        match deadline::wait(timeout, |left| self.collect(ready, left)) {
            // What was taken is reported; the error comes back at the next wait.
            Err(error) if ready.is_empty() => Err(error),
            _ => Ok(()),
        }
    }
}
