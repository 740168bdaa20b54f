//! One connection of the generator.

use super::tally::InFlight;
use crate::http::reply::Reply;
use crate::tls::Session;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Closed,
    Connecting,
    /// The socket is connected, and the handshake of TLS goes on.
    Handshaking,
    Open,
}

#[derive(Debug, Default)]
pub(super) struct Connection {
    pub stage: Stage,
    pub socket: Option<OwnedFd>,
    /// Of an encrypted one.
    pub tls: Option<Box<Session>>,
    /// Counts its sockets, so that an event of an old one is recognised.
    pub generation: u32,
    /// When the present socket began to connect.
    pub began_ns: i64,
    /// When it was connected, and its handshake began.
    pub connected_ns: i64,
    /// The intended start of the session that it is opened for.
    pub session_ns: i64,
    /// Requests in flight, the oldest first.
    pub in_flight: VecDeque<InFlight>,
    /// Requests that it may still send.
    pub calls_left: u64,
    /// Bytes of requests that the socket has not taken yet.
    pub unsent_bytes: usize,
    pub reply: Reply,
    /// Whether it is in the list of free ones.
    pub is_free: bool,
    /// Whether it waits until its think time is over.
    pub thinking: bool,
    /// Replies that this socket has brought.
    pub replies: u64,
    /// When the last of them came, or the socket was connected.
    pub rests_since_ns: i64,
    /// When a request was last sent over any of its sockets, and when one of them last brought a reply.
    pub asked_ns: i64,
    pub served_ns: i64,
    /// Failures since the last reply.
    pub failures: u32,
}

impl Connection {
    pub(super) fn new(pipeline: usize) -> Connection {
        Connection {
            in_flight: VecDeque::with_capacity(pipeline.min(16)),
            asked_ns: i64::MIN,
            served_ns: i64::MIN,
            ..Connection::default()
        }
    }

    /// Whether this socket has brought a reply.
    pub(super) fn has_replied(&self) -> bool {
        self.replies > 0
    }

    /// Whether any of its sockets has brought one.
    pub(super) fn was_served(&self) -> bool {
        self.served_ns > i64::MIN
    }

    /// Whether something waits until the socket takes it.
    pub(super) fn has_unsent(&self) -> bool {
        self.unsent_bytes > 0 || self.tls.as_ref().is_some_and(|session| session.has_unsent())
    }

    /// Since when it has waited for something that has a time-out.
    pub(super) fn waits_since_ns(&self) -> Option<i64> {
        match self.stage {
            Stage::Closed => None,
            Stage::Connecting | Stage::Handshaking => Some(self.began_ns),
            Stage::Open => self.in_flight.front().map(|request| request.sent_ns),
        }
    }
}
