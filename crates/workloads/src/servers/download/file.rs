//! The large file: made, laid in pieces, and taken out of the page cache.

use crate::shared::shortage;
use engine::{Failure, Fit, LimitCause};
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate, statvfs};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// The bytes of one MB.
pub(super) const MB: usize = 1_000_000;
/// The length of a piece where there are to be many.
const PIECE_BYTES: u64 = 64 << 10;

/// So often, and so far apart, is a file taken out of the page cache.
const FORGET_TRIES_MAX: u32 = 5;
const FORGET_PAUSE: Duration = Duration::from_millis(10);

/// How a file lies on its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    Contiguous,
    Fragmented,
}

impl Layout {
    pub fn from_name(name: &str) -> Layout {
        if name == "fragmented" { Layout::Fragmented } else { Layout::Contiguous }
    }
}

/// A file that is on its disk and in the page cache.
#[derive(Debug)]
pub(super) struct Large {
    file: File,
    bytes: u64,
    /// Pieces that lie apart on the disk, where the file system tells.
    pub pieces: Option<u64>,
}

/// Makes one of `megabytes` MB.
pub(super) fn make(path: &Path, megabytes: u64, layout: Layout) -> Result<Large, Failure> {
    let failed = |error: io::Error| shortage::failure("making the file to download", &error);
    let bytes = megabytes * MB as u64;
    let file =
        File::options().read(true).write(true).create_new(true).open(path).map_err(failed)?;
    lay(&file, bytes, layout).map_err(failed)?;
    let mut writing = &file;
    for n in 0..megabytes {
        writing.write_all(&vec![byte(n); MB]).map_err(failed)?;
    }
    // What is still to be written would be written meanwhile.
    file.sync_data().map_err(failed)?;
    let pieces = sys::fiemap::pieces(&file).ok();
    if layout == Layout::Fragmented && pieces.is_none_or(|pieces| pieces < bytes / PIECE_BYTES / 4)
    {
        return Err(Failure::new(format!(
            "the file lies in {pieces:?} pieces, too few to call it that"
        )));
    }
    Ok(Large { file, bytes, pieces })
}

/// The byte that the n-th MB is full of, counted from 0.
pub(super) fn byte(n: u64) -> u8 {
    (n % 251) as u8
}

/// Finds room for it. In pieces, each is given room for itself, the last one first: none can follow the
/// one before it.
fn lay(file: &File, bytes: u64, layout: Layout) -> io::Result<()> {
    let allocate = |at: u64, length: u64| fallocate(file, FallocateFlags::empty(), at, length);
    let given = match layout {
        Layout::Contiguous => allocate(0, bytes),
        Layout::Fragmented => (0..bytes.div_ceil(PIECE_BYTES)).rev().try_for_each(|n| {
            let at = n * PIECE_BYTES;
            allocate(at, PIECE_BYTES.min(bytes - at))
        }),
    };
    match given {
        // It is given room as it is written, then.
        Err(rustix::io::Errno::OPNOTSUPP) if layout == Layout::Contiguous => Ok(()),
        result => Ok(result?),
    }
}

impl Large {
    /// Takes it out of the page cache, and looks whether it is.
    pub fn forget(&self) -> Result<(), Failure> {
        let forgotten = forget(&self.file, self.bytes);
        let (cached, pages) =
            forgotten.map_err(|error| Failure::call("emptying the page cache", error))?;
        // A page or two may be looked at by whoever writes them.
        if cached * 100 <= pages {
            return Ok(());
        }
        Err(Failure::new(format!("{cached} of the file's {pages} pages stay in the page cache")))
    }
}

/// Takes a file that is on its disk out of the page cache: how many of its pages are left, and how many
/// there are.
fn forget(file: &File, bytes: u64) -> io::Result<(usize, usize)> {
    // Pages that somebody looks at just then stay, and a folio may be dozens of them.
    let mut tries = 0;
    loop {
        tries += 1;
        fadvise(file, 0, None, Advice::DontNeed)?;
        let cached = sys::cached::pages_cached(file, bytes as usize)?;
        if cached.0 == 0 || tries == FORGET_TRIES_MAX {
            return Ok(cached);
        }
        std::thread::sleep(FORGET_PAUSE);
    }
}

/// Whether the file system of temporary files tells the pieces of a file.
pub(super) fn reports_pieces() -> Result<(), Fit> {
    static REPORTED: OnceLock<Result<(), String>> = OnceLock::new();
    let reported = REPORTED.get_or_init(|| {
        let file = trial().map_err(|error| error.to_string())?;
        sys::fiemap::pieces(&file).map(drop).map_err(|error| error.to_string())
    });
    reported.clone().map_err(|why| {
        missing("A download of a fragmented file", "does not report its pieces", &why)
    })
}

