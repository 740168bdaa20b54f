//! A worker over any mechanism that tells which connections are ready.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use readiness::{Event, Interest, Mechanism, Readiness, Token, Trigger};
use rustix::io::Errno;
use rustix::net::{self, RecvFlags, SendFlags, Shutdown};

use super::Driver;
use super::pace::Pace;
use crate::connection::{Connection, Next};
use crate::listener::{self, Accepted};
use crate::outbox::{Outbox, Progress};
use crate::sending::{Sending, TURN_BYTES};
use crate::slab::{Key, Slab};
use crate::workers::{Desk, Order, Station};
use crate::{Error, log};

/// Bytes that one call receives.
const INPUT_BYTES: usize = 64 * 1024;

/// Connections that are accepted, and calls that receive from one connection, in one turn.
const TURN_CALLS: usize = 64;

/// How long a connection is left alone whose socket takes no more and can't be watched.
const LATER_MS: u64 = 10;

const LISTENER: Token = Token(u64::MAX);
const BELL: Token = Token(u64::MAX - 1);

/// A connection and its socket.
struct Link {
    socket: OwnedFd,
    connection: Connection,
    /// What the socket did not take yet.
    outbox: Option<Box<Outbox>>,
    /// What it is watched for.
    watched: Interest,
}

/// What becomes of a connection after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Stays,
    /// It could go on, after the others had their turn.
    Again,
    Closes,
}

/// What all connections of a worker use.
struct Tools {
    desk: Desk,
    input: Vec<u8>,
    out: Vec<u8>,
    sending: Box<dyn Sending>,
    row: &'static Mechanism,
}

struct Worker {
    // Before what it watches, so that it lets go of that first.
    watcher: Box<dyn Readiness>,
    links: Slab<Link>,
    listener: Option<OwnedFd>,
    tools: Tools,
    pace: Pace,
    again: Vec<Key>,
    /// Connections that are left alone until then.
    later: Vec<Key>,
    later_ms: u64,
    accept_again: bool,
    bell: std::sync::Arc<crate::workers::Bell>,
    /// A connection closed in this turn.
    closed: bool,
}

pub(super) fn open(row: &'static Mechanism, station: Station) -> Result<Box<dyn Driver>, Error> {
    let Station { bell, desk, listener, config, way } = station;
    let pace = Pace::new(config.limits);
    let failed = |error: io::Error| Error::Failed(format!("{}: {error}", row.name));
    let mut watcher = (row.open)(pace.capacity().saturating_add(2)).map_err(failed)?;
    watcher.add(bell.rings(), BELL, Interest::Readable).map_err(failed)?;
    watcher.add(listener.as_fd(), LISTENER, Interest::Readable).map_err(failed)?;
    let sending = (way.open)().map_err(|error| Error::Failed(format!("{}: {error}", way.name)))?;
    let tools = Tools { desk, input: vec![0; INPUT_BYTES], out: Vec::new(), sending, row };
    Ok(Box::new(Worker {
        watcher,
        links: Slab::new(),
        listener: Some(listener),
        tools,
        pace,
        again: Vec::new(),
        later: Vec::new(),
        later_ms: 0,
        accept_again: false,
        bell,
        closed: false,
    }))
}

impl Driver for Worker {
    fn run(mut self: Box<Self>) -> Result<(), Error> {
        let row = self.tools.row.name;
        self.serve().map_err(|error| Error::Failed(format!("{row}: {error}")))
    }
}

impl Worker {
    fn serve(&mut self) -> io::Result<()> {
        let mut ready = Vec::new();
        loop {
            self.watcher.wait(&mut ready, self.patience())?;
            self.tools.desk.tick();
            let mut order = Order::Serve;
            let mut again = std::mem::take(&mut self.again);
            if self.tools.desk.now_ms >= self.later_ms {
                again.append(&mut self.later);
            }
            for &event in &ready {
                match event.token {
                    LISTENER => self.accept()?,
                    BELL => order = self.answer_bell()?,
                    token => self.turn(Key::of(token.0), event)?,
                }
            }
            for key in again {
                self.go_on(key)?;
            }
            if std::mem::take(&mut self.accept_again) {
                self.accept()?;
            }
            match order {
                Order::Stop => break,
                Order::Drain => self.drain()?,
                Order::Serve => {}
            }
            if self.pace.looks(&self.tools.desk) {
                self.look()?;
            }
            self.reopen()?;
            let draining = self.tools.desk.draining;
            if draining && (self.links.len() == 0 || self.pace.is_over(&self.tools.desk)) {
                break;
            }
        }
        self.tools.desk.flush_log();
        self.close_all();
        Ok(())
    }

