//! Locks that ask nothing of a thread that comes: no node, no number, no seat.

use crate::{Algorithm, Lock, Setup};

/// A lock that needs no seat. Whatever is one is a [`Lock`] too, and those that are sound can be a
/// [`Raw`](crate::Raw) mutex of `lock_api`.
pub trait Seatless: Sync + Sized + 'static {
    /// Its row of the table.
    const ALGORITHM: &'static Algorithm;

    /// A lock that is free.
    fn made_for(setup: &Setup) -> Self;

    /// Waits for the lock and takes it.
    fn lock(&self);

    /// Takes the lock if it is free. It may say no to a free one that others are asking for.
    fn try_lock(&self) -> bool;

    /// Releases the lock, which the caller holds.
    fn unlock(&self);
}

impl<L: Seatless> Lock for L {
    const ALGORITHM: &'static Algorithm = L::ALGORITHM;

    type Seat = ();

    fn new(setup: &Setup) -> L {
        L::made_for(setup)
    }

    fn seat(&self) {}

    #[inline]
    fn hold<T>(&self, (): &mut (), critical: impl FnOnce() -> T) -> T {
        self.lock();
        let _held = Held(self);
        critical()
    }
}

/// Releases a lock when it goes, whichever way.
struct Held<'a, L: Seatless>(&'a L);

impl<L: Seatless> Drop for Held<'_, L> {
    #[inline]
    fn drop(&mut self) {
        self.0.unlock();
    }
}
