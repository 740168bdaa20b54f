//! A worker over completions of `io_uring`: what is to be done goes into a ring, and comes out done.
//!
//! Accepting and receiving are begun once and go on (multishot), accepting as long as there is room for
//! whoever may come; what is received lies in buffers that all connections share, and none holds one while
//! it is idle.
//!
//! Files go the way that other drivers send them, and the ring tells when a socket takes more. Reading
//! them through the ring into buffers and sending these copies every byte twice: of 5 MB over the
//! loopback that took three times the CPU of sendfile. Splicing through the ring hands each call to
//! another thread.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};
use sys::ring::{Done, Lent, Ring};

use super::pace::Pace;
use super::{COMPLETION, Driver};
use crate::connection::{Connection, INPUT_BYTES, Next};
use crate::listener::{self, Accepted};
use crate::outbox::{Outbox, Progress};
use crate::sending::{Sending, TURN_BYTES};
use crate::slab::{Key, Slab};
use crate::workers::{Bell, Desk, Order, Station};
use crate::{Config, Error};

/// Operations that are begun in one turn without another call.
const ENTRIES: u32 = 1_024;

/// Buffers of 4 KiB that are received into. Each is given back before the next wait.
const BUFFERS: u16 = 256;

/// Connections that wait to be accepted, as the kernel bounds them usually: accepting that goes on by itself
/// takes them all at once.
const CROWD: usize = 4_096;

/// Buffers for output that are kept for the next reply, and their size at most.
const SPARE_BUFFERS: usize = 256;
const SPARE_BYTES: usize = 16 * 1024;

/// Why it can't be used here, if it can't.
pub(super) fn available() -> Result<(), String> {
    // The readiness rows know every reason why there is no ring at all.
    if let Some(row) = ::readiness::find("io_uring-multishot") {
        (row.available)().map_err(|why| why.0)?;
    }
    match Ring::new(2, 2) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::InvalidInput => Err("needs Linux 6.1".to_owned()),
        Err(error) => Err(format!("io_uring_setup failed: {error}")),
    }
}

pub(super) fn open(station: Station) -> Result<Box<dyn Driver>, Error> {
    let Station { bell, desk, listener, config, way } = station;
    let Config { limits, .. } = config;
    let open = || -> io::Result<Ring> {
        let mut ring = Ring::new(ENTRIES, BUFFERS)?;
        ring.watch(bell.rings())?;
        Ok(ring)
    };
    let ring = open().map_err(|error| Error::Failed(format!("{COMPLETION}: {error}")))?;
    let sending = (way.open)().map_err(|error| Error::Failed(format!("{}: {error}", way.name)))?;
    Ok(Box::new(Worker {
        ring,
        links: Slab::new(),
        listener: Some(listener),
        desk,
        pace: Pace::new(limits),
        accepting: false,
        many: false,
        spare: Vec::new(),
        sending,
        bell,
        closed: false,
        sweeps: 0,
    }))
}

/// A connection, its socket, and what is under way on it.
struct Link {
    socket: OwnedFd,
    connection: Connection,
    /// What is sent apart from the ring: a file and what stands before it, or what a full socket left.
    outbox: Option<Box<Outbox>>,
    receiving: Receiving,
    /// A buffer of it is with the kernel, or the kernel is to tell when the socket takes more.
    busy: bool,
    /// It goes as soon as nothing of it is with the kernel.
    closing: bool,
}

/// Whether what comes on a connection is received.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Receiving {
    No,
    Yes,
    /// It has been told to end, and has not yet.
    Ending,
}

struct Worker {
    // Before the sockets, so that it lets go of them first.
    ring: Ring,
    links: Slab<Link>,
    listener: Option<OwnedFd>,
    desk: Desk,
    pace: Pace,
    accepting: bool,
    /// Accepting goes on by itself, and is not for one connection.
    many: bool,
    spare: Vec<Vec<u8>>,
    sending: Box<dyn Sending>,
    bell: Arc<Bell>,
    /// A connection closed in this turn.
    closed: bool,
    /// Turns in which idle connections are closed, after what had come by then was taken.
    sweeps: u32,
}

