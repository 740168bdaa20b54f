//! The spinlock of Linux since 4.2 (Waiman Long and Peter Zijlstra, 2015) in one word of 32 bits: a
//! byte for the holder, a bit for the one who is next, and the tail of an MCS queue for all others.
//! The first to wait spins on the word itself and needs no node. It is bad at having more threads than
//! CPUs, like all that serve in order, which is why Linux replaces it in guests of a hypervisor.
//!
//! Linux clears the holder's byte with a plain store where it can. Atomics of two sizes at one address
//! have no place in Rust's memory model: here a release is an atomic subtraction, as it was on the
//! other architectures of Linux at first.

use crate::line::CacheLine;
use crate::seats::{Place, Seats};
use crate::sync::{AtomicBool, AtomicU32, Ordering, spin_loop};
use crate::{Algorithm, Lock, Order, Setup, Waiting};

/// Somebody holds it.
const LOCKED: u32 = 1;
/// Somebody is next, and spins on the word.
const PENDING: u32 = 1 << 8;
/// The number of the last in the queue plus one; 0 when it is empty.
const TAIL_SHIFT: u32 = 16;
const TAIL: u32 = u32::MAX << TAIL_SHIFT;
/// Where the holder and the next are.
const HEAD: u32 = (1 << TAIL_SHIFT) - 1;

/// No node: no thread behind.
const NO_NODE: u32 = u32::MAX;

/// The lock. Its nodes are its own, where those of Linux belong to the CPUs.
pub struct Qspinlock {
    word: CacheLine<AtomicU32>,
    nodes: Box<[CacheLine<Node>]>,
    seats: Seats,
}

/// A thread in the queue.
struct Node {
    /// Who comes after it.
    next: AtomicU32,
    /// Whether it is the first of the queue. Written by the one before it.
    first: AtomicBool,
}

impl Lock for Qspinlock {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "qspinlock",
        summary: "holder, next and queue in one word, as Linux has it since 4.2",
        order: Order::Fifo,
        waiting: Waiting::Spins,
        limits: &["stands still while the next in line does not run", "at most 65,535 seats"],
        ..Algorithm::PLAIN
    };

    type Seat = Place;

    /// # Panics
    /// When there are more seats than the word has numbers for.
    fn new(setup: &Setup) -> Qspinlock {
        let seats = setup.seats;
        assert!(seats <= TAIL >> TAIL_SHIFT, "a qspinlock has at most 65,535 seats, not {seats}");
        let node = || Node { next: AtomicU32::new(NO_NODE), first: AtomicBool::new(false) };
        Qspinlock {
            word: CacheLine(AtomicU32::new(0)),
            nodes: (0..seats).map(|_| CacheLine(node())).collect(),
            seats: Seats::new(seats),
        }
    }

    fn seat(&self) -> Place {
        self.seats.take()
    }

    #[inline]
    fn hold<T>(&self, seat: &mut Place, critical: impl FnOnce() -> T) -> T {
        // Acquire: what the last holder wrote is seen. It meets the Release in `drop`.
        let (acquired, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        if let Err(word) = self.word.compare_exchange(0, LOCKED, acquired, relaxed) {
            self.wait(seat.node, word);
        }
        let _held = Held(self);
        critical()
    }
}

impl Qspinlock {
    #[inline(never)]
    fn wait(&self, mine: u32, mut word: u32) {
        if word == PENDING {
            // The next is just becoming the holder: one look more saves a place in the queue.
            spin_loop();
            word = self.word.load(Ordering::Relaxed);
        }
        if word & !LOCKED != 0 || !self.wait_as_next() {
            self.wait_in_queue(mine);
        }
    }

    /// Becomes the next and waits for the lock; false if somebody else is the next already.
    fn wait_as_next(&self) -> bool {
        // Acquire: if it is free by now, this is what took it.
        let word = self.word.fetch_or(PENDING, Ordering::Acquire);
        if word & !LOCKED != 0 {
            if word & PENDING == 0 {
                // Others queue up already. This thread set the bit: no other clears it.
                self.word.fetch_and(!PENDING, Ordering::Relaxed);
            }
            return false;
        }
        if word & LOCKED != 0 {
            // Acquire: what the last holder wrote is seen.
            while self.word.load(Ordering::Acquire) & LOCKED != 0 {
                spin_loop();
            }
        }
        // Relaxed: what orders was the Acquire before it. From next to holder in one step.
        self.word.fetch_sub(PENDING - LOCKED, Ordering::Relaxed);
        true
    }

    #[inline(never)]
    fn wait_in_queue(&self, mine: u32) {
        let node = &*self.nodes[mine as usize];
        // Relaxed: the exchange of the tail hands the node over.
        node.next.store(NO_NODE, Ordering::Relaxed);
        node.first.store(false, Ordering::Relaxed);
        let tail = (mine + 1) << TAIL_SHIFT;
        if let Some(before) = self.queue_up(tail) {
            // Release: our node was made ready before its owner learns of us.
            self.nodes[before as usize].next.store(mine, Ordering::Release);
            // Acquire: what it has seen of the lock, we have seen.
            while !node.first.load(Ordering::Acquire) {
                spin_loop();
            }
        }
        self.wait_as_first(node, tail);
    }

    /// Becomes the tail of the queue, and says who was.
    fn queue_up(&self, tail: u32) -> Option<u32> {
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            let queued = word & HEAD | tail;
            // Release: whoever finds us there finds our node made ready. Acquire: the node of the one
            // before us is ready to be written to.
            let (both, relaxed) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.word.compare_exchange_weak(word, queued, both, relaxed) {
                Ok(_) => return (word >> TAIL_SHIFT).checked_sub(1),
                Err(now) => word = now,
            }
        }
    }

    /// Waits until neither a holder nor a next is before us, takes the lock, and tells the second in
    /// the queue that it is the first.
    fn wait_as_first(&self, node: &Node, tail: u32) {
        // Acquire: what the last holder wrote is seen.
        let mut word = self.word.load(Ordering::Acquire);
        while word & HEAD != 0 {
            spin_loop();
            word = self.word.load(Ordering::Acquire);
        }
        // Relaxed: what orders was the Acquire before it. No other thread can take the lock now.
        let relaxed = Ordering::Relaxed;
        if word == tail && self.word.compare_exchange(tail, LOCKED, relaxed, relaxed).is_ok() {
            return;
        }
        self.word.fetch_or(LOCKED, relaxed);
        loop {
            // Acquire: its node was made ready before it linked itself.
            let next = node.next.load(Ordering::Acquire);
            if next != NO_NODE {
                self.nodes[next as usize].first.store(true, Ordering::Release);
                return;
            }
            spin_loop();
        }
    }
}

/// Releases the lock when it goes.
struct Held<'a>(&'a Qspinlock);

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release: what was written inside is seen by whoever comes next.
        self.0.word.fetch_sub(LOCKED, Ordering::Release);
    }
}
