//! One connection without a socket, for tests that send what no client would.

use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::connection::{Connection, Next};
use crate::response::{Body, Part};
use crate::site::Site;
use crate::workers::context::Context;
use crate::workers::counters::Counters;
use crate::{Error, Limits};

/// A directory that is served, one connection to it, and a clock that the caller moves.
pub struct Exchange {
    context: Context,
    connection: Connection,
    output: Vec<u8>,
    closed: bool,
    /// It reads and discards what still arrives.
    lingers: bool,
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exchange").finish_non_exhaustive()
    }
}

impl Exchange {
    /// An exchange over this directory.
    ///
    /// # Errors
    /// If the directory can't be opened.
    pub fn new(root: &Path) -> Result<Exchange, Error> {
        let context = Context::new(Site::open(root, 1 << 20)?, None, Arc::<Counters>::default());
        let connection = Connection::new(context.now_ms, None);
        Ok(Exchange { context, connection, output: Vec::new(), closed: false, lingers: false })
    }

    /// Begins another connection.
    pub fn begin(&mut self) {
        self.connection = Connection::new(self.context.now_ms, None);
        self.output.clear();
        (self.closed, self.lingers) = (false, false);
    }

    /// Delivers bytes, unless the server has closed the connection.
    pub fn receive(&mut self, bytes: &[u8]) {
        if !self.closed {
            let mut out = Vec::new();
            let next = self.connection.received(bytes, &mut self.context, &mut out);
            self.drive(next, out);
        }
    }

    /// Lets pass more time than any limit except a connection's lifetime.
    pub fn wait(&mut self) {
        let limits = Limits::default();
        self.pass(limits.idle.max(limits.header));
    }

    /// Lets time pass.
    fn pass(&mut self, time: Duration) {
        let limits = Limits::default();
        self.context.now_ms += time.as_millis() as u64;
        let mut out = Vec::new();
        if let Some(next) = self.connection.overdue(&limits, &mut self.context, &mut out, || 0) {
            self.drive(next, out);
        }
    }

    /// Plays a connection on which these pieces arrive, one after the other.
    pub fn play<'a>(&mut self, pieces: impl IntoIterator<Item = &'a [u8]>) -> Played {
        let before = self.replies();
        self.begin();
        pieces.into_iter().for_each(|piece| self.receive(piece));
        let replies = self.replies() - before;
        Played { output: self.output.clone(), closed: self.closed, replies }
    }

    fn replies(&self) -> u64 {
        let mut counts = crate::Counts::default();
        self.context.counts.add_to(&mut counts);
        counts.replies
    }

    /// All that was sent, bodies included.
    pub fn output(&self) -> &[u8] {
        &self.output
    }

    /// Whether the server has closed it; if not, it waits for more.
    pub fn is_closed(&self) -> bool {
        self.closed
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
                    let start = self.output.len();
                    self.output.append(&mut out);
                    let body = body.map_or(Ok(()), |body| append(body, &mut self.output));
                    self.connection.sent(self.output.len() - start, &mut self.context);
                    next = match body {
                        Ok(()) => self.connection.flushed(&mut self.context, &mut out),
                        Err(_) => Next::Close,
                    };
                }
            }
        }
    }
}

/// The outcome of a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Played {
    /// All that was sent, bodies included.
    pub output: Vec<u8>,
    /// The server has closed it; if not, it waits for more.
    pub closed: bool,
    /// Replies that were sent to their end.
    pub replies: u64,
}

