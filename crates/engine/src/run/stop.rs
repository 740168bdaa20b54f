//! Stopping in good order: what a signal says, in a form that a poll can wait for.

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals that this process ignores, as a mask; none where the kernel doesn't tell.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Whether the run is to end early.
#[derive(Debug)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    /// Readable from the moment on that somebody asked.
    bell: UnixStream,
    /// Keeps the bell silent, instead of at its end, where no signal rings it.
    _rope: UnixStream,
}

impl Stop {
    /// Asked for by SIGINT, SIGTERM and SIGHUP from now on.
    pub fn on_signals() -> io::Result<Stop> {
        let (bell, rope) = UnixStream::pair()?;
        let asked = Arc::new(AtomicBool::new(false));
        let ignored = ignored();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // Whoever started this ignoring it (nohup, a shell in the background) meant it.
            if ignored & (1 << (signal - 1)) != 0 {
                continue;
            }
            signal_hook::flag::register(signal, Arc::clone(&asked))?;
            signal_hook::low_level::pipe::register(signal, rope.try_clone()?)?;
        }
        // Ignored, SIGCHLD would keep the ends of workers from this process; and SIGXFSZ kills where
        // a failed write can be told of. A handler that does nothing mends both.
        for signal in [SIGCHLD, SIGXFSZ] {
            signal_hook::flag::register(signal, Arc::default())?;
        }
        Ok(Stop { asked, bell, _rope: rope })
    }

    /// Never asked for.
    pub fn never() -> io::Result<Stop> {
        let (bell, rope) = UnixStream::pair()?;
        Ok(Stop { asked: Arc::default(), bell, _rope: rope })
    }

    /// Whether somebody asked.
    pub fn asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The same, for those who look at it themselves.
    pub fn flag(&self) -> &AtomicBool {
        &self.asked
    }

    /// What becomes readable when somebody asks.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}