    #[inline]
    fn patience(&self) -> Option<Duration> {
        if !self.again.is_empty() || self.accept_again {
            return Some(Duration::ZERO);
        }
        let patience = self.pace.patience(self.links.len(), &self.tools.desk);
        if self.later.is_empty() {
            return patience;
        }
        let left_ms = self.later_ms.saturating_sub(self.tools.desk.now_ms).max(1);
        let left = Duration::from_millis(left_ms);
        Some(patience.map_or(left, |patience| patience.min(left)))
    }

    fn answer_bell(&mut self) -> io::Result<Order> {
        let order = self.bell.answer();
        if self.tools.row.trigger == Trigger::Oneshot {
            self.watcher.modify(self.bell.rings(), BELL, Interest::Readable)?;
        }
        Ok(order)
    }

    /// Accepts who waits, some at a time.
    fn accept(&mut self) -> io::Result<()> {
        let Some(listener) = self.listener.take() else { return Ok(()) };
        let accepted =
            if self.pace.is_open() { self.accept_from(listener.as_fd()) } else { Ok(()) };
        self.listener = Some(listener);
        accepted
    }

    fn accept_from(&mut self, listener: BorrowedFd<'_>) -> io::Result<()> {
        let mut calls = 0;
        loop {
            if !self.pace.admits(self.links.len(), &self.tools.desk) {
                return self.watcher.remove(listener);
            }
            match listener::accept(listener) {
                Accepted::Socket(socket) => {
                    let link = Link::new(socket, &self.tools.desk);
                    self.tools.desk.counts.accepted();
                    let key = self.links.insert(link);
                    self.watch_first(key);
                }
                Accepted::Nobody => break,
                Accepted::Gone => {}
                Accepted::Exhausted => {
                    self.pace.exhausted(&self.tools.desk);
                    return self.watcher.remove(listener);
                }
            }
            calls += 1;
            if calls == TURN_CALLS {
                self.accept_again = self.tools.row.trigger == Trigger::Edge;
                break;
            }
        }
        if self.tools.row.trigger == Trigger::Oneshot {
            self.watcher.modify(listener, LISTENER, Interest::Readable)?;
        }
        Ok(())
    }

    /// Watches a connection that was accepted. One that can't be watched, as the mechanism has no room
    /// for it, is closed.
    fn watch_first(&mut self, key: Key) {
        let Some(link) = self.links.get_mut(key) else { return };
        let token = Token(key.number());
        if self.watcher.add(link.socket.as_fd(), token, Interest::Readable).is_err() {
            self.links.remove(key);
            self.tools.desk.counts.closed();
        }
    }

    /// A connection is ready.
    #[inline]
    fn turn(&mut self, key: Key, event: Event) -> io::Result<()> {
        // It may have been closed in this very turn.
        let Some(link) = self.links.get_mut(key) else { return Ok(()) };
        let fate = if link.outbox.is_none() {
            link.read(&mut self.tools, event.hangup)
        } else if self.tools.row.trigger == Trigger::Oneshot && !event.writable {
            // The other side sends no more, which some tell unasked. Watched again, it would be told at
            // once and for ever.
            self.put_off(key);
            return Ok(());
        } else if event.writable || event.hangup {
            link.push(&mut self.tools)
        } else {
            Fate::Stays
        };
        self.settle(key, fate)
    }

    /// Has a connection go on a little later, without an event.
    fn put_off(&mut self, key: Key) {
        if self.later.is_empty() {
            self.later_ms = self.tools.desk.now_ms + LATER_MS;
        }
        self.later.push(key);
    }

