//! The access log: a line for each reply, in the common log format.
//!
//! A log never blocks its worker. A FIFO or a terminal is opened and written without waiting; what it does
//! not take stays in a buffer of fixed size, and lines that do not fit there are dropped and counted.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::time::SystemTime;

use rustix::fs::OFlags;

use crate::Error;
use crate::site::Summary;

/// Bytes from which on the pending lines are written before the second is over.
const WRITE_BYTES: usize = 64 * 1024;

/// Bytes of lines that wait for a log that takes none.
const PENDING_BYTES_MAX: usize = 256 * 1024;

/// Bytes that a pipe takes all at once or not at all (`PIPE_BUF` of Linux), so that lines of several
/// workers do not mix.
const PIPE_ATOMIC_BYTES: usize = 4096;

/// A log file. Several workers append to it, each with a `File` of its own, and each whole lines.
pub(crate) struct AccessLog {
    file: File,
    is_pipe: bool,
    pending: Vec<u8>,
    /// The file took no more at the last write: the next attempt is at the next tick.
    is_full: bool,
    /// `06/Nov/1994:08:49:37 +0000`
    date: String,
    /// Lines that were not written.
    pub(crate) dropped: u64,
}

impl AccessLog {
    pub(crate) fn open(path: &Path) -> Result<AccessLog, Error> {
        let failed = |error| Error::Invalid(format!("the log {}: {error}", path.display()));
        let file = open_without_waiting(path).map_err(failed)?;
        let is_pipe = file.metadata().map_err(failed)?.file_type().is_fifo();
        Ok(AccessLog {
            file,
            is_pipe,
            pending: Vec::new(),
            is_full: false,
            date: String::new(),
            dropped: 0,
        })
    }

    /// Sets the date of the lines to come, and lets a full log be tried again.
    pub(crate) fn tick(&mut self, now: SystemTime) {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let long = httpdate::fmt_http_date(now);
        let mut words = long.split(' ').skip(1);
        let mut word = || words.next().unwrap_or("-");
        self.date = format!("{}/{}/{}:{} +0000", word(), word(), word(), word());
        self.is_full = false;
    }

    /// Adds a line for a reply to the request that began with `request`.
    pub(crate) fn push(&mut self, peer: Option<&SocketAddr>, request: &[u8], reply: Summary) {
        let start = self.pending.len();
        self.format_line(peer, request, reply);
        let length = self.pending.len() - start;
        let is_too_long = self.is_pipe && length > PIPE_ATOMIC_BYTES;
        if is_too_long || self.pending.len() > PENDING_BYTES_MAX {
            self.pending.truncate(start);
            self.dropped += 1;
        }
        if self.pending.len() >= WRITE_BYTES && !self.is_full {
            self.flush();
        }
    }

    fn format_line(&mut self, peer: Option<&SocketAddr>, request: &[u8], reply: Summary) {
        let lines = &mut self.pending;
        // Writing to a vector can't fail.
        let _ = match peer {
            Some(peer) => write!(lines, "{} - - [{}] \"", peer.ip(), self.date),
            None => write!(lines, "- - - [{}] \"", self.date),
        };
        let _ = lines.write_all(printable::without_user_info(&escape(request)).as_bytes());
        let _ = writeln!(lines, "\" {} {}", reply.status.code(), reply.bytes);
    }

    /// Writes the pending lines as far as the file takes them. Serving goes on if that fails, as on a full
    /// disk: those lines are dropped.
    pub(crate) fn flush(&mut self) {
        let mut written = 0;
        while written < self.pending.len() {
            let rest = &self.pending[written..];
            let bytes = if self.is_pipe { whole_lines(rest) } else { rest };
            match self.file.write(bytes) {
                Ok(count) => written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.is_full = true;
                    break;
                }
                Err(_) => {
                    self.dropped += count_lines(rest);
                    written = self.pending.len();
                }
            }
        }
        self.pending.drain(..written);
    }

    /// Writes for the last time.
    pub(crate) fn close(&mut self) {
        self.flush();
        self.dropped += count_lines(&self.pending);
        self.pending.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }
}

/// Opens a file for appending, without waiting for the reader of a FIFO.
fn open_without_waiting(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let is_fifo = std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo());
    let mut options = File::options();
    options.append(true).create(!is_fifo).custom_flags(flags);
    if is_fifo && let Ok(file) = options.clone().read(true).open(path) {
        // Open for reading as well, it keeps the lines until a reader comes, and outlives readers.
        return Ok(file);
    }
    options.open(path)
}

