//! Plain system calls through the C library, as a program makes them, each with its answer checked.

use crate::answer::{counted, done, owned};
use std::cell::Cell;
use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, IntoRawFd, OwnedFd};

/// getppid(2).
#[inline]
pub fn getppid() -> i32 {
    // SAFETY: takes nothing, can't fail.
    unsafe { libc::getppid() }
}

/// `sched_yield(2)`.
#[inline]
pub fn sched_yield() -> io::Result<()> {
    // SAFETY: takes nothing.
    done(unsafe { libc::sched_yield() })
}

/// dup(2).
#[inline]
pub fn dup(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // SAFETY: takes a number, and makes a descriptor.
    unsafe { owned(libc::dup(fd.as_raw_fd())) }
}

/// A copy, closed on exec, of a descriptor that this process was started with.
///
/// # Errors
/// It has none of this number.
pub fn inherited(fd: i32) -> io::Result<OwnedFd> {
    // SAFETY: takes numbers, and makes a descriptor.
    unsafe { owned(libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3)) }
}

/// close(2), with its answer.
#[inline]
pub fn close(fd: OwnedFd) -> io::Result<()> {
    // SAFETY: the descriptor was owned, and is given up here.
    done(unsafe { libc::close(fd.into_raw_fd()) })
}

/// open(2) to read and write, closed on exec.
#[inline]
pub fn open(path: &CStr) -> io::Result<OwnedFd> {
    // SAFETY: the path ends with a zero and outlives the call, which makes a descriptor.
    unsafe { owned(libc::open(path.as_ptr(), libc::O_RDWR | libc::O_CLOEXEC)) }
}

/// stat(2): the size in bytes.
#[inline]
pub fn stat_size(path: &CStr) -> io::Result<u64> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path ends with a zero, and `status` has room; both outlive the call.
    done(unsafe { libc::stat(path.as_ptr(), status.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so it has filled the structure.
    Ok(unsafe { status.assume_init() }.st_size.cast_unsigned())
}

/// read(2).
#[inline]
pub fn read(fd: BorrowedFd<'_>, bytes: &mut [u8]) -> io::Result<usize> {
    // SAFETY: pointer and length are those of one buffer.
    counted(unsafe { libc::read(fd.as_raw_fd(), bytes.as_mut_ptr().cast(), bytes.len()) })
}

/// pread(2).
#[inline]
pub fn pread(fd: BorrowedFd<'_>, bytes: &mut [u8], offset: i64) -> io::Result<usize> {
    let (at, length) = (bytes.as_mut_ptr().cast(), bytes.len());
    // SAFETY: pointer and length are those of one buffer.
    counted(unsafe { libc::pread64(fd.as_raw_fd(), at, length, offset) })
}

/// write(2).
#[inline]
pub fn write(fd: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
    // SAFETY: pointer and length are those of one buffer.
    counted(unsafe { libc::write(fd.as_raw_fd(), bytes.as_ptr().cast(), bytes.len()) })
}

/// pwrite(2).
#[inline]
pub fn pwrite(fd: BorrowedFd<'_>, bytes: &[u8], offset: i64) -> io::Result<usize> {
    let (at, length) = (bytes.as_ptr().cast(), bytes.len());
    // SAFETY: pointer and length are those of one buffer.
    counted(unsafe { libc::pwrite64(fd.as_raw_fd(), at, length, offset) })
}

/// lseek(2) to `offset` from the beginning; returns the position.
#[inline]
pub fn seek(fd: BorrowedFd<'_>, offset: i64) -> io::Result<i64> {
    // SAFETY: takes numbers.
    let at = unsafe { libc::lseek64(fd.as_raw_fd(), offset, libc::SEEK_SET) };
    done(at).map(|()| at)
}

/// poll(2) of one descriptor: whether it can be written to now.
#[inline]
pub fn is_writable(fd: BorrowedFd<'_>) -> io::Result<bool> {
    let mut set = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: the set is one structure, which is valid for the length of the call.
    done(unsafe { libc::poll(&raw mut set, 1, 0) })?;
    Ok(set.revents == libc::POLLOUT)
}

thread_local! {
    /// Signals that this thread has handled. Without a destructor and made before it is used, so that a handler may change it.
    static HANDLED: Cell<u64> = const { Cell::new(0) };
}

extern "C" fn count_signal(_signal: libc::c_int) {
    HANDLED.with(|handled| handled.set(handled.get() + 1));
}

/// Has each thread of this process count the signals `SIGUSR1` that it gets.
pub fn count_signals() -> io::Result<()> {
    // SAFETY: all zeroes is an action without flags and with an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = count_signal as *const () as usize;
    action.sa_flags = libc::SA_RESTART;
    // SAFETY: the handler changes a number of its thread's own, which needs no lock and no memory.
    done(unsafe { libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()) })
}

/// raise(3): sends `SIGUSR1` to the calling thread. Returns how many it has handled since it began.
#[inline]
pub fn raise_counted() -> io::Result<u64> {
    // SAFETY: takes a number.
    done(unsafe { libc::raise(libc::SIGUSR1) }).map(|()| HANDLED.get())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CString;
    use std::os::fd::AsFd;

    #[test]
    fn a_file_is_read_where_it_was_written() {
        let path = std::env::temp_dir().join(format!("knee-plain-{}", std::process::id()));
        std::fs::write(&path, b"abcdef").unwrap();
        let name = CString::new(path.to_str().unwrap()).unwrap();
        let file = open(&name).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(stat_size(&name).is_err() && open(&name).is_err());
        let (fd, mut bytes) = (file.as_fd(), [0; 4]);
        assert_eq!((pwrite(fd, b"X", 1).unwrap(), seek(fd, 1).unwrap()), (1, 1));
        assert_eq!((read(fd, &mut bytes).unwrap(), &bytes), (4, b"Xcde"));
        assert_eq!((write(fd, b"Z").unwrap(), pread(fd, &mut bytes, 3).unwrap()), (1, 3));
        assert_eq!(&bytes[..3], b"deZ");
        assert!(
            is_writable(fd).unwrap() && !is_writable(std::io::pipe().unwrap().0.as_fd()).unwrap()
        );
        let copy = dup(fd).unwrap();
        assert_ne!(copy.as_raw_fd(), file.as_raw_fd());
        close(copy).unwrap();
        assert_eq!(stat_size(c"/proc/self/status").unwrap(), 0);
    }

    #[test]
    fn a_signal_to_oneself_is_handled_at_once() {
        count_signals().unwrap();
        let before = raise_counted().unwrap();
        assert_eq!(raise_counted().unwrap(), before + 1);
        assert_eq!(std::thread::spawn(|| raise_counted().unwrap()).join().unwrap(), 1);
        sched_yield().unwrap();
        assert_eq!(getppid().cast_unsigned(), std::os::unix::process::parent_id());
    }
}
