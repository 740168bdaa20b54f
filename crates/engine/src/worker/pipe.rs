//! A pipe of a worker, read without waiting, and the bytes that came out of it.

use crate::frame::FRAME_BYTES_MAX;
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};

/// One of the worker's pipes.
pub(super) struct Pipe {
    /// None once it has ended.
    source: Option<Box<dyn ReadFd>>,
    /// What came out of it, and was not dropped.
    pub bytes: Vec<u8>,
    is_cut: bool,
}

trait ReadFd: Read + AsFd {}
impl<T: Read + AsFd> ReadFd for T {}

impl Pipe {
    pub fn new(source: impl Read + AsFd + 'static) -> io::Result<Pipe> {
        let flags = fcntl_getfl(&source)?;
        fcntl_setfl(&source, flags | OFlags::NONBLOCK)?;
        Ok(Pipe { source: Some(Box::new(source)), bytes: Vec::new(), is_cut: false })
    }

    /// Its descriptor, unless it has ended.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.source.as_ref().map(|source| source.as_fd())
    }

    /// Takes what is there now, and closes the pipe at its end.
    pub fn drain(&mut self) {
        let Some(source) = &mut self.source else { return };
        let mut buffer = [0; 16 << 10];
        while self.bytes.len() <= FRAME_BYTES_MAX {
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
        self.bytes.len() > FRAME_BYTES_MAX
    }

    /// Drops all but the last bytes.
    pub fn keep_last(&mut self, bytes_max: usize) {
        let excess = self.bytes.len().saturating_sub(bytes_max);
        self.bytes.drain(..excess);
        self.is_cut |= excess > 0;
    }

    /// The bytes kept, from their first whole word on: half a URL could show half a password.
    pub fn whole_words(&self) -> &[u8] {
        let is_space = |byte: &u8| byte.is_ascii_whitespace();
        let end = self.bytes.iter().position(is_space).unwrap_or(self.bytes.len());
        &self.bytes[if self.is_cut { end } else { 0 }..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_end_that_is_kept_begins_with_a_whole_word() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut pipe = Pipe::new(reader).unwrap();
        let mut push = |text: &[u8]| {
            writer.write_all(text).unwrap();
            pipe.drain();
            pipe.keep_last(20);
            String::from_utf8(pipe.whole_words().to_vec()).unwrap()
        };
        assert_eq!(push(b"http://me:secret@h"), "http://me:secret@h");
        assert_eq!(push(b" is down"), " is down");
        assert_eq!(push(b" http://me:secret-cut"), "");
        assert_eq!(push(b"-in-two@host"), "", "the word goes on after it was cut");
        assert_eq!(push(b" is down\n"), " is down\n");
    }
}
