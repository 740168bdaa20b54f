//! The control: a lock that does not lock. It looks first and sets then, without an atomic exchange,
//! so that two who look at once both come in; and it loses patience after some looks and comes in
//! whoever is there. Both are mistakes that have been made. The second makes it certain that a check
//! catches it, on a single CPU too: it is enough that somebody stays inside for a while.

use crate::sync::{AtomicBool, Ordering, spin_loop};
use crate::{Algorithm, Order, Seatless, Setup, Waiting};

/// How often it looks before it loses patience.
const LOOKS: u32 = 4;

/// The lock that is none.
pub struct Broken {
    taken: AtomicBool,
}

impl Seatless for Broken {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "broken",
        summary: "a control that does not lock, which every check has to catch",
        order: Order::Any,
        waiting: Waiting::Spins,
        control: true,
        limits: &["does not exclude anybody"],
        ..Algorithm::PLAIN
    };

    fn made_for(_: &Setup) -> Broken {
        Broken { taken: AtomicBool::new(false) }
    }

    #[inline]
    fn lock(&self) {
        if !self.try_lock() {
            self.wait();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        // Acquire and Release as they should be: what is wrong here are the two steps.
        if self.taken.load(Ordering::Acquire) {
            return false;
        }
        self.taken.store(true, Ordering::Relaxed);
        true
    }

    #[inline]
    fn unlock(&self) {
        self.taken.store(false, Ordering::Release);
    }
}

impl Broken {
    #[inline(never)]
    fn wait(&self) {
        for _ in 0..LOOKS {
            if self.try_lock() {
                return;
            }
            spin_loop();
        }
        self.taken.store(true, Ordering::Relaxed);
    }
}
