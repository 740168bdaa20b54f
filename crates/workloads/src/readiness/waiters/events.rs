//! The events that threads wait for: tokens in pipes, or connections with a token each.

use super::Game;
use super::sets::Sets;
use crate::shared::shortage;
use engine::{Cell, Defaults, Failure, Parameter, Values};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, read, write};
use rustix::net::{getsockname, listen, sockopt};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use sys::clock::Clock;
use sys::tcp::{self, Address};

/// The index of a descriptor, in which tokens wait.
pub(super) type Slot = usize;

const CONNECTION: &str = "connection";

pub(super) const EVENTS: Parameter = Parameter {
    name: "event",
    about: "what threads wait for: a token in a pipe, or a connection to accept",
    values: Values::OneOf(&["token", CONNECTION]),
    default: Defaults::always(&["token"]),
    sweep: None,
};

/// Connections that wait to be accepted: each token is one at most.
const BACKLOG: i32 = 4_096;
/// What one read takes at most.
const TOKENS_AT_ONCE: usize = 64;
const TOKEN_BYTES: usize = 16;

/// What goes round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    number: u32,
    /// How often it was taken.
    hops: u32,
    sent_at: u64,
}

impl Token {
    fn bytes(self) -> [u8; TOKEN_BYTES] {
        let words =
            u128::from(self.number) | u128::from(self.hops) << 32 | u128::from(self.sent_at) << 64;
        words.to_ne_bytes()
    }

    fn from_bytes(bytes: [u8; TOKEN_BYTES]) -> Token {
        let words = u128::from_ne_bytes(bytes);
        Token { number: words as u32, hops: (words >> 32) as u32, sent_at: (words >> 64) as u64 }
    }
}

/// A kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Token,
    Connection,
}

impl Kind {
    pub(super) fn from_cell(cell: &Cell) -> Result<Kind, Failure> {
        let is_connection = cell.text(EVENTS.name)? == CONNECTION;
        Ok(if is_connection { Kind::Connection } else { Kind::Token })
    }
}

/// All descriptors, with the tokens in them.
pub(super) struct Events {
    clock: Clock,
    tokens: usize,
    ends: Ends,
}

enum Ends {
    Pipes(Vec<(OwnedFd, OwnedFd)>),
    Connections {
        listeners: Vec<OwnedFd>,
        address: Address,
        /// The other end of each token's connection, which is open until the token is sent again.
        clients: Vec<Mutex<Option<OwnedFd>>>,
    },
}

impl Events {
    /// Opens as many as threads that wait so need, and sends all tokens.
    pub(super) fn open(game: &Game, sets: Sets) -> Result<Events, Failure> {
        let Game { kind, threads, tokens, descriptors, clock, .. } = *game;
        // Each thread's share is one at least.
        let slots = match (kind, sets) {
            (Kind::Token, Sets::None) => 1,
            (Kind::Token, Sets::Sharded(_)) => descriptors.max(threads),
            (Kind::Token, _) => descriptors,
            (Kind::Connection, Sets::Sharded(_)) => threads,
            (Kind::Connection, _) => 1,
        };
        let open = || -> io::Result<Events> {
            let ends = match kind {
                Kind::Token => pipes(slots)?,
                Kind::Connection => connections(slots, tokens)?,
            };
            let events = Events { clock, tokens, ends };
            for number in 0..tokens {
                let token = Token { number: number as u32, hops: 0, sent_at: 0 };
                events.send(number * slots / tokens, token)?;
            }
            Ok(events)
        };
        open().map_err(shortage::during("opening the descriptors of events"))
    }

    /// How many descriptors are watched.
    pub(super) fn slots(&self) -> usize {
        match &self.ends {
            Ends::Pipes(pipes) => pipes.len(),
            Ends::Connections { listeners, .. } => listeners.len(),
        }
    }