impl Driver for Worker {
    fn run(mut self: Box<Self>) -> Result<(), Error> {
        self.serve().map_err(|error| Error::Failed(format!("{COMPLETION}: {error}")))
    }
}

impl Worker {
    fn serve(&mut self) -> io::Result<()> {
        let mut done = Vec::new();
        self.go_on_accepting()?;
        loop {
            let patience = self.pace.patience(self.links.len(), &self.desk);
            let patience = if self.sweeps > 0 { Some(Duration::ZERO) } else { patience };
            self.ring.wait(&mut done, patience)?;
            self.desk.tick();
            let mut order = Order::Serve;
            for one in done.drain(..) {
                order = order.max(self.take(one)?);
            }
            match order {
                Order::Stop => break,
                Order::Drain => self.drain()?,
                Order::Serve => {}
            }
            if self.pace.looks(&self.desk) {
                self.look()?;
            }
            self.sweep()?;
            self.go_on_accepting()?;
            let draining = self.desk.draining;
            if draining && (self.links.len() == 0 || self.pace.is_over(&self.desk)) {
                break;
            }
        }
        self.desk.flush_log();
        if let Some(listener) = self.listener.take() {
            listener::close(&listener);
        }
        // Their sockets are closed behind the ring, which may not have been handed all operations on them.
        self.links.keys().iter().for_each(|_| self.desk.counts.closed());
        Ok(())
    }

    /// Goes on with what is done.
    #[inline]
    fn take(&mut self, done: Done) -> io::Result<Order> {
        match done {
            Done::Received { data, result, more } => self.received(Key::of(data), result, more)?,
            Done::Sent { data, result, buffer } => {
                self.sent(Key::of(data), result, buffer)?;
            }
            Done::Accepted { result, more } => self.accepted(result, more)?,
            Done::Writable { data, takes: true } => self.push(Key::of(data))?,
            Done::Writable { data, takes: false } => self.ring.pause(data)?,
            Done::Readable { more } => {
                if !more {
                    self.ring.watch(self.bell.rings())?;
                }
                return Ok(self.bell.answer());
            }
        }
        Ok(Order::Serve)
    }

