//! A file while it comes: one that knee made, or whatever a URL serves.

use super::file::{self, MB};
use crate::servers::client::{self, Client};
use engine::Failure;
use load::{Framing, ReplyHead, Stream, Target};
use std::io::{self, Write};

/// A file that a server sends.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub target: Target,
    /// The length of the file that knee made; absent for what a URL serves.
    pub bytes: Option<u64>,
}

impl Source {
    /// Requests the file over a connection of its own, which any server may end with it. The connection
    /// has a receive buffer of `buffer_bytes`, where that is chosen.
    pub fn open(&self, buffer_bytes: Option<usize>) -> io::Result<Transfer> {
        let address = self.target.address.tcp().ok_or(io::ErrorKind::Unsupported)?;
        let socket = Client::connect(address)?;
        if let Some(bytes) = buffer_bytes {
            rustix::net::sockopt::set_socket_recv_buffer_size(&socket, bytes)?;
        }
        let mut stream = Stream::over(socket, &self.target)?;
        stream.write_all(&client::request(&self.target))?;
        let (head, body) = client::head(&mut stream)?;
        let bytes = self.length(&head).map_err(io::Error::other)?;
        let body_bytes = body.len() as u64;
        Ok(Transfer { stream, taken_bytes: body_bytes, bytes, is_ours: self.bytes.is_some() })
    }

    /// The length of the file by the head of its reply; none where the end of the connection ends it.
    fn length(&self, head: &[u8]) -> Result<Option<u64>, String> {
        if let Some(bytes) = self.bytes {
            return if client::sends_file(head, bytes) {
                Ok(Some(bytes))
            } else {
                Err(format!("the server does not send the file: {}", first_line(head)))
            };
        }
        let path = &self.target.path;
        match ReplyHead::parse(head) {
            Some(ReplyHead { status: 200, framing: Framing::Length(bytes), .. }) => Ok(Some(bytes)),
            Some(ReplyHead { status: 200, framing: Framing::UntilClose, .. }) => Ok(None),
            Some(ReplyHead { status: 200, .. }) => Err(format!(
                "the server sends {path} in chunks, and how much of it is the file is not known"
            )),
            _ => Err(format!("the server does not send {path}: {}", first_line(head))),
        }
    }
}

fn first_line(head: &[u8]) -> String {
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
    format!("{:?}", String::from_utf8_lossy(line))
}

/// A file of which some has come.
#[derive(Debug)]
pub(super) struct Transfer {
    pub stream: Stream,
    pub taken_bytes: u64,
    /// Its length, where the server says it.
    pub bytes: Option<u64>,
    /// Whether knee made it, and so knows what is in it.
    is_ours: bool,
}

impl Transfer {
    /// Whether it has `megabytes` MB, as far as the server says it.
    pub fn check_length(&self, megabytes: u64) -> Result<(), Failure> {
        let has_megabytes = self.bytes.map_or(megabytes, |bytes| bytes / MB as u64);
        if has_megabytes >= megabytes {
            return Ok(());
        }
        Err(Failure::new(match self.bytes {
            Some(bytes) if has_megabytes == 0 => {
                format!("the server sends {bytes} bytes: a download begins at 1 MB")
            }
            _ => format!("the server sends {has_megabytes} MB: --points {has_megabytes}"),
        }))
    }

    /// Takes it up to the end of the n-th MB, counted from 1.
    pub fn take_to(&mut self, n: u64, buffer: &mut [u8]) -> Result<(), Failure> {
        let end_bytes = n * MB as u64;
        let expected = self.is_ours.then(|| file::byte(n - 1));
        let mut last = expected;
        while self.taken_bytes < end_bytes {
            let length_max = buffer.len().min((end_bytes - self.taken_bytes) as usize);
            let read = client::read(&mut self.stream, &mut buffer[..length_max]);
            let read = read.map_err(|error| Failure::call("downloading", error))?;
            if read == 0 {
                let taken = self.taken_bytes;
                return Err(Failure::new(format!("the download ended after {taken} bytes")));
            }
            self.taken_bytes += read as u64;
            last = expected.map(|_| buffer[read - 1]);
        }
        if last == expected {
            return Ok(());
        }
        Err(Failure::new(format!("the file's MB {n} is not what came")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, SocketAddr};

    fn length(bytes: Option<u64>, head: &str) -> Result<Option<u64>, String> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
        let target = Target::new(address, "x", "/big");
        Source { target, bytes }.length(head.as_bytes())
    }

    #[test]
    fn a_file_of_anyone_has_any_length_and_comes_whole() {
        let with_length = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        assert_eq!(length(None, with_length), Ok(Some(5)));
        assert_eq!(length(None, "HTTP/1.0 200 OK\r\n\r\n"), Ok(None));
        assert_eq!(length(Some(5), with_length), Ok(Some(5)));
        assert!(length(Some(6), with_length).is_err(), "a file that knee made has its length");
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert!(length(None, chunked).unwrap_err().contains("in chunks"));
        let missing = length(None, "HTTP/1.1 404 Not Found\r\nX: y\r\n\r\n").unwrap_err();
        assert_eq!(missing, "the server does not send /big: \"HTTP/1.1 404 Not Found\"");
    }
}
