//! A client that asks for one file over connections of its own, one request at a time, and counts what
//! comes back.

use crate::servers::tls;
use crate::shared::shortage;
use engine::{Failure, Probe};
use load::{
    Closings, Framing, Handshakes, NoStream, Received, Receiver, ReplyHead, Stream, Target,
};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use sys::tcp::Address;

/// A first reply that takes longer than this never comes.
const PATIENCE: Duration = Duration::from_secs(20);
/// A later one, of a server that has replied.
const PATIENCE_THEN: Duration = Duration::from_secs(5);

/// Why its connections do not last.
pub(super) fn closes_each(closings: &Closings) -> Failure {
    Failure::new(format!(
        "the server closes each connection after its reply ({}): connections can't be held",
        closings.manner()
    ))
}

/// Why no whole reply came over `stream`.
fn no_reply(stream: &TcpStream, error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            let patience = stream.read_timeout().ok().flatten().unwrap_or_default();
            let why = if patience == PATIENCE_THEN {
                ": it may serve fewer connections than are open"
            } else {
                ""
            };
            let within_s = patience.as_secs();
            Failure::new(format!("the server gave no reply within {within_s} s{why}"))
        }
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => Failure::new(
            "the server closed a connection before its reply, or after the last one without announcing it",
        ),
        _ => Failure::call("waiting for a reply", error),
    }
}

fn no_tls(error: NoStream) -> Failure {
    match error {
        NoStream::Io(error) => Failure::call("the TLS handshake", error),
        NoStream::Tls(_) => Failure::new(error.to_string()),
    }
}

/// Where a server listens: those that are measured have a port.
fn address(target: &Target) -> Result<SocketAddr, Failure> {
    target.address.tcp().ok_or_else(|| Failure::new("a unix socket is for knee load"))
}

/// Asks for a file. The first reply gave the length of each.
pub(crate) struct Client {
    target: Target,
    address: SocketAddr,
    prepared: Address,
    request: Vec<u8>,
    /// Whether each handshake is to resume a session.
    resumes: bool,
    /// How many did.
    resumed: u64,
    /// The handshake of its first connection, which is closed.
    first: Option<Handshakes>,
    reply_bytes: usize,
    buffer: Vec<u8>,
    /// Takes the replies of a server whose heads or bodies differ in length from one to the next.
    any: Option<AnyReplies>,
}

/// Replies of any server: of this length, if that is known.
struct AnyReplies {
    receiver: Receiver,
    bytes: Option<u64>,
}

impl AnyReplies {
    /// Takes one, over a connection that has to last.
    fn receive(&mut self, stream: &mut Stream) -> Result<(), Failure> {
        let received = self.receive_any(stream)?;
        if received.head.keeps() {
            return Ok(());
        }
        Err(closes_each(&Closings::new(1, &received.head)))
    }

    /// Takes one, and the connection may end with it.
    fn receive_any(&mut self, stream: &mut Stream) -> Result<Received, Failure> {
        let received =
            self.receiver.receive(stream).map_err(|error| no_reply(&stream.socket, error))?;
        if received.head.status != 200 {
            return Err(Failure::new(format!(
                "the server replied with status {}",
                received.head.status
            )));
        }
        match (self.bytes, received.body_bytes) {
            (Some(wanted), Some(came)) if wanted != came => Err(Failure::new(format!(
                "the server replied with {came} bytes, and the file has {wanted}"
            ))),
            _ => Ok(received),
        }
    }
}

impl Client {
    /// One that asks for a file of so many `bytes`, having asked once.
    pub fn new(target: Target, bytes: u64) -> Result<Client, Failure> {
        let path = &target.path;
        let failed = |error: io::Error| Failure::call(format!("asking for {path}"), error);
        let mut stream = Client::stream(&target)?;
        stream.write_all(&request(&target)).map_err(failed)?;
        let (head, body) = head(&mut stream).map_err(failed)?;
        let framing = ReplyHead::parse(&head).map(|head| head.framing);
        if !is_good(&head) || framing != Some(Framing::Length(bytes)) {
            let head = String::from_utf8_lossy(&head).into_owned();
            return Err(Failure::new(format!("{path} is no file of {bytes} bytes: {head:?}")));
        }
        let mut rest = vec![0; (bytes as usize).saturating_sub(body.len())];
        stream.read_exact(&mut rest).map_err(failed)?;
        let reply_bytes = head.len() + bytes as usize;
        Client::after(&stream, target, reply_bytes, None)
    }

