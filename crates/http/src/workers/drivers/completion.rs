//! A worker over completions of `io_uring`: operations go into a ring, and their results come out.
//!
//! Accepting and receiving are multishot: submitted once, they go on. Accepting does so as long as there
//! is capacity for every connection that may arrive. All connections share the receive buffers, and an
//! idle one holds none.
//!
//! Files are sent as in the other drivers, and the ring reports when a socket takes more. Reading them
//! through the ring into buffers and sending those copies every byte twice: for 5 MB over the loopback
//! that took three times the CPU of sendfile. Splicing through the ring hands each call to another
//! thread.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};
use sys::ring::{Done, Lent, Ring};

use super::slab::Key;
use super::worker::{Backend, Core, Flush, Link, errno, serve};
use super::{Driver, Setup};
use crate::Error;
use crate::connection::{INPUT_BYTES, Next};
use crate::workers::listener::{self, Accepted};
use crate::workers::sending::TURN_BYTES;
use crate::workers::wakeup::WorkerOrder;

/// The name of the driver that is no row of `readiness`, since it is no readiness mechanism.
pub(super) const COMPLETION: &str = "io_uring-completion";

/// Operations that are submitted in one turn without another call.
const ENTRIES: u32 = 1_024;

/// Receive buffers of 4 KiB. Each is given back before the next wait.
const BUFFERS: u16 = 256;

/// Connections that may wait to be accepted, as the kernel usually bounds them: multishot accepting takes
/// them all at once.
const BACKLOG: usize = 4_096;

/// Output buffers that are kept for the next reply, and their size at most.
const SPARE_BUFFERS: usize = 256;
const SPARE_BYTES: usize = 16 * 1024;

/// Turns of a drain before idle connections close: one submits the operations, the next one returns what
/// had arrived by then.
const IDLE_TURNS: u32 = 2;

/// Why it is unavailable here, if it is.
pub(super) fn available() -> Result<(), String> {
    // The readiness rows know every reason why there is no ring at all.
    if let Some(row) = ::readiness::find("io_uring-multishot") {
        (row.available)().map_err(|why| why.0)?;
    }
    match Ring::check() {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::InvalidInput => Err("needs Linux 6.1".to_owned()),
        Err(error) => Err(format!("io_uring_setup failed: {error}")),
    }
}

#[expect(unsafe_code, reason = "sockets come and go while the ring is there")]
pub(super) fn open(setup: Setup) -> Result<Box<dyn Driver>, Error> {
    let core = Core::open(setup)?;
    let failed = |error: io::Error| Error::Failed(format!("{COMPLETION}: {error}"));
    // SAFETY: a connection goes when the kernel has nothing of it any more (`InRing`), a listener after the wait that handed
    // its accepting over, and all that is left when the worker goes, whose ring goes first.
    let mut ring = unsafe { Ring::new(ENTRIES, BUFFERS) }.map_err(failed)?;
    ring.watch(core.wakeup.fd()).map_err(failed)?;
    let mut worker = CompletionWorker {
        ring,
        core,
        done: Vec::new(),
        is_accepting: false,
        is_multishot: false,
        spare: Vec::new(),
        turns_to_close_idle: 0,
    };
    worker.submit_accept().map_err(failed)?;
    Ok(Box::new(worker))
}

/// What the ring has of a connection.
#[derive(Default)]
struct InRing {
    receiving: Receiving,
    /// The ring sends one of its buffers, or will report that the socket takes more.
    is_sending: bool,
}

