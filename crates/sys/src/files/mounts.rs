//! Mounts that only this process and its children see.

use crate::answer::done;
use std::io;

/// Gives this process mounts of its own: what is mounted or unmounted from now on, no other process sees, and
/// it goes with the process. Who may not do that may as root of a user namespace of their own, which this
/// process then is.
///
/// # Errors
/// Why the kernel refuses both.
pub fn make_own() -> io::Result<()> {
    if unshare(libc::CLONE_NEWNS).is_ok() {
        return Ok(());
    }
    // SAFETY: these two only return numbers.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: the flags never name descriptors or memory, so nothing that other threads use changes.
    done(unsafe { libc::unshare(flags) })
}
