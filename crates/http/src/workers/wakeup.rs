//! How a worker that waits for its sockets learns of an order: a pipe that becomes readable.

use std::io::{PipeReader, PipeWriter, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU8, Ordering};

/// What the workers have to do. A greater order replaces a smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum WorkerOrder {
    Serve = 0,
    Drain = 1,
    Stop = 2,
}

/// The current order, and the pipe that wakes the worker when it changes.
#[derive(Debug)]
pub(crate) struct Wakeup {
    order: AtomicU8,
    reader: PipeReader,
    writer: PipeWriter,
}

impl Wakeup {
    pub(crate) fn new() -> std::io::Result<Wakeup> {
        let (reader, writer) = std::io::pipe()?;
        rustix::io::ioctl_fionbio(&reader, true)?;
        rustix::io::ioctl_fionbio(&writer, true)?;
        Ok(Wakeup { order: AtomicU8::new(WorkerOrder::Serve as u8), reader, writer })
    }

    /// The descriptor that a worker watches for reading.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }

    /// Empties the pipe and returns the current order.
    pub(crate) fn take_order(&self) -> WorkerOrder {
        let mut bytes = [0_u8; 64];
        // A failed read leaves the order as it is, and only the order counts.
        while rustix::io::read(&self.reader, &mut bytes[..]).is_ok_and(|taken| taken > 0) {}
        match self.order.load(Ordering::Acquire) {
            0 => WorkerOrder::Serve,
            1 => WorkerOrder::Drain,
            _ => WorkerOrder::Stop,
        }
    }

    /// Gives an order and wakes the worker; a greater order stays.
    pub(super) fn send(&self, order: WorkerOrder) {
        self.order.fetch_max(order as u8, Ordering::AcqRel);
        // A full pipe is readable already.
        let _ = (&self.writer).write(&[0]);
    }
}