    /// One that asks any server for `target`, having asked once. The file has so many `bytes`, if it is one of ours.
    pub fn of_any_server(target: Target, bytes: Option<u64>) -> Result<Client, Failure> {
        let failed = |error: io::Error| Failure::call(format!("asking for {}", target.path), error);
        let mut any = AnyReplies { receiver: Receiver::default(), bytes };
        let mut stream = Client::stream(&target)?;
        stream.write_all(&request(&target)).map_err(failed)?;
        any.receive_any(&mut stream)?;
        Client::after(&stream, target, 0, Some(any))
    }

    /// One whose first reply has come over `stream`.
    fn after(
        stream: &Stream,
        target: Target,
        reply_bytes: usize,
        any: Option<AnyReplies>,
    ) -> Result<Client, Failure> {
        let address = address(&target)?;
        Ok(Client {
            address,
            prepared: address.into(),
            request: request(&target),
            resumes: target.tls.as_ref().is_some_and(|tls| !tls.options.no_resume),
            resumed: 0,
            first: stream.handshake(),
            reply_bytes,
            buffer: vec![0; reply_bytes],
            any,
            target,
        })
    }

    /// A connection to `target` for one that waits for its replies, over TLS where the target has it.
    pub fn stream(target: &Target) -> Result<Stream, Failure> {
        let socket = Client::connect(address(target)?)
            .map_err(|error| Failure::call("connecting", error))?;
        Stream::over(socket, target).map_err(no_tls)
    }

    /// A connection for one that waits for its replies.
    pub fn connect(address: SocketAddr) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(stream)
    }

    /// A socket that is to be connected.
    pub fn socket(&self) -> Result<TcpStream, Failure> {
        let made = || -> io::Result<TcpStream> {
            let stream = TcpStream::from(sys::tcp::socket(self.address.is_ipv6())?);
            stream.set_read_timeout(Some(PATIENCE_THEN))?;
            Ok(stream)
        };
        made().map_err(shortage::during("socket"))
    }

    /// Connects a socket: on loopback this is the whole handshake.
    #[inline]
    pub fn connect_it(&self, socket: &TcpStream) -> Result<(), Failure> {
        use std::os::fd::AsFd;
        let connected = sys::tcp::connect(socket.as_fd(), &self.prepared);
        connected.map_err(shortage::during("connect"))
    }

    /// States what it agreed on with the server, where its requests are encrypted.
    pub fn state(&self, probe: &mut Probe) {
        tls::state(self.first.as_ref(), probe);
    }

    /// Whether its requests are encrypted.
    pub fn is_tls(&self) -> bool {
        self.target.tls.is_some()
    }

    /// Shakes hands over a connected socket, where there is TLS.
    #[inline]
    pub fn shake_hands(&mut self, socket: TcpStream) -> Result<Stream, Failure> {
        let stream = Stream::over(socket, &self.target).map_err(no_tls)?;
        if self.resumes && !stream.has_resumed() {
            return Err(Failure::new(match self.resumed {
                0 => "the server resumes no session: each handshake is a full one".to_owned(),
                resumed => format!(
                    "the server resumed {resumed} sessions and gave none to resume next: of TLS 1.3, each is for one \
                     connection"
                ),
            }));
        }
        self.resumed += u64::from(self.resumes);
        Ok(stream)
    }

    /// Sends one request.
    #[inline]
    pub fn send(&self, stream: &mut Stream) -> Result<(), Failure> {
        stream.write_all(&self.request).map_err(|error| Failure::call("sending a request", error))
    }

    /// Takes one whole reply, as long as the first was and as good.
    #[inline]
    pub fn receive(&mut self, stream: &mut Stream) -> Result<(), Failure> {
        if let Some(any) = &mut self.any {
            return any.receive(stream);
        }
        let reply = &mut self.buffer[..self.reply_bytes];
        stream.read_exact(reply).map_err(|error| no_reply(&stream.socket, error))?;
        if is_good(reply) {
            return Ok(());
        }
        let line = reply.split(|&byte| byte == b'\r').next().unwrap_or_default();
        Err(Failure::new(format!("the server replied {:?}", String::from_utf8_lossy(line))))
    }

    /// Sends one request and takes its reply.
    #[inline]
    pub fn exchange(&mut self, stream: &mut Stream) -> Result<(), Failure> {
        self.send(stream)?;
        self.receive(stream)
    }
}

