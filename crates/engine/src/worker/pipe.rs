//! A pipe of a worker, read without waiting, and the bytes that came out of it.

use super::frame::REPLY_BYTES_MAX;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};

/// One of the worker's pipes.
pub(super) struct Pipe {
    /// None once it has ended.
    source: Option<Box<dyn ReadFd>>,
    /// What came out of it, and was not dropped.
    pub bytes: Vec<u8>,
}

trait ReadFd: Read + AsFd {}
impl<T: Read + AsFd> ReadFd for T {}

impl Pipe {
    pub fn new(source: impl Read + AsFd + 'static) -> io::Result<Pipe> {
        let flags = fcntl_getfl(&source)?;
        fcntl_setfl(&source, flags | OFlags::NONBLOCK)?;
        Ok(Pipe { source: Some(Box::new(source)), bytes: Vec::new() })
    }

    /// Its descriptor, unless it has ended.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.source.as_ref().map(|source| source.as_fd())
    }

    /// Takes what is there now, and closes the pipe at its end.
    pub fn drain(&mut self) {
        let Some(source) = &mut self.source else { return };
        let mut buffer = [0; 16 << 10];
        while self.bytes.len() <= REPLY_BYTES_MAX {
            match source.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => self.bytes.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => break,
            }
        }
        if !self.is_over_full() {
            self.source = None;
        }
    }

    /// Whether more came than any reply holds.
    pub fn is_over_full(&self) -> bool {
        self.bytes.len() > REPLY_BYTES_MAX
    }

    /// Drops all but the last bytes.
    pub fn keep_last(&mut self, bytes_max: usize) {
        let excess = self.bytes.len().saturating_sub(bytes_max);
        self.bytes.drain(..excess);
    }
}
