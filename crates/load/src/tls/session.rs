//! TLS over a socket that does not wait.

use super::{Handshakes, Tls, TlsFault};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};
use rustls::ClientConnection;
use std::io::{self, BufRead, IoSlice, Write};
use std::os::fd::OwnedFd;

/// The state of one connection. Bytes that were received go in, and what they mean comes out; what is to be sent is
/// encrypted and waits until the socket takes it.
#[derive(Debug)]
pub(crate) struct Session {
    connection: ClientConnection,
    /// Whether the other side has announced that it sends no more.
    pub(crate) has_ended: bool,
}

/// Sends without waiting, several pieces with one call.
struct Sender<'a>(&'a OwnedFd);

impl Write for Sender<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, pieces: &[IoSlice<'_>]) -> io::Result<usize> {
        let nothing = &mut SendAncillaryBuffer::default();
        Ok(sendmsg(self.0, pieces, nothing, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Session {
    /// Its handshake waits to be sent.
    pub(crate) fn new(tls: &Tls) -> Result<Session, TlsFault> {
        Ok(Session { connection: tls.connection()?, has_ended: false })
    }

    pub(crate) fn is_handshaking(&self) -> bool {
        self.connection.is_handshaking()
    }

    /// Counts its handshake, which has ended.
    pub(crate) fn count(&self, handshakes: &mut Handshakes) {
        handshakes.count(&self.connection);
    }

    /// Encrypts as much of this as there is room for, and returns how much.
    pub(crate) fn encrypt(&mut self, plain: &[u8]) -> usize {
        // It writes to memory.
        self.connection.writer().write(plain).unwrap_or(0)
    }

    /// Whether something waits to be sent.
    pub(crate) fn has_unsent(&self) -> bool {
        self.connection.wants_write()
    }

    /// Sends what waits, as far as the socket takes it.
    pub(crate) fn flush(&mut self, socket: &OwnedFd) -> Result<(), Errno> {
        while self.connection.wants_write() {
            if let Err(error) = self.connection.write_tls(&mut Sender(socket)) {
                match Errno::from_io_error(&error) {
                    Some(Errno::AGAIN | Errno::INTR) => return Ok(()),
                    error => return Err(error.unwrap_or(Errno::IO)),
                }
            }
        }
        Ok(())
    }

    /// Takes leave, as the protocol has it: an end without a word may be somebody else's.
    pub(crate) fn end(&mut self, socket: &OwnedFd) {
        if !self.has_ended && !self.connection.is_handshaking() {
            self.connection.send_close_notify();
            // The connection ends in any case.
            let _ = self.flush(socket);
        }
    }

    /// Takes some of the bytes that were received, and moves past them.
    pub(crate) fn decrypt(&mut self, received: &mut &[u8]) -> Result<(), TlsFault> {
        let failed = |error: &io::Error| TlsFault::Failed { error: error.to_string() };
        self.connection.read_tls(received).map_err(|error| failed(&error))?;
        let state = self.connection.process_new_packets();
        self.has_ended = state.map_err(|error| TlsFault::from_error(&error))?.peer_has_closed();
        if self.has_ended {
            // Nothing after its last word is part of the connection.
            *received = &[];
        }
        Ok(())
    }

    /// Gives `take` each piece that was decrypted, until one is refused.
    pub(crate) fn take<E>(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Result<bool, E>,
    ) -> Result<bool, E> {
        loop {
            // No more is there for now, which it reports as an error.
            let Ok(piece) = self.connection.reader().into_first_chunk() else { return Ok(true) };
            let length = piece.len();
            if length == 0 {
                return Ok(true);
            }
            let outcome = take(piece)?;
            self.connection.reader().consume(length);
            if !outcome {
                return Ok(false);
            }
        }
    }
}