    /// The descriptor that is watched.
    pub(super) fn descriptor(&self, slot: Slot) -> BorrowedFd<'_> {
        match &self.ends {
            Ends::Pipes(pipes) => pipes[slot].0.as_fd(),
            Ends::Connections { listeners, .. } => listeners[slot].as_fd(),
        }
    }

    /// Whether taking waits for something to take.
    pub(super) fn blocks(&self, blocks: bool) -> io::Result<()> {
        for slot in 0..self.slots() {
            let mut flags = fcntl_getfl(self.descriptor(slot))?;
            flags.set(OFlags::NONBLOCK, !blocks);
            fcntl_setfl(self.descriptor(slot), flags)?;
        }
        Ok(())
    }

    /// How long ago a token was sent, in nanoseconds.
    pub(super) fn age_ns(&self, token: &Token) -> u64 {
        self.clock.ns(token.sent_at, self.clock.now()) as u64
    }

    /// Takes the tokens of one read, or all of them; none where another thread was faster.
    pub(super) fn take(&self, slot: Slot, all: bool, tokens: &mut Vec<Token>) -> io::Result<()> {
        match &self.ends {
            Ends::Pipes(pipes) => {
                let (end, _) = &pipes[slot];
                // A pipe that all block in gives each thread one token.
                let at_once = if pipes.len() == 1 { 1 } else { TOKENS_AT_ONCE };
                while take_from(end, at_once, tokens)? && all {}
            }
            Ends::Connections { listeners, .. } => loop {
                match tcp::accept(listeners[slot].as_fd(), false) {
                    Ok(accepted) => take_from(&accepted, 1, tokens)?,
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                };
                if !all {
                    break;
                }
            },
        }
        Ok(())
    }

    /// Sends a token on from the slot that it was taken from.
    pub(super) fn pass_on(&self, from: Slot, token: Token) -> io::Result<()> {
        self.send((from + 1) % self.slots(), Token { hops: token.hops + 1, ..token })
    }

    fn send(&self, slot: Slot, token: Token) -> io::Result<()> {
        let token = Token { sent_at: self.clock.now(), ..token };
        match &self.ends {
            Ends::Pipes(pipes) => whole(write(&pipes[slot].1, &token.bytes())?),
            Ends::Connections { address, clients, .. } => {
                let client = tcp::socket(false)?;
                tcp::connect(client.as_fd(), address)?;
                whole(write(&client, &token.bytes())?)?;
                let mut kept =
                    clients[token.number as usize].lock().unwrap_or_else(PoisonError::into_inner);
                *kept = Some(client);
                Ok(())
            }
        }
    }

    /// Every token has to be there once, and to have been taken as often as threads `counted`; else the fault.
    pub(super) fn verdict(&self, counted: u64) -> Result<(), String> {
        let mut left = Vec::new();
        let taken = self
            .blocks(false)
            .and_then(|()| (0..self.slots()).try_for_each(|slot| self.take(slot, true, &mut left)));
        taken.map_err(|error| format!("taking the last tokens: {error}"))?;
        let mut there = vec![0_u32; self.tokens];
        for token in &left {
            there[token.number as usize] += 1;
        }
        if let Some(number) = there.iter().position(|&times| times != 1) {
            return Err(format!("token {number} is there {} times in the end", there[number]));
        }
        let hops: u64 = left.iter().map(|token| u64::from(token.hops)).sum();
        if hops == counted {
            return Ok(());
        }
        Err(format!("tokens were taken {hops} times, and threads counted {counted}"))
    }
}

/// Takes up to `at_once` tokens in one read, and returns whether there may be more.
fn take_from(end: &OwnedFd, at_once: usize, tokens: &mut Vec<Token>) -> io::Result<bool> {
    let mut buffer = [[0; TOKEN_BYTES]; TOKENS_AT_ONCE];
    let bytes = buffer[..at_once].as_flattened_mut();
    match read(end, &mut *bytes) {
        Ok(count) => {
            let is_full = count == bytes.len();
            let came = buffer[..count / TOKEN_BYTES].iter();
            tokens.extend(came.map(|&token| Token::from_bytes(token)));
            if count % TOKEN_BYTES == 0 && count > 0 { Ok(is_full) } else { Err(cut()) }
        }
        Err(Errno::AGAIN) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn whole(written: usize) -> io::Result<()> {
    if written == TOKEN_BYTES { Ok(()) } else { Err(cut()) }
}

#[cold]
fn cut() -> io::Error {
    io::Error::other("a token was cut")
}

/// Pipes without a token.
fn pipes(slots: usize) -> io::Result<Ends> {
    let pipe = |_| pipe_with(PipeFlags::NONBLOCK | PipeFlags::CLOEXEC);
    Ok(Ends::Pipes((0..slots).map(pipe).collect::<Result<_, _>>()?))
}

/// Listeners on one port, and no connections yet.
fn connections(listeners: usize, tokens: usize) -> io::Result<Ends> {
    let mut address: Address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into();
    let mut open = Vec::new();
    for _ in 0..listeners {
        let listener = tcp::socket(false)?;
        sockopt::set_socket_reuseport(&listener, listeners > 1)?;
        // Accepted connections inherit it, and are reset at their close: no port waits for its time.
        sockopt::set_socket_linger(&listener, Some(Duration::ZERO))?;
        tcp::bind(listener.as_fd(), &address)?;
        listen(&listener, BACKLOG)?;
        address = SocketAddr::try_from(getsockname(&listener)?)?.into();
        open.push(listener);
    }
    let clients = (0..tokens).map(|_| Mutex::new(None)).collect();
    Ok(Ends::Connections { listeners: open, address, clients })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_is_lost_doubled_or_not_counted_is_found() {
        for kind in [Kind::Token, Kind::Connection] {
            let clock = Clock::Monotonic;
            let (threads, tokens, descriptors, batch) = (1, 3, 5, 1);
            let time = Duration::ZERO;
            let game = Game { kind, threads, tokens, descriptors, batch, clock, time };
            let opened = || Events::open(&game, Sets::Shared).unwrap();
            assert_eq!(opened().verdict(0), Ok(()));
            let wrong = opened().verdict(1).unwrap_err();
            assert_eq!(wrong, "tokens were taken 0 times, and threads counted 1");
            let (events, mut tokens) = (opened(), Vec::new());
            events.blocks(false).unwrap();
            events.take(0, false, &mut tokens).unwrap();
            let token = tokens[0];
            assert_eq!((tokens.len(), token.number, token.hops), (1, 0, 0));
            events.pass_on(0, token).unwrap();
            if kind == Kind::Token {
                events.pass_on(0, token).unwrap();
                let wrong = events.verdict(1).unwrap_err();
                assert_eq!(wrong, "token 0 is there 2 times in the end");
            } else {
                assert_eq!(events.verdict(1), Ok(()));
            }
            let events = opened();
            events.blocks(false).unwrap();
            events.take(0, false, &mut Vec::new()).unwrap();
            let wrong = events.verdict(1).unwrap_err();
            assert_eq!(wrong, "token 0 is there 0 times in the end");
        }
    }
}
