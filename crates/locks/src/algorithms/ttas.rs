//! Test-and-test-and-set (Rudolph and Segall, 1984) with bounded exponential backoff (Anderson, 1990):
//! it reads before it exchanges, and each time that it fails it stays away twice as long. It is bad at
//! being fair: who has waited longest looks most rarely. And a free lock may lie idle while all who
//! want it stay away.

use crate::sync::{AtomicBool, Ordering, pause};
use crate::{Algorithm, Order, Seatless, Setup, Waiting};

/// How long it stays away at first, in spins.
const AWAY_MIN: u32 = 1 << 2;

/// How long at the most: some ten microseconds.
const AWAY_MAX: u32 = 1 << 10;

/// The lock.
pub struct Ttas {
    pub(crate) taken: AtomicBool,
}

impl Seatless for Ttas {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "ttas",
        summary: "test-and-test-and-set with bounded exponential backoff",
        order: Order::Any,
        waiting: Waiting::Spins,
        limits: &["unfair: who has waited long looks rarely"],
        ..Algorithm::PLAIN
    };

    fn made_for(_: &Setup) -> Ttas {
        Ttas { taken: AtomicBool::new(false) }
    }

    #[inline]
    fn lock(&self) {
        if !self.try_lock() {
            self.wait();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        // Relaxed: the first look only saves an exchange that would fail. The exchange is an Acquire,
        // which meets the Release in `unlock`: what the last holder wrote is seen.
        !self.taken.load(Ordering::Relaxed) && !self.taken.swap(true, Ordering::Acquire)
    }

    #[inline]
    fn unlock(&self) {
        // Release: what was written inside is seen by whoever comes next.
        self.taken.store(false, Ordering::Release);
    }
}

impl Ttas {
    #[inline(never)]
    fn wait(&self) {
        let mut away = AWAY_MIN;
        loop {
            pause(away);
            if self.try_lock() {
                return;
            }
            away = (away * 2).min(AWAY_MAX);
        }
    }
}
