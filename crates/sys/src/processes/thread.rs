//! What a thread can have to itself: a table of descriptors, and freedom from signals.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use crate::answer::done;
use crate::signal::{self, SignalSet};

/// Gives the calling thread a table of descriptors of its own, with those below 3 and `keep` in it
/// and nothing else. From then on a number means one thing to this thread and another to the others;
/// the thread has the whole limit on descriptors to itself, and no other thread can slow it down at
/// them. The table goes when the thread ends.
///
/// # Safety
/// The thread neither uses nor closes any descriptor from before but `keep` and those below 3, and none passes
/// between it and other threads until it has ended: a number of theirs is another file here, or none. A thread
/// that has just begun can say so.
///
/// # Errors
/// `ENOSYS` before Linux 5.9, `EPERM` or another where a sandbox forbids it: then nothing has
/// changed.
pub unsafe fn own_descriptors(keep: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut kept: Vec<u32> =
        keep.iter().map(|fd| fd.as_raw_fd().cast_unsigned()).filter(|&fd| fd > 2).collect();
    kept.sort_unstable();
    let last = kept.last().map_or(3, |last| last + 1);
    close_range(last, u32::MAX, libc::CLOSE_RANGE_UNSHARE)?;
    let mut next = 3;
    for fd in kept {
        if fd > next {
            close_range(next, fd - 1, 0)?;
        }
        next = fd + 1;
    }
    Ok(())
}

fn close_range(first: u32, last: u32, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: three numbers; nothing is pointed to. What is closed is in a table that is no longer shared:
    // other threads keep what they have, and the caller of `own_descriptors` vouches for this one.
    done(unsafe { libc::syscall(libc::SYS_close_range, first, last, flags) })
}

/// Blocks every signal in the calling thread but those that tell of its own faults, so that handlers
/// run elsewhere: where descriptors are the thread's own, a handler that writes to a number would
/// write to somebody else.
pub fn block_signals() -> io::Result<()> {
    use libc::{SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    let faults = [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP];
    let plain = (1..=libc::SIGSYS).filter(|signal| !faults.contains(signal));
    let all: Vec<libc::c_int> = plain.chain(signal::realtime()).collect();
    signal::block(&SignalSet::new(&all)?).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::AsFd;

    #[test]
    fn a_thread_keeps_what_it_names_and_closes_only_its_own_copies() {
        let (mut theirs, keeps) = io::pipe().unwrap();
        let (closes, mut back) = io::pipe().unwrap();
        let probe = File::open("/proc/self/status").unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: of what was opened before, the thread writes to `keeps`, and else shows that it is closed.
                unsafe { own_descriptors(&[keeps.as_fd()]) }.unwrap();
                let open = std::fs::read_dir("/proc/thread-self/fd").unwrap().count();
                // Those below 3, the one that was kept, and that of the directory itself.
                assert!(open <= 5, "{open}");
                (&keeps).write_all(b"x").unwrap();
                // The number of the other end is free here, and may be given to what comes.
                let mut byte = [0];
                assert!((&closes).read(&mut byte).is_err());
            });
        });
        let mut byte = [0];
        theirs.read_exact(&mut byte).unwrap();
        back.write_all(b"y").unwrap();
        (&closes).read_exact(&mut byte).unwrap();
        assert_eq!(byte, *b"y");
        assert!(probe.metadata().is_ok());
    }

    #[test]
    fn signals_are_blocked_in_this_thread_only() {
        let (blocked, unblocked) = std::thread::scope(|scope| {
            let mine = scope.spawn(|| {
                block_signals().unwrap();
                signal::block(&SignalSet::new(&[]).unwrap()).unwrap()
            });
            (mine.join().unwrap(), signal::block(&SignalSet::new(&[]).unwrap()).unwrap())
        });
        assert!(blocked.contains(libc::SIGTERM) && blocked.contains(*signal::realtime().end()));
        assert!(!blocked.contains(libc::SIGSEGV));
        assert!(!unblocked.contains(libc::SIGTERM));
    }
}
