//! A worker over a readiness mechanism, which reports the sockets that are ready.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use readiness::{Event, Interest, Mechanism, Readiness, Token, Trigger};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags};

use super::slab::Key;
use super::worker::{Backend, Core, Flush, Link, serve};
use super::{Driver, Setup};
use crate::Error;
use crate::connection::Next;
use crate::workers::context::Context;
use crate::workers::listener::{self, Accepted};
use crate::workers::sending::{Sending, TURN_BYTES};
use crate::workers::wakeup::WorkerOrder;

/// Bytes that one call receives.
const INPUT_BYTES: usize = 64 * 1024;

/// Connections that are accepted, and calls that receive from one connection, in one turn.
const TURN_CALLS: usize = 64;

/// How long a connection rests whose socket takes no more and can't be watched.
const REST_MS: u64 = 10;

const LISTENER: Token = Token(u64::MAX);
const WAKEUP: Token = Token(u64::MAX - 1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It waits for its socket.
    Waits,
    /// It could go on, after the others had their turn.
    Yields,
    Closes,
}

/// A connection's state is the event that its socket is watched for.
type WatchedLink = Link<Interest>;

struct ReadinessWorker {
    // Before what it watches, so that it is dropped first.
    watcher: Box<dyn Readiness>,
    core: Core<Interest>,
    row: &'static Mechanism,
    ready: Vec<Event>,
    input: Vec<u8>,
    out: Vec<u8>,
    /// Connections that go on in the next turn without an event.
    yielding: Vec<Key>,
    /// Connections that go on without an event from `rest_end_ms` on.
    resting: Vec<Key>,
    rest_end_ms: u64,
    /// More connections may wait than were accepted, and no event will say so.
    accepts_again: bool,
}

pub(super) fn open(row: &'static Mechanism, setup: Setup) -> Result<Box<dyn Driver>, Error> {
    let core = Core::open(setup)?;
    let failed = |error: io::Error| Error::Failed(format!("{}: {error}", row.name));
    let mut watcher = (row.open)(core.pace.capacity().saturating_add(2)).map_err(failed)?;
    watcher.add(core.wakeup.fd(), WAKEUP, Interest::Readable).map_err(failed)?;
    if let Some(listener) = &core.listener {
        watcher.add(listener.as_fd(), LISTENER, Interest::Readable).map_err(failed)?;
    }
    Ok(Box::new(ReadinessWorker {
        watcher,
        core,
        row,
        ready: Vec::new(),
        input: vec![0; INPUT_BYTES],
        out: Vec::new(),
        yielding: Vec::new(),
        resting: Vec::new(),
        rest_end_ms: 0,
        accepts_again: false,
    }))
}

impl Driver for ReadinessWorker {
    fn run(mut self: Box<Self>) -> Result<(), Error> {
        let name = self.row.name;
        serve(&mut *self, name)
    }
}

impl Backend for ReadinessWorker {
    type State = Interest;

    fn core(&mut self) -> &mut Core<Interest> {
        &mut self.core
    }

    fn turn(&mut self) -> io::Result<WorkerOrder> {
        let mut ready = std::mem::take(&mut self.ready);
        self.watcher.wait(&mut ready, self.wait_max())?;
        self.core.context.tick();
        let mut order = WorkerOrder::Serve;
        let mut unwatched = std::mem::take(&mut self.yielding);
        if self.core.context.now_ms >= self.rest_end_ms {
            unwatched.append(&mut self.resting);
        }
        for &event in &ready {
            match event.token {
                LISTENER => self.accept()?,
                WAKEUP => order = self.take_order()?,
                token => self.handle(Key::from_number(token.0), event)?,
            }
        }
        self.ready = ready;
        for key in unwatched {
            self.go_on(key)?;
        }
        if std::mem::take(&mut self.accepts_again) {
            self.accept()?;
        }
        Ok(order)
    }

    /// Takes in a socket and watches it. If the mechanism has no capacity for it, it is closed.
    fn add(&mut self, socket: OwnedFd) -> io::Result<()> {
        let key = self.core.insert(socket, Interest::Readable);
        let Some(link) = self.core.links.get_mut(key) else { return Ok(()) };
        let token = Token(key.number());
        if self.watcher.add(link.socket.as_fd(), token, Interest::Readable).is_err() {
            self.core.remove(key);
        }
        Ok(())
    }

    fn drive(&mut self, key: Key, next: Next, out: Vec<u8>) -> io::Result<()> {
        self.out = out;
        let Some((link, mut io)) = self.split(key) else { return Ok(()) };
        let outcome = link.drive(next, &mut io, TURN_BYTES);
        self.settle(key, outcome)
    }

    fn forget_listener(&mut self, listener: BorrowedFd<'_>, was_accepting: bool) -> io::Result<()> {
        self.accepts_again = false;
        if was_accepting { self.watcher.remove(listener) } else { Ok(()) }
    }

