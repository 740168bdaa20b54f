//! `parking_lot::Mutex`, as its users use it: one byte, and the sleepers in a queue elsewhere, after the
//! `WTF::Lock` of `WebKit` (2015). It spins a little, yields, and then sleeps. Now and then (some half
//! a millisecond apart) it hands over to who has slept longest, and is unfair in between.

use crate::{Algorithm, Lock, Order, Setup, Waiting};
use parking_lot::Mutex;

/// The lock.
pub struct ParkingLot {
    mutex: Mutex<()>,
}

impl Lock for ParkingLot {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "parking_lot",
        summary: "the mutex of the crate of that name",
        order: Order::Any,
        waiting: Waiting::Blocks,
        limits: &["fair now and then only"],
        ..Algorithm::PLAIN
    };

    type Seat = ();

    fn new(_: &Setup) -> ParkingLot {
        ParkingLot { mutex: Mutex::new(()) }
    }

    fn seat(&self) {}

    #[inline]
    fn hold<T>(&self, (): &mut (), critical: impl FnOnce() -> T) -> T {
        let _held = self.mutex.lock();
        critical()
    }
}
