//! The holder's side: opens its share of the connections, and keeps them.

use super::outcome::DeadOutcome;
use crate::address::Address;
use crate::connect;
use crate::http::reply::{Heads, Reply, ReplyHead, Step};
use crate::results::counts::{Closings, Kind};
use crate::tls::{Session, Tls, TlsOptions};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Connections that are being opened at a time: fewer than any backlog holds.
const OPENING_MAX: usize = 200;

/// The orders to a holder: a line of JSON each.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum HolderOrder {
    Open(Share),
    Count,
    Close,
}

/// What a holder answers, in the same way.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Opened(Box<DeadOutcome>),
    /// How many are open, and for how long each of the others was idle, in milliseconds, when it ended.
    Alive {
        alive: u64,
        ended_ms: Vec<u64>,
    },
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Share {
    pub address: Address,
    pub request: Vec<u8>,
    /// The server's name and how it is verified, where connections are encrypted.
    pub tls: Option<(String, TlsOptions)>,
    pub count: usize,
    pub sources: Vec<IpAddr>,
    pub timeout_ms: u64,
}

/// Obeys the orders that come over the line, to its end.
pub(super) fn serve(mut line: &UnixStream) -> io::Result<()> {
    let mut all = HeldConnections::new()?;
    let mut orders = BufReader::new(line);
    let mut order = String::new();
    loop {
        all.watch_until_readable(line)?;
        order.clear();
        if orders.read_line(&mut order)? == 0 {
            break;
        }
        let answer = match serde_json::from_str(&order)? {
            HolderOrder::Open(share) => Answer::Opened(Box::new(all.open(&share)?)),
            HolderOrder::Count => all.count()?,
            HolderOrder::Close => {
                let answer = all.count()?;
                all.reset();
                answer
            }
        };
        let mut words = serde_json::to_vec(&answer)?;
        words.push(b'\n');
        line.write_all(&words)?;
    }
    all.reset();
    Ok(())
}

/// A connection that waits for its reply.
struct Candidate {
    socket: OwnedFd,
    began: Instant,
    is_connected: bool,
    reply: Reply,
    /// Of an encrypted one. A connection that is held needs none: what the server has of it is looked at.
    session: Option<Session>,
}

struct DeadConnection {
    socket: OwnedFd,
    /// When its reply had come.
    idle_since: Instant,
    /// For how long it was idle when the server ended it.
    ended_after: Option<Duration>,
}

/// The connections of a holder, by their numbers. Those that are held are watched for their ends only: while none ends, that
/// costs nothing.
struct HeldConnections {
    epoll: OwnedFd,
    heads: Heads,
    candidates: HashMap<u64, Candidate>,
    dead: HashMap<u64, DeadConnection>,
    /// Those that timed out, of which no later one has replied; and the last one that has.
    silent: Vec<u64>,
    last_replied: Option<u64>,
    outcome: DeadOutcome,
}

impl HeldConnections {
    fn new() -> io::Result<HeldConnections> {
        Ok(HeldConnections {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            heads: Heads::default(),
            candidates: HashMap::new(),
            dead: HashMap::new(),
            silent: Vec::new(),
            last_replied: None,
            outcome: DeadOutcome::default(),
        })
    }

    fn open(&mut self, share: &Share) -> io::Result<DeadOutcome> {
        const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        self.outcome.asked = share.count as u64;
        let tls = share.tls.as_ref().map(|(host, options)| Tls::new(host, options));
        let tls = tls.transpose().map_err(io::Error::other)?;
        let (mut begun, timeout) = (0, Duration::from_millis(share.timeout_ms));
        loop {
            if self.is_hopeless() {
                self.outcome.untried += (share.count - begun) as u64;
                begun = share.count;
            }
            while begun < share.count && self.candidates.len() < OPENING_MAX {
                self.begin(share, tls.as_ref(), begun);
                begun += 1;
            }
            if self.candidates.is_empty() {
                return Ok(self.outcome);
            }
            self.take_events(&LOOK, &share.request)?;
            let is_late = |candidate: &mut Candidate| candidate.began.elapsed() >= timeout;
            for (number, _) in self.candidates.extract_if(|_, candidate| is_late(candidate)) {
                self.outcome.errors.timeout += 1;
                if Some(number) > self.last_replied {
                    self.silent.push(number);
                }
            }
        }
    }

