//! Mutexes of `lock_api` over the locks that need no seat, so that others can use them.

use lock_api::{GuardSend, RawMutex};

use crate::Seatless;
use crate::algorithms::byte::Byte;
use crate::algorithms::byte_block::ByteBlock;
use crate::algorithms::futex::Futex;
use crate::algorithms::ticket::Ticket;
use crate::algorithms::ticket_block::TicketBlock;
use crate::algorithms::ticket_proportional::TicketProportional;
use crate::algorithms::ttas::Ttas;
use crate::sync::{AtomicBool, AtomicU8, AtomicU32};

/// A lock without a seat, as `lock_api` wants it. Those that spin before they block look
/// [`Setup::SPINS`](crate::Setup::SPINS) times.
pub struct Raw<L> {
    lock: L,
}

/// A lock that can be made in a constant. Only this file knows the trait, and gives it to locks that
/// exclude: what a mutex guards depends on it.
pub trait Constant: Seatless {
    /// A lock that is free.
    const FREE: Self;
}

// SAFETY: every `Constant` excludes: `lock` and a `try_lock` that says yes return only when no other
// thread has the lock. The contract test and the models of this crate hold them to that.
unsafe impl<L: Constant> RawMutex for Raw<L> {
    const INIT: Raw<L> = Raw { lock: L::FREE };

    // None of them cares which thread releases it.
    type GuardMarker = GuardSend;

    #[inline]
    fn lock(&self) {
        self.lock.lock();
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.lock.try_lock()
    }

    // SAFETY: whoever calls it holds the lock, as `lock_api` demands; to release is all that it does.
    #[inline]
    unsafe fn unlock(&self) {
        self.lock.unlock();
    }
}

/// Gives each its constant and its name as a mutex.
macro_rules! mutexes {
    ($($Mutex:ident = $Lock:ident { $($field:ident: $value:expr,)* };)*) => {$(
        impl Constant for $Lock {
            const FREE: $Lock = $Lock { $($field: $value,)* };
        }

        #[doc = concat!("A mutex over [`", stringify!($Lock), "`].")]
        pub type $Mutex<T> = lock_api::Mutex<Raw<$Lock>, T>;
    )*};
}

mutexes! {
    ByteMutex = Byte { taken: AtomicU8::new(0), };
    TtasMutex = Ttas { taken: AtomicBool::new(false), };
    TicketMutex = Ticket { next: AtomicU32::new(0), owner: AtomicU32::new(0), };
    TicketProportionalMutex = TicketProportional {
        next: AtomicU32::new(0),
        owner: AtomicU32::new(0),
    };
    ByteBlockMutex = ByteBlock {
        word: AtomicU32::new(0),
        sleepers: AtomicU32::new(0),
        spins: crate::Setup::SPINS,
    };
    TicketBlockMutex = TicketBlock {
        next: AtomicU32::new(0),
        owner: AtomicU32::new(0),
        sleepers: [const { AtomicU32::new(0) }; 32],
        spins: crate::Setup::SPINS,
    };
    FutexMutex = Futex { word: AtomicU32::new(0), };
}

#[cfg(test)]
mod tests {
    use super::*;
    use lock_api::Mutex;

    /// Takes it and tries to; then counts with two threads.
    fn holds<L: Constant>() {
        can_be_shared::<Mutex<Raw<L>, u32>>();
        let mutex = Mutex::<Raw<L>, u32>::new(0);
        let guard = mutex.try_lock().expect("nobody holds it");
        assert!(mutex.try_lock().is_none() && mutex.is_locked());
        drop(guard);
        assert!(mutex.try_lock().is_some() && !mutex.is_locked());
        let rounds = if cfg!(miri) { 20 } else { 1_000 };
        std::thread::scope(|scope| {
            for tries in [false, true] {
                let mutex = &mutex;
                scope.spawn(move || {
                    for _ in 0..rounds {
                        let tried = if tries { mutex.try_lock() } else { None };
                        *tried.unwrap_or_else(|| mutex.lock()) += 1;
                    }
                });
            }
        });
        assert_eq!(mutex.into_inner(), 2 * rounds);
    }

    /// Does nothing, but compiles for nothing else.
    fn can_be_shared<T: Sync>() {}

    #[test]
    fn each_is_a_mutex_of_lock_api() {
        holds::<Byte>();
        holds::<Ttas>();
        holds::<Ticket>();
        holds::<TicketProportional>();
        holds::<ByteBlock>();
        holds::<TicketBlock>();
        holds::<Futex>();
    }

    #[test]
    fn a_ticket_that_was_not_drawn_is_not_owed() {
        static TURNS: TicketMutex<u32> = TicketMutex::new(0);
        let first = TURNS.lock();
        for _ in 0..3 {
            assert!(TURNS.try_lock().is_none());
        }
        drop(first);
        *TURNS.lock() += 1;
        assert_eq!(*TURNS.lock(), 1);
    }
}
