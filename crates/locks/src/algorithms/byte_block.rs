//! A byte lock that spins 2^10 times and then sleeps until it is woken: the lock that Jeremy
//! Fitzhardinge wrote for guests of Xen (Linux 2.6.27, 2008), in user space. A futex stands for the
//! event channel at which a virtual CPU blocked, and waking for the kick. It is bad at being fair; and
//! each release has to look whether somebody sleeps, behind a full barrier.

use crate::sync::{AtomicU32, Ordering, fence, futex_wait, futex_wake_one, spin_loop};
use crate::{Algorithm, Order, Seatless, Setup, Waiting};

const FREE: u32 = 0;
const TAKEN: u32 = 1;

/// The lock. What is asked for and who sleeps lie side by side, as in the original. The word that was
/// a byte there has the width of a futex.
#[repr(C)]
pub struct ByteBlock {
    pub(crate) word: AtomicU32,
    /// How many sleep, or are about to.
    pub(crate) sleepers: AtomicU32,
    pub(crate) spins: u32,
}

impl Seatless for ByteBlock {
    const ALGORITHM: &'static Algorithm = &Algorithm {
        name: "byte-block",
        summary: "spins on a byte for a while, then sleeps: the Xen lock of 2008",
        order: Order::Any,
        waiting: Waiting::SpinsThenBlocks,
        limits: &["unfair: who is awake comes before who is asleep"],
        ..Algorithm::PLAIN
    };

    fn made_for(setup: &Setup) -> ByteBlock {
        let (word, sleepers) = (AtomicU32::new(FREE), AtomicU32::new(0));
        ByteBlock { word, sleepers, spins: setup.spins }
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
        self.word.swap(TAKEN, Ordering::Acquire) == FREE
    }

    #[inline]
    fn unlock(&self) {
        // Release: what was written inside is seen by whoever comes next.
        self.word.store(FREE, Ordering::Release);
        // Either the one who goes to sleep sees the lock free, or we see that it sleeps: with a full
        // barrier between what each of us writes and what each of us reads, not both can miss it.
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            self.kick();
        }
    }
}

impl ByteBlock {
    #[inline(never)]
    fn wait(&self) {
        while !self.spin() {
            self.sleep();
        }
    }

    /// Looks a while, and says whether it got the lock.
    fn spin(&self) -> bool {
        for _ in 0..self.spins {
            // Relaxed: a hint when to try. Trying is what orders.
            if self.word.load(Ordering::Relaxed) == FREE && self.try_lock() {
                return true;
            }
            spin_loop();
        }
        self.try_lock()
    }

    fn sleep(&self) {
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        // See `unlock`. The kernel looks at the word once more before it puts us to sleep.
        fence(Ordering::SeqCst);
        futex_wait(&self.word, TAKEN);
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    #[inline(never)]
    fn kick(&self) {
        futex_wake_one(&self.word);
    }
}
