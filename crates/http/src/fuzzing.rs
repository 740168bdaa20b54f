//! One connection without a socket, for tests that play what no client would say.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::connection::{Connection, Next};
use crate::site::{Body, Part, Site};
use crate::workers::{Counters, Desk};
use crate::{Error, Limits};

/// A folder that is served, one connection to it, and a clock that stands still until it is told.
pub struct Exchange {
    desk: Desk,
    connection: Connection,
    output: Vec<u8>,
    closed: bool,
    /// It takes what still comes, and throws it away.
    lingers: bool,
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exchange").finish_non_exhaustive()
    }
}

impl Exchange {
    /// One over this folder.
    ///
    /// # Errors
    /// Where the folder can't be opened.
    pub fn over(root: &Path) -> Result<Exchange, Error> {
        let desk = Desk::new(Site::open(root, 1 << 20)?, None, Arc::<Counters>::default());
        let connection = Connection::new(desk.now_ms, None);
        Ok(Exchange { desk, connection, output: Vec::new(), closed: false, lingers: false })
    }

    /// Begins with another connection.
    pub fn begin(&mut self) {
        self.connection = Connection::new(self.desk.now_ms, None);
        self.output.clear();
        (self.closed, self.lingers) = (false, false);
    }

    /// These bytes come, unless the server has ended it.
    pub fn receive(&mut self, bytes: &[u8]) {
        if !self.closed {
            let mut out = Vec::new();
            let next = self.connection.received(bytes, &mut self.desk, &mut out);
            self.drive(next, out);
        }
    }

    /// Nothing comes for longer than any limit but that of a connection's life.
    pub fn wait(&mut self) {
        let limits = Limits::default();
        self.pass(limits.idle.max(limits.header));
    }

    /// Nothing comes for so long.
    fn pass(&mut self, time: Duration) {
        let limits = Limits::default();
        self.desk.now_ms += time.as_millis() as u64;
        let mut out = Vec::new();
        if let Some(next) = self.connection.overdue(&limits, &mut self.desk, &mut out) {
            self.drive(next, out);
        }
    }

    /// Plays a connection on which these pieces come, one after the other.
    pub fn play<'a>(&mut self, pieces: impl IntoIterator<Item = &'a [u8]>) -> Played {
        let before = self.replies();
        self.begin();
        pieces.into_iter().for_each(|piece| self.receive(piece));
        let replies = self.replies() - before;
        Played { output: self.output.clone(), closed: self.closed, replies }
    }

    fn replies(&self) -> u64 {
        let mut counts = crate::Counts::default();
        self.desk.counts.sum_into(&mut counts);
        counts.replies
    }

    /// All that was sent, bodies included.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Whether the server has ended it; else it waits for more.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Bytes that the connection keeps of what came.
    pub fn held_bytes(&self) -> usize {
        self.connection.waiting()
    }

    /// Sends until there is nothing more to send.
    fn drive(&mut self, mut next: Next, mut out: Vec<u8>) {
        loop {
            match next {
                Next::Wait => return,
                Next::Linger | Next::Close => {
                    self.closed = true;
                    self.lingers = matches!(next, Next::Linger);
                    return;
                }
                Next::Send(body) => {
                    self.output.append(&mut out);
                    self.output.extend(body.map(bytes).unwrap_or_default());
                    next = self.connection.sent(&mut self.desk, &mut out);
                }
            }
        }
    }
}

/// What came of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// All that was sent, bodies included.
    pub output: Vec<u8>,
    /// The server has ended it; else it waits for more.
    pub closed: bool,
    /// Replies that were sent to their end.
    pub replies: u64,
}