    /// Whether the others are not worth their time: the server ends every connection with its reply, or has
    /// stopped to answer: a few that time out among many say nothing of the next.
    fn is_hopeless(&self) -> bool {
        let several = OPENING_MAX as u64;
        let none_lasts = self.outcome.opened == 0 && self.outcome.closings.total() >= several;
        none_lasts || self.silent.len() as u64 >= several
    }

    fn begin(&mut self, share: &Share, tls: Option<&Tls>, number: usize) {
        let data = number as u64;
        let Ok(session) = tls.map(Session::new).transpose() else {
            return self.outcome.errors.count(Kind::Tls);
        };
        match connect::begin(&share.address, &share.sources, number, &self.epoll, data) {
            Ok(socket) => {
                let (began, reply) = (Instant::now(), Reply::default());
                let candidate = Candidate { socket, began, is_connected: false, reply, session };
                self.candidates.insert(data, candidate);
            }
            Err(error) => self.outcome.errors.count(connect::kind(error)),
        }
    }

    /// Waits for events, not longer than `time`, and takes them; returns how many.
    fn take_events(&mut self, time: &Timespec, request: &[u8]) -> io::Result<usize> {
        let nothing = epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
        let mut events = [nothing; OPENING_MAX];
        let count = match epoll::wait(&self.epoll, &mut events, Some(time)) {
            Err(Errno::INTR) => 0,
            count => count?,
        };
        for event in &events[..count] {
            let (number, flags) = (event.data.u64(), event.flags);
            if let Some(dead) = self.dead.get_mut(&number) {
                dead.ended_after.get_or_insert(dead.idle_since.elapsed());
            } else if let Some(candidate) = self.candidates.get_mut(&number) {
                let came = candidate.step(request, &mut self.heads, flags);
                self.advance(number, came);
            }
        }
        Ok(count)
    }

    /// Holds a connection whose reply has come, or drops it.
    fn advance(&mut self, number: u64, came: Result<Option<ReplyHead>, Kind>) {
        if matches!(came, Ok(None)) {
            return;
        }
        let Some(Candidate { socket, .. }) = self.candidates.remove(&number) else { return };
        let outcome = &mut self.outcome;
        match came {
            Ok(Some(head)) => {
                self.silent.retain(|silent| *silent > number);
                self.last_replied = self.last_replied.max(Some(number));
                if !head.keeps() {
                    outcome.errors.count(Kind::Short);
                    outcome.closings += &Closings::new(1, &head);
                    return;
                }
                // An end that came with the reply is reported again.
                let (data, ends) = (EventData::new_u64(number), EventFlags::RDHUP | EventFlags::ET);
                match epoll::modify(&self.epoll, &socket, data, ends) {
                    Ok(()) => {
                        outcome.opened += 1;
                        let idle_since = Instant::now();
                        let dead = DeadConnection { socket, idle_since, ended_after: None };
                        self.dead.insert(number, dead);
                    }
                    Err(error) => outcome.errors.count(connect::kind(error)),
                }
            }
            Err(kind) => outcome.errors.count(kind),
            Ok(None) => {}
        }
    }

    /// Notes which connections end until there is something to read from `line`.
    fn watch_until_readable(&mut self, line: &UnixStream) -> io::Result<()> {
        loop {
            let mut fds =
                [PollFd::new(line, PollFlags::IN), PollFd::new(&self.epoll, PollFlags::IN)];
            match poll(&mut fds, None) {
                Err(Errno::INTR) => continue,
                result => result?,
            };
            let is_readable = !fds[0].revents().is_empty();
            self.note_ends()?;
            if is_readable {
                return Ok(());
            }
        }
    }

    fn note_ends(&mut self) -> io::Result<()> {
        while self.take_events(&Timespec::default(), &[])? > 0 {}
        Ok(())
    }

