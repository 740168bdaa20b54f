//! The queue lock of Mellor-Crummey and Scott (1991): each thread spins on a flag in its own node, and
//! who leaves clears the flag of the next. A release touches one waiter's cache line and no other's.
//! It is bad at having more threads than CPUs, like all that serve in order; and alone it costs two
//! atomic operations where a byte costs one.

use crate::line::CacheLine;
use crate::seats::{Place, Seats};
use crate::sync::{AtomicBool, AtomicU32, Ordering, spin_loop};
use crate::{Algorithm, Lock, Order, Setup, Waiting};

/// No node: no thread is in line, or none behind.
const NO_NODE: u32 = u32::MAX;

/// The lock. Its nodes are its own, and known by their numbers.
pub struct Mcs {
    /// The last in line.
    tail: CacheLine<AtomicU32>,
    nodes: Box<[CacheLine<Node>]>,
    seats: Seats,
}

/// A thread in line.
struct Node {
    /// Who comes after it.
    next: AtomicU32,
    /// Whether it has to wait. Written by the one before it.
    waiting: AtomicBool,
}

impl Lock for Mcs {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "mcs",
        summary: "a queue in which each thread spins on its own cache line",
        order: Order::Fifo,
        waiting: Waiting::Spins,
        limits: &["stands still while the next in line does not run"],
        ..Algorithm::PLAIN
    };

    type Seat = Place;

    fn new(setup: &Setup) -> Mcs {
        let node = || Node { next: AtomicU32::new(NO_NODE), waiting: AtomicBool::new(false) };
        Mcs {
            tail: CacheLine(AtomicU32::new(NO_NODE)),
            nodes: (0..setup.seats).map(|_| CacheLine(node())).collect(),
            seats: Seats::new(setup.seats),
        }
    }

    fn seat(&self) -> Place {
        self.seats.take()
    }

    #[inline]
    fn hold<T>(&self, seat: &mut Place, critical: impl FnOnce() -> T) -> T {
        let _held = self.lock(seat.node);
        critical()
    }
}

impl Mcs {
    #[inline]
    fn lock(&self, mine: u32) -> Held<'_> {
        let node = &*self.nodes[mine as usize];
        // Relaxed: the exchange below hands the node over.
        node.next.store(NO_NODE, Ordering::Relaxed);
        // Release: whoever finds us there finds our node made ready. Acquire: what the last holder
        // wrote is seen, or the node of the one before us is ready to be written to.
        let before = self.tail.swap(mine, Ordering::AcqRel);
        if before != NO_NODE {
            self.wait(node, mine, before);
        }
        Held { lock: self, node, mine }
    }

    #[inline(never)]
    fn wait(&self, node: &Node, mine: u32, before: u32) {
        // Relaxed: the Release that follows hands it over to the one before us.
        node.waiting.store(true, Ordering::Relaxed);
        self.nodes[before as usize].next.store(mine, Ordering::Release);
        // Acquire: what the last holder wrote is seen. It meets the Release in `unlock`.
        while node.waiting.load(Ordering::Acquire) {
            spin_loop();
        }
    }

    /// Waits for the number of a thread that is in line but has not linked itself yet.
    #[inline(never)]
    fn wait_for_next(node: &Node) -> u32 {
        loop {
            let next = node.next.load(Ordering::Acquire);
            if next != NO_NODE {
                return next;
            }
            spin_loop();
        }
    }

    #[inline]
    fn unlock(&self, node: &Node, mine: u32) {
        // Acquire: its flag was raised before its number was written; only then may we clear it.
        let mut next = node.next.load(Ordering::Acquire);
        if next == NO_NODE {
            // Release: what was written inside is seen by whoever comes to an empty queue.
            let (released, relaxed) = (Ordering::Release, Ordering::Relaxed);
            if self.tail.compare_exchange(mine, NO_NODE, released, relaxed).is_ok() {
                return;
            }
            next = Mcs::wait_for_next(node);
        }
        // Release: what was written inside is seen by the next.
        self.nodes[next as usize].waiting.store(false, Ordering::Release);
    }
}

/// Releases the lock when it goes.
struct Held<'a> {
    lock: &'a Mcs,
    node: &'a Node,
    mine: u32,
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        self.lock.unlock(self.node, self.mine);
    }
}