    /// A connection that had not come to its end has another turn.
    fn go_on(&mut self, key: Key) -> io::Result<()> {
        let Some(link) = self.links.get_mut(key) else { return Ok(()) };
        let mut fate = Fate::Stays;
        if link.outbox.is_some() {
            fate = link.push(&mut self.tools);
        }
        // What came meanwhile may have been told already.
        if fate == Fate::Stays && link.outbox.is_none() {
            fate = link.read(&mut self.tools, true);
        }
        self.settle(key, fate)
    }

    /// Has a connection watched for what it waits for now, or closes it.
    #[inline]
    fn settle(&mut self, key: Key, fate: Fate) -> io::Result<()> {
        let Some(link) = self.links.get_mut(key) else { return Ok(()) };
        match fate {
            Fate::Closes => return self.close(key),
            Fate::Again => {
                if !self.again.contains(&key) {
                    self.again.push(key);
                }
                return Ok(());
            }
            Fate::Stays => {}
        }
        let wanted = if link.outbox.is_some() { Interest::Writable } else { Interest::Readable };
        if link.watched != wanted || self.tools.row.trigger == Trigger::Oneshot {
            link.watched = wanted;
            self.watcher.modify(link.socket.as_fd(), Token(key.number()), wanted)?;
        }
        Ok(())
    }

    fn close(&mut self, key: Key) -> io::Result<()> {
        if let Some(link) = self.links.remove(key) {
            self.tools.desk.counts.closed();
            self.closed = true;
            self.watcher.remove(link.socket.as_fd())?;
        }
        Ok(())
    }

    /// Looks after limits.
    fn look(&mut self) -> io::Result<()> {
        for place in 0..self.links.end() {
            let Some(key) = self.links.at(place) else { continue };
            let Some(link) = self.links.get_mut(key) else { continue };
            let Tools { desk, out, .. } = &mut self.tools;
            out.clear();
            if let Some(next) = link.connection.overdue(&self.pace.limits, desk, out) {
                let fate = link.drive(next, &mut self.tools);
                self.settle(key, fate)?;
            }
        }
        Ok(())
    }

    /// Accepts again, where there is room again.
    fn reopen(&mut self) -> io::Result<()> {
        let closed = std::mem::take(&mut self.closed);
        if let Some(listener) = &self.listener
            && self.pace.reopens(closed, &self.tools.desk)
        {
            self.watcher.add(listener.as_fd(), LISTENER, Interest::Readable)?;
        }
        Ok(())
    }

    /// Serves who waits, accepts no more, and closes what is idle.
    fn drain(&mut self) -> io::Result<()> {
        self.tools.desk.draining = true;
        loop {
            let before = self.links.len();
            self.accept()?;
            if self.links.len() == before || !self.pace.is_open() {
                break;
            }
        }
        let watched = self.pace.is_open();
        self.pace.drain(&self.tools.desk);
        self.accept_again = false;
        if let Some(listener) = self.listener.take() {
            listener::close(&listener);
            if watched {
                self.watcher.remove(listener.as_fd())?;
            }
        }
        for key in self.links.keys() {
            let Some(link) = self.links.get_mut(key) else { continue };
            let mut fate = Fate::Stays;
            if link.outbox.is_none() {
                // What has come is answered, though it has not been told.
                fate = link.read(&mut self.tools, true);
            }
            let idle = link.outbox.is_none() && link.connection.is_idle();
            let fate = if fate == Fate::Stays && idle { Fate::Closes } else { fate };
            self.settle(key, fate)?;
        }
        Ok(())
    }

    fn close_all(&mut self) {
        if let Some(listener) = self.listener.take() {
            listener::close(&listener);
        }
        for key in self.links.keys() {
            // What can't be let go of goes with the mechanism.
            let _ = self.close(key);
        }
    }
}

impl Link {
    fn new(socket: OwnedFd, desk: &Desk) -> Link {
        let peer = desk.log.as_ref().and_then(|_: &log::Log| listener::peer(&socket));
        let connection = Connection::new(desk.now_ms, peer);
        Link { socket, connection, outbox: None, watched: Interest::Readable }
    }

