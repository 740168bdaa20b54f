//! The facts of a file that a reply states, and the small files that are kept whole.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use httpdate::HttpDate;

use crate::request::conditional::State;
use crate::response::media_type;
use crate::site::root::Stamp;

/// Bytes of a file that is kept, at most. A larger one is opened for each reply, and sent by the kernel: at 32 KiB that takes
/// a server 13 µs of CPU a reply, and 11 from memory; at 64 KiB 18, and from memory 19 by epoll and 47 by a ring, since the
/// socket takes only a part of it at once.
pub(crate) const SMALL_BYTES: u64 = 32 * 1024;

/// How long after its last change a stamp may not tell yet of another change, since file systems stamp
/// by a clock that ticks. No file system's ticks are as long as this.
const UNSETTLED_MS: i64 = 100;

/// The last second of the year 9999, beyond which HTTP has no dates.
const LAST_SECOND: u64 = 253_402_300_799;

/// A moment as HTTP writes it, from seconds since 1970.
pub(crate) fn date(second: u64) -> HttpDate {
    HttpDate::from(UNIX_EPOCH + Duration::from_secs(second.min(LAST_SECOND)))
}

/// Whole seconds since 1970; none before.
pub(crate) fn seconds(wall: SystemTime) -> u64 {
    wall.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub bytes: u64,
    /// The media type, and the character set of text.
    pub media: (&'static str, &'static str),
    /// From the length and the nanosecond of the last change, with its quotes.
    pub etag: String,
    /// The second of the last change; absent where it is in the future.
    pub modified: Option<u64>,
}

impl Facts {
    pub(crate) fn new(path: &[u8], stamp: &Stamp, wall: SystemTime) -> Facts {
        let (second, nanosecond) = stamp.modified;
        let etag = format!("\"{second:x}-{nanosecond:x}-{:x}\"", stamp.bytes);
        // A future date must not be sent (RFC 9110, 8.8.2.1).
        let modified = u64::try_from(second).ok().filter(|second| *second <= seconds(wall));
        Facts { bytes: stamp.bytes, media: media_type::from_path(path), etag, modified }
    }

    pub(crate) fn state(&self) -> State<'_> {
        State { etag: self.etag.as_bytes(), modified: self.modified }
    }
}

/// A file that is kept whole.
#[derive(Debug)]
pub(crate) struct CachedFile {
    pub facts: Facts,
    /// The end of the head of a whole reply, and then the file.
    pub tail: Vec<u8>,
    /// How many bytes of that belong to the head.
    pub head_bytes: usize,
    /// When the file was last looked at.
    pub looked_ms: u64,
    stamp: Stamp,
    settled: bool,
}

impl CachedFile {
    /// Takes in a file; `head` is the end of the head of a whole reply. None where it can't be had in one
    /// piece, since somebody is writing it.
    pub(crate) fn read(
        file: &File,
        stamp: Stamp,
        facts: Facts,
        head: Vec<u8>,
        now: Now,
    ) -> Option<CachedFile> {
        let (head_bytes, mut tail) = (head.len(), head);
        append(file, stamp.bytes, &mut tail).ok()?;
        let after = Stamp::from_metadata(&file.metadata().ok()?);
        let whole = (tail.len() - head_bytes) as u64 == stamp.bytes && after == stamp;
        let settled = now.wall_ms() >= in_ms(stamp.changed).saturating_add(UNSETTLED_MS);
        whole.then_some(CachedFile { facts, tail, head_bytes, looked_ms: now.ms, stamp, settled })
    }

    /// Whether it is certainly what the file holds whose stamp is given.
    pub(crate) fn is(&self, stamp: &Stamp) -> bool {
        self.settled && self.stamp == *stamp
    }

    pub(crate) fn body(&self) -> &[u8] {
        &self.tail[self.head_bytes..]
    }
}

/// The moment of this turn of the loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// Of a clock that only goes forward.
    pub ms: u64,
    /// Of the clock on the wall.
    pub wall: SystemTime,
}

impl Now {
    fn wall_ms(&self) -> i64 {
        let since = self.wall.duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}

fn in_ms((second, nanosecond): (i64, i64)) -> i64 {
    second.saturating_mul(1000).saturating_add(nanosecond / 1_000_000)
}

/// Appends a file that should have `bytes` bytes; at most one more, which shows that it has grown.
fn append(file: &File, bytes: u64, out: &mut Vec<u8>) -> io::Result<()> {
    let start = out.len();
    out.resize(start + bytes as usize + 1, 0);
    let mut filled = start;
    while filled < out.len() {
        match file.read_at(&mut out[filled..], (filled - start) as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    out.truncate(filled);
    out.shrink_to_fit();
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    const NOW: Now = Now { ms: 0, wall: UNIX_EPOCH };

    fn stamp(file: &File) -> Stamp {
        Stamp::from_metadata(&file.metadata().unwrap())
    }

    fn read(file: &File, stamp: Stamp) -> Option<Vec<u8>> {
        let facts = Facts::new(b"/a", &stamp, NOW.wall);
        let kept = CachedFile::read(file, stamp, facts, b"head".to_vec(), NOW)?;
        assert_eq!(kept.head_bytes, 4);
        Some(kept.tail)
    }

    #[test]
    fn a_file_that_is_being_written_is_not_kept() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"content").unwrap();
        let before = stamp(&file);
        assert_eq!(read(&file, before).as_deref(), Some(&b"headcontent"[..]));
        file.write_all(b" and more").unwrap();
        assert_eq!(read(&file, before), None);
        file.set_len(3).unwrap();
        assert_eq!(read(&file, before), None);
        // The length is the same, and yet it is another state.
        file.rewind().unwrap();
        file.write_all(b"CONTENT").unwrap();
        file.set_modified(UNIX_EPOCH).unwrap();
        assert_eq!(stamp(&file).bytes, before.bytes);
        assert_eq!(read(&file, before), None);
        assert_eq!(read(&file, stamp(&file)).as_deref(), Some(&b"headCONTENT"[..]));
    }

    #[test]
    fn each_state_has_a_tag_of_its_own() {
        let file = tempfile::tempfile().unwrap();
        let mut tags = Vec::new();
        for (length, nanoseconds) in [(0, 0), (1, 0), (0, 1_000_000), (0, 1_000_000_000)] {
            file.set_len(length).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_nanos(nanoseconds)).unwrap();
            tags.push(Facts::new(b"/a", &stamp(&file), NOW.wall).etag);
        }
        assert_eq!(tags, ["\"0-0-0\"", "\"0-0-1\"", "\"0-f4240-0\"", "\"1-0-0\""]);
    }
}
