//! What a program writes, in a file of which the end is kept: all of it may be more than the disk holds.
//!
//! A pipe would wake its reader for each line of a server that logs its requests, on the server's CPUs.

use rustix::fs::{FallocateFlags, fallocate};
use std::fs::File;
use std::io;
use std::path::Path;

/// From so many bytes on, the beginning is given back.
const BYTES_MAX: u64 = 1 << 20;
/// What is left at least.
const BYTES_KEPT: u64 = 64 << 10;

#[derive(Debug)]
pub(super) struct Log {
    pub file: File,
    /// Where what is kept begins.
    start: u64,
}

impl Log {
    pub fn create(path: &Path) -> io::Result<Log> {
        drop(File::create(path)?);
        Ok(Log { file: File::options().append(true).open(path)?, start: 0 })
    }

    /// Gives the beginning of a long one back to the disk. Where the file system can't do that, all of it.
    pub fn shorten(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        if length.saturating_sub(self.start) <= BYTES_MAX {
            return Ok(());
        }
        let start = (length - BYTES_KEPT) / 4_096 * 4_096;
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        if fallocate(&self.file, flags, self.start, start - self.start).is_ok() {
            self.start = start;
            return Ok(());
        }
        self.start = 0;
        self.file.set_len(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn the_end_of_a_long_one_is_kept_and_the_disk_is_not() {
        let path = std::env::temp_dir().join(format!("knee-test-{:016x}", fastrand::u64(..)));
        let mut log = Log::create(&path).unwrap();
        for turn in 0..40 {
            log.file.write_all(&vec![b'x'; 300_000]).unwrap();
            writeln!(log.file, "turn {turn}").unwrap();
            log.shorten().unwrap();
            let bytes = log.file.metadata().unwrap().blocks() * 512;
            assert!(bytes <= 2 * BYTES_MAX, "{bytes} after {turn}");
        }
        log.file.write_all(b"the end\n").unwrap();
        assert!(std::fs::read(&path).unwrap().ends_with(b"turn 39\nthe end\n"));
        std::fs::remove_file(&path).unwrap();
    }
}
