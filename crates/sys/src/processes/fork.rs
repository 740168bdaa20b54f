//! fork(2): a child that goes on with a closure, and one that ends at once.

use crate::answer::done;
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use std::io;

/// The error of a process whose parent has ended before it could ask to die with it.
pub const ORPHANED: &str = "the process that started this one has ended";

/// Ends this process when `parent_pid` ends, and at once if it has ended already.
///
/// # Errors
/// [`ORPHANED`] where it has.
pub fn die_with_parent(parent_pid: i32) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    if getppid().map(Pid::as_raw_pid) != Some(parent_pid) {
        return Err(io::Error::other(ORPHANED));
    }
    Ok(())
}

/// Forks. The child asks to be killed at the end of its parent, does `life`, and exits with what it returns,
/// without running what a process does at its end. Returns the child, which has to be waited for
/// ([`crate::process::wait`]).
///
/// # Errors
/// `EBUSY` where this process has several threads: the child would have the locks that they hold. Else as
/// fork(2).
pub fn fork(life: impl FnOnce() -> i32) -> io::Result<u32> {
    if std::fs::read_dir("/proc/self/task")?.count() > 1 {
        return Err(io::Error::from_raw_os_error(libc::EBUSY));
    }
    let parent = std::process::id();
    // SAFETY: this is the only thread, so the child has all that it could need in a consistent state.
    let child = unsafe { libc::fork() };
    done(child)?;
    if child > 0 {
        return Ok(child.cast_unsigned());
    }
    let orphaned = die_with_parent(parent.cast_signed()).is_err();
    let life = std::panic::AssertUnwindSafe(life);
    let code =
        if orphaned { LIFE_FAILED } else { std::panic::catch_unwind(life).unwrap_or(LIFE_FAILED) };
    // SAFETY: ends this process; nothing of it is used any more.
    unsafe { libc::_exit(code) }
}

/// The exit code of a child that panicked, or whose parent was gone.
pub const LIFE_FAILED: i32 = 101;

/// Forks a child that ends at once, and waits for it.
///
/// # Errors
/// As fork(2) and waitpid(2); an error of its own where the child ended otherwise.
#[inline]
pub fn fork_exit() -> io::Result<()> {
    // SAFETY: the child does nothing but end, which it may whatever the other threads of its parent did.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    done(child)?;
    let mut status = 0;
    loop {
        // SAFETY: `status` is valid to write to.
        match done(unsafe { libc::waitpid(child, &raw mut status, 0) }) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            ended => break ended?,
        }
    }
    if status == 0 { Ok(()) } else { Err(io::Error::other("a child ended with an error")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_threads_is_not_forked() {
        // A test runs in a thread of its own.
        let refused = fork(|| 0).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(libc::EBUSY));
        fork_exit().unwrap();
    }
}