/// Appends the bytes of a body; fails where a file has shrunk.
fn append(body: Body, output: &mut Vec<u8>) -> io::Result<()> {
    for part in body.parts {
        match part {
            Part::Bytes(bytes) => output.extend(bytes),
            Part::File { file, at, bytes } => {
                let mut content = vec![0; bytes as usize];
                file.read_exact_at(&mut content, at)?;
                output.extend(content);
            }
        }
    }
    Ok(())
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

    fn exchange() -> (tempfile::TempDir, Exchange) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a"), "content").unwrap();
        std::fs::write(directory.path().join("large"), vec![b'l'; 300_000]).unwrap();
        let exchange = Exchange::new(directory.path()).unwrap();
        (directory, exchange)
    }

    fn text(played: &Played) -> String {
        String::from_utf8_lossy(&played.output).into_owned()
    }

    #[test]
    fn a_request_is_answered_however_it_comes() {
        let (_directory, mut exchange) = exchange();
        let whole = exchange.play([GET]);
        assert!(text(&whole).starts_with("HTTP/1.1 200 OK\r\n"), "{whole:?}");
        assert!(text(&whole).ends_with("\r\n\r\ncontent") && !whole.closed);
        for size in 1..GET.len() {
            assert_eq!(exchange.play(GET.chunks(size)), whole, "in pieces of {size}");
        }
    }

    #[test]
    fn a_client_that_takes_what_the_kernel_has_of_its_reply_is_waited_for() {
        let (_directory, mut exchange) = exchange();
        let Exchange { context, connection, .. } = &mut exchange;
        let mut out = Vec::new();
        connection.received(GET, context, &mut out);
        let mut is_over = |untaken_bytes| {
            context.now_ms += Limits::default().stalled.as_millis() as u64 / 2 + 1;
            let mut out = Vec::new();
            connection.overdue(&Limits::default(), context, &mut out, || untaken_bytes).is_some()
        };
        assert_eq!([3, 2, 1, 1].map(&mut is_over), [false; 4]);
        assert!(is_over(1), "it took nothing for as long as the limit");
    }

    #[test]
    fn requests_behind_each_other_are_answered_in_their_order() {
        let (_directory, mut exchange) = exchange();
        let reply = exchange.play([GET]).output;
        let many = exchange.play([&GET.repeat(50)[..]]);
        assert_eq!((many.output, many.replies), (reply.repeat(50), 50));
        let large = b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n";
        let mixed = exchange.play([&[GET, large, GET].concat()[..]]);
        assert!(mixed.replies == 3 && mixed.output.ends_with(&reply));
        assert_eq!(mixed.output.len(), 2 * reply.len() + exchange.play([&large[..]]).output.len());
    }

    #[test]
    fn bodies_of_requests_are_passed_over() {
        let (_directory, mut exchange) = exchange();
        let bodies: [&[u8]; 4] = [
            b"Content-Length: 5\r\n\r\nabcde",
            b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nT: 1\r\n\r\n",
            b"Content-Length: 0\r\n\r\n",
        ];
        for body in bodies {
            let request = [&GET[..GET.len() - 2], body, GET].concat();
            for size in [1, 2, 3, 7, request.len()] {
                let played = exchange.play(request.chunks(size));
                assert!(played.replies == 2 && !played.closed, "{}", text(&played));
            }
        }
    }

    #[test]
    fn a_body_that_is_none_or_too_much_ends_the_connection() {
        let (_directory, mut exchange) = exchange();
        let start = &GET[..GET.len() - 2];
        for body in [
            &b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"[..],
            b"Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n;x\r\n\r\n",
            b"Transfer-Encoding: chunked\r\n\r\n0;x\n\r\n\r\n",
            b"Content-Length: 2000000\r\n\r\nabc",
        ] {
            let played = exchange.play([&[start, body, GET].concat()[..]]);
            assert!(played.closed && played.replies == 1, "{}", text(&played));
        }
        let endless = [start, b"Transfer-Encoding: chunked\r\n\r\n"].concat();
        let chunk = [b"10000\r\n", &vec![b'x'; 0x10000][..], b"\r\n"].concat();
        let pieces = std::iter::once(&endless[..]).chain(std::iter::repeat_n(&chunk[..], 20));
        assert!(exchange.play(pieces).closed);
        // Who still sends would lose the reply by a close.
        assert!(exchange.lingers);
    }

    #[test]
    fn the_time_of_a_head_begins_behind_the_body_before_it() {
        let (_directory, mut exchange) = exchange();
        let body = b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r";
        exchange.play([&[&GET[..GET.len() - 2], body].concat()[..]]);
        exchange.pass(Limits::default().header * 2);
        exchange.receive(&[b"\n0\r\n\r\n", &GET[..10]].concat());
        exchange.pass(Limits::default().header / 2);
        assert!(!exchange.closed, "{}", String::from_utf8_lossy(&exchange.output));
        exchange.pass(Limits::default().header);
        assert!(exchange.closed);
    }

    #[test]
    fn a_server_that_drains_waits_for_the_rest_of_a_body_and_no_longer() {
        let (_directory, mut exchange) = exchange();
        let start = [&GET[..GET.len() - 2], b"Transfer-Encoding: chunked\r\n\r\n3\r\na"].concat();
        assert!(!exchange.play([&start[..]]).closed);
        exchange.context.draining = true;
        exchange.receive(b"bc\r\n0\r\n");
        assert!(!exchange.closed);
        exchange.receive(b"\r\n");
        assert!(exchange.closed);
    }

    #[test]
    fn an_end_that_the_client_did_not_ask_for_lingers() {
        let (_directory, mut exchange) = exchange();
        let asked = [&GET[..GET.len() - 2], b"Connection: close\r\n\r\n"].concat();
        assert!(exchange.play([&asked[..]]).closed);
        assert!(!exchange.lingers, "who asks for the end sends no more");
        exchange.context.draining = true;
        assert!(text(&exchange.play([GET])).contains("Connection: close"));
        assert!(exchange.lingers, "a next request may be on its way");
    }

    #[test]
    fn a_client_that_expects_100_continue_gets_it() {
        let (_directory, mut exchange) = exchange();
        let start = [&GET[..GET.len() - 2], b"Expect: 100-continue\r\n"].concat();
        let played =
            exchange.play([&[&start[..], b"Content-Length: 3\r\n\r\nabc"].concat()[..], GET]);
        assert!(text(&played).starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200"));
        assert!(played.replies == 2);
        let refused =
            exchange.play([&[&start[..], b"Content-Length: 3000000\r\n\r\n"].concat()[..]]);
        assert!(text(&refused).starts_with("HTTP/1.1 200") && refused.closed);
    }

    #[test]
    fn what_is_no_request_is_refused_and_ends_the_connection() {
        let (_directory, mut exchange) = exchange();
        for (bytes, status) in [
            (&b"nonsense\r\n\r\n"[..], "400"),
            (b"GET / HTTP/1.1\r\n\r\n", "400"),
            (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "505"),
        ] {
            let played = exchange.play([&[bytes, GET].concat()[..]]);
            assert!(text(&played).starts_with(&format!("HTTP/1.1 {status} ")), "{}", text(&played));
            assert!(played.closed && played.replies == 1);
        }
        let long = vec![b'a'; 20_000];
        let played = exchange.play(long.chunks(1_000));
        assert!(played.closed && played.replies == 1);
    }

    #[test]
    fn a_head_that_does_not_come_is_a_time_out_and_an_idle_connection_just_ends() {
        let (_directory, mut exchange) = exchange();
        let slow = exchange.wait_out(&GET[..10]);
        assert!(text(&slow).starts_with("HTTP/1.1 408 ") && slow.closed);
        let idle = exchange.wait_out(GET);
        assert!(idle.closed && idle.replies == 1);
        let silent = exchange.wait_out(b"");
        assert!(silent.closed && silent.output.is_empty());
    }
}
