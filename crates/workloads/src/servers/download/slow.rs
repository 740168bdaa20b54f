//! A second client, which takes another file no faster than it may.

use super::file::MB;
use crate::servers::client;
use engine::Failure;
use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The length of its file, which it takes again and again.
pub(super) const FILE_MB: u64 = 16;
/// What it takes, in bytes a second.
const BYTES_PER_S: u64 = 4_000_000;
/// What it takes at a time.
const PIECE_BYTES: usize = 40_000;
/// Its receive buffer, so that the server has to wait for it.
const BUFFER_BYTES: usize = 64 << 10;

/// The client while it runs, in a thread of its own.
pub(super) struct Slow {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<()>>,
}

impl Slow {
    /// Begins: when this returns, the server sends to it.
    pub fn start(address: SocketAddr, path: &str) -> Result<Slow, Failure> {
        let failed = |error: io::Error| Failure::call("the slow client", error);
        let request = client::request(address, path);
        let (stream, left) = begin(address, &request).map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stop_flag = stop.clone();
        let thread =
            std::thread::spawn(move || take((stream, left), (address, &request), &stop_flag));
        Ok(Slow { stop, thread })
    }

    /// Ends it.
    pub fn end(self) -> Result<(), Failure> {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.join().map_err(|_| Failure::new("the slow client panicked"))?;
        ended.map_err(|error| Failure::call("the slow client", error))
    }
}

/// Asks for the file over a connection of its own, which any server may end with it. Returns the bytes of it that
/// are still to come, too.
fn begin(address: SocketAddr, request: &[u8]) -> io::Result<(TcpStream, u64)> {
    let mut stream = client::Client::connect(address)?;
    rustix::net::sockopt::set_socket_recv_buffer_size(&stream, BUFFER_BYTES)?;
    stream.write_all(request)?;
    let (head, body) = client::head(&mut stream)?;
    let bytes = FILE_MB * MB as u64;
    if client::sends_file(&head, bytes) {
        return Ok((stream, bytes - body.len() as u64));
    }
    Err(io::Error::other("the server does not send its file"))
}

/// Takes a piece whenever it is due by the rate, until it is stopped.
fn take(
    (mut stream, mut left): (TcpStream, u64),
    (address, request): (SocketAddr, &[u8]),
    stop: &AtomicBool,
) -> io::Result<()> {
    let (start, mut taken) = (Instant::now(), 0_u64);
    let mut buffer = vec![0; PIECE_BYTES];
    while !stop.load(Ordering::Relaxed) {
        if left == 0 {
            (stream, left) = begin(address, request)?;
        }
        let read = client::read(&mut stream, &mut buffer[..PIECE_BYTES.min(left as usize)])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        taken += read as u64;
        left -= read as u64;
        let due = start + Duration::from_nanos(taken * (1_000_000_000 / BYTES_PER_S));
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    Ok(())
}
