//! The very files of the algorithms, run by shuttle through many random orders of events, with more
//! threads than loom can try all orders of: lines of three, and threads that come back to nodes which
//! they used before. Shuttle knows no weak memory; that is loom's part.
#![allow(dead_code, reason = "the files of a library, of which a model uses the locks only")]
#![allow(clippy::trivially_copy_pass_by_ref, reason = "as it is in the library")]
#![deny(unsafe_op_in_unsafe_fn)]

#[path = "../../src/line.rs"]
mod line;
#[path = "../../src/lock.rs"]
mod lock;
#[path = "../../src/seatless.rs"]
mod seatless;
#[path = "../../src/seats.rs"]
mod seats;
mod sync;

#[path = "../../src/algorithms/broken.rs"]
mod broken;
#[path = "../../src/algorithms/byte.rs"]
mod byte;
#[path = "../../src/algorithms/byte_block.rs"]
mod byte_block;
#[path = "../../src/algorithms/clh.rs"]
mod clh;
#[path = "../../src/algorithms/futex.rs"]
mod futex;
#[path = "../../src/algorithms/mcs.rs"]
mod mcs;
#[path = "../../src/algorithms/qspinlock.rs"]
mod qspinlock;
#[path = "../../src/algorithms/ticket.rs"]
mod ticket;
#[path = "../../src/algorithms/ticket_block.rs"]
mod ticket_block;
#[path = "../../src/algorithms/ticket_proportional.rs"]
mod ticket_proportional;
#[path = "../../src/algorithms/ttas.rs"]
mod ttas;

use lock::{Algorithm, Lock, Order, Setup, Waiting};
use seatless::Seatless;
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::sync::atomic::{AtomicU32, Ordering};
use shuttle::{Config, Runner};
use std::any::Any;
use std::sync::Arc;

/// How many threads, how often each holds the lock, and how many orders are tried.
const THREADS: u32 = 4;
const HOLDS: u32 = 3;
const ORDERS: usize = 150;

/// The same orders each time.
const SEED: u64 = 0x6b6e_6565;

/// Runs threads that hold the lock and count, in many orders: at random, and with the few switches at
/// bad moments that most mistakes need.
fn count<L: Lock + Send + 'static>(spins: u32) {
    run::<L>(spins, RandomScheduler::new_from_seed(SEED, ORDERS));
    run::<L>(spins, PctScheduler::new_from_seed(SEED, 3, ORDERS));
}

fn run<L: Lock + Send + 'static>(spins: u32, scheduler: impl Scheduler + 'static) {
    let mut config = Config::default();
    // It warns that it takes every ordering for the strongest.
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(move || {
        sync::reset();
        let lock = L::new(&Setup { seats: THREADS, spins });
        let shared = Arc::new((lock, AtomicU32::new(0)));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let shared = Arc::clone(&shared);
                shuttle::thread::spawn(move || {
                    let (lock, number) = &*shared;
                    let mut seat = lock.seat();
                    for _ in 0..HOLDS {
                        lock.hold(&mut seat, || {
                            let seen = number.load(Ordering::Relaxed);
                            number.store(seen + 1, Ordering::Relaxed);
                        });
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(shared.1.load(Ordering::Relaxed), THREADS * HOLDS, "some were lost");
    });
}

/// What is found when no thread is woken, or by the lock itself.
fn failure_text<L: Lock + Send + 'static>(wakes: bool) -> String {
    let check = move || {
        if !wakes {
            sync::wake_none();
        }
        count::<L>(0);
    };
    let panic = std::thread::spawn(check).join().expect_err("shuttle finds something");
    text(&*panic)
}

fn text(panic: &(dyn Any + Send)) -> String {
    let owned = panic.downcast_ref::<String>().cloned();
    owned
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_default()
}

#[test]
fn those_that_spin_exclude() {
    count::<byte::Byte>(0);
    count::<ttas::Ttas>(0);
    count::<ticket::Ticket>(0);
    count::<ticket_proportional::TicketProportional>(0);
}

#[test]
fn those_that_queue_exclude() {
    count::<mcs::Mcs>(0);
    count::<clh::Clh>(0);
    count::<qspinlock::Qspinlock>(0);
}

#[test]
fn those_that_block_exclude_and_wake() {
    for spins in [0, 1] {
        count::<byte_block::ByteBlock>(spins);
        count::<ticket_block::TicketBlock>(spins);
        count::<futex::Futex>(spins);
    }
}

#[test]
fn who_is_never_woken_is_found() {
    for failure in [
        failure_text::<byte_block::ByteBlock>(false),
        failure_text::<ticket_block::TicketBlock>(false),
        failure_text::<futex::Futex>(false),
    ] {
        assert!(failure.contains("deadlock"), "{failure}");
    }
}

#[test]
fn the_control_is_caught() {
    let failure = failure_text::<broken::Broken>(true);
    assert!(failure.contains("some were lost"), "{failure}");
}
