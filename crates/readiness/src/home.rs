//! The thread that a mechanism belongs to, for those that the kernel ties to one.

use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// The thread that opened a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Home(u64);

impl Home {
    /// The calling thread. Takes no system call, so that a timed wait can ask.
    #[inline]
    pub(crate) fn here() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        thread_local!(static HERE: Cell<u64> = const { Cell::new(0) });
        HERE.with(|here| {
            if here.get() == 0 {
                here.set(NEXT.fetch_add(1, Ordering::Relaxed));
            }
            Home(here.get())
        })
    }

    /// Whether this is the calling thread.
    #[inline]
    pub(crate) fn is_here(self) -> bool {
        self == Home::here()
    }

    /// Fails on any other thread, with the reason.
    #[inline]
    pub(crate) fn check(self, reason: &'static str) -> io::Result<()> {
        if self.is_here() { Ok(()) } else { Err(io::Error::other(reason)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_is_its_own_home() {
        let home = Home::here();
        home.check("elsewhere").unwrap();
        let refusal = std::thread::spawn(move || home.check("elsewhere")).join().unwrap();
        assert_eq!(refusal.unwrap_err().to_string(), "elsewhere");
    }
}