impl InRing {
    fn is_free(&self) -> bool {
        self.receiving == Receiving::No && !self.is_sending
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Receiving {
    #[default]
    No,
    Yes,
    /// It was cancelled, and has not ended yet.
    Ending,
}

struct CompletionWorker {
    // Before the sockets, so that it lets go of them first.
    ring: Ring,
    core: Core<InRing>,
    done: Vec<Done>,
    is_accepting: bool,
    /// Accepting goes on after one connection.
    is_multishot: bool,
    spare: Vec<Vec<u8>>,
    /// In a drain; 0 where idle connections stay.
    turns_to_close_idle: u32,
}

impl Driver for CompletionWorker {
    fn run(mut self: Box<Self>) -> Result<(), Error> {
        serve(&mut *self, COMPLETION)
    }
}

impl Backend for CompletionWorker {
    type State = InRing;

    fn core(&mut self) -> &mut Core<InRing> {
        &mut self.core
    }

    fn turn(&mut self) -> io::Result<WorkerOrder> {
        let is_closing_idle = self.turns_to_close_idle > 0;
        let wait_max = if is_closing_idle { Some(Duration::ZERO) } else { self.core.wait_max() };
        let mut done = std::mem::take(&mut self.done);
        self.ring.wait(&mut done, wait_max)?;
        self.core.context.tick();
        let mut order = WorkerOrder::Serve;
        for result in done.drain(..) {
            order = order.max(self.handle(result)?);
        }
        self.done = done;
        Ok(order)
    }

    fn add(&mut self, socket: OwnedFd) -> io::Result<()> {
        let key = self.core.insert(socket, InRing::default());
        self.settle(key)
    }

    #[inline]
    fn drive(&mut self, key: Key, next: Next, out: Vec<u8>) -> io::Result<()> {
        let Some(link) = self.core.links.get_mut(key) else {
            self.recycle(out);
            return Ok(());
        };
        match next {
            Next::Send(body) if link.session.is_some() => {
                link.keep_unsent(out, body);
                if !link.state.is_sending {
                    self.push(key)?;
                }
            }
            Next::Send(None) => {
                link.state.is_sending = true;
                self.ring.send(link.socket.as_fd(), key.number(), out, 0)?;
            }
            // The next wait reports that the socket takes it. So replies that lead to further ones make a
            // loop, and no recursion.
            Next::Send(Some(body)) => {
                link.keep_unsent(out, Some(body));
                link.state.is_sending = true;
                self.ring.writable(link.socket.as_fd(), key.number())?;
            }
            Next::Wait => self.recycle(out),
            Next::Linger => {
                link.end_sending();
                self.recycle(out);
            }
            Next::Close => {
                link.closing = true;
                link.end_session();
                if !link.state.is_free() {
                    // The kernel returns at once what it has of the connection.
                    let _ = shutdown(&link.socket, Shutdown::Both);
                }
                self.recycle(out);
            }
        }
        self.settle(key)
    }

    fn forget_listener(&mut self, _: BorrowedFd<'_>, _: bool) -> io::Result<()> {
        if self.is_accepting { self.ring.cancel_accept() } else { Ok(()) }
    }

    fn close_idle(&mut self) -> io::Result<()> {
        self.turns_to_close_idle = IDLE_TURNS;
        Ok(())
    }

    fn end_turn(&mut self) -> io::Result<()> {
        if self.turns_to_close_idle > 0 {
            self.turns_to_close_idle -= 1;
            if self.turns_to_close_idle == 0 {
                self.close_idle_now()?;
            }
        }
        self.core.resumes_accepting();
        self.submit_accept()
    }
}

impl CompletionWorker {
    #[inline]
    fn handle(&mut self, done: Done) -> io::Result<WorkerOrder> {
        match done {
            Done::Received { data, result, more } => {
                self.received(Key::from_number(data), result, more)?;
            }
            Done::Sent { data, result, buffer } => {
                self.sent(Key::from_number(data), result, buffer)?;
            }
            Done::Accepted { result, more } => self.accepted(result, more)?,
            Done::Writable { data, takes: true } => self.push(Key::from_number(data))?,
            Done::Writable { data, takes: false } => self.ring.pause(data)?,
            Done::Readable { more } => {
                if !more {
                    self.ring.watch(self.core.wakeup.fd())?;
                }
                return Ok(self.core.wakeup.take_order());
            }
        }
        Ok(WorkerOrder::Serve)
    }

    fn accepted(&mut self, result: io::Result<OwnedFd>, more: bool) -> io::Result<()> {
        self.is_accepting &= more;
        match result {
            Ok(socket) => {
                self.add(socket)?;
                let Core { pace, links, context, .. } = &mut self.core;
                if pace.is_accepting() && !context.draining {
                    // If there is no capacity for another one, this ends accepting.
                    let _ = pace.admits(links.len(), context);
                    if self.is_accepting && self.is_multishot && !self.has_spare_capacity() {
                        self.is_multishot = false;
                        self.ring.cancel_accept()?;
                    }
                }
            }
            Err(error) => {
                let is_exhausted = matches!(listener::classify(errno(&error)), Accepted::Exhausted);
                if is_exhausted && self.core.pace.is_accepting() {
                    self.core.pace.exhausted(&self.core.context);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn received(
        &mut self,
        key: Key,
        result: io::Result<Option<Lent>>,
        more: bool,
    ) -> io::Result<()> {
        let lent = result.as_ref().ok().and_then(Option::as_ref);
        let received = lent.map_or(&[][..], |lent| self.ring.lent(lent));
        let mut out = self.spare.pop().unwrap_or_default();
        let next = match self.core.links.get_mut(key) {
            None => Next::Wait,
            Some(link) => {
                if !more {
                    link.state.receiving = Receiving::No;
                }
                match &result {
                    _ if link.closing => Next::Wait,
                    Ok(_) if received.is_empty() => link.connection.ended(),
                    Ok(_) => link.received(received, &mut self.core.context, &mut out),
                    // Buffers ran out for a moment, or receiving was cancelled.
                    Err(error) => match errno(error) {
                        Errno::NOBUFS | Errno::CANCELED | Errno::INTR => Next::Wait,
                        _ => Next::Close,
                    },
                }
            }
        };
        if let Ok(Some(lent)) = result {
            self.ring.give_back(lent);
        }
        self.drive(key, next, out)
    }

    /// A buffer was sent, or a part of it.
    #[inline]
    fn sent(&mut self, key: Key, result: io::Result<usize>, mut buffer: Vec<u8>) -> io::Result<()> {
        let Some(link) = self.core.links.get_mut(key) else {
            self.recycle(buffer);
            return Ok(());
        };
        link.state.is_sending = false;
        let sent = match result {
            Ok(sent) => sent,
            Err(error) => match error.kind() {
                ErrorKind::Interrupted | ErrorKind::WouldBlock => 0,
                _ => {
                    self.recycle(buffer);
                    return self.drive(key, Next::Close, Vec::new());
                }
            },
        };
        link.connection.sent(sent, &mut self.core.context);
        if link.closing {
            self.recycle(buffer);
            return self.settle(key);
        }
        if sent < buffer.len() {
            // The socket is full: the rest goes like a file, when the socket takes more.
            link.keep_unsent(buffer.split_off(sent), None);
            link.state.is_sending = true;
            let submitted = self.ring.writable(link.socket.as_fd(), key.number());
            self.recycle(buffer);
            return submitted;
        }
        buffer.clear();
        let next = link.connection.flushed(&mut self.core.context, &mut buffer);
        self.drive(key, next, buffer)
    }

    /// Sends from the outbox, until the socket takes no more.
    fn push(&mut self, key: Key) -> io::Result<()> {
        let Core { context, links, sending, .. } = &mut self.core;
        let Some(link) = links.get_mut(key) else { return Ok(()) };
        link.state.is_sending = false;
        if link.closing || link.outbox.is_none() {
            return self.settle(key);
        }
        let mut budget = TURN_BYTES;
        match link.flush(context, &mut **sending, &mut budget) {
            Flush::Full | Flush::Paused => {
                link.state.is_sending = true;
                self.ring.writable(link.socket.as_fd(), key.number())
            }
            Flush::Failed => self.drive(key, Next::Close, Vec::new()),
            Flush::Complete => {
                let mut out = self.spare.pop().unwrap_or_default();
                match link.connection.flushed(context, &mut out) {
                    // As for a file: a loop, and no recursion.
                    Next::Send(body) if link.session.is_some() => {
                        link.keep_unsent(out, body);
                        link.state.is_sending = true;
                        self.ring.writable(link.socket.as_fd(), key.number())
                    }
                    next => self.drive(key, next, out),
                }
            }
        }
    }

    /// Receives from a connection while it may send, and removes it when it is to close and the kernel has
    /// nothing of it.
    #[inline]
    fn settle(&mut self, key: Key) -> io::Result<()> {
        let Some(link) = self.core.links.get_mut(key) else { return Ok(()) };
        if link.closing {
            if link.state.is_free() {
                self.core.remove(key);
            }
            return Ok(());
        }
        // A slow reader is not received from until it has read.
        let is_backed_up = link.connection.waiting() >= INPUT_BYTES && link.connection.is_sending();
        match link.state.receiving {
            Receiving::Yes if is_backed_up => {
                link.state.receiving = Receiving::Ending;
                self.ring.cancel_receive(key.number())
            }
            Receiving::No if !is_backed_up && !link.connection.has_ended() => {
                link.state.receiving = Receiving::Yes;
                self.ring.receive(link.socket.as_fd(), key.number())
            }
            _ => Ok(()),
        }
    }

    /// Keeps a buffer for another reply, unless it is large or there are enough.
    #[inline]
    fn recycle(&mut self, mut buffer: Vec<u8>) {
        let size = buffer.capacity();
        if size > 0 && size <= SPARE_BYTES && self.spare.len() < SPARE_BUFFERS {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// Accepts, unless it does so already or there is no capacity.
    fn submit_accept(&mut self) -> io::Result<()> {
        let Core { listener, pace, links, .. } = &self.core;
        if let Some(listener) = listener
            && pace.is_accepting()
            && !self.is_accepting
            // More may have arrived than there is capacity for, before accepting ended: these go first.
            && links.len() < pace.capacity()
        {
            self.is_accepting = true;
            self.is_multishot = self.has_spare_capacity();
            if self.is_multishot {
                self.ring.accept(listener.as_fd())?;
            } else {
                self.ring.accept_one(listener.as_fd())?;
            }
        }
        Ok(())
    }

    /// Whether there is capacity for every connection that may arrive until accepting can be ended.
    fn has_spare_capacity(&self) -> bool {
        self.core.pace.capacity().saturating_sub(self.core.links.len()) > BACKLOG
    }

    fn close_idle_now(&mut self) -> io::Result<()> {
        for key in self.core.links.keys() {
            let is_idle = |link: &mut Link<InRing>| link.connection.is_idle();
            if self.core.links.get_mut(key).is_some_and(is_idle) {
                self.drive(key, Next::Close, Vec::new())?;
            }
        }
        Ok(())
    }
}
