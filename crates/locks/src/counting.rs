//! Two threads count in plain memory under each lock: few times, for Miri, which sees every access
//! that no lock orders, and lets loads return old values.

use crate::{Lock, Setup, TABLE, Visitor, visit};
use std::cell::UnsafeCell;

/// A number without any protection.
#[derive(Default)]
struct Number(UnsafeCell<u32>);

// SAFETY: it is only touched by whoever holds the lock of the test, which is what the test is about.
unsafe impl Sync for Number {}

impl Number {
    fn add(&self) {
        // SAFETY: as above.
        unsafe { *self.0.get() += 1 };
    }
}

/// How often each of the two adds one. Miri takes a thousand times as long.
const ADDS: u32 = if cfg!(miri) { 15 } else { 500 };

struct Count(Setup);

impl Visitor for Count {
    type Output = u32;

    fn visit<L: Lock>(self) -> u32 {
        let (lock, number) = (L::new(&self.0), Number::default());
        std::thread::scope(|scope| {
            for _ in 0..2 {
                let mut seat = lock.seat();
                let (lock, number) = (&lock, &number);
                scope.spawn(move || {
                    for _ in 0..ADDS {
                        lock.hold(&mut seat, || number.add());
                    }
                });
            }
        });
        number.0.into_inner()
    }
}

/// Why Miri can't run a row.
fn beyond_miri(name: &str) -> Option<&'static str> {
    let reason = "Miri knows no pthread_spin_lock of the C library";
    (cfg!(miri) && name == "pthread-spin").then_some(reason)
}

#[test]
fn two_threads_count_in_plain_memory() {
    for row in TABLE.iter().filter(|row| !row.control) {
        if let Some(why) = beyond_miri(row.name) {
            eprintln!("SKIPPED in part: {}: {why}", row.name);
            continue;
        }
        for spins in [0, 2] {
            let counted = visit(row.name, Count(Setup { seats: 2, spins }));
            assert_eq!(counted, Some(2 * ADDS), "{}", row.name);
        }
    }
}
