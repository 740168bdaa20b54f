//! Locks, one file an algorithm, behind one trait: from a test-and-set byte to queues and futexes.
//!
//! They are here to be compared: each as its authors described it, with the orderings that it needs
//! and no stronger ones, and the waiting of each in a function of its own, so that a profile tells
//! who waits for what. Those that serve in order are at their best with no more threads than CPUs, and
//! come to a standstill with more.
//!
//! # The rows
//!
//! | name | what it is | order | who waits |
//! | --- | --- | --- | --- |
//! | `byte` | test-and-set on a byte, as Linux had it up to 2.6.24 | any | spins |
//! | `ttas` | test-and-test-and-set with bounded exponential backoff | any | spins |
//! | `ticket` | numbers are drawn and called, as Linux had it from 2.6.25 on | first come | spins |
//! | `ticket-proportional` | a ticket lock that looks the more rarely the longer the line | first come | spins |
//! | `mcs` | a queue in which each thread spins on its own cache line | first come | spins |
//! | `clh` | a queue in which each thread spins on the one before it | first come | spins |
//! | `qspinlock` | holder, next and queue in one word, as Linux has it since 4.2 | first come | spins |
//! | `byte-block` | spins on a byte for a while, then sleeps: the Xen lock of 2008 | any | spins, then blocks |
//! | `ticket-block` | spins on its ticket for a while, then sleeps until it is called | first come | spins, then blocks |
//! | `futex` | sleeps at once: the third mutex of "Futexes are tricky" | any | blocks |
//! | `pthread-mutex` | the C library's mutex | any | blocks |
//! | `pthread-spin` | the C library's spinlock | any | spins |
//! | `std` | the mutex of Rust's standard library | any | blocks |
//! | `parking_lot` | the mutex of the crate of that name | any | blocks |
//! | `broken` | a control that does not lock, which every check has to catch | any | spins |
//!
//! # Examples
//!
//! A thread takes a seat, and holds the lock for the length of a closure:
//!
//! ```
//! use locks::algorithms::mcs::Mcs;
//! use locks::{Lock, Setup};
//! use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
//!
//! let lock = Mcs::new(&Setup { seats: 2, spins: Setup::SPINS });
//! let count = AtomicU32::new(0);
//! std::thread::scope(|scope| {
//!     for _ in 0..2 {
//!         let mut seat = lock.seat();
//!         let (lock, count) = (&lock, &count);
//!         scope.spawn(move || {
//!             for _ in 0..100 {
//!                 lock.hold(&mut seat, || count.store(count.load(Relaxed) + 1, Relaxed));
//!             }
//!         });
//!     }
//! });
//! assert_eq!(count.into_inner(), 200);
//! ```
//!
//! Those that need no seat are mutexes of `lock_api` too, also in a static, under names of their own
//! or by way of [`Raw`]:
//!
//! ```
//! use locks::algorithms::futex::Futex;
//! use locks::{Raw, TicketMutex};
//!
//! static NAMES: TicketMutex<Vec<&str>> = TicketMutex::new(Vec::new());
//!
//! NAMES.lock().push("ticket");
//! assert_eq!(NAMES.try_lock().map(|names| names.len()), Some(1));
//!
//! let number = lock_api::Mutex::<Raw<Futex>, u32>::new(6);
//! *number.lock() += 1;
//! assert_eq!(number.into_inner(), 7);
//! ```
#![deny(unsafe_op_in_unsafe_fn)]

pub mod algorithms;
pub mod contract;
#[cfg(test)]
mod counting;
mod line;
mod lock;
mod raw;
mod seatless;
mod seats;
mod sync;

pub use algorithms::{TABLE, visit};
pub use line::CacheLine;
pub use lock::{Algorithm, Lock, Order, Setup, Visitor, Waiting, Why};
pub use raw::{
    ByteBlockMutex, ByteMutex, FutexMutex, Raw, TicketBlockMutex, TicketMutex,
    TicketProportionalMutex, TtasMutex,
};
pub use seatless::Seatless;
pub use seats::Place;

/// The row of this name.
///
/// ```
/// let row = locks::find("ticket").expect("a row of the table");
/// assert_eq!(row.order, locks::Order::Fifo);
/// assert!(locks::find("thicket").is_none());
/// ```
pub fn find(name: &str) -> Option<&'static Algorithm> {
    TABLE.iter().copied().find(|row| row.name == name)
}

/// The examples of the crate's page on the registry.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last two columns of the table in the overview.
    fn overview_line(row: &Algorithm) -> String {
        let order = match row.order {
            Order::Fifo => "first come",
            Order::Any => "any",
        };
        let waiting = match row.waiting {
            Waiting::Spins => "spins",
            Waiting::SpinsThenBlocks => "spins, then blocks",
            Waiting::Blocks => "blocks",
        };
        format!("{} | {order} | {waiting} |", row.summary)
    }

    #[test]
    fn the_table_in_the_overview_is_the_table() {
        let overview = include_str!("lib.rs").lines().filter_map(|line| {
            let (name, rest) = line.strip_prefix("//! | `")?.split_once("` | ")?;
            Some((name, rest.to_owned()))
        });
        let rows = TABLE.iter().map(|row| (row.name, overview_line(row)));
        assert_eq!(overview.collect::<Vec<_>>(), rows.collect::<Vec<_>>());
    }

    #[test]
    #[should_panic(expected = "a lock for 2 threads was asked for one seat more")]
    fn more_seats_than_there_are_is_an_error() {
        let lock = algorithms::mcs::Mcs::new(&Setup { seats: 2, spins: 0 });
        let _seats = [lock.seat(), lock.seat(), lock.seat()];
    }
}
