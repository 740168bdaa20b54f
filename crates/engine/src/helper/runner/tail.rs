//! The end of what a command writes: all of it may be more than the memory holds.

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::io::{self, PipeReader, Read};

/// A pipe of a command, of which the last bytes are kept.
pub(super) struct Tail {
    pipe: PipeReader,
    bytes: Vec<u8>,
    bytes_max: usize,
    is_cut: bool,
    pub has_ended: bool,
}

impl Tail {
    /// Keeps `bytes_max` bytes at least.
    pub fn new(pipe: PipeReader, bytes_max: usize) -> io::Result<Tail> {
        let flags = fcntl_getfl(&pipe)?;
        fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?;
        Ok(Tail { pipe, bytes: Vec::new(), bytes_max, is_cut: false, has_ended: false })
    }

    pub fn pipe(&self) -> &PipeReader {
        &self.pipe
    }

    /// Reads what there is, at most as much as a pipe holds: a command that never stops writing must not keep
    /// its guard from the time limit.
    pub fn read(&mut self) {
        let mut chunk = [0; 16 << 10];
        for _ in 0..64 {
            match self.pipe.read(&mut chunk) {
                Ok(0) => {
                    self.has_ended = true;
                    return;
                }
                Ok(count) => self.add(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
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

    /// What was kept. A text of which the beginning is cut begins with a whole word: half a URL could show half
    /// a password.
    pub fn text(&self) -> String {
        let cut = self.bytes.len().saturating_sub(self.bytes_max);
        let kept = &self.bytes[cut..];
        let is_space = |byte: &u8| byte.is_ascii_whitespace();
        let is_whole = cut == 0 && !self.is_cut;
        let start = if is_whole { 0 } else { kept.iter().position(is_space).unwrap_or(kept.len()) };
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
        assert_eq!((tail.text().as_str(), tail.has_ended), (" third", false));
        writer.write_all(b" fo\xffrth").unwrap();
        drop(writer);
        tail.read();
        assert_eq!((tail.text().as_str(), tail.has_ended), (" fo\u{fffd}rth", true));
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
