//! The holder's side: opens its share of the connections, and keeps them.

use super::outcome::DeadOutcome;
use crate::connect;
use crate::http::reply::{Heads, Reply, Step};
use crate::results::counts::Kind;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send, sockopt};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// Connections that are being opened at a time: fewer than any backlog holds.
const OPENING_MAX: usize = 200;

/// The orders to a holder: a line of JSON each.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    Open(Share),
    Count,
    Close,
}

/// What a holder answers, in the same way.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    Opened(DeadOutcome),
    /// How many are open, and for how long each of the others was idle, in milliseconds, when it ended.
    Alive {
        alive: u64,
        ended_ms: Vec<u64>,
    },
}

/// The connections of one holder.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Share {
    pub address: SocketAddr,
    pub request: Vec<u8>,
    pub count: usize,
    pub sources: Vec<IpAddr>,
    pub timeout_ms: u64,
}

/// Obeys the orders that come over the line, to its end.
pub(super) fn serve(line: &UnixStream) -> io::Result<()> {
    let mut holding = HeldConnections::new()?;
    let mut orders = BufReader::new(line);
    let mut order = String::new();
    loop {
        holding.watch_until_readable(line)?;
        order.clear();
        if orders.read_line(&mut order)? == 0 {
            break;
        }
        let answer = match serde_json::from_str(&order)? {
            Order::Open(share) => {
                let mut opening = Opening::new(&share)?;
                opening.run()?;
                holding.add(opening.opened)?;
                Answer::Opened(opening.outcome)
            }
            Order::Count => holding.count()?,
            Order::Close => {
                let answer = holding.count()?;
                holding.reset();
                answer
            }
        };
        let mut words = serde_json::to_vec(&answer)?;
        words.push(b'\n');
        let mut line = line;
        line.write_all(&words)?;
    }
    holding.reset();
    Ok(())
}

/// A connection that is held.
struct DeadConnection {
    socket: OwnedFd,
    /// When its reply had come.
    idle_since: Instant,
    /// For how long it was idle when the server ended it.
    ended_after: Option<Duration>,
}

/// The connections of a holder, watched for their ends only: while none ends, that costs nothing.
struct HeldConnections {
    epoll: OwnedFd,
    connections: Vec<DeadConnection>,
}

