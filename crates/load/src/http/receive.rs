//! Replies over a connection that waits for each.

use super::reply::{Framing, Heads, Reply, ReplyHead, Step};
use crate::results::misfit::Misfit;
use std::io::{self, ErrorKind, Read};

/// A reply that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Its head.
    pub head: ReplyHead,
    /// The bytes of its body; absent where it comes in chunks.
    pub body_bytes: Option<u64>,
}

/// Takes replies, one after the other, over connections with one request at a time.
#[derive(Debug)]
pub struct Receiver {
    heads: Heads,
    reply: Reply,
    buffer: Vec<u8>,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver { heads: Heads::default(), reply: Reply::default(), buffer: vec![0; 64 * 1024] }
    }
}

impl Receiver {
    /// Takes one whole reply.
    ///
    /// # Errors
    /// Where the connection ends or fails before, and where it is not HTTP.
    pub fn receive(&mut self, from: &mut impl Read) -> io::Result<Received> {
        self.receive_with(from, || Ok(()))
    }

    /// The same, with `received` called after each piece.
    pub(crate) fn receive_with<R: Read>(
        &mut self,
        from: &mut R,
        received: impl Fn() -> io::Result<()>,
    ) -> io::Result<Received> {
        self.reply.clear();
        loop {
            let count = match from.read(&mut self.buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error)
                    if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) =>
                {
                    let part = self.reply.part().ok_or(error)?;
                    return Err(misfit(&Misfit::endless(part)));
                }
                count => count?,
            };
            received()?;
            let whole = if count == 0 {
                self.reply.end().ok_or(ErrorKind::UnexpectedEof)?
            } else {
                match self.reply.feed(&self.buffer[..count], &mut self.heads) {
                    Step::More => continue,
                    Step::Whole(whole) if whole.used == count => whole,
                    Step::Whole(whole) => {
                        let surplus = &self.buffer[whole.used..count];
                        return Err(misfit(&Misfit::of_surplus(surplus)));
                    }
                    Step::Malformed => {
                        return Err(misfit(&Misfit::of_start(&self.buffer[..count])));
                    }
                }
            };
            let head = whole.head;
            let body_bytes =
                (head.framing != Framing::Chunked).then_some(whole.bytes - head.bytes as u64);
            return Ok(Received { head, body_bytes });
        }
    }
}

fn misfit(misfit: &Misfit) -> io::Error {
    io::Error::other(format!("the server {misfit}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_taken_to_its_end() {
        let take = |text: &str| Receiver::default().receive(&mut text.as_bytes());
        let good = take("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").unwrap();
        assert_eq!((good.head.status, good.head.keeps(), good.body_bytes), (200, true, Some(2)));
        let chunked =
            take("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n");
        let chunked = chunked.unwrap();
        assert_eq!((chunked.head.keeps(), chunked.body_bytes), (true, None));
        let old = take("HTTP/1.0 404 No\r\n\r\nuntil the end").unwrap();
        assert!(old.head.announces_end && old.head.is_http_10);
        assert_eq!((old.head.status, old.body_bytes), (404, Some(13)));
        for wrong in ["", "SSH-2.0-x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nmore"] {
            assert!(take(wrong).is_err(), "{wrong}");
        }
    }
}
