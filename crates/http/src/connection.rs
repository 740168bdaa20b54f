//! One connection without its socket: received bytes go in, bytes to send come out, and the time comes
//! from the caller.
//!
//! The driver of the socket keeps to this: it sends to the end what [`Connection::received`] puts into the
//! output, reports each part with [`Connection::sent`], and calls [`Connection::flushed`] at the end. Until
//! then nothing more is answered, so that neither many requests at once nor a slow reader make the output
//! grow without bound. It calls [`Connection::closed`] when it closes the socket.

mod pending;

use std::net::SocketAddr;

use crate::Limits;
use crate::request::{HEAD_BYTES, Length, Parsed, Request, parse};
use crate::response::Body;
use crate::response::status::Status;
use crate::workers::context::Context;
use pending::Pending;

/// Bytes of a request's body that are thrown away so that the connection can be kept; nginx has the
/// same bound.
const DISCARD_BYTES: u64 = 1 << 20;

/// Output from which on no further request is answered before it is gone.
const OUTPUT_BYTES: usize = 256 * 1024;

/// The longest line of a chunk's size or of a trailer.
const CHUNK_LINE_BYTES: usize = 4096;

/// How long a connection that is to be closed waits for the other side to read what it was sent.
const LINGER_MS: u64 = 2_000;

/// Bytes of input that wait behind a reply, from which on a driver should receive no more.
pub(crate) const INPUT_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(crate) enum Next {
    Wait,
    /// Send the output, and then this.
    Send(Option<Body>),
    /// Shut the sending side, and throw away what comes.
    Linger,
    Close,
}

#[derive(Debug)]
pub(crate) struct Connection {
    /// What came and is not answered: the beginning of a head, or what waits behind a reply.
    input: Vec<u8>,
    phase: Phase,
    ended: bool,
    pending: Pending,
    born_ms: u64,
    /// When the state that a limit is about began.
    since_ms: u64,
    /// What the client had not taken yet of what was sent, at the last look.
    untaken_bytes: u64,
    /// Who it is, where that is logged.
    peer: Option<Box<SocketAddr>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Head,
    /// The rest of a request's body, to be thrown away: at most so many bytes.
    Body(Discard, u64),
    /// Nothing: it is closed when the output is gone. Where more input may be on its way, it lingers
    /// before that, since what comes to a closed socket makes the kernel take back what was sent.
    Last {
        linger: bool,
    },
    Lingering,
}

/// What comes next of a body that is thrown away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Discard {
    Bytes(u64),
    ChunkSize,
    Chunk(u64),
    ChunkEnd,
    Trailer,
}

impl Connection {
    pub(crate) fn new(now_ms: u64, peer: Option<SocketAddr>) -> Connection {
        Connection {
            input: Vec::new(),
            phase: Phase::Head,
            ended: false,
            pending: Pending::default(),
            born_ms: now_ms,
            since_ms: now_ms,
            untaken_bytes: 0,
            peer: peer.map(Box::new),
        }
    }

