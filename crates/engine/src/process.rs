//! Processes of this run: their mark, their orphans and their end.

use rustix::event::{PollFd, Timespec, poll};
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, set_child_subreaper, waitpid,
};
use std::io;
use std::time::Duration;

/// The variable in the environment by which the processes of a run's workers are known.
pub(crate) const MARK: &str = "KNEE_RUN";

/// Makes this process the parent of a worker's orphans, so that it can kill them. Where that fails, cleaning up
/// is less sure, and figures are the same.
pub(crate) fn adopt_orphans() {
    let _ = set_child_subreaper(Some(getpid()));
}

/// The children of this process, orphans that were handed to it included.
pub(crate) fn own_children() -> Vec<Pid> {
    let children = sys::proc::children("self").into_iter();
    children.filter_map(|pid| Pid::from_raw(pid.cast_signed())).collect()
}

/// Waits until one of `fds` is ready, for `max` at most; a signal ends it sooner.
pub(crate) fn wait_for_any(fds: &mut [PollFd<'_>], max: Option<Duration>) -> io::Result<()> {
    let max = max.and_then(|max| Timespec::try_from(max).ok());
    match poll(fds, max.as_ref()) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Kills every child of this process, and every orphan that becomes one thereby.
pub(crate) fn kill_children() {
    loop {
        let left = own_children();
        if left.is_empty() {
            return;
        }
        for pid in left {
            // Killing one that has just ended fails, and it is waited for all the same.
            let _ = kill_process(pid, Signal::KILL);
            let _ = waitpid(Some(pid), WaitOptions::empty());
        }
    }
}
