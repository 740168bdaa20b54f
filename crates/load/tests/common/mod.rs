//! A small server for tests: a thread a connection, and a script that says what each request gets.
#![allow(dead_code, reason = "each test file uses its part")]

use load::{Plan, Target};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A whole reply.
pub const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// What the server did, and where it is. Its threads end with the process, or with their clients.
pub struct Server {
    pub address: SocketAddr,
    pub accepted: Arc<AtomicU64>,
    pub requests: Arc<AtomicU64>,
    pub closing: Arc<AtomicU64>,
}

/// What comes of a request.
pub enum Answer {
    /// These bytes, and on.
    Send(Vec<u8>),
    /// These bytes in two pieces, the second from the given position on.
    Pieces(Vec<u8>, usize),
    /// These bytes, and the end.
    Last(Vec<u8>),
    /// These bytes, and the end after a while.
    LastAfter(Vec<u8>, Duration),
    /// The connection is reset.
    Reset,
    /// Nothing, and the connection stays.
    Silence,
}

impl Server {
    /// Serves every request by what `script` makes of its number, from 0 on, over all connections.
    pub fn start(script: impl Fn(u64) -> Answer + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server {
            address: listener.local_addr().unwrap(),
            accepted: Arc::default(),
            requests: Arc::default(),
            closing: Arc::default(),
        };
        let script = Arc::new(script);
        let counts = [&server.accepted, &server.requests, &server.closing].map(Arc::clone);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counts[0].fetch_add(1, Ordering::SeqCst);
                let (script, counts) = (Arc::clone(&script), counts.clone());
                std::thread::spawn(move || serve(stream, &*script, &counts));
            }
        });
        server
    }

    pub fn target(&self) -> Target {
        Target::new(self.address, "localhost", "/x")
    }

    /// A closed loop over one connection that the test gives its own terms.
    pub fn plan(&self) -> Plan {
        Plan { timeout: Duration::from_secs(60), ..Plan::new(self.target()) }
    }
}

/// An address without a listener for as long as the socket is kept: it is not willing to share its
/// port, so that no listener of another test gets it.
pub fn closed_port() -> (OwnedFd, SocketAddr) {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
    bind(&socket, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
    let address = SocketAddr::try_from(getsockname(&socket).unwrap()).unwrap();
    (socket, address)
}

fn serve(mut stream: TcpStream, script: &dyn Fn(u64) -> Answer, counts: &[Arc<AtomicU64>; 3]) {
    let mut pending = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        let Ok(count @ 1..) = stream.read(&mut bytes) else { return };
        pending.extend_from_slice(&bytes[..count]);
        while let Some(end) = pending.windows(4).position(|four| four == b"\r\n\r\n") {
            let request: Vec<u8> = pending.drain(..end + 4).collect();
            let closes = request.windows(17).any(|part| part == b"Connection: close");
            counts[2].fetch_add(u64::from(closes), Ordering::SeqCst);
            match script(counts[1].fetch_add(1, Ordering::SeqCst)) {
                Answer::Send(reply) => {
                    if stream.write_all(&reply).is_err() {
                        return;
                    }
                }
                Answer::Pieces(reply, at) => {
                    let (head, body) = reply.split_at(at);
                    if stream.write_all(head).and_then(|()| stream.write_all(body)).is_err() {
                        return;
                    }
                }
                Answer::LastAfter(reply, pause) => {
                    let _ = stream.write_all(&reply);
                    std::thread::sleep(pause);
                    return;
                }
                Answer::Last(reply) => {
                    // The client may be gone by now.
                    let _ = stream.write_all(&reply);
                    return;
                }
                Answer::Reset => {
                    rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
                    return;
                }
                Answer::Silence => {}
            }
        }
    }
}