    /// Takes what came, and answers into `out` what can be answered.
    #[inline]
    pub(crate) fn received(
        &mut self,
        bytes: &[u8],
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Next {
        if self.phase == Phase::Lingering {
            return Next::Wait;
        }
        if !self.pending.is_empty() {
            self.input.extend_from_slice(bytes);
            return Next::Wait;
        }
        if !self.input.is_empty() {
            return self.received_more(bytes, context, out);
        }
        let (used, body) = self.take(bytes, context, out);
        if used < bytes.len() {
            if self.phase == Phase::Head {
                self.since_ms = context.now_ms;
            }
            self.input = bytes[used..].to_vec();
        }
        self.next(body, context)
    }

    /// The same, where something is waiting already.
    fn received_more(&mut self, bytes: &[u8], context: &mut Context, out: &mut Vec<u8>) -> Next {
        self.input.extend_from_slice(bytes);
        // A head ends with a line: without one, there is nothing new to be found in it.
        let whole = self.input.len() >= HEAD_BYTES || bytes.contains(&b'\n');
        if self.phase == Phase::Head && !whole {
            return Next::Wait;
        }
        self.take_input(context, out)
    }

    pub(crate) fn ended(&mut self) -> Next {
        self.ended = true;
        if self.pending.is_empty() { Next::Close } else { Next::Wait }
    }

    /// A part of the output was sent.
    #[inline]
    pub(crate) fn sent(&mut self, bytes: usize, context: &mut Context) {
        context.counts.bytes.add(bytes as u64);
        if bytes > 0 {
            self.since_ms = context.now_ms;
        }
        self.pending.advance(bytes, self.peer.as_deref(), context);
    }

    /// The socket closes, whatever was sent.
    pub(crate) fn closed(&mut self, context: &mut Context) {
        self.pending.abort(self.peer.as_deref(), context);
        context.counts.closed.add(1);
    }

    /// All output was sent.
    #[inline]
    pub(crate) fn flushed(&mut self, context: &mut Context, out: &mut Vec<u8>) -> Next {
        debug_assert!(self.pending.is_empty(), "every byte of a reply was reported");
        self.since_ms = context.now_ms;
        match self.phase {
            Phase::Last { linger: true } if !self.ended => {
                self.phase = Phase::Lingering;
                self.input = Vec::new();
                Next::Linger
            }
            Phase::Last { .. } | Phase::Lingering => Next::Close,
            Phase::Head if self.input.is_empty() && context.draining => Next::Close,
            _ if self.input.is_empty() && !self.ended => Next::Wait,
            _ => match self.take_input(context, out) {
                Next::Wait | Next::Linger if self.ended => Next::Close,
                next => next,
            },
        }
    }

    pub(crate) fn is_sending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Whether nothing has come of a next request, and nothing is owed.
    pub(crate) fn is_idle(&self) -> bool {
        self.phase == Phase::Head && self.pending.is_empty() && self.input.is_empty()
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    pub(crate) fn waiting(&self) -> usize {
        self.input.len()
    }

    /// What has to happen because a limit is reached, if one is. `untaken_bytes` are with the kernel: it takes some
    /// megabytes and then no more for long, while a slow client reads on.
    pub(crate) fn overdue(
        &mut self,
        limits: &Limits,
        context: &mut Context,
        out: &mut Vec<u8>,
        untaken_bytes: impl FnOnce() -> u64,
    ) -> Option<Next> {
        let over = |since_ms: u64, limit: std::time::Duration| {
            u128::from(context.now_ms.saturating_sub(since_ms)) >= limit.as_millis()
        };
        if over(self.born_ms, limits.lifetime) {
            return Some(Next::Close);
        }
        if !self.pending.is_empty() {
            let before_bytes = std::mem::replace(&mut self.untaken_bytes, untaken_bytes());
            if self.untaken_bytes < before_bytes {
                self.since_ms = context.now_ms;
            }
            return over(self.since_ms, limits.stalled).then_some(Next::Close);
        }
        match self.phase {
            Phase::Lingering => {
                (context.now_ms.saturating_sub(self.since_ms) >= LINGER_MS).then_some(Next::Close)
            }
            Phase::Head if !self.input.is_empty() => {
                over(self.since_ms, limits.header).then(|| {
                    self.refuse(Status::RequestTimeout, context, out);
                    Next::Send(None)
                })
            }
            _ => over(self.since_ms, limits.idle).then_some(Next::Close),
        }
    }

    fn take_input(&mut self, context: &mut Context, out: &mut Vec<u8>) -> Next {
        let mut input = std::mem::take(&mut self.input);
        let (used, body) = self.take(&input, context, out);
        if used < input.len() {
            input.drain(..used);
            self.input = input;
            // What is left came behind something, and its time begins with it.
            if used > 0 && self.phase == Phase::Head {
                self.since_ms = context.now_ms;
            }
        }
        self.next(body, context)
    }

    #[inline]
    fn next(&mut self, body: Option<Body>, context: &Context) -> Next {
        match self.phase {
            _ if !self.pending.is_empty() => Next::Send(body),
            // A body that was too much, or none, whose reply has gone before.
            Phase::Last { linger: true } => {
                self.phase = Phase::Lingering;
                self.since_ms = context.now_ms;
                Next::Linger
            }
            Phase::Last { .. } => Next::Close,
            // The rest of a body was all that was waited for.
            Phase::Head if self.input.is_empty() && context.draining => Next::Close,
            _ => Next::Wait,
        }
    }

    /// Answers what is whole in `bytes`; returns how many of them that took, and what of the last reply
    /// is in a file.
    #[inline]
    fn take(
        &mut self,
        bytes: &[u8],
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> (usize, Option<Body>) {
        let mut used = 0;
        loop {
            let rest = &bytes[used..];
            match self.phase {
                _ if rest.is_empty() => return (used, None),
                Phase::Last { .. } | Phase::Lingering => return (bytes.len(), None),
                Phase::Body(discard, budget) => match self.discard(discard, budget, rest) {
                    0 => return (used, None),
                    taken => used += taken,
                },
                Phase::Head => match parse(rest) {
                    Parsed::Partial => return (used, None),
                    Parsed::Bad(status) => {
                        self.refuse(status, context, out);
                        return (bytes.len(), None);
                    }
                    Parsed::Whole { request, used: head } => {
                        used += head;
                        let rest = used < bytes.len();
                        let body = self.answer(&request, rest, context, out);
                        if body.is_some() || out.len() >= OUTPUT_BYTES {
                            return (used, body);
                        }
                    }
                },
            }
        }
    }

    #[inline]
    fn answer(
        &mut self,
        request: &Request<'_>,
        more_came: bool,
        context: &mut Context,
        out: &mut Vec<u8>,
    ) -> Option<Body> {
        let body = match request.body {
            Length::None => None,
            Length::Bytes(bytes) => Some(Discard::Bytes(bytes)),
            Length::Chunked => Some(Discard::ChunkSize),
        };
        let too_long = matches!(request.body, Length::Bytes(bytes) if bytes > DISCARD_BYTES);
        let keep = request.keep_alive && !context.draining && !too_long;
        let start = out.len();
        if request.expects_continue && body.is_some() && keep {
            out.extend_from_slice(b"HTTP/1.1 100 Continue\r\n\r\n");
        }
        let from_file = context.site.answer(request, keep, out);
        // A client whose target is malformed gets no second answer.
        let keep = keep && context.site.last_reply.status != Status::BadRequest;
        self.add_pending(out.len() - start, from_file.is_some(), request.line, context);
        self.since_ms = context.now_ms;
        self.phase = match body {
            // A client that did not ask for the end may send its next request before it reads of it.
            _ if !keep => Phase::Last { linger: more_came || body.is_some() || request.keep_alive },
            Some(discard) => Phase::Body(discard, DISCARD_BYTES),
            None => Phase::Head,
        };
        from_file
    }

    /// Notes the last reply, of which `out_bytes` are in the output: all of it, or the head before a file.
    #[inline]
    fn add_pending(&mut self, out_bytes: usize, has_file: bool, line: &[u8], context: &Context) {
        let reply = context.site.last_reply;
        let body_bytes = if has_file { 0 } else { reply.bytes };
        let line = if context.log.is_some() { line } else { b"" };
        self.pending.push(out_bytes as u64 - body_bytes, reply, line);
    }

    fn refuse(&mut self, status: Status, context: &mut Context, out: &mut Vec<u8>) {
        let start = out.len();
        context.site.refuse(status, out);
        self.add_pending(out.len() - start, false, b"-", context);
        self.since_ms = context.now_ms;
        self.phase = Phase::Last { linger: true };
        self.input = Vec::new();
    }

    /// Throws away what `bytes` has of a body; returns how many bytes of it that were, none where more
    /// are needed to tell.
    fn discard(&mut self, discard: Discard, budget: u64, bytes: &[u8]) -> usize {
        let here = bytes.len() as u64;
        let (used, then) = match discard {
            Discard::Bytes(left) if left <= here => (left, Ok(None)),
            Discard::Bytes(left) => (here, Ok(Some(Discard::Bytes(left - here)))),
            Discard::Chunk(left) if left <= here => (left, Ok(Some(Discard::ChunkEnd))),
            Discard::Chunk(left) => (here, Ok(Some(Discard::Chunk(left - here)))),
            Discard::ChunkEnd => match bytes {
                [b'\r', b'\n', ..] => (2, Ok(Some(Discard::ChunkSize))),
                [b'\r'] => (0, Ok(Some(discard))),
                _ => (0, Err(())),
            },
            Discard::ChunkSize => match chunk_size(bytes) {
                Some(httparse::Status::Complete((used, 0))) => {
                    (used as u64, Ok(Some(Discard::Trailer)))
                }
                Some(httparse::Status::Complete((used, size))) => {
                    (used as u64, Ok(Some(Discard::Chunk(size))))
                }
                Some(httparse::Status::Partial) if bytes.len() < CHUNK_LINE_BYTES => {
                    (0, Ok(Some(discard)))
                }
                _ => (0, Err(())),
            },
            Discard::Trailer => match bytes.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    let last = matches!(&bytes[..end], [] | [b'\r']);
                    (end as u64 + 1, Ok((!last).then_some(discard)))
                }
                None if bytes.len() < CHUNK_LINE_BYTES => (0, Ok(Some(discard))),
                None => (0, Err(())),
            },
        };
        self.phase = match then {
            Ok(None) => Phase::Head,
            Ok(Some(next)) if used <= budget => Phase::Body(next, budget - used),
            // Too much, or no body at all: the reply is given, and that was it.
            _ => Phase::Last { linger: true },
        };
        used as usize
    }
}

/// Reads the line of a chunk's size: its bytes, and the size. None where it is none, also where httparse is
/// more lenient than others: no digit at all is a size of 0 to it, and a line feed alone a part of an
/// extension.
fn chunk_size(bytes: &[u8]) -> Option<httparse::Status<(usize, u64)>> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let line = lines.next().unwrap_or_default();
    let whole = lines.next().is_some();
    let begins = bytes.first().is_some_and(u8::is_ascii_hexdigit);
    if !begins || (whole && !line.ends_with(b"\r")) {
        return None;
    }
    httparse::parse_chunk_size(bytes).ok()
}
