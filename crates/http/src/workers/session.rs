//! TLS over a socket that does not wait.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use rustix::net::{SendFlags, send};
use rustls::{ServerConfig, ServerConnection};

/// The state of one connection: what came is decrypted, and what is to be sent is encrypted and waits until the socket
/// takes it.
#[derive(Debug)]
pub(crate) struct Session {
    connection: ServerConnection,
    /// What waits, before its encryption.
    unsent_bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Came {
    /// Some of what the client says, or nothing yet.
    More,
    /// The client has announced that it sends no more.
    Ended,
    Broken,
}

struct Sender<'a>(BorrowedFd<'a>);

impl Write for Sender<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(self.0, bytes, SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Session {
    /// None where the configuration is no server's.
    pub(crate) fn new(config: &Arc<ServerConfig>) -> Option<Session> {
        let connection = ServerConnection::new(Arc::clone(config)).ok()?;
        Some(Session { connection, unsent_bytes: 0 })
    }

    /// Decrypts what was received into `plain`.
    pub(crate) fn received(&mut self, mut bytes: &[u8], plain: &mut Vec<u8>) -> Came {
        while !bytes.is_empty() {
            if self.connection.read_tls(&mut bytes).is_err() {
                return Came::Broken;
            }
            let Ok(state) = self.connection.process_new_packets() else { return Came::Broken };
            let has_ended = state.peer_has_closed();
            // As much as the state says is there.
            let there = state.plaintext_bytes_to_read() as u64;
            let _ = self.connection.reader().take(there).read_to_end(plain);
            if has_ended {
                // Nothing after its last word is part of the connection.
                return Came::Ended;
            }
        }
        Came::More
    }

    /// Encrypts as much of this as there is room for; returns how much.
    pub(crate) fn encrypt(&mut self, plain: &[u8]) -> usize {
        // It writes to memory.
        let taken = self.connection.writer().write(plain).unwrap_or(0);
        self.unsent_bytes += taken;
        taken
    }

    /// Whether something waits to be sent.
    pub(crate) fn has_unsent(&self) -> bool {
        self.connection.wants_write()
    }

    /// Sends all that waits; returns how many bytes it was before its encryption.
    ///
    /// # Errors
    /// `WouldBlock` where the socket takes no more of it for now; else what the kernel says.
    pub(crate) fn send(&mut self, socket: BorrowedFd<'_>) -> io::Result<usize> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut Sender(socket)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => drop(result?),
            }
        }
        Ok(std::mem::take(&mut self.unsent_bytes))
    }

    /// Takes leave, as the protocol has it: an end without a word may be somebody else's.
    pub(crate) fn end(&mut self, socket: BorrowedFd<'_>) {
        if !self.connection.is_handshaking() {
            self.connection.send_close_notify();
        }
        // The connection ends in any case. Where the handshake failed, this says why.
        let _ = self.send(socket);
    }
}
