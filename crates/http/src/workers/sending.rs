//! Ways to send the bytes of a file to a socket. A new way is one file in this directory and one line here.

pub(crate) mod outbox;

use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;

use sys::map::Map;

/// Bytes that one call sends at most, and one connection in one turn: then it is another's. All of a file
/// of 1 MB at once takes a server 300 µs of CPU over loopback, in such pieces 150, in pieces of 64 KiB 230.
pub(crate) const TURN_BYTES: usize = 256 << 10;

/// One row of the table.
#[derive(Debug)]
pub struct Way {
    /// The name on the command line: `sendfile`.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Makes what a worker needs for it.
    pub(crate) open: fn() -> io::Result<Box<dyn Sending>>,
}

/// A stretch of a file that is to be sent, after some bytes that stand before it.
pub(crate) struct Stretch<'a> {
    pub head: &'a [u8],
    pub file: &'a File,
    pub at: u64,
    pub bytes: u64,
    /// More follows behind it.
    pub more: bool,
    /// What a way keeps from call to call while one file is sent.
    pub kept: &'a mut Option<Window>,
}

/// A part of a file that is mapped.
#[derive(Debug)]
pub(crate) struct Window {
    pub map: Map,
    pub at: u64,
    pub bytes: u64,
}

pub(crate) trait Sending {
    /// Sends as much of `head` and then of the file as the socket takes now, or a turn's worth of it;
    /// returns how many bytes that were, `head` included.
    ///
    /// # Errors
    /// `WouldBlock` where it takes nothing; `UnexpectedEof` where the file has become shorter; else
    /// what the kernel says.
    fn send(&mut self, socket: BorrowedFd<'_>, stretch: Stretch<'_>) -> io::Result<usize>;
}

/// Declares each module and puts its `WAY` into the table, in this order.
macro_rules! table {
    ($($file:ident,)*) => {
        $(mod $file;)*

        /// Every way to send files.
        pub static SENDING: &[&Way] = &[$(&$file::WAY,)*];
    };
}

table! {
    sendfile,
    mmap,
    splice,
}

pub(crate) fn find(name: &str) -> Option<&'static Way> {
    SENDING.iter().copied().find(|way| way.name == name)
}

/// What a file that has become shorter is.
pub(crate) fn shrunk() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the file has become shorter while it was sent")
}

/// Sends the head with the promise that more follows, and after all of it the file. Where that could not follow, the head is
/// counted, and the error comes again.
fn after_head(
    socket: BorrowedFd<'_>,
    head: &[u8],
    send_file: impl FnOnce() -> io::Result<usize>,
) -> io::Result<usize> {
    use rustix::net::SendFlags;
    let mut sent = 0;
    if !head.is_empty() {
        sent = rustix::net::send(socket, head, SendFlags::NOSIGNAL | SendFlags::MORE)?;
    }
    if sent < head.len() {
        return Ok(sent);
    }
    match send_file() {
        Err(error) if sent > 0 && error.kind() == io::ErrorKind::WouldBlock => Ok(sent),
        of_file => Ok(sent + of_file?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn every_way_sends_the_head_and_then_the_file_to_its_end() {
        let content: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
        let file = file(&content);
        for way in SENDING {
            let mut sending = (way.open)().unwrap();
            let (sender, mut receiver) = UnixStream::pair().unwrap();
            sender.set_nonblocking(true).unwrap();
            receiver.set_nonblocking(true).unwrap();
            let (mut head, mut at, mut kept): (&[u8], u64, _) = (b"head", 4321, None);
            let mut got = Vec::new();
            while at < content.len() as u64 {
                let bytes = content.len() as u64 - at;
                let kept = &mut kept;
                let stretch = Stretch { head, file: &file, at, bytes, more: false, kept };
                match sending.send(sender.as_fd(), stretch) {
                    Ok(sent) => {
                        let of_head = sent.min(head.len());
                        head = &head[of_head..];
                        at += (sent - of_head) as u64;
                    }
                    Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
                }
                let _ = receiver.read_to_end(&mut got);
            }
            drop(sender);
            receiver.read_to_end(&mut got).unwrap();
            assert!(got[..4] == *b"head" && got[4..] == content[4321..], "{}", way.name);
        }
    }

    #[test]
    fn every_way_notices_that_a_file_has_become_shorter() {
        for way in SENDING {
            let file = file(&[b'x'; 10_000]);
            let mut sending = (way.open)().unwrap();
            let (sender, _receiver) = UnixStream::pair().unwrap();
            sender.set_nonblocking(true).unwrap();
            let mut kept = None;
            let mut send = |at| {
                let kept = &mut kept;
                let bytes = 10_000 - at;
                let stretch = Stretch { head: b"", file: &file, at, bytes, more: false, kept };
                sending.send(sender.as_fd(), stretch)
            };
            file.set_len(4_000).unwrap();
            let error = match send(0) {
                Ok(sent) => send(sent as u64).unwrap_err(),
                Err(error) => error,
            };
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{}", way.name);
        }
    }
}
