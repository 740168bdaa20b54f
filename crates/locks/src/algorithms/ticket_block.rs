//! A ticket lock that spins 2^10 times and then sleeps until its number is called: the pv ticket lock
//! of Linux 3.12 (Jeremy Fitzhardinge and Raghavendra K T, 2013), in user space. Who leaves wakes the
//! very one whose turn it is, if it sleeps. It is bad at long lines: fairness then means that every
//! hand-over waits until a sleeper runs.

use crate::sync::{AtomicU32, Ordering, fence, futex_wait_bits, futex_wake_bits, spin_loop};
use crate::{Algorithm, Order, Seatless, Setup, Waiting};
use std::num::NonZeroU32;

/// A futex tells sleepers apart by the bits of a word: numbers that are this far apart share one.
const BITS: u32 = u32::BITS;

/// The lock.
#[repr(C)]
pub struct TicketBlock {
    /// The number that the next to come will draw.
    pub(crate) next: AtomicU32,
    /// The number that is called.
    pub(crate) owner: AtomicU32,
    /// How many sleep, or are about to, for each bit.
    pub(crate) sleepers: [AtomicU32; BITS as usize],
    pub(crate) spins: u32,
}

impl Seatless for TicketBlock {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "ticket-block",
        summary: "spins on its ticket for a while, then sleeps until it is called",
        order: Order::Fifo,
        waiting: Waiting::SpinsThenBlocks,
        limits: &["each hand-over to a sleeper waits until it runs"],
        ..Algorithm::PLAIN
    };

    fn made_for(setup: &Setup) -> TicketBlock {
        TicketBlock {
            next: AtomicU32::new(0),
            owner: AtomicU32::new(0),
            sleepers: [(); BITS as usize].map(|()| AtomicU32::new(0)),
            spins: setup.spins,
        }
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
        // Either the one who goes to sleep sees its number called, or we see that it sleeps: with a
        // full barrier between what each of us writes and what each of us reads, not both can miss it.
        fence(Ordering::SeqCst);
        if self.sleepers_like(next).load(Ordering::Relaxed) != 0 {
            self.kick(next);
        }
    }
}

impl TicketBlock {
    #[inline(never)]
    fn wait(&self, mine: u32) {
        for _ in 0..self.spins {
            // Acquire, as in `lock`.
            if self.owner.load(Ordering::Acquire) == mine {
                return;
            }
            spin_loop();
        }
        self.sleep(mine);
    }

    fn sleep(&self, mine: u32) {
        self.sleepers_like(mine).fetch_add(1, Ordering::Relaxed);
        // See `unlock`.
        fence(Ordering::SeqCst);
        loop {
            // Acquire, as in `lock`.
            let owner = self.owner.load(Ordering::Acquire);
            if owner == mine {
                break;
            }
            // The kernel looks at the number once more. While others are called it sleeps on.
            futex_wait_bits(&self.owner, owner, bit(mine));
        }
        self.sleepers_like(mine).fetch_sub(1, Ordering::Relaxed);
    }

    #[inline(never)]
    fn kick(&self, next: u32) {
        // All with that bit: one among several might be the wrong one. The others sleep again.
        futex_wake_bits(&self.owner, bit(next));
    }

    #[inline]
    fn sleepers_like(&self, ticket: u32) -> &AtomicU32 {
        &self.sleepers[(ticket % BITS) as usize]
    }
}

/// The bit that numbers like this one sleep with.
fn bit(ticket: u32) -> NonZeroU32 {
    const TWO: NonZeroU32 = NonZeroU32::new(2).unwrap();
    TWO.saturating_pow(ticket % BITS)
}