/// The bytes of a body; fewer where a file has shrunk.
fn bytes(body: Body) -> Vec<u8> {
    let mut all = Vec::new();
    for part in body.parts {
        match part {
            Part::Bytes(bytes) => all.extend(bytes),
            Part::File { file, at, bytes } => {
                let start = all.len();
                all.resize(start + bytes as usize, 0);
                if file.read_exact_at(&mut all[start..], at).is_err() {
                    all.truncate(start);
                }
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Exchange {
        /// Plays a connection on which nothing comes after these bytes.
        fn wait_out(&mut self, bytes: &[u8]) -> Played {
            let played = self.play([bytes]);
            let before = self.replies();
            self.wait();
            let replies = played.replies + self.replies() - before;
            Played { output: self.output.clone(), closed: self.closed, replies }
        }
    }

    const GET: &[u8] = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

    fn talk() -> (tempfile::TempDir, Exchange) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "content").unwrap();
        std::fs::write(folder.path().join("large"), vec![b'l'; 300_000]).unwrap();
        let talk = Exchange::over(folder.path()).unwrap();
        (folder, talk)
    }

    fn said(played: &Played) -> String {
        String::from_utf8_lossy(&played.output).into_owned()
    }

    #[test]
    fn a_request_is_answered_however_it_comes() {
        let (_folder, mut talk) = talk();
        let whole = talk.play([GET]);
        assert!(said(&whole).starts_with("HTTP/1.1 200 OK\r\n"), "{whole:?}");
        assert!(said(&whole).ends_with("\r\n\r\ncontent") && !whole.closed);
        for size in 1..GET.len() {
            assert_eq!(talk.play(GET.chunks(size)), whole, "in pieces of {size}");
        }
    }

    #[test]
    fn requests_behind_each_other_are_answered_in_their_order() {
        let (_folder, mut talk) = talk();
        let one = talk.play([GET]).output;
        let many = talk.play([&GET.repeat(50)[..]]);
        assert_eq!((many.output, many.replies), (one.repeat(50), 50));
        let large = b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n";
        let mixed = talk.play([&[GET, large, GET].concat()[..]]);
        assert!(mixed.replies == 3 && mixed.output.ends_with(&one));
        assert_eq!(mixed.output.len(), 2 * one.len() + talk.play([&large[..]]).output.len());
    }

    #[test]
    fn bodies_of_requests_are_passed_over() {
        let (_folder, mut talk) = talk();
        let bodies: [&[u8]; 4] = [
            b"Content-Length: 5\r\n\r\nabcde",
            b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: 1\r\n\r\n",
            b"Content-Length: 0\r\n\r\n",
        ];
        for body in bodies {
            let request = [&GET[..GET.len() - 2], body, GET].concat();
            for size in [1, 2, 3, 7, request.len()] {
                let played = talk.play(request.chunks(size));
                assert!(played.replies == 2 && !played.closed, "{}", said(&played));
            }
        }
    }

    #[test]
    fn a_body_that_is_none_or_too_much_ends_the_connection() {
        let (_folder, mut talk) = talk();
        let start = &GET[..GET.len() - 2];
        for body in [
            &b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"[..],
            b"Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n;x\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n0;x\n\r\n\r\n",
            b"Content-Length: 2000000\r\n\r\nabc",
        ] {
            let played = talk.play([&[start, body, GET].concat()[..]]);
            assert!(played.closed && played.replies == 1, "{}", said(&played));
        }
        let endless = [start, b"Transfer-Encoding: chunked\r\n\r\n"].concat();
        let chunk = [b"10000\r\n", &vec![b'x'; 0x10000][..], b"\r\n"].concat();
        let pieces = std::iter::once(&endless[..]).chain(std::iter::repeat_n(&chunk[..], 20));
        assert!(talk.play(pieces).closed);
        // Who still sends would lose the reply by a close.
        assert!(talk.lingers);
    }

    #[test]
    fn the_time_of_a_head_begins_behind_the_body_before_it() {
        let (_folder, mut talk) = talk();
        let body = b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r";
        talk.play([&[&GET[..GET.len() - 2], body].concat()[..]]);
        talk.pass(Limits::default().header * 2);
        talk.receive(&[b"\n0\r\n\r\n", &GET[..10]].concat());
        talk.pass(Limits::default().header / 2);
        assert!(!talk.closed, "{}", String::from_utf8_lossy(&talk.output));
        talk.pass(Limits::default().header);
        assert!(talk.closed);
    }

    #[test]
    fn a_server_that_drains_waits_for_the_rest_of_a_body_and_no_longer() {
        let (_folder, mut talk) = talk();
        let start = [&GET[..GET.len() - 2], b"Transfer-Encoding: chunked\r\n\r\n3\r\na"].concat();
        assert!(!talk.play([&start[..]]).closed);
        talk.desk.draining = true;
        talk.receive(b"bc\r\n0\r\n");
        assert!(!talk.closed);
        talk.receive(b"\r\n");
        assert!(talk.closed);
    }

    #[test]
    fn who_expects_to_be_told_to_go_on_is() {
        let (_folder, mut talk) = talk();
        let start = [&GET[..GET.len() - 2], b"Expect: 100-continue\r\n"].concat();
        let played = talk.play([&[&start[..], b"Content-Length: 3\r\n\r\nabc"].concat()[..], GET]);
        assert!(said(&played).starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200"));
        assert!(played.replies == 2);
        let refused = talk.play([&[&start[..], b"Content-Length: 3000000\r\n\r\n"].concat()[..]]);
        assert!(said(&refused).starts_with("HTTP/1.1 200") && refused.closed);
    }

    #[test]
    fn what_is_no_request_is_refused_and_ends_the_connection() {
        let (_folder, mut talk) = talk();
        for (bytes, status) in [
            (&b"nonsense\r\n\r\n"[..], "400"),
            (b"GET / HTTP/1.1\r\n\r\n", "400"),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"),
        ] {
            let played = talk.play([&[bytes, GET].concat()[..]]);
            assert!(said(&played).starts_with(&format!("HTTP/1.1 {status} ")), "{}", said(&played));
            assert!(played.closed && played.replies == 1);
        }
        let long = vec![b'a'; 20_000];
        let played = talk.play(long.chunks(1_000));
        assert!(played.closed && played.replies == 1);
    }

    #[test]
    fn a_head_that_does_not_come_is_a_time_out_and_an_idle_connection_just_ends() {
        let (_folder, mut talk) = talk();
        let slow = talk.wait_out(&GET[..10]);
        assert!(said(&slow).starts_with("HTTP/1.1 408 ") && slow.closed);
        let idle = talk.wait_out(GET);
        assert!(idle.closed && idle.replies == 1);
        let silent = talk.wait_out(b"");
        assert!(silent.closed && silent.output.is_empty());
    }
}