/// Closes connections with a reset, which leaves no port waiting for its time.
pub(crate) fn reset(streams: Vec<Stream>) {
    for stream in streams {
        // One that can't be reset is closed all the same.
        let _ = rustix::net::sockopt::set_socket_linger(&stream.socket, Some(Duration::ZERO));
        drop(stream);
    }
}

/// A request over a connection that is kept.
pub(crate) fn request(target: &Target) -> Vec<u8> {
    let Target { host, path, .. } = target;
    format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes()
}

/// Reads to the end of the head: it, its empty line included, and what came of the body with it.
pub(crate) fn head(from: &mut impl Read) -> io::Result<(Vec<u8>, Vec<u8>)> {
    /// No server's head is as long.
    const HEAD_BYTES_MAX: usize = 64 << 10;
    let (mut came, mut buffer) = (Vec::new(), [0; 4096]);
    while came.len() < HEAD_BYTES_MAX {
        let read = read(from, &mut buffer)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        came.extend_from_slice(&buffer[..read]);
        if let Some(end) = came.windows(4).position(|four| four == b"\r\n\r\n") {
            let body = came.split_off(end + 4);
            return Ok((came, body));
        }
    }
    Err(io::Error::other("the head of a reply has no end"))
}

/// Reads what there is. A socket with a time-out is not read again by itself after an interruption.
pub(crate) fn read(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Whether a reply begins as one to a request that was granted.
pub(crate) fn is_good(reply: &[u8]) -> bool {
    reply.starts_with(b"HTTP/1.1 200 ")
}

/// Whether the head of any server's reply, of HTTP/1.0 or 1.1, is of a file of so many bytes: their number may be
/// left to the end of the connection.
pub(crate) fn sends_file(head: &[u8], bytes: u64) -> bool {
    ReplyHead::parse(head).is_some_and(|head| {
        head.status == 200 && [Framing::UntilClose, Framing::Length(bytes)].contains(&head.framing)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_head_is_read_to_its_end_and_no_further() {
        let whole = b"HTTP/1.1 200 OK\r\ncontent-LENGTH: 5\r\n\r\nhello";
        let (head, body) = head(&mut &whole[..]).unwrap();
        assert!(is_good(&head) && head.ends_with(b"\r\n\r\n"));
        assert!(sends_file(&head, 5) && body.as_slice() == b"hello");
        assert!(super::head(&mut &whole[..20]).is_err());
    }

    #[test]
    fn a_file_may_come_over_http_10_and_not_in_chunks() {
        for good in [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
            "HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\n",
            "HTTP/1.0 200 OK\r\n\r\n",
        ] {
            assert!(sends_file(good.as_bytes(), 5), "{good}");
        }
        for wrong in [
            "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "HTTP/1.0 404 No\r\n\r\n",
            "SSH-2.0-x\r\n\r\n",
        ] {
            assert!(!sends_file(wrong.as_bytes(), 5), "{wrong}");
        }
    }

    /// A server that answers each request of one connection with the next of `replies`.
    fn serving(replies: &'static [&'static str]) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                for reply in replies {
                    if head(&mut stream).is_err() || stream.write_all(reply.as_bytes()).is_err() {
                        break;
                    }
                }
            }
        });
        address
    }

    #[test]
    fn a_reply_with_another_status_is_an_error() {
        const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
        const BAD: &str = "HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nhi";
        let target = Target::new(serving(&[GOOD, GOOD, BAD]), "x", "/x");
        assert!(Client::new(target.clone(), 3).is_err(), "the file has another length");
        let mut client = Client::new(target, 2).unwrap();
        let socket = client.socket().unwrap();
        client.connect_it(&socket).unwrap();
        let mut stream = client.shake_hands(socket).unwrap();
        client.exchange(&mut stream).unwrap();
        client.exchange(&mut stream).unwrap();
        let message = client.exchange(&mut stream).unwrap_err().to_string();
        assert_eq!(message, "the server replied \"HTTP/1.1 503 No\"");
        assert!(client.exchange(&mut stream).is_err(), "the connection has ended");
    }
}
