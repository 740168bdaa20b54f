//! The third mutex of Ulrich Drepper's "Futexes are tricky" (2004 and later), on which the mutexes of
//! C libraries are built: free, taken, or taken with somebody who may sleep; only then does a release
//! enter the kernel. It does not spin. It is bad at short critical sections that two CPUs want at
//! once, since it goes to sleep where a glance would do; and it isn't fair.

use crate::sync::{AtomicU32, Ordering, futex_wait, futex_wake_one};
use crate::{Algorithm, Order, Seatless, Setup, Waiting};

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Somebody may sleep.
const WANTED: u32 = 2;

/// The lock.
pub struct Futex {
    pub(crate) word: AtomicU32,
}

impl Seatless for Futex {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "futex",
        summary: "sleeps at once: the third mutex of \"Futexes are tricky\"",
        order: Order::Any,
        waiting: Waiting::Blocks,
        limits: &["unfair: who is awake comes before who is asleep"],
        ..Algorithm::PLAIN
    };

    fn made_for(_: &Setup) -> Futex {
        Futex { word: AtomicU32::new(FREE) }
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
        let (acquired, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
        self.word.compare_exchange(FREE, TAKEN, acquired, relaxed).is_ok()
    }

    #[inline]
    fn unlock(&self) {
        // Release: what was written inside is seen by whoever comes next. The original subtracts
        // one, and stores a zero if that was not enough; an exchange does the same at once.
        if self.word.swap(FREE, Ordering::Release) == WANTED {
            self.wake();
        }
    }
}

impl Futex {
    #[inline(never)]
    fn wait(&self) {
        // Acquire, as in `try_lock`. Who has waited takes the lock as one that others may wait for:
        // it can't know. At worst that is one wake too many.
        while self.word.swap(WANTED, Ordering::Acquire) != FREE {
            futex_wait(&self.word, WANTED);
        }
    }

    #[inline(never)]
    fn wake(&self) {
        futex_wake_one(&self.word);
    }
}
