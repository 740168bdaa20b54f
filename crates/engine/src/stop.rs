//! Stopping in good order: what a signal says, in a form that a poll can wait for.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&asked))?;
            signal_hook::low_level::pipe::register(signal, rope.try_clone()?)?;
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

    /// What becomes readable when somebody asks.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}
