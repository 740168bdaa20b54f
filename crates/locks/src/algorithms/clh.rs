//! The queue lock of Craig (1993) and of Landin and Hagersten (1994): each thread spins on the node of
//! the one before it, and takes that node along when it leaves. Alone it costs one atomic operation.
//! It is bad at having more threads than CPUs, like all that serve in order; and where memory is far
//! and not cached, since a thread spins on a node that was another's.

use crate::line::CacheLine;
use crate::seats::{Place, Seats};
use crate::sync::{AtomicBool, AtomicU32, Ordering, spin_loop};
use crate::{Algorithm, Lock, Order, Setup, Waiting};

/// The lock. Its nodes are its own, and known by their numbers: one for each seat, and one more that
/// lies in the queue when no thread does.
pub struct Clh {
    /// The last in line.
    tail: CacheLine<AtomicU32>,
    /// Whether the thread that a node belongs to holds the lock or waits for it.
    busy: Box<[CacheLine<AtomicBool>]>,
    seats: Seats,
}

impl Lock for Clh {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "clh",
        summary: "a queue in which each thread spins on the one before it",
        order: Order::Fifo,
        waiting: Waiting::Spins,
        limits: &["stands still while the next in line does not run"],
        ..Algorithm::PLAIN
    };

    type Seat = Place;

    fn new(setup: &Setup) -> Clh {
        Clh {
            tail: CacheLine(AtomicU32::new(setup.seats)),
            busy: (0..=setup.seats).map(|_| CacheLine(AtomicBool::new(false))).collect(),
            seats: Seats::new(setup.seats),
        }
    }

    fn seat(&self) -> Place {
        self.seats.take()
    }

    #[inline]
    fn hold<T>(&self, seat: &mut Place, critical: impl FnOnce() -> T) -> T {
        let _held = self.lock(seat);
        critical()
    }
}

impl Clh {
    #[inline]
    fn lock<'a>(&'a self, seat: &'a mut Place) -> Held<'a> {
        let mine = &*self.busy[seat.node as usize];
        // Relaxed: the exchange below hands the node over.
        mine.store(true, Ordering::Relaxed);
        // Release: whoever finds us there finds our node busy. Acquire: the node before us is seen
        // as its owner left it, and not as it was in an earlier life.
        let before = self.tail.swap(seat.node, Ordering::AcqRel);
        let theirs = &*self.busy[before as usize];
        // Acquire: what the last holder wrote is seen. It meets the Release in `drop`.
        if theirs.load(Ordering::Acquire) {
            Clh::wait(theirs);
        }
        Held { mine, before, seat }
    }

    #[inline(never)]
    fn wait(theirs: &AtomicBool) {
        // Acquire, as in `lock`.
        while theirs.load(Ordering::Acquire) {
            spin_loop();
        }
    }
}

/// Releases the lock when it goes.
struct Held<'a> {
    mine: &'a AtomicBool,
    before: u32,
    seat: &'a mut Place,
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        // Ours is for the one behind us to look at; the one that we looked at is ours from now on.
        self.seat.node = self.before;
        // Release: what was written inside is seen by whoever comes next.
        self.mine.store(false, Ordering::Release);
    }
}