/// The request with `\xNN` for each byte that could break out of the line.
fn escape(request: &[u8]) -> String {
    let mut text = String::with_capacity(request.len());
    for &byte in request {
        match byte {
            b'"' | b'\\' | 0..=0x1f | 0x7f..=0xff => {
                // Writing to a string can't fail.
                let _ = write!(text, "\\x{byte:02X}");
            }
            _ => text.push(char::from(byte)),
        }
    }
    text
}

/// As many whole lines as a pipe takes at once; one line at least.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    let end = |line_feed: usize| line_feed + 1;
    let head = &bytes[..bytes.len().min(PIPE_ATOMIC_BYTES)];
    let last = head.iter().rposition(|byte| *byte == b'\n').map_or(bytes.len(), end);
    &bytes[..last]
}

fn count_lines(bytes: &[u8]) -> u64 {
    // All but the last piece end with a line break.
    bytes.split(|byte| *byte == b'\n').count() as u64 - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::response::status::Status;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::io::Read;
    use std::path::PathBuf;
    use std::time::Duration;

    const OK: Summary = Summary { status: Status::Ok, bytes: 1 };

    fn fifo(directory: &tempfile::TempDir) -> PathBuf {
        let path = directory.path().join("fifo");
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        path
    }

    #[test]
    fn a_line_is_in_the_common_log_format_and_nothing_breaks_out_of_it() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut log = AccessLog::open(&path).unwrap();
        log.tick(SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777));
        let peer = "10.1.2.3:99".parse().unwrap();
        log.push(Some(&peer), b"GET / HTTP/1.1", Summary { status: Status::Ok, bytes: 128 });
        log.push(None, b"GET /\"\n", Summary { status: Status::BadRequest, bytes: 0 });
        log.flush();
        assert!(log.is_empty());
        let lines = std::fs::read_to_string(path).unwrap();
        let expected = "10.1.2.3 - - [06/Nov/1994:08:49:37 +0000] \"GET / HTTP/1.1\" 200 128\n\
                        - - - [06/Nov/1994:08:49:37 +0000] \"GET /\\x22\\x0A\" 400 0\n";
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_password_in_a_target_is_not_logged() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut log = AccessLog::open(&path).unwrap();
        log.push(None, b"GET http://me:secret@host/a HTTP/1.1", OK);
        log.push(None, b"GET http://me:s\"\xe4secret@host/a HTTP/1.1", OK);
        log.flush();
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text.matches("\"GET http://***@host/a HTTP/1.1\"").count(), 2, "{text}");
    }

    #[test]
    fn lines_that_a_full_disk_refuses_are_counted() {
        let mut log = AccessLog::open(Path::new("/dev/full")).unwrap();
        for dropped in 1..3 {
            log.push(None, b"GET / HTTP/1.1", OK);
            log.flush();
            assert!(log.is_empty() && log.dropped == dropped);
        }
    }

    #[test]
    fn a_fifo_without_a_reader_blocks_nothing_and_its_lines_are_written_or_counted() {
        let directory = tempfile::tempdir().unwrap();
        let path = fifo(&directory);
        let mut log = AccessLog::open(&path).unwrap();
        let mut reader = AccessLog::open(&path).unwrap().file;
        for _ in 0..20_000 {
            log.push(None, b"GET / HTTP/1.1", OK);
        }
        assert!(log.dropped > 0, "20,000 lines fit into a pipe and its buffer");
        assert!(log.pending.len() <= PENDING_BYTES_MAX);
        log.close();
        assert!(log.is_empty());
        let mut text = vec![0; 1 << 20];
        let mut length = 0;
        while let Ok(count) = reader.read(&mut text[length..]) {
            length += count;
        }
        assert!(text[..length].ends_with(b"\n"));
        assert_eq!(count_lines(&text[..length]) + log.dropped, 20_000);
    }

    #[test]
    fn a_line_that_a_pipe_would_split_is_dropped_and_counted() {
        let directory = tempfile::tempdir().unwrap();
        let mut log = AccessLog::open(&fifo(&directory)).unwrap();
        log.push(None, &[b'a'; PIPE_ATOMIC_BYTES], OK);
        assert!(log.is_empty() && log.dropped == 1);
    }
}
