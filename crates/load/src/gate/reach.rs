//! Whether the target is there at all, as the first connections of all threads find it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the first connections came to. What is known first holds for all threads.
#[derive(Debug)]
pub(crate) struct Reach {
    ends_if_refused: bool,
    is_there: OnceLock<bool>,
    was_refused: AtomicBool,
}

impl Reach {
    /// Nothing is known. The target may only count as absent if the load `ends_if_refused`.
    pub(crate) fn new(ends_if_refused: bool) -> Reach {
        Reach { ends_if_refused, is_there: OnceLock::new(), was_refused: AtomicBool::new(false) }
    }

    pub(crate) fn accepted(&self) {
        let _ = self.is_there.set(true);
    }

    /// A connection was refused before the start. Others may succeed: [`Reach::settle`] decides.
    pub(crate) fn refused_before_start(&self) {
        self.was_refused.store(true, Ordering::Relaxed);
    }

    /// A connection was refused after the start. It decides where it is the first, as with sessions, which are opened later.
    pub(crate) fn refused(&self) {
        if self.ends_if_refused {
            let _ = self.is_there.set(false);
        }
    }

    /// All connections that are opened before the start were tried.
    pub(crate) fn settle(&self) {
        if self.was_refused.load(Ordering::Relaxed) {
            self.refused();
        }
    }

    /// Whether the load ends because the target is not there.
    pub(crate) fn is_absent(&self) -> bool {
        self.is_there.get() == Some(&false)
    }
}