    /// How many are open: each is asked whether its end has come.
    fn count(&mut self) -> io::Result<Answer> {
        self.note_ends()?;
        let mut alive = 0;
        for dead in self.dead.values_mut() {
            if is_open(&dead.socket) {
                alive += 1;
            } else {
                // It may have ended since its events were taken.
                dead.ended_after.get_or_insert(dead.idle_since.elapsed());
            }
        }
        let ended = self.dead.values().filter_map(|dead| dead.ended_after);
        let ended_ms = ended.map(|after| after.as_millis() as u64).collect();
        Ok(Answer::Alive { alive, ended_ms })
    }

    /// Closes them without leave-taking, so that none waits for the time that connections wait for.
    fn reset(&mut self) {
        for (_, dead) in self.dead.drain() {
            // One that is gone already has nothing to linger for.
            let _ = sockopt::set_socket_linger(&dead.socket, Some(Duration::ZERO));
        }
    }
}

fn is_open(socket: &OwnedFd) -> bool {
    let mut bytes = [0_u8; 4_096];
    loop {
        match recv(socket, &mut bytes[..], RecvFlags::DONTWAIT) {
            Err(Errno::AGAIN) => return true,
            // A last word before it hangs up, maybe.
            Ok((_, received)) if received > 0 => {}
            Err(Errno::INTR) => {}
            _ => return false,
        }
    }
}

impl Candidate {
    /// Goes on with it: the head of its reply when that is whole.
    fn step(
        &mut self,
        request: &[u8],
        heads: &mut Heads,
        flags: EventFlags,
    ) -> Result<Option<ReplyHead>, Kind> {
        let Candidate { socket, is_connected, reply, session, .. } = self;
        if !*is_connected {
            if !connect::is_connected(socket, flags).map_err(connect::kind)? {
                return Ok(None);
            }
            *is_connected = true;
            if let Some(session) = session {
                // It goes out when the handshake has ended.
                session.encrypt(request);
            } else {
                send_whole(socket, request)?;
            }
        }
        if let Some(session) = session {
            session.flush(socket).map_err(connect::kind)?;
        }
        let mut buffer = [0; 16 * 1024];
        loop {
            let received = match recv(&*socket, &mut buffer[..], RecvFlags::empty()) {
                Ok((_, 0)) if session.is_some() => return Err(Kind::Short),
                Ok((_, 0)) => return Ok(Some(reply.end().ok_or(Kind::Short)?.head)),
                Ok((received, _)) => received,
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(connect::kind(error)),
            };
            let received = &buffer[..received];
            let head = match session {
                None => head(reply, received, heads)?,
                Some(session) => decrypted_head(session, socket, reply, received, heads)?,
            };
            if head.is_some() {
                return Ok(head);
            }
        }
    }
}

/// A new connection takes a request as a whole.
fn send_whole(socket: &OwnedFd, request: &[u8]) -> Result<(), Kind> {
    match send(socket, request, SendFlags::NOSIGNAL) {
        Ok(sent) if sent == request.len() => Ok(()),
        Ok(_) => Err(Kind::Other),
        Err(error) => Err(connect::kind(error)),
    }
}

/// The head of a reply that ends with these bytes, if it does.
fn head(reply: &mut Reply, received: &[u8], heads: &mut Heads) -> Result<Option<ReplyHead>, Kind> {
    match reply.feed(received, heads) {
        Step::More => Ok(None),
        Step::Malformed => Err(Kind::Malformed),
        Step::Whole(whole) if whole.head.status >= 400 => Err(Kind::Status),
        Step::Whole(whole) if whole.used < received.len() => Err(Kind::Malformed),
        Step::Whole(whole) => Ok(Some(whole.head)),
    }
}

/// The same of bytes that are encrypted.
fn decrypted_head(
    session: &mut Session,
    socket: &OwnedFd,
    reply: &mut Reply,
    mut received: &[u8],
    heads: &mut Heads,
) -> Result<Option<ReplyHead>, Kind> {
    let mut came = None;
    while !received.is_empty() {
        session.decrypt(&mut received).map_err(|_| Kind::Tls)?;
        session.take(|plain| {
            if let Some(head) = head(reply, plain, heads)? {
                came = Some(head);
            }
            Ok(true)
        })?;
    }
    session.flush(socket).map_err(connect::kind)?;
    match came {
        None if session.has_ended => Ok(Some(reply.end().ok_or(Kind::Short)?.head)),
        came => Ok(came),
    }
}