impl HeldConnections {
    fn new() -> io::Result<HeldConnections> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(HeldConnections { epoll, connections: Vec::new() })
    }

    fn add(&mut self, opened: Vec<(OwnedFd, Instant)>) -> io::Result<()> {
        for (socket, idle_since) in opened {
            let data = EventData::new_u64(self.connections.len() as u64);
            epoll::add(&self.epoll, &socket, data, EventFlags::RDHUP | EventFlags::ET)?;
            self.connections.push(DeadConnection { socket, idle_since, ended_after: None });
        }
        Ok(())
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
        let nothing = epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
        let mut events = [nothing; OPENING_MAX];
        loop {
            let count = match epoll::wait(&self.epoll, &mut events, Some(&Timespec::default())) {
                Err(Errno::INTR) => continue,
                count => count?,
            };
            for event in &events[..count] {
                let Some(connection) = self.connections.get_mut(event.data.u64() as usize) else {
                    continue;
                };
                connection.ended_after.get_or_insert_with(|| connection.idle_since.elapsed());
            }
            if count < events.len() {
                return Ok(());
            }
        }
    }

    /// How many are open: each is asked whether its end has come.
    fn count(&mut self) -> io::Result<Answer> {
        self.note_ends()?;
        let alive =
            self.connections.iter().filter(|connection| is_open(&connection.socket)).count();
        let ended = self.connections.iter().filter_map(|connection| connection.ended_after);
        let ended_ms = ended.map(|after| after.as_millis() as u64).collect();
        Ok(Answer::Alive { alive: alive as u64, ended_ms })
    }

    /// Closes them without leave-taking, so that none waits for the time that connections wait for.
    fn reset(&mut self) {
        for connection in self.connections.drain(..) {
            // One that is gone already has nothing to linger for.
            let _ = sockopt::set_socket_linger(&connection.socket, Some(Duration::ZERO));
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

struct Candidate {
    socket: OwnedFd,
    began: Instant,
    is_connected: bool,
    reply: Reply,
}

struct Opening<'a> {
    share: &'a Share,
    timeout: Duration,
    epoll: OwnedFd,
    heads: Heads,
    candidates: HashMap<u64, Candidate>,
    begun: usize,
    /// Those that timed out, of which no later one has replied.
    silent: Vec<u64>,
    /// Those with their reply, since when each has had it.
    opened: Vec<(OwnedFd, Instant)>,
    outcome: DeadOutcome,
}

impl<'a> Opening<'a> {
    fn new(share: &'a Share) -> io::Result<Opening<'a>> {
        Ok(Opening {
            share,
            timeout: Duration::from_millis(share.timeout_ms),
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            heads: Heads::default(),
            candidates: HashMap::new(),
            begun: 0,
            silent: Vec::new(),
            opened: Vec::with_capacity(share.count),
            outcome: DeadOutcome { asked: share.count as u64, ..DeadOutcome::default() },
        })
    }

    fn run(&mut self) -> io::Result<()> {
        let nothing = epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
        let mut events = [nothing; OPENING_MAX];
        let nap = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        loop {
            if self.is_hopeless() {
                self.outcome.untried += (self.share.count - self.begun) as u64;
                self.begun = self.share.count;
            }
            while self.begun < self.share.count && self.candidates.len() < OPENING_MAX {
                self.begin();
            }
            if self.candidates.is_empty() {
                return Ok(());
            }
            let count = match epoll::wait(&self.epoll, &mut events, Some(&nap)) {
                Err(Errno::INTR) => 0,
                count => count?,
            };
            for event in &events[..count] {
                self.ready(event.data.u64(), event.flags);
            }
            self.give_up_late();
        }
    }

    /// Whether the others are not worth their time: the server ends every connection with its reply, or has
    /// stopped to answer: a few that time out among many say nothing of the next.
    fn is_hopeless(&self) -> bool {
        let several = OPENING_MAX as u64;
        let none_lasts = self.opened.is_empty() && self.outcome.closings.total() >= several;
        none_lasts || self.silent.len() as u64 >= several
    }

    fn begin(&mut self) {
        let number = self.begun;
        self.begun += 1;
        let Share { address, sources, .. } = self.share;
        let begun = connect::begin(*address, sources, number, &self.epoll, number as u64);
        match begun {
            Ok(socket) => {
                let began = Instant::now();
                let reply = Reply::new();
                let candidate = Candidate { socket, began, is_connected: false, reply };
                self.candidates.insert(number as u64, candidate);
            }
            Err(error) => self.outcome.errors.count(connect::kind(error)),
        }
    }

    fn ready(&mut self, number: u64, flags: EventFlags) {
        let Some(candidate) = self.candidates.get_mut(&number) else { return };
        match step(candidate, &self.share.request, &mut self.heads, flags) {
            Ok(Progress::Waiting) => {}
            Ok(Progress::Replied) => {
                self.silent.retain(|silent| *silent > number);
                let Some(candidate) = self.candidates.remove(&number) else { return };
                match epoll::delete(&self.epoll, &candidate.socket) {
                    Ok(()) => {
                        self.outcome.opened += 1;
                        self.opened.push((candidate.socket, Instant::now()));
                    }
                    Err(error) => self.outcome.errors.count(connect::kind(error)),
                }
            }
            Ok(Progress::Ended { is_http_10 }) => {
                self.silent.retain(|silent| *silent > number);
                self.candidates.remove(&number);
                self.outcome.errors.count(Kind::Short);
                self.outcome.closings.count_announced(1, is_http_10);
            }
            Err(kind) => {
                self.candidates.remove(&number);
                self.outcome.errors.count(kind);
            }
        }
    }

    fn give_up_late(&mut self) {
        let is_late = |candidate: &mut Candidate| candidate.began.elapsed() >= self.timeout;
        for (number, _) in self.candidates.extract_if(|_, candidate| is_late(candidate)) {
            self.outcome.errors.timeout += 1;
            self.silent.push(number);
        }
    }
}

/// How far a connection has come.
enum Progress {
    Waiting,
    /// Its reply is whole, and it can be used on.
    Replied,
    /// Its reply is whole, and it ends with it.
    Ended {
        is_http_10: bool,
    },
}

/// Goes on with one connection.
fn step(
    candidate: &mut Candidate,
    request: &[u8],
    heads: &mut Heads,
    flags: EventFlags,
) -> Result<Progress, Kind> {
    let Candidate { socket, is_connected, reply, .. } = candidate;
    if !*is_connected {
        if !connect::is_connected(socket, flags).map_err(connect::kind)? {
            return Ok(Progress::Waiting);
        }
        *is_connected = true;
        // A new connection takes a request as a whole.
        match send(&*socket, request, SendFlags::NOSIGNAL) {
            Ok(sent) if sent == request.len() => {}
            Ok(_) => return Err(Kind::Other),
            Err(error) => return Err(connect::kind(error)),
        }
    }
    let mut buffer = [0; 16 * 1024];
    loop {
        let received = match recv(&*socket, &mut buffer[..], RecvFlags::empty()) {
            Ok((_, 0)) => {
                let whole = reply.end().ok_or(Kind::Short)?;
                return Ok(Progress::Ended { is_http_10: whole.head.is_http_10 });
            }
            Ok((received, _)) => received,
            Err(Errno::AGAIN) => return Ok(Progress::Waiting),
            Err(Errno::INTR) => continue,
            Err(error) => return Err(connect::kind(error)),
        };
        match reply.feed(&buffer[..received], heads) {
            Step::More => {}
            Step::Malformed => return Err(Kind::Malformed),
            Step::Whole(whole) if whole.head.status >= 400 => return Err(Kind::Status),
            Step::Whole(whole) if whole.used < received => return Err(Kind::Malformed),
            Step::Whole(whole) if !whole.head.keep => {
                return Ok(Progress::Ended { is_http_10: whole.head.is_http_10 });
            }
            Step::Whole(_) => return Ok(Progress::Replied),
        }
    }
}
