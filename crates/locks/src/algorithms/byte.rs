//! Test-and-set on one byte: who finds it free with an exchange has it. While it is taken, a thread
//! only reads, and tries again when it looks free. That is `__byte_spin_lock`, which Jeremy
//! Fitzhardinge took up again in Linux 2.6.27 (2008) for guests of a hypervisor; up to 2.6.24 every
//! x86 spinlock spun like this, with `decb` instead of `xchgb`. It is bad at being fair, and each
//! release sends all who wait to the same cache line at once.

use crate::sync::{AtomicU8, Ordering, spin_loop};
use crate::{Algorithm, Order, Seatless, Setup, Waiting};

/// The lock: 0 is free, 1 is taken.
pub struct Byte {
    pub(crate) taken: AtomicU8,
}

impl Seatless for Byte {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "byte",
        summary: "test-and-set on a byte, as Linux had it up to 2.6.24",
        order: Order::Any,
        waiting: Waiting::Spins,
        limits: &["unfair: a thread may wait while others pass it any number of times"],
        ..Algorithm::PLAIN
    };

    fn made_for(_: &Setup) -> Byte {
        Byte { taken: AtomicU8::new(0) }
    }

    #[inline]
    fn lock(&self) {
        if !self.try_lock() {
            self.wait();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        // Acquire: what the last holder wrote is seen. It meets the Release in `unlock`.
        self.taken.swap(1, Ordering::Acquire) == 0
    }

    #[inline]
    fn unlock(&self) {
        // Release: what was written inside is seen by whoever comes next.
        self.taken.store(0, Ordering::Release);
    }
}

impl Byte {
    #[inline(never)]
    fn wait(&self) {
        loop {
            // Relaxed: a hint when to try. Trying is what orders.
            while self.taken.load(Ordering::Relaxed) != 0 {
                spin_loop();
            }
            if self.try_lock() {
                return;
            }
        }
    }
}
