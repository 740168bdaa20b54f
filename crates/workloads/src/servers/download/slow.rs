//! A second client, which takes another file no faster than it may.

use super::transfer::{Source, Transfer};
use crate::servers::client;
use engine::Failure;
use std::io;
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
    pub fn start(source: Source) -> Result<Slow, Failure> {
        let failed = |error: io::Error| Failure::call("the slow client", error);
        let transfer = source.open(Some(BUFFER_BYTES)).map_err(failed)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stop_flag = stop.clone();
        let body = move || take(transfer, &source, &stop_flag);
        let thread = std::thread::Builder::new().spawn(body);
        let thread =
            thread.map_err(|error| Failure::start("starting the slow client", &error, 1))?;
        Ok(Slow { stop, thread })
    }

    /// Ends it.
    pub fn end(self) -> Result<(), Failure> {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.join().map_err(|_| Failure::new("the slow client panicked"))?;
        ended.map_err(|error| Failure::call("the slow client", error))
    }
}

/// Takes a piece whenever it is due by the rate, until it is stopped.
fn take(mut transfer: Transfer, source: &Source, stop: &AtomicBool) -> io::Result<()> {
    let (start, mut taken) = (Instant::now(), 0_u64);
    let mut buffer = vec![0; PIECE_BYTES];
    while !stop.load(Ordering::Relaxed) {
        let left = transfer.bytes.map(|bytes| bytes.saturating_sub(transfer.taken_bytes));
        let length = PIECE_BYTES.min(left.unwrap_or(u64::MAX) as usize);
        let read = client::read(&mut transfer.stream, &mut buffer[..length])?;
        if read == 0 {
            if left.is_some_and(|left| left > 0) {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            transfer = source.open(Some(BUFFER_BYTES))?;
        }
        taken += read as u64;
        transfer.taken_bytes += read as u64;
        let due = start + Duration::from_nanos(taken * (1_000_000_000 / BYTES_PER_S));
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    Ok(())
}
