//! The holder's side: opens its share of the connections, and keeps them.

use crate::connect;
use crate::outcome::{Errors, Kind};
use crate::reply::{Heads, Reply, Step};
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
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
    Opened { opened: usize, errors: Errors },
    Alive(usize),
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
    let mut sockets: Vec<OwnedFd> = Vec::new();
    for order in BufReader::new(line).lines() {
        let answer = match serde_json::from_str(&order?)? {
            Order::Open(share) => {
                let mut opening = Opening::new(&share)?;
                opening.run()?;
                sockets.append(&mut opening.sockets);
                Answer::Opened { opened: sockets.len(), errors: opening.errors }
            }
            Order::Count => Answer::Alive(alive(&sockets)),
            Order::Close => {
                let alive = alive(&sockets);
                reset(&mut sockets);
                Answer::Alive(alive)
            }
        };
        let mut words = serde_json::to_vec(&answer)?;
        words.push(b'\n');
        let mut line = line;
        line.write_all(&words)?;
    }
    reset(&mut sockets);
    Ok(())
}

/// How many are open: each is asked whether its end has come.
fn alive(sockets: &[OwnedFd]) -> usize {
    let mut bytes = [0_u8; 4_096];
    let open = |socket: &&OwnedFd| loop {
        match recv(socket, &mut bytes[..], RecvFlags::DONTWAIT) {
            Err(Errno::AGAIN) => return true,
            // A last word before it hangs up, maybe.
            Ok((_, received)) if received > 0 => {}
            Err(Errno::INTR) => {}
            _ => return false,
        }
    };
    sockets.iter().filter(open).count()
}

/// Closes them without leave-taking, so that none waits for the time that connections wait for.
fn reset(sockets: &mut Vec<OwnedFd>) {
    for socket in sockets.drain(..) {
        // One that is gone already has nothing to linger for.
        let _ = sockopt::set_socket_linger(&socket, Some(Duration::ZERO));
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
    sockets: Vec<OwnedFd>,
    errors: Errors,
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
            sockets: Vec::with_capacity(share.count),
            errors: Errors::default(),
        })
    }

    fn run(&mut self) -> io::Result<()> {
        let nothing = epoll::Event { flags: EventFlags::empty(), data: EventData::new_u64(0) };
        let mut events = [nothing; OPENING_MAX];
        let nap = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        loop {
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

    fn begin(&mut self) {
        let sources = &self.share.sources;
        let from = (!sources.is_empty()).then(|| sources[self.begun % sources.len()]);
        let number = self.begun as u64;
        self.begun += 1;
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        let begun = connect::begin(self.share.address, from).and_then(|socket| {
            epoll::add(&self.epoll, &socket, EventData::new_u64(number), flags)?;
            Ok(socket)
        });
        match begun {
            Ok(socket) => {
                let began = Instant::now();
                let reply = Reply::new();
                let candidate = Candidate { socket, began, is_connected: false, reply };
                self.candidates.insert(number, candidate);
            }
            Err(error) => self.errors.count(connect::kind(error)),
        }
    }

    fn ready(&mut self, number: u64, flags: EventFlags) {
        let Some(candidate) = self.candidates.get_mut(&number) else { return };
        match step(candidate, &self.share.request, &mut self.heads, flags) {
            Ok(false) => {}
            Ok(true) => {
                let Some(candidate) = self.candidates.remove(&number) else { return };
                match epoll::delete(&self.epoll, &candidate.socket) {
                    Ok(()) => self.sockets.push(candidate.socket),
                    Err(error) => self.errors.count(connect::kind(error)),
                }
            }
            Err(kind) => {
                self.candidates.remove(&number);
                self.errors.count(kind);
            }
        }
    }

    fn give_up_late(&mut self) {
        let before = self.candidates.len();
        let timeout = self.timeout;
        self.candidates.retain(|_, candidate| candidate.began.elapsed() < timeout);
        self.errors.timeout += (before - self.candidates.len()) as u64;
    }
}

/// Goes on with one connection: whether its reply has come to its end.
fn step(
    candidate: &mut Candidate,
    request: &[u8],
    heads: &mut Heads,
    flags: EventFlags,
) -> Result<bool, Kind> {
    let Candidate { socket, is_connected, reply, .. } = candidate;
    if !*is_connected {
        if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
            let error = sockopt::socket_error(&*socket).unwrap_or_else(Err).err();
            return Err(connect::kind(error.unwrap_or(Errno::CONNRESET)));
        }
        if !flags.contains(EventFlags::OUT) {
            return Ok(false);
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
            Ok((_, 0)) => return Err(Kind::Short),
            Ok((received, _)) => received,
            Err(Errno::AGAIN) => return Ok(false),
            Err(Errno::INTR) => continue,
            Err(error) => return Err(connect::kind(error)),
        };
        match reply.feed(&buffer[..received], heads) {
            Step::More => {}
            Step::Malformed => return Err(Kind::Malformed),
            Step::Whole(whole) if whole.status >= 400 => return Err(Kind::Status),
            Step::Whole(whole) if !whole.keep => return Err(Kind::Short),
            Step::Whole(whole) => {
                return if whole.used == received { Ok(true) } else { Err(Kind::Malformed) };
            }
        }
    }
}
