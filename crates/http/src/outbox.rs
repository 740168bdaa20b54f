//! What a socket did not take yet: bytes, and stretches of files behind them.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::BorrowedFd;

use rustix::net::SendFlags;

use crate::sending::{Sending, Stretch, Window};
use crate::site::{Body, Part};

/// What is still to be sent.
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    /// Of `bytes`, those that have gone.
    gone: usize,
    parts: VecDeque<Part>,
    kept: Option<Window>,
}

/// How far sending came.
pub(crate) enum Progress {
    /// To the end.
    Gone,
    /// Until the socket took no more.
    Full,
    /// As far as was allowed.
    Enough,
    Failed(io::Error),
}

impl Outbox {
    pub(crate) fn new(bytes: Vec<u8>, body: Option<Body>) -> Outbox {
        let parts = body.map(|body| body.parts).unwrap_or_default();
        Outbox { bytes, gone: 0, parts, kept: None }
    }

    /// Sends as much as the socket takes, or about as much as is `left`; returns how much that was.
    pub(crate) fn push(
        &mut self,
        socket: BorrowedFd<'_>,
        sending: &mut dyn Sending,
        left: &mut usize,
    ) -> (usize, Progress) {
        let mut all = 0;
        loop {
            if self.gone == self.bytes.len() && self.parts.is_empty() {
                return (all, Progress::Gone);
            }
            if *left == 0 {
                return (all, Progress::Enough);
            }
            match self.push_once(socket, sending) {
                Ok(sent) => {
                    all += sent;
                    *left = left.saturating_sub(sent);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return (all, Progress::Full);
                }
                Err(error) => return (all, Progress::Failed(error)),
            }
        }
    }

    /// Sends the bytes, and the file that comes next behind them.
    fn push_once(
        &mut self,
        socket: BorrowedFd<'_>,
        sending: &mut dyn Sending,
    ) -> io::Result<usize> {
        let head = &self.bytes[self.gone..];
        let more = self.parts.len() > 1;
        match self.parts.front_mut() {
            Some(Part::Bytes(bytes)) if head.is_empty() => {
                self.bytes = std::mem::take(bytes);
                self.gone = 0;
                self.parts.pop_front();
                Ok(0)
            }
            Some(Part::File { file, at, bytes }) => {
                let kept = &mut self.kept;
                let stretch = Stretch { head, file, at: *at, bytes: *bytes, more, kept };
                let sent = sending.send(socket, stretch)?;
                let of_head = sent.min(head.len());
                self.gone += of_head;
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
                self.gone += sent;
                Ok(sent)
            }
        }
    }
}
