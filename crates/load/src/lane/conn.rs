//! One connection of the generator.

use crate::reply::Reply;
use crate::tally::Flight;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Closed,
    Connecting,
    Open,
}

#[derive(Debug)]
pub(super) struct Conn {
    pub stage: Stage,
    pub socket: Option<OwnedFd>,
    /// Counts the sockets that it has had, so that an event of an old one is known.
    pub life: u32,
    /// When the present socket began to connect.
    pub began_ns: i64,
    /// When the session was to begin that it is opened for.
    pub session_ns: i64,
    /// What is under way, the oldest first.
    pub flights: VecDeque<Flight>,
    /// Requests that it may still send.
    pub calls_left: u64,
    /// Bytes of requests that the socket has not taken yet.
    pub unsent_bytes: usize,
    pub reply: Reply,
    /// Whether it stands among the free ones.
    pub listed: bool,
    /// Whether it waits for its time to send the next request.
    pub thinking: bool,
    /// Whether this socket has brought a reply.
    pub replied: bool,
    /// Failures since the last reply.
    pub failures: u32,
}

impl Conn {
    pub(super) fn new(pipeline: usize) -> Conn {
        Conn {
            stage: Stage::Closed,
            socket: None,
            life: 0,
            began_ns: 0,
            session_ns: 0,
            flights: VecDeque::with_capacity(pipeline.min(16)),
            calls_left: 0,
            unsent_bytes: 0,
            reply: Reply::new(),
            listed: false,
            thinking: false,
            replied: false,
            failures: 0,
        }
    }

    /// Since when it has waited for something that has to come in time.
    pub(super) fn waits_since_ns(&self) -> Option<i64> {
        match self.stage {
            Stage::Closed => None,
            Stage::Connecting => Some(self.began_ns),
            Stage::Open => self.flights.front().map(|flight| flight.sent_ns),
        }
    }
}
