//! A ticket lock whose waiters stay away for as long as the line before them suggests: a fixed time
//! for each place (Mellor-Crummey and Scott, 1991). The line is looked at less often, and mostly by
//! those at its head. What is bad about tickets stays: when the next in line does not run, none gets
//! in. And a guess that is too long lets the lock lie idle.

use crate::sync::{AtomicU32, Ordering, pause};
use crate::{Algorithm, Order, Seatless, Setup, Waiting};

/// How long one place in line is, in spins.
const AWAY_EACH: u32 = 1 << 4;

/// How long it stays away at the most.
const AWAY_MAX: u32 = 1 << 12;

/// The lock: two counters side by side, as in [`Ticket`](crate::algorithms::ticket::Ticket).
#[repr(C, align(8))]
pub struct TicketProportional {
    /// The number that the next to come will draw.
    pub(crate) next: AtomicU32,
    /// The number that is called.
    pub(crate) owner: AtomicU32,
}

impl Seatless for TicketProportional {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "ticket-proportional",
        summary: "a ticket lock that looks the more rarely the longer the line",
        order: Order::Fifo,
        waiting: Waiting::Spins,
        limits: &["stands still while the next in line does not run"],
        ..Algorithm::PLAIN
    };

    fn made_for(_: &Setup) -> TicketProportional {
        TicketProportional { next: AtomicU32::new(0), owner: AtomicU32::new(0) }
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
        // As in the plain ticket lock: Acquire orders, the exchange only draws.
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

impl TicketProportional {
    #[inline(never)]
    fn wait(&self, mine: u32) {
        loop {
            // Acquire, as in `lock`.
            let before_me = mine.wrapping_sub(self.owner.load(Ordering::Acquire));
            if before_me == 0 {
                return;
            }
            pause(before_me.saturating_mul(AWAY_EACH).min(AWAY_MAX));
        }
    }
}