    fn close_idle(&mut self) -> io::Result<()> {
        for key in self.core.links.keys() {
            let Some((link, mut io)) = self.split(key) else { continue };
            let mut outcome = Outcome::Waits;
            if link.outbox.is_none() {
                // A request that has arrived is answered, even without an event.
                outcome = link.read(&mut io, true);
            }
            let is_idle = link.outbox.is_none() && link.connection.is_idle();
            if outcome == Outcome::Waits && is_idle {
                outcome = Outcome::Closes;
            }
            self.settle(key, outcome)?;
        }
        Ok(())
    }

    fn end_turn(&mut self) -> io::Result<()> {
        let resumes = self.core.resumes_accepting();
        match &self.core.listener {
            Some(listener) if resumes => {
                self.watcher.add(listener.as_fd(), LISTENER, Interest::Readable)
            }
            _ => Ok(()),
        }
    }
}

impl ReadinessWorker {
    /// A connection, and apart from it what it is read and written with.
    #[inline]
    fn split(&mut self, key: Key) -> Option<(&mut WatchedLink, Io<'_>)> {
        let Core { context, links, sending, .. } = &mut self.core;
        let io = Io {
            context,
            sending: &mut **sending,
            input: &mut self.input,
            out: &mut self.out,
            row: self.row,
        };
        Some((links.get_mut(key)?, io))
    }

    #[inline]
    fn wait_max(&self) -> Option<Duration> {
        if !self.yielding.is_empty() || self.accepts_again {
            return Some(Duration::ZERO);
        }
        let wait_max = self.core.wait_max();
        if self.resting.is_empty() {
            return wait_max;
        }
        let rest_ms = self.rest_end_ms.saturating_sub(self.core.context.now_ms).max(1);
        let rest = Duration::from_millis(rest_ms);
        Some(wait_max.map_or(rest, |wait| wait.min(rest)))
    }

    fn take_order(&mut self) -> io::Result<WorkerOrder> {
        let order = self.core.wakeup.take_order();
        if self.row.trigger == Trigger::Oneshot {
            self.watcher.modify(self.core.wakeup.fd(), WAKEUP, Interest::Readable)?;
        }
        Ok(order)
    }

    /// Accepts connections that wait, up to [`TURN_CALLS`].
    fn accept(&mut self) -> io::Result<()> {
        let Some(listener) = self.core.listener.take() else { return Ok(()) };
        let is_accepting = self.core.pace.is_accepting();
        let accepted = if is_accepting { self.accept_from(listener.as_fd()) } else { Ok(()) };
        self.core.listener = Some(listener);
        accepted
    }

    fn accept_from(&mut self, listener: BorrowedFd<'_>) -> io::Result<()> {
        let mut calls = 0;
        loop {
            if !self.core.pace.admits(self.core.links.len(), &self.core.context) {
                return self.watcher.remove(listener);
            }
            match listener::accept(listener) {
                Accepted::Socket(socket) => self.add(socket)?,
                Accepted::Nothing => break,
                Accepted::Gone => {}
                Accepted::Exhausted => {
                    self.core.pace.exhausted(&self.core.context);
                    return self.watcher.remove(listener);
                }
            }
            calls += 1;
            if calls == TURN_CALLS {
                self.accepts_again = self.row.trigger == Trigger::Edge;
                break;
            }
        }
        if self.row.trigger == Trigger::Oneshot {
            self.watcher.modify(listener, LISTENER, Interest::Readable)?;
        }
        Ok(())
    }

    #[inline]
    fn handle(&mut self, key: Key, event: Event) -> io::Result<()> {
        let is_oneshot = self.row.trigger == Trigger::Oneshot;
        // It may have been closed in this very turn.
        let Some((link, mut io)) = self.split(key) else { return Ok(()) };
        let outcome = if link.outbox.is_none() {
            link.read(&mut io, event.hangup)
        } else if is_oneshot && !event.writable {
            // The other side sends no more, which some mechanisms report unasked. Watched again, the
            // socket would be reported at once and for ever.
            self.rest(key);
            return Ok(());
        } else if event.writable || event.hangup {
            link.push(&mut io)
        } else {
            Outcome::Waits
        };
        self.settle(key, outcome)
    }

    /// Lets a connection go on a little later, without an event.
    fn rest(&mut self, key: Key) {
        if self.resting.is_empty() {
            self.rest_end_ms = self.core.context.now_ms + REST_MS;
        }
        self.resting.push(key);
    }

    /// Gives a connection a turn without an event.
    fn go_on(&mut self, key: Key) -> io::Result<()> {
        let Some((link, mut io)) = self.split(key) else { return Ok(()) };
        let mut outcome = Outcome::Waits;
        if link.outbox.is_some() {
            outcome = link.push(&mut io);
        }
        // The event of what arrived meanwhile may be over already.
        if outcome == Outcome::Waits && link.outbox.is_none() {
            outcome = link.read(&mut io, true);
        }
        self.settle(key, outcome)
    }

