//! A second client, which takes another file no faster than it may.

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
        let mut stream = client::Client::connect(address).map_err(failed)?;
        rustix::net::sockopt::set_socket_recv_buffer_size(&stream, BUFFER_BYTES)
            .map_err(|error| failed(error.into()))?;
        let request = client::request(address, path);
        let left = send_request(&mut stream, &request).map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stop_flag = stop.clone();
        let thread = std::thread::spawn(move || take(stream, &request, left, &stop_flag));
        Ok(Slow { stop, thread })
    }

    /// Ends it.
    pub fn end(self) -> Result<(), Failure> {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.join().map_err(|_| Failure::new("the slow client panicked"))?;
        ended.map_err(|error| Failure::call("the slow client", error))
    }
}

/// Asks for the file: the bytes of it that are still to come.
fn send_request(stream: &mut TcpStream, request: &[u8]) -> io::Result<u64> {
    stream.write_all(request)?;
    let (head, body) = client::head(stream)?;
    match client::length(&head) {
        Some(bytes) if client::is_good(&head) => Ok(bytes - body.len() as u64),
        _ => Err(io::Error::other("the server does not send its file")),
    }
}

/// Takes a piece whenever it is due by the rate, until it is stopped.
fn take(mut stream: TcpStream, request: &[u8], mut left: u64, stop: &AtomicBool) -> io::Result<()> {
    let (start, mut taken) = (Instant::now(), 0_u64);
    let mut buffer = vec![0; PIECE_BYTES];
    while !stop.load(Ordering::Relaxed) {
        if left == 0 {
            left = send_request(&mut stream, request)?;
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
