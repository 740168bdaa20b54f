//! Locks on one byte of a file, which need not have it. They belong to the open file and not to the process
//! (`F_OFD_SETLK`): the kernel releases them when its last descriptor is closed, however the process ends. Every process
//! that opens the file sees them, in any namespace, and over a network file system that passes locks on.

use crate::answer::done;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// How a byte is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// By one open file, which must be open for reading.
    Shared,
    /// By one open file alone, which must be open for writing.
    Exclusive,
}

/// Locks the byte at `offset`, and returns whether it could: not where another open file has a lock that excludes it.
///
/// # Errors
/// Where the file system has no locks.
pub fn try_lock(file: &File, offset: i64, mode: Mode) -> io::Result<bool> {
    let kind = match mode {
        Mode::Shared => libc::F_RDLCK,
        Mode::Exclusive => libc::F_WRLCK,
    };
    match set(file, offset, kind) {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EACCES)) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Releases the byte at `offset`.
///
/// # Errors
/// As [`try_lock`].
pub fn unlock(file: &File, offset: i64) -> io::Result<()> {
    set(file, offset, libc::F_UNLCK)
}

fn set(file: &File, offset: i64, kind: libc::c_int) -> io::Result<()> {
    let lock = libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: offset,
        l_len: 1,
        // Else it is no lock of an open file.
        l_pid: 0,
    };
    // SAFETY: the descriptor is open as long as the file is borrowed, and the kernel only reads the lock.
    done(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_locked_by_one_open_file_until_that_is_closed() {
        let path = std::env::temp_dir().join(format!("knee-byte-lock-{}", std::process::id()));
        let open =
            || File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let [first, second] = [open().unwrap(), open().unwrap()];
        std::fs::remove_file(&path).unwrap();
        assert!(try_lock(&first, i64::MAX - 1, Mode::Exclusive).unwrap());
        assert!(!try_lock(&second, i64::MAX - 1, Mode::Exclusive).unwrap());
        assert!(!try_lock(&second, i64::MAX - 1, Mode::Shared).unwrap());
        assert!(try_lock(&second, 7, Mode::Exclusive).unwrap(), "another byte");
        unlock(&first, i64::MAX - 1).unwrap();
        assert!(try_lock(&second, i64::MAX - 1, Mode::Shared).unwrap());
        assert!(try_lock(&first, i64::MAX - 1, Mode::Shared).unwrap());
        assert!(!try_lock(&first, 7, Mode::Exclusive).unwrap());
        drop(second);
        assert!(try_lock(&first, 7, Mode::Exclusive).unwrap());
    }
}
