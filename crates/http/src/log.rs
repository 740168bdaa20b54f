//! The access log: a line for each reply, in the common log format.

use std::fs::File;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::time::SystemTime;

use crate::Error;
use crate::site::Said;

/// Bytes of lines that are kept until they are written; a second's lines, if they are fewer.
const KEPT_BYTES: usize = 64 * 1024;

/// A log file, to whose end several workers may write: each writes whole lines.
pub(crate) struct Log {
    file: File,
    lines: Vec<u8>,
    /// `06/Nov/1994:08:49:37 +0000`
    date: String,
    /// Lines that are kept.
    kept: u64,
    /// Lines that could not be written.
    lost: u64,
}

impl Log {
    pub(crate) fn open(path: &Path) -> Result<Log, Error> {
        let file = File::options().append(true).create(true).open(path);
        let file =
            file.map_err(|error| Error::Asked(format!("the log {}: {error}", path.display())))?;
        Ok(Log { file, lines: Vec::new(), date: String::new(), kept: 0, lost: 0 })
    }

    /// Takes the time for the lines of the next second.
    pub(crate) fn tick(&mut self, now: SystemTime) {
        // Sun, 06 Nov 1994 08:49:37 GMT
        let long = httpdate::fmt_http_date(now);
        let mut words = long.split(' ').skip(1);
        let mut word = || words.next().unwrap_or("-");
        self.date = format!("{}/{}/{}:{} +0000", word(), word(), word(), word());
    }

    /// Notes a reply to the request that began with `line`.
    pub(crate) fn note(&mut self, peer: Option<&SocketAddr>, line: &[u8], said: Said) {
        let lines = &mut self.lines;
        // Writing to a vector can't fail.
        let _ = match peer {
            Some(peer) => write!(lines, "{} - - [{}] \"", peer.ip(), self.date),
            None => write!(lines, "- - - [{}] \"", self.date),
        };
        for &byte in line {
            match byte {
                b'"' | b'\\' | 0..=0x1f | 0x7f..=0xff => {
                    let _ = write!(lines, "\\x{byte:02X}");
                }
                _ => lines.push(byte),
            }
        }
        let _ = writeln!(lines, "\" {} {}", said.status.code(), said.bytes);
        self.kept += 1;
        if self.lines.len() >= KEPT_BYTES {
            self.flush();
        }
    }

    /// Writes what is kept. Serving goes on where that fails, as on a full disk; lost lines are counted.
    pub(crate) fn flush(&mut self) {
        if self.file.write_all(&self.lines).is_err() {
            self.lost += self.kept;
        }
        self.kept = 0;
        self.lines.clear();
    }

    /// Lines that could not be written so far.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::Status;
    use std::time::Duration;

    #[test]
    fn a_line_is_in_the_common_log_format_and_nothing_breaks_out_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut log = Log::open(&path).unwrap();
        log.tick(SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777));
        let peer = "10.1.2.3:99".parse().unwrap();
        log.note(Some(&peer), b"GET / HTTP/1.1", Said { status: Status::Ok, bytes: 128 });
        log.note(None, b"GET /\"\n", Said { status: Status::BadRequest, bytes: 0 });
        log.flush();
        assert!(log.is_empty());
        let lines = std::fs::read_to_string(path).unwrap();
        let expected = "10.1.2.3 - - [06/Nov/1994:08:49:37 +0000] \"GET / HTTP/1.1\" 200 128\n\
                        - - - [06/Nov/1994:08:49:37 +0000] \"GET /\\x22\\x0A\" 400 0\n";
        assert_eq!(lines, expected);
    }

    #[test]
    fn lines_that_a_full_disk_loses_are_counted() {
        let mut log = Log::open(Path::new("/dev/full")).unwrap();
        for lost in 1..3 {
            log.note(None, b"GET / HTTP/1.1", Said { status: Status::Ok, bytes: 1 });
            log.flush();
            assert!(log.is_empty() && log.lost() == lost);
        }
    }
}
