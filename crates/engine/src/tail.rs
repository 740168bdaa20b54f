//! The end of what a process writes into a pipe, read without waiting: all of it may be more than the memory holds.

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A pipe of which the last bytes are kept.
#[derive(Debug)]
pub(crate) struct Tail {
    /// None once it has ended.
    pipe: Option<File>,
    pub bytes: Vec<u8>,
    bytes_max: usize,
    is_cut: bool,
}

impl Tail {
    /// Keeps `bytes_max` bytes at least.
    pub fn new(pipe: impl Into<OwnedFd>, bytes_max: usize) -> io::Result<Tail> {
        let pipe = File::from(pipe.into());
        fcntl_setfl(&pipe, fcntl_getfl(&pipe)? | OFlags::NONBLOCK)?;
        Ok(Tail { pipe: Some(pipe), bytes: Vec::new(), bytes_max, is_cut: false })
    }

    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads what there is, at most as much as a pipe holds: a process that never stops writing must not keep its
    /// guard from the time limit. Closes the pipe at its end.
    pub fn read(&mut self) {
        let mut chunk = [0; 16 << 10];
        for _ in 0..64 {
            let Some(pipe) = &mut self.pipe else { return };
            match pipe.read(&mut chunk) {
                Ok(count @ 1..) => self.add(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Ok(0) | Err(_) => self.pipe = None,
            }
        }
    }

    fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * self.bytes_max {
            self.bytes.drain(..self.bytes.len() - self.bytes_max);
            self.is_cut = true;
        }
    }

    /// Whether more came than is kept.
    pub fn is_over_full(&self) -> bool {
        self.is_cut || self.bytes.len() > self.bytes_max
    }

    /// What was kept. A text of which the beginning is cut begins with a whole word: half a URL could show half
    /// a password.
    pub fn text(&self) -> String {
        let kept = &self.bytes[self.bytes.len().saturating_sub(self.bytes_max)..];
        let word_end = || kept.iter().position(u8::is_ascii_whitespace).unwrap_or(kept.len());
        let start = if self.is_over_full() { word_end() } else { 0 };
        String::from_utf8_lossy(&kept[start..]).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn the_end_is_kept_from_a_whole_word_on() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut tail = Tail::new(reader, 8).unwrap();
        writer.write_all(b"first second third").unwrap();
        tail.read();
        assert_eq!((tail.text().as_str(), tail.descriptor().is_some()), (" third", true));
        writer.write_all(b" fo\xffrth").unwrap();
        drop(writer);
        tail.read();
        assert_eq!((tail.text().as_str(), tail.descriptor().is_some()), (" fo\u{fffd}rth", false));
    }

    #[test]
    fn a_word_that_was_cut_is_not_shown() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut tail = Tail::new(reader, 20).unwrap();
        let mut push = |text: &[u8]| {
            writer.write_all(text).unwrap();
            tail.read();
            tail.text()
        };
        assert_eq!(push(b"http://me:secret@h"), "http://me:secret@h");
        assert_eq!(push(b" is down"), " is down");
        assert_eq!(push(b" http://me:secret-cut"), "");
        assert_eq!(push(b"-in-two@host"), "", "the word goes on after it was cut");
        assert_eq!(push(b" is down\n"), " is down\n");
    }

    #[test]
    fn endless_output_takes_no_more_memory() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut tail = Tail::new(reader, 1_000).unwrap();
        for _ in 0..200 {
            writer.write_all(&[b'x'; 5_000]).unwrap();
            tail.read();
            assert!(tail.bytes.len() <= 2_000 + 5_000);
        }
    }
}
