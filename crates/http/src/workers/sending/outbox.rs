//! What a socket did not take yet: bytes, and parts of files after them.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::FileExt;

use rustix::net::SendFlags;

use crate::response::{Body, Part};
use crate::workers::sending::{Sending, Stretch, Window, shrunk};
use crate::workers::session::Session;

/// Bytes of a file that are read at a time to be encrypted: what a session has room for.
const PIECE_BYTES: u64 = 64 << 10;

/// Output that is still to be sent.
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    /// How many of `bytes` were sent.
    sent: usize,
    parts: VecDeque<Part>,
    kept: Option<Window>,
}

/// How far sending came.
pub(crate) enum Progress {
    Complete,
    /// The socket takes no more for now.
    Full,
    /// The budget is used up.
    Paused,
    Failed(io::Error),
}

impl Outbox {
    pub(crate) fn new(bytes: Vec<u8>, body: Option<Body>) -> Outbox {
        let parts = body.map(|body| body.parts).unwrap_or_default();
        Outbox { bytes, sent: 0, parts, kept: None }
    }

    /// Sends what the socket takes, up to about `budget` bytes; returns how many bytes that were.
    pub(crate) fn push(
        &mut self,
        socket: BorrowedFd<'_>,
        mut session: Option<&mut Session>,
        sending: &mut dyn Sending,
        budget: &mut usize,
    ) -> (usize, Progress) {
        let mut total = 0;
        loop {
            let is_waiting = session.as_ref().is_some_and(|session| session.has_unsent());
            if !is_waiting && self.sent == self.bytes.len() && self.parts.is_empty() {
                return (total, Progress::Complete);
            }
            if *budget == 0 {
                return (total, Progress::Paused);
            }
            let pushed = match &mut session {
                None => self.push_once(socket, sending),
                Some(session) => self.encrypt(session).and_then(|()| session.send(socket)),
            };
            match pushed {
                Ok(sent) => {
                    total += sent;
                    *budget = budget.saturating_sub(sent);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return (total, Progress::Full);
                }
                Err(error) => return (total, Progress::Failed(error)),
            }
        }
    }

    /// Encrypts what there is room for.
    fn encrypt(&mut self, session: &mut Session) -> io::Result<()> {
        loop {
            self.sent += session.encrypt(&self.bytes[self.sent..]);
            if self.sent < self.bytes.len() {
                return Ok(());
            }
            match self.parts.pop_front() {
                None => return Ok(()),
                Some(Part::Bytes(bytes)) => (self.bytes, self.sent) = (bytes, 0),
                Some(Part::File { file, at, bytes }) => {
                    let mut piece = vec![0; bytes.min(PIECE_BYTES) as usize];
                    let read = file.read_at(&mut piece, at)?;
                    if read == 0 {
                        return Err(shrunk());
                    }
                    piece.truncate(read);
                    (self.bytes, self.sent) = (piece, 0);
                    let (at, bytes) = (at + read as u64, bytes - read as u64);
                    if bytes > 0 {
                        self.parts.push_front(Part::File { file, at, bytes });
                    }
                }
            }
        }
    }

    /// Sends the bytes, and the part of a file after them.
    fn push_once(
        &mut self,
        socket: BorrowedFd<'_>,
        sending: &mut dyn Sending,
    ) -> io::Result<usize> {
        let head = &self.bytes[self.sent..];
        let more = self.parts.len() > 1;
        match self.parts.front_mut() {
            Some(Part::Bytes(bytes)) if head.is_empty() => {
                self.bytes = std::mem::take(bytes);
                self.sent = 0;
                self.parts.pop_front();
                Ok(0)
            }
            Some(Part::File { file, at, bytes }) => {
                let kept = &mut self.kept;
                let stretch = Stretch { head, file, at: *at, bytes: *bytes, more, kept };
                let sent = sending.send(socket, stretch)?;
                let of_head = sent.min(head.len());
                self.sent += of_head;
                *at += (sent - of_head) as u64;
                *bytes -= (sent - of_head) as u64;
                if *bytes == 0 {
                    self.parts.pop_front();
                    self.kept = None;
                }
                Ok(sent)
            }
            more => {
                let more = if more.is_some() { SendFlags::MORE } else { SendFlags::empty() };
                let sent = rustix::net::send(socket, head, SendFlags::NOSIGNAL | more)?;
                self.sent += sent;
                Ok(sent)
            }
        }
    }
}