    /// Receives and answers. Where what is ready is told only once, it receives until it is known that
    /// there is no more: by less than was asked for, unless there may be an end behind it.
    #[inline]
    fn read(&mut self, tools: &mut Tools, ends: bool) -> Fate {
        let edge = tools.row.trigger == Trigger::Edge;
        let to_the_end = ends || !tools.row.tells_hangup;
        for _ in 0..TURN_CALLS {
            let next = match net::recv(&self.socket, tools.input.as_mut_slice(), RecvFlags::empty())
            {
                Ok((_, 0)) => self.connection.ended(),
                Ok((_, bytes)) => {
                    tools.out.clear();
                    let came = &tools.input[..bytes];
                    let next = self.connection.received(came, &mut tools.desk, &mut tools.out);
                    let fate = self.drive(next, tools);
                    let more = edge && (to_the_end || bytes == tools.input.len());
                    if fate != Fate::Stays || self.outbox.is_some() || !more {
                        return fate;
                    }
                    continue;
                }
                Err(Errno::AGAIN) => return Fate::Stays,
                Err(Errno::INTR) => continue,
                Err(_) => Next::Close,
            };
            return self.drive(next, tools);
        }
        Fate::Again
    }

    /// Sends on what the socket did not take before.
    fn push(&mut self, tools: &mut Tools) -> Fate {
        let mut left = TURN_BYTES;
        match self.push_outbox(tools, &mut left) {
            Ok(next) => self.drive_within(next, tools, left),
            Err(fate) => fate,
        }
    }

    /// Does what is to be done with the socket, and what follows from that, until it has to wait.
    #[inline]
    fn drive(&mut self, next: Next, tools: &mut Tools) -> Fate {
        self.drive_within(next, tools, TURN_BYTES)
    }

    fn drive_within(&mut self, mut next: Next, tools: &mut Tools, mut left: usize) -> Fate {
        loop {
            next = match next {
                Next::Wait => return Fate::Stays,
                Next::Close => return Fate::Closes,
                Next::Linger => {
                    // The other side may be gone, which the next call tells.
                    let _ = net::shutdown(&self.socket, Shutdown::Write);
                    return Fate::Stays;
                }
                Next::Send(None) => match self.send(tools) {
                    Ok(next) => next,
                    Err(fate) => return fate,
                },
                Next::Send(Some(body)) => {
                    self.outbox = Some(Box::new(Outbox::new(tools.out.clone(), Some(body))));
                    match self.push_outbox(tools, &mut left) {
                        Ok(next) => next,
                        Err(fate) => return fate,
                    }
                }
            };
        }
    }

    /// Sends the output; what the socket does not take is kept.
    #[inline]
    fn send(&mut self, tools: &mut Tools) -> Result<Next, Fate> {
        let sent = match net::send(&self.socket, &tools.out, SendFlags::NOSIGNAL) {
            Ok(sent) => sent,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(_) => return Err(Fate::Closes),
        };
        tools.desk.counts.sent(sent);
        if sent == tools.out.len() {
            tools.out.clear();
            return Ok(self.connection.sent(&mut tools.desk, &mut tools.out));
        }
        self.connection.moved(tools.desk.now_ms);
        self.outbox = Some(Box::new(Outbox::new(tools.out[sent..].to_vec(), None)));
        Err(Fate::Stays)
    }

    /// Sends what is kept, as far as the socket takes it and `left` allows.
    fn push_outbox(&mut self, tools: &mut Tools, left: &mut usize) -> Result<Next, Fate> {
        let Some(outbox) = &mut self.outbox else { return Ok(Next::Wait) };
        let (sent, progress) = outbox.push(self.socket.as_fd(), &mut *tools.sending, left);
        tools.desk.counts.sent(sent);
        if sent > 0 {
            self.connection.moved(tools.desk.now_ms);
        }
        match progress {
            Progress::Gone => {
                self.outbox = None;
                tools.out.clear();
                Ok(self.connection.sent(&mut tools.desk, &mut tools.out))
            }
            Progress::Full => Err(Fate::Stays),
            Progress::Enough => Err(Fate::Again),
            Progress::Failed(error) if error.kind() == ErrorKind::Interrupted => Err(Fate::Again),
            Progress::Failed(_) => Err(Fate::Closes),
        }
    }
}