/// Whether the file system of temporary files has a disk to read from.
pub(super) fn forgets() -> Result<(), Fit> {
    static FORGETS: OnceLock<Result<(), String>> = OnceLock::new();
    let forgets = FORGETS.get_or_init(|| {
        let cached = trial().and_then(|file| forget(&file, TRIAL_BYTES as u64));
        match cached {
            Ok((0, _)) => Ok(()),
            Ok((cached, pages)) => Err(format!("{cached} of {pages} pages stay")),
            Err(error) => Err(error.to_string()),
        }
    });
    forgets
        .clone()
        .map_err(|why| missing("A download of a cold file", "keeps files in memory", &why))
}

/// What lets the file system do what it can't.
const DISK_REMEDY: &str = "TMPDIR=/a/directory/on/a/disk knee run …";

fn missing(what: &str, shortcoming: &str, error: &str) -> Fit {
    let directory = std::env::temp_dir();
    let clause = format!("the file system of {} {shortcoming} ({error})", directory.display());
    let cause = LimitCause::Other { clause };
    Fit::Leave { what: what.into(), cause, remedy: DISK_REMEDY.into() }
}

const TRIAL_BYTES: usize = 64 << 10;

/// A small file that is on its disk and has no name any more.
fn trial() -> io::Result<File> {
    let name = format!("knee-trial-{}-{:016x}", std::process::id(), fastrand::u64(..));
    let path = std::env::temp_dir().join(name);
    let mut file = File::options().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(&path)?;
    file.write_all(&vec![1; TRIAL_BYTES])?;
    file.sync_data()?;
    Ok(file)
}

/// Whether there is room for it where temporary files are, with some to spare.
pub(super) fn fit(parameter: &'static str, megabytes: u64) -> Fit {
    // Looked at once: what is planned for one subject has to hold for the next.
    static FREE_MB: OnceLock<u64> = OnceLock::new();
    let directory = std::env::temp_dir();
    let free_mb = *FREE_MB.get_or_init(|| {
        let free = |at: rustix::fs::StatVfs| at.f_bavail.saturating_mul(at.f_frsize) / MB as u64;
        statvfs(&directory).map_or(u64::MAX, free)
    });
    let max = (free_mb / 2).saturating_sub(super::slow::FILE_MB);
    if megabytes <= max {
        return Fit::Measure;
    }
    let clause = format!("half of what is free in {} is left to others", directory.display());
    Fit::AtMost {
        parameter,
        max,
        cause: LimitCause::Other { clause },
        remedy: "TMPDIR=/a/directory/with/space knee run …".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    /// A path in a directory of its own, which goes with it.
    struct TestDirectory(std::path::PathBuf);

    impl TestDirectory {
        fn new() -> TestDirectory {
            let name = format!("knee-test-{:016x}", fastrand::u64(..));
            let directory = TestDirectory(std::env::temp_dir().join(name));
            std::fs::create_dir(&directory.0).unwrap();
            directory
        }
    }

    impl Drop for TestDirectory {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_holds_what_it_is_known_by_however_it_lies() {
        let directory = TestDirectory::new();
        for (name, layout) in [("a", Layout::Contiguous), ("b", Layout::Fragmented)] {
            if layout == Layout::Fragmented
                && let Err(why) = reports_pieces()
            {
                eprintln!("SKIPPED in part: {why:?}");
                continue;
            }
            let path = directory.0.join(name);
            let large = make(&path, 3, layout).unwrap();
            let mut came = Vec::new();
            File::open(&path).unwrap().read_to_end(&mut came).unwrap();
            let wanted: Vec<u8> = (0..3).flat_map(|n| vec![byte(n); MB]).collect();
            assert!(came == wanted, "{layout:?}");
            let fragmented = large.pieces.is_some_and(|pieces| pieces > 10);
            assert_eq!(fragmented, layout == Layout::Fragmented, "{:?}", large.pieces);
        }
    }

    #[test]
    fn what_is_forgotten_is_not_in_the_cache() {
        if let Err(why) = forgets() {
            eprintln!("SKIPPED: {why:?}");
            return;
        }
        let directory = TestDirectory::new();
        let large = make(&directory.0.join("a"), 2, Layout::Contiguous).unwrap();
        large.forget().unwrap();
        assert!(sys::cached::pages_cached(&large.file, 2 * MB).unwrap().0 < 10);
    }

    #[test]
    fn half_of_the_disk_is_left_free() {
        assert_eq!(fit("megabytes", 0), Fit::Measure);
        let Fit::AtMost { max, .. } = fit("megabytes", u64::MAX) else { panic!("all fit") };
        assert!(max < u64::MAX / MB as u64);
    }
}
