//! The C library's `pthread_mutex_t` of the normal kind, by way of its own calls. In glibc it is much
//! like the row `futex`. It isn't fair, and it costs a call into a library each time.

use crate::{Algorithm, Lock, Order, Setup, Waiting};

/// The lock.
pub struct PthreadMutex {
    mutex: sys::pthread::Mutex,
}

impl Lock for PthreadMutex {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "pthread-mutex",
        summary: "the C library's mutex",
        order: Order::Any,
        waiting: Waiting::Blocks,
        of_c_library: true,
        limits: &["unfair: who is awake comes before who is asleep"],
        ..Algorithm::PLAIN
    };

    type Seat = ();

    /// # Panics
    /// When the C library has no memory for it.
    fn new(_: &Setup) -> PthreadMutex {
        let mutex = sys::pthread::Mutex::new();
        PthreadMutex { mutex: mutex.expect("the C library makes a mutex") }
    }

    fn seat(&self) {}

    #[inline]
    fn hold<T>(&self, (): &mut (), critical: impl FnOnce() -> T) -> T {
        self.mutex.hold(critical)
    }
}