    /// Watches a connection for what it waits for now, or closes it.
    #[inline]
    fn settle(&mut self, key: Key, outcome: Outcome) -> io::Result<()> {
        let Some(link) = self.core.links.get_mut(key) else { return Ok(()) };
        match outcome {
            Outcome::Closes => return self.close(key),
            Outcome::Yields => {
                if !self.yielding.contains(&key) {
                    self.yielding.push(key);
                }
                return Ok(());
            }
            Outcome::Waits => {}
        }
        let wanted = if link.outbox.is_some() { Interest::Writable } else { Interest::Readable };
        if link.state != wanted || self.row.trigger == Trigger::Oneshot {
            link.state = wanted;
            self.watcher.modify(link.socket.as_fd(), Token(key.number()), wanted)?;
        }
        Ok(())
    }

    fn close(&mut self, key: Key) -> io::Result<()> {
        match self.core.remove(key) {
            Some(link) => self.watcher.remove(link.socket.as_fd()),
            None => Ok(()),
        }
    }
}

/// What a connection is read and written with.
struct Io<'a> {
    context: &'a mut Context,
    sending: &'a mut dyn Sending,
    input: &'a mut Vec<u8>,
    out: &'a mut Vec<u8>,
    row: &'static Mechanism,
}

impl WatchedLink {
    /// Receives and answers. An edge-triggered mechanism reports a socket once, so it receives until less
    /// comes than was asked for; if the other side may have ended behind that, until nothing comes.
    #[inline]
    fn read(&mut self, io: &mut Io<'_>, may_have_ended: bool) -> Outcome {
        let is_edge = io.row.trigger == Trigger::Edge;
        let reads_to_end = may_have_ended || !io.row.reports_hangup;
        for _ in 0..TURN_CALLS {
            let next = match net::recv(&self.socket, io.input.as_mut_slice(), RecvFlags::empty()) {
                Ok((_, 0)) => self.connection.ended(),
                Ok((_, bytes)) => {
                    io.out.clear();
                    let received = &io.input[..bytes];
                    let next = self.received(received, io.context, io.out);
                    let outcome = self.drive(next, io, TURN_BYTES);
                    let may_be_more = is_edge && (reads_to_end || bytes == io.input.len());
                    if outcome != Outcome::Waits || self.outbox.is_some() || !may_be_more {
                        return outcome;
                    }
                    continue;
                }
                Err(Errno::AGAIN) => return Outcome::Waits,
                Err(Errno::INTR) => continue,
                Err(_) => Next::Close,
            };
            return self.drive(next, io, TURN_BYTES);
        }
        Outcome::Yields
    }

    /// Sends what the socket did not take before.
    fn push(&mut self, io: &mut Io<'_>) -> Outcome {
        let mut budget = TURN_BYTES;
        match self.push_outbox(io, &mut budget) {
            Ok(next) => self.drive(next, io, budget),
            Err(outcome) => outcome,
        }
    }

    /// Does what `next` asks for, and what follows from that, until the connection has to wait.
    #[inline]
    fn drive(&mut self, mut next: Next, io: &mut Io<'_>, mut budget: usize) -> Outcome {
        loop {
            let sent = match next {
                Next::Wait => return Outcome::Waits,
                Next::Close => return Outcome::Closes,
                Next::Linger => {
                    self.end_sending();
                    return Outcome::Waits;
                }
                Next::Send(None) if self.session.is_none() => self.send(io),
                Next::Send(body) => {
                    self.keep_unsent(io.out.clone(), body);
                    self.push_outbox(io, &mut budget)
                }
            };
            next = match sent {
                Ok(next) => next,
                Err(outcome) => return outcome,
            };
        }
    }

    /// Sends the output, and keeps what the socket does not take.
    #[inline]
    fn send(&mut self, io: &mut Io<'_>) -> Result<Next, Outcome> {
        let sent = match net::send(&self.socket, io.out, SendFlags::NOSIGNAL) {
            Ok(sent) => sent,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(_) => return Err(Outcome::Closes),
        };
        self.connection.sent(sent, io.context);
        if sent == io.out.len() {
            io.out.clear();
            return Ok(self.connection.flushed(io.context, io.out));
        }
        self.keep_unsent(io.out[sent..].to_vec(), None);
        Err(Outcome::Waits)
    }

    /// Sends from the outbox, as far as the socket takes it and `budget` allows.
    fn push_outbox(&mut self, io: &mut Io<'_>, budget: &mut usize) -> Result<Next, Outcome> {
        match self.flush(io.context, io.sending, budget) {
            Flush::Complete => {
                io.out.clear();
                Ok(self.connection.flushed(io.context, io.out))
            }
            Flush::Full => Err(Outcome::Waits),
            Flush::Paused => Err(Outcome::Yields),
            Flush::Failed => Err(Outcome::Closes),
        }
    }
}