    fn accepted(&mut self, result: io::Result<OwnedFd>, more: bool) -> io::Result<()> {
        self.accepting &= more;
        match result {
            Ok(socket) => {
                self.add(socket)?;
                if self.pace.is_open() && !self.desk.draining {
                    // Where there is no room for another one, the door closes.
                    let _ = self.pace.admits(self.links.len(), &self.desk);
                    if self.accepting && self.many && !self.is_roomy() {
                        self.many = false;
                        self.ring.cancel_accept()?;
                    }
                }
            }
            Err(error) => {
                let error = Errno::from_io_error(&error).unwrap_or(Errno::IO);
                if matches!(listener::trouble(error), Accepted::Exhausted) && self.pace.is_open() {
                    self.pace.exhausted(&self.desk);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, socket: OwnedFd) -> io::Result<()> {
        let peer = self.desk.log.as_ref().and_then(|_| listener::peer(&socket));
        self.desk.counts.accepted();
        let connection = Connection::new(self.desk.now_ms, peer);
        let key = self.links.insert(Link {
            socket,
            connection,
            outbox: None,
            receiving: Receiving::No,
            busy: false,
            closing: false,
        });
        self.settle(key)
    }

    #[inline]
    fn received(
        &mut self,
        key: Key,
        result: io::Result<Option<Lent>>,
        more: bool,
    ) -> io::Result<()> {
        let lent = result.as_ref().ok().and_then(Option::as_ref);
        let came = lent.map_or(&[][..], |lent| self.ring.lent(lent));
        let mut out = self.spare.pop().unwrap_or_default();
        let next = match self.links.get_mut(key) {
            None => Next::Wait,
            Some(link) => {
                if !more {
                    link.receiving = Receiving::No;
                }
                match &result {
                    _ if link.closing => Next::Wait,
                    Ok(_) if came.is_empty() => link.connection.ended(),
                    Ok(_) => link.connection.received(came, &mut self.desk, &mut out),
                    // Buffers ran out for a moment, or it was told to end.
                    Err(error) => match Errno::from_io_error(error) {
                        Some(Errno::NOBUFS | Errno::CANCELED | Errno::INTR) => Next::Wait,
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
        let Some(link) = self.links.get_mut(key) else {
            self.keep(buffer);
            return Ok(());
        };
        link.busy = false;
        let gone = match result {
            Ok(sent) => sent,
            Err(error) => match error.kind() {
                ErrorKind::Interrupted | ErrorKind::WouldBlock => 0,
                _ => {
                    self.keep(buffer);
                    return self.drive(key, Next::Close, Vec::new());
                }
            },
        };
        self.desk.counts.sent(gone);
        if link.closing {
            self.keep(buffer);
            return self.settle(key);
        }
        if gone < buffer.len() {
            // The socket is full: what is left goes like a file, when it takes more.
            link.connection.moved(self.desk.now_ms);
            link.outbox = Some(Box::new(Outbox::new(buffer.split_off(gone), None)));
            link.busy = true;
            let waits = self.ring.writable(link.socket.as_fd(), key.number());
            self.keep(buffer);
            return waits;
        }
        buffer.clear();
        let next = link.connection.sent(&mut self.desk, &mut buffer);
        self.drive(key, next, buffer)
    }

    /// Sends on what goes apart from the ring, until the socket takes no more.
    fn push(&mut self, key: Key) -> io::Result<()> {
        let Some(link) = self.links.get_mut(key) else { return Ok(()) };
        link.busy = false;
        let Some(outbox) = link.outbox.as_mut().filter(|_| !link.closing) else {
            return self.settle(key);
        };
        let mut left = TURN_BYTES;
        let socket = link.socket.as_fd();
        let (sent, progress) = outbox.push(socket, &mut *self.sending, &mut left);
        self.desk.counts.sent(sent);
        if sent > 0 {
            link.connection.moved(self.desk.now_ms);
        }
        match progress {
            Progress::Full | Progress::Enough => {
                link.busy = true;
                self.ring.writable(socket, key.number())
            }
            Progress::Failed(error) if error.kind() == ErrorKind::Interrupted => {
                link.busy = true;
                self.ring.writable(socket, key.number())
            }
            Progress::Failed(_) => self.drive(key, Next::Close, Vec::new()),
            Progress::Gone => {
                link.outbox = None;
                let mut out = self.spare.pop().unwrap_or_default();
                let next = link.connection.sent(&mut self.desk, &mut out);
                self.drive(key, next, out)
            }
        }
    }

    /// Does what is to be done with the socket. `out` is what was answered.
    #[inline]
    fn drive(&mut self, key: Key, next: Next, out: Vec<u8>) -> io::Result<()> {
        let Some(link) = self.links.get_mut(key) else {
            self.keep(out);
            return Ok(());
        };
        match next {
            Next::Send(None) => {
                link.busy = true;
                self.ring.send(link.socket.as_fd(), key.number(), out, 0)?;
            }
            // At the next wait the ring tells that the socket takes it: replies that call for others
            // behind them make a loop that way, and no recursion.
            Next::Send(Some(body)) => {
                link.outbox = Some(Box::new(Outbox::new(out, Some(body))));
                link.busy = true;
                self.ring.writable(link.socket.as_fd(), key.number())?;
            }
            Next::Wait => self.keep(out),
            Next::Linger => {
                // The other side may be gone, which the next completion tells.
                let _ = shutdown(&link.socket, Shutdown::Write);
                self.keep(out);
            }
            Next::Close => {
                link.closing = true;
                if link.receiving != Receiving::No || link.busy {
                    // Whatever is with the kernel comes back at once.
                    let _ = shutdown(&link.socket, Shutdown::Both);
                }
                self.keep(out);
            }
        }
        self.settle(key)
    }

    /// Receives from a connection while it may say something, and lets it go when it is to be closed
    /// and nothing of it is with the kernel.
    #[inline]
    fn settle(&mut self, key: Key) -> io::Result<()> {
        let Some(link) = self.links.get_mut(key) else { return Ok(()) };
        if link.closing {
            if link.receiving == Receiving::No && !link.busy {
                self.links.remove(key);
                self.desk.counts.closed();
                self.closed = true;
            }
            return Ok(());
        }
        // A slow reader is not listened to until it has read.
        let crowded = link.connection.waiting() >= INPUT_BYTES && link.connection.is_sending();
        if link.receiving == Receiving::Yes && crowded {
            link.receiving = Receiving::Ending;
            return self.ring.cancel_receive(key.number());
        }
        if link.receiving == Receiving::No && !crowded && !link.connection.has_ended() {
            link.receiving = Receiving::Yes;
            return self.ring.receive(link.socket.as_fd(), key.number());
        }
        Ok(())
    }

    /// Keeps a buffer for another reply, unless it is large or there are enough.
    #[inline]
    fn keep(&mut self, mut buffer: Vec<u8>) {
        let size = buffer.capacity();
        if size > 0 && size <= SPARE_BYTES && self.spare.len() < SPARE_BUFFERS {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    /// Looks after limits.
    fn look(&mut self) -> io::Result<()> {
        for place in 0..self.links.end() {
            let Some(key) = self.links.at(place) else { continue };
            let Some(link) = self.links.get_mut(key) else { continue };
            if link.closing {
                continue;
            }
            let mut out = Vec::new();
            let limits = self.pace.limits;
            if let Some(next) = link.connection.overdue(&limits, &mut self.desk, &mut out) {
                self.drive(key, next, out)?;
            }
        }
        Ok(())
    }

    /// Accepts again, where there is room again, or where accepting has ended by itself.
    fn go_on_accepting(&mut self) -> io::Result<()> {
        let closed = std::mem::take(&mut self.closed);
        self.pace.reopens(closed, &self.desk);
        if let Some(listener) = &self.listener
            && self.pace.is_open()
            && !self.accepting
            // More may have come than there is room for, before accepting ended: these go first.
            && self.links.len() < self.pace.capacity()
        {
            self.accepting = true;
            self.many = self.is_roomy();
            if self.many {
                self.ring.accept(listener.as_fd())?;
            } else {
                self.ring.accept_one(listener.as_fd())?;
            }
        }
        Ok(())
    }

    /// Whether there is room for whoever may come until accepting can be ended.
    fn is_roomy(&self) -> bool {
        self.pace.capacity().saturating_sub(self.links.len()) > CROWD
    }

    /// Serves who waits, accepts no more, and closes what is idle.
    fn drain(&mut self) -> io::Result<()> {
        self.desk.draining = true;
        let Some(listener) = self.listener.take() else { return Ok(()) };
        let mut open = self.pace.is_open();
        self.pace.drain(&self.desk);
        while open {
            match listener::accept(listener.as_fd()) {
                Accepted::Socket(socket) => self.add(socket)?,
                Accepted::Gone => {}
                Accepted::Nobody | Accepted::Exhausted => open = false,
            }
        }
        listener::close(&listener);
        if self.accepting {
            self.ring.cancel_accept()?;
        }
        // One turn takes the operations in, the other one takes out what had come by then.
        self.sweeps = 2;
        Ok(())
    }

    /// Closes what is idle, when what had come was taken.
    fn sweep(&mut self) -> io::Result<()> {
        if self.sweeps == 0 {
            return Ok(());
        }
        self.sweeps -= 1;
        if self.sweeps > 0 {
            return Ok(());
        }
        for key in self.links.keys() {
            if self.links.get_mut(key).is_some_and(|link| link.connection.is_idle()) {
                self.drive(key, Next::Close, Vec::new())?;
            }
        }
        Ok(())
    }
}
