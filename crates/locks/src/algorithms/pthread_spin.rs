//! The C library's `pthread_spinlock_t`, by way of its own calls: test-and-set that only reads while
//! it waits. It isn't fair; and it keeps the CPU from the holder where there are more threads than
//! CPUs, as its manual page warns.

use crate::{Algorithm, Lock, Order, Setup, Waiting};

/// The lock.
pub struct PthreadSpin {
    lock: sys::pthread::Spinlock,
}

impl Lock for PthreadSpin {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "pthread-spin",
        summary: "the C library's spinlock",
        order: Order::Any,
        waiting: Waiting::Spins,
        of_c_library: true,
        limits: &["unfair: a thread may wait while others pass it any number of times"],
        ..Algorithm::PLAIN
    };

    type Seat = ();

    /// # Panics
    /// When the C library has no memory for it.
    fn new(_: &Setup) -> PthreadSpin {
        let lock = sys::pthread::Spinlock::new();
        PthreadSpin { lock: lock.expect("the C library makes a spinlock") }
    }

    fn seat(&self) {}

    #[inline]
    fn hold<T>(&self, (): &mut (), critical: impl FnOnce() -> T) -> T {
        self.lock.hold(critical)
    }
}
