//! Connections that are encrypted: their handshakes, requests out, replies in.

use super::LoadWorker;
use super::connection::Stage;
use crate::results::counts::Kind;
use crate::results::misfit::Misfit;
use crate::tls::{Session, Tls, TlsFault};

/// Why a connection does not go on after what was received.
#[derive(Debug)]
pub(super) enum Broken {
    /// What came is no reply that was asked for.
    Misfit(Misfit),
    /// The server has announced that it sends no more.
    Ended,
    /// There is no TLS with the server.
    Tls(TlsFault),
    /// It was closed here.
    Closed,
}

impl LoadWorker<'_> {
    pub(super) fn begin_handshake(&mut self, index: u32, tls: &Tls) {
        let connection = &mut self.connections[index as usize];
        connection.stage = Stage::Handshaking;
        connection.connected_ns = self.now_ns;
        match Session::new(tls) {
            Ok(session) => connection.tls = Some(Box::new(session)),
            Err(fault) => return self.fail_handshake(index, fault),
        }
        self.flush_encrypted(index);
    }

    /// A handshake came to nothing, or the encryption broke later.
    pub(super) fn fail_handshake(&mut self, index: u32, fault: TlsFault) {
        let connection = &mut self.connections[index as usize];
        if let (Some(session), Some(socket)) = (&mut connection.tls, &connection.socket) {
            // Why, for the server; it may be gone.
            let _ = session.flush(socket);
        }
        self.tally.part.counts.handshakes.get_or_insert_default().fault.get_or_insert(fault);
        self.fail(index, Kind::Tls);
    }

    /// The server has closed the connection without the notice that its last byte was the last: what has no length of its
    /// own may be cut off.
    pub(super) fn cut_off(&mut self, index: u32) {
        self.now_ns = self.gate.clock.now_ns();
        match self.connections[index as usize].stage {
            Stage::Handshaking => self.fail_handshake(index, TlsFault::Ended),
            _ => self.server_ended(index, Kind::Short),
        }
    }

    /// Encrypts what has not been, and sends what the socket takes.
    pub(super) fn flush_encrypted(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        let (Some(session), Some(socket)) = (&mut connection.tls, &connection.socket) else {
            return;
        };
        loop {
            let rest = &self.requests[self.requests.len() - connection.unsent_bytes..];
            connection.unsent_bytes -= session.encrypt(rest);
            if let Err(error) = session.flush(socket) {
                return self.fail_because(index, error);
            }
            // What did not fit into its buffer does when that is empty.
            if connection.unsent_bytes == 0 || session.has_unsent() {
                return;
            }
        }
    }

    /// Decrypts what was received, and takes the replies in it; returns whether the connection goes on after them.
    pub(super) fn take_encrypted(&mut self, index: u32, received: &[u8]) -> Result<bool, Broken> {
        let mut rest = received;
        while !rest.is_empty() {
            // Taken out, since replies change all else of this worker.
            let Some(mut session) = self.connections[index as usize].tls.take() else {
                return Err(Broken::Closed);
            };
            let decrypted = session.decrypt(&mut rest);
            let is_new = self.connections[index as usize].stage == Stage::Handshaking
                && !session.is_handshaking();
            if is_new && decrypted.is_ok() {
                session.count(self.tally.part.counts.handshakes.get_or_insert_default());
            }
            let taken = session.take(|plain| self.take(index, plain));
            let has_ended = session.has_ended;
            self.connections[index as usize].tls = Some(session);
            // What came whole before the fault counts.
            let goes_on = taken?;
            decrypted.map_err(Broken::Tls)?;
            if is_new {
                self.shaken(index)?;
            }
            if !goes_on {
                return Ok(false);
            }
            if has_ended {
                return Err(Broken::Ended);
            }
        }
        if self.connections[index as usize].has_unsent() {
            self.flush_encrypted(index);
        }
        let is_open = self.connections[index as usize].stage != Stage::Closed;
        if is_open { Ok(true) } else { Err(Broken::Closed) }
    }

    /// The handshake has ended. Its last word goes out with the first request.
    fn shaken(&mut self, index: u32) -> Result<(), Broken> {
        let connection = &self.connections[index as usize];
        let generation = connection.generation;
        self.tally.part.handshake.record(self.now_ns - connection.connected_ns);
        self.opened(index);
        let is_same = self.connections[index as usize].generation == generation;
        if is_same { Ok(()) } else { Err(Broken::Closed) }
    }
}
