//! No thread sleeps on: one that sleeps is woken by every release that matters. Two threads hand the
//! lock to each other, again and again, and each release comes at the moment at which the other may be
//! falling asleep. If it is missed once, both stand still, which the deadline finds.

use super::USUAL;
use crate::{Lock, Setup, Waiting};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, yield_now};

/// How often the lock goes over and back. On a busy machine each may take a time slice; that no order of
/// events loses one is what the models ask.
const ROUNDS: u32 = 150;

/// How far each of two threads has come.
#[derive(Default)]
struct Partner {
    /// How often it has asked.
    asked: AtomicU32,
    /// How often it came in.
    came_in: AtomicU32,
}

impl Partner {
    fn wait_until(counter: &AtomicU32, count: u32) {
        while counter.load(Ordering::SeqCst) < count {
            yield_now();
        }
    }

    /// Holds the lock until the other has asked for it, and asks again when the other is inside. The
    /// `second` begins when the first is inside, and is half a round behind from then on.
    fn takes_turns<L: Lock>(&self, partner: &Partner, lock: &L, mut seat: L::Seat, second: bool) {
        Partner::wait_until(&partner.came_in, u32::from(second));
        for round in 1..=ROUNDS {
            let theirs = (round + u32::from(second)).min(ROUNDS);
            self.asked.store(round, Ordering::SeqCst);
            lock.hold(&mut seat, || {
                self.came_in.store(round, Ordering::SeqCst);
                Partner::wait_until(&partner.asked, theirs);
            });
            Partner::wait_until(&partner.came_in, theirs);
        }
    }
}

pub(super) fn wakes<L: Lock>() {
    if L::ALGORITHM.waiting == Waiting::Spins {
        return;
    }
    for spins in [0, 1] {
        let lock = L::new(&Setup { spins, ..USUAL });
        let (mine, partner) = (&Partner::default(), &Partner::default());
        thread::scope(|scope| {
            let (lock, seats) = (&lock, [lock.seat(), lock.seat()]);
            let [seat, second_seat] = seats;
            scope.spawn(move || mine.takes_turns(partner, lock, seat, false));
            scope.spawn(move || partner.takes_turns(mine, lock, second_seat, true));
        });
    }
}
