//! The places of threads in a lock that has a node for each.

use crate::sync::{AtomicU32, Ordering};

/// A thread's place in a lock: the number of its node.
#[derive(Debug)]
pub struct Place {
    pub(crate) node: u32,
}

/// Gives the places of a lock away, each of them once.
pub(crate) struct Seats {
    taken: AtomicU32,
    count: u32,
}

impl Seats {
    pub(crate) fn new(count: u32) -> Seats {
        Seats { taken: AtomicU32::new(0), count }
    }

    /// # Panics
    /// When all are taken.
    pub(crate) fn take(&self) -> Place {
        // Relaxed: nothing but the number itself goes from one thread to another.
        let node = self.taken.fetch_add(1, Ordering::Relaxed);
        assert!(node < self.count, "a lock for {} threads was asked for one seat more", self.count);
        Place { node }
    }
}
