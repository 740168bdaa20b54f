//! A lock whose waiters look again after a nap.

use knee::locks::{Algorithm, Order, Seatless, Setup, Waiting};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub struct Nap {
    is_held: AtomicBool,
    spins: u32,
}

impl Seatless for Nap {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "nap",
        summary: "spins for a while, then looks again after naps of 50 us",
        order: Order::Any,
        waiting: Waiting::SpinsThenBlocks,
        limits: &["a release wakes no thread"],
        ..Algorithm::PLAIN
    };

    fn made_for(setup: &Setup) -> Self {
        Self { is_held: AtomicBool::new(false), spins: setup.spins }
    }

    fn lock(&self) {
        let mut looks = 0;
        while !self.try_lock() {
            looks += 1;
            if looks > self.spins {
                std::thread::sleep(Duration::from_micros(50));
            } else {
                std::hint::spin_loop();
            }
        }
    }

    fn try_lock(&self) -> bool {
        !self.is_held.swap(true, Ordering::Acquire)
    }

    fn unlock(&self) {
        self.is_held.store(false, Ordering::Release);
    }
}
