//! `std::sync::Mutex`, as its users use it. On Linux it is a futex like the row of that name, after
//! some hundred looks. It isn't fair; and it remembers whether a holder panicked, which costs a look
//! each time.

use crate::{Algorithm, Lock, Order, Setup, Waiting};
use std::sync::{Mutex, PoisonError};

/// The lock.
pub struct StdMutex {
    mutex: Mutex<()>,
}

impl Lock for StdMutex {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "std",
        summary: "the mutex of Rust's standard library",
        order: Order::Any,
        waiting: Waiting::Blocks,
        limits: &["unfair: who is awake comes before who is asleep"],
        ..Algorithm::PLAIN
    };

    type Seat = ();

    fn new(_: &Setup) -> StdMutex {
        StdMutex { mutex: Mutex::new(()) }
    }

    fn seat(&self) {}

    #[inline]
    fn hold<T>(&self, (): &mut (), critical: impl FnOnce() -> T) -> T {
        // There is nothing in it that a panic could have left half done.
        let _held = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        critical()
    }
}
