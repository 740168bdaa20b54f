//! A connection to a target that waits for what it sends and receives, by TLS where the target has it.

use crate::address::Address;
use crate::connect::unix_within;
use crate::plan::Target;
use crate::tls::{Handshakes, TlsFault};
use rustls::{ClientConnection, HandshakeKind};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A connection that waits.
#[derive(Debug)]
pub struct Stream {
    /// Its socket.
    pub socket: TcpStream,
    tls: Option<Box<ClientConnection>>,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum NoStream {
    /// None could be made.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There is one, and no TLS over it.
    #[error("{fault} → {remedy}", fault = .0, remedy = .0.remedy())]
    Tls(TlsFault),
}

impl From<NoStream> for io::Error {
    fn from(error: NoStream) -> io::Error {
        match error {
            NoStream::Io(error) => error,
            tls @ NoStream::Tls(_) => io::Error::other(tls.to_string()),
        }
    }
}

impl Stream {
    /// Connects, with the handshake of TLS where there is one. No step, and no later wait, takes longer than `patience`.
    ///
    /// # Errors
    /// Where the target can't be reached, or is not to be trusted.
    pub fn connect(target: &Target, patience: Duration) -> Result<Stream, NoStream> {
        let socket = match &target.address {
            Address::Tcp(address) => {
                let socket = TcpStream::connect_timeout(address, patience)?;
                socket.set_nodelay(true)?;
                socket
            }
            // Nothing below depends on the family of the socket.
            Address::Unix(path) => TcpStream::from(OwnedFd::from(unix_within(path, patience)?)),
        };
        socket.set_read_timeout(Some(patience))?;
        socket.set_write_timeout(Some(patience))?;
        Stream::over(socket, target)
    }

    /// Shakes hands over a socket that is connected, where the target has TLS.
    ///
    /// # Errors
    /// Where the target is not to be trusted.
    pub fn over(mut socket: TcpStream, target: &Target) -> Result<Stream, NoStream> {
        let Some(tls) = &target.tls else { return Ok(Stream { socket, tls: None }) };
        // The last word of a handshake and the first request are two writes: the second is not to wait for an acknowledgement.
        socket.set_nodelay(true)?;
        let mut connection = tls.connection().map_err(NoStream::Tls)?;
        while connection.is_handshaking() {
            connection.complete_io(&mut socket).map_err(|error| {
                TlsFault::from_io(&error).map_or(NoStream::Io(error), NoStream::Tls)
            })?;
        }
        Ok(Stream { socket, tls: Some(Box::new(connection)) })
    }

    /// Its handshake: one, and what it agreed on; none without TLS.
    pub fn handshake(&self) -> Option<Handshakes> {
        let mut handshakes = Handshakes::default();
        handshakes.count(self.tls.as_ref()?);
        Some(handshakes)
    }

    /// Whether its handshake resumed an earlier session.
    pub fn has_resumed(&self) -> bool {
        let kind = self.tls.as_ref().and_then(|tls| tls.handshake_kind());
        kind == Some(HandshakeKind::Resumed)
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.read(buffer),
            Some(tls) => rustls::Stream::new(&mut **tls, &mut self.socket).read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.write(bytes),
            Some(tls) => rustls::Stream::new(&mut **tls, &mut self.socket).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.tls {
            None => self.socket.flush(),
            Some(tls) => rustls::Stream::new(&mut **tls, &mut self.socket).flush(),
        }
    }
}
