//! A ticket lock: each thread draws a number and waits until it is called (Reed and Kanodia, 1979;
//! Mellor-Crummey and Scott, 1991). Nick Piggin made it the spinlock of x86 in Linux 2.6.25 (2008). It
//! is bad at having more threads than CPUs: when the one whose number is called does not run, none
//! gets in. And all who wait look at one cache line.

use crate::sync::{AtomicU32, Ordering, spin_loop};
use crate::{Algorithm, Order, Seatless, Setup, Waiting};

/// The lock: two counters side by side in eight bytes, as the original had them in one word. They
/// wrap around at 2^32.
#[repr(C, align(8))]
pub struct Ticket {
    /// The number that the next to come will draw.
    pub(crate) next: AtomicU32,
    /// The number that is called.
    pub(crate) owner: AtomicU32,
}

impl Seatless for Ticket {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "ticket",
        summary: "numbers are drawn and called, as Linux had it from 2.6.25 on",
        order: Order::Fifo,
        waiting: Waiting::Spins,
        limits: &["stands still while the next in line does not run"],
        ..Algorithm::PLAIN
    };

    fn made_for(_: &Setup) -> Ticket {
        Ticket { next: AtomicU32::new(0), owner: AtomicU32::new(0) }
    }

    #[inline]
    fn lock(&self) {
        // Relaxed: drawing only tells numbers apart. Seeing it called is what orders.
        let mine = self.next.fetch_add(1, Ordering::Relaxed);
        // Acquire: what the last holder wrote is seen. It meets the Release in `unlock`.
        if self.owner.load(Ordering::Acquire) != mine {
            self.wait(mine);
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        // Acquire, as in `lock`. If the number that is called is also the next to be drawn, the lock
        // is free; and the thread that draws it has it. Relaxed then, as when drawing.
        let owner = self.owner.load(Ordering::Acquire);
        let drawn = owner.wrapping_add(1);
        self.next.compare_exchange(owner, drawn, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    #[inline]
    fn unlock(&self) {
        // Relaxed: only the holder writes it. Release: what was written inside is seen by the next.
        let next = self.owner.load(Ordering::Relaxed).wrapping_add(1);
        self.owner.store(next, Ordering::Release);
    }
}

impl Ticket {
    #[inline(never)]
    fn wait(&self, mine: u32) {
        // Acquire, as in `lock`.
        while self.owner.load(Ordering::Acquire) != mine {
            spin_loop();
        }
    }
}
