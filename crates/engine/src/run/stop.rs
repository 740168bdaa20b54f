//! Stopping in good order: signals as a flag, and as a descriptor that a poll can wait for.

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use sys::proc;

/// The signals that this process ignores, as a mask.
fn ignored_signals() -> u64 {
    let status = proc::text("self", "status").unwrap_or_default();
    let mask = proc::field(&status, "SigIgn:");
    mask.and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0)
}

/// Whether the run is to end early.
#[derive(Debug)]
pub struct Stop {
    /// Whether it is, as a flag that another part of the program may set.
    pub requested: Arc<AtomicBool>,
    /// Readable as soon as a stop is requested.
    wakeup: UnixStream,
    /// The other end of `wakeup`: without it, `wakeup` would be readable at once, at its end.
    _wakeup_sender: UnixStream,
}

impl Stop {
    /// Requested by SIGINT, SIGTERM and SIGHUP from now on.
    pub fn on_signals() -> io::Result<Stop> {
        let (wakeup, sender) = UnixStream::pair()?;
        let requested = Arc::new(AtomicBool::new(false));
        let ignored = ignored_signals();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // A parent that ignores it (nohup, a shell in the background) means this process too.
            if ignored & (1 << (signal - 1)) != 0 {
                continue;
            }
            signal_hook::flag::register(signal, Arc::clone(&requested))?;
            signal_hook::low_level::pipe::register(signal, sender.try_clone()?)?;
        }
        // An ignored SIGCHLD would hide the ends of workers. A handler that does nothing fixes that.
        signal_hook::flag::register(SIGCHLD, Arc::default())?;
        Ok(Stop { requested, wakeup, _wakeup_sender: sender })
    }

    /// Never requested.
    pub fn never() -> io::Result<Stop> {
        let (wakeup, sender) = UnixStream::pair()?;
        Ok(Stop { requested: Arc::default(), wakeup, _wakeup_sender: sender })
    }

    /// Whether a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    pub(crate) fn wakeup(&self) -> BorrowedFd<'_> {
        self.wakeup.as_fd()
    }
}
