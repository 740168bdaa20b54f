//! A thread that goes away takes nothing with it: neither one that waited and ended, nor one that
//! panicked inside, nor one whose seat is left behind.

use crate::watch::{Asker, Fate};
use crate::{Outcome, USUAL, hold_all_to, sound};
use locks::{Algorithm, Lock, Setup, Visitor};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

/// One holds, two wait; the first of them gets it and ends, and the second gets it after that.
#[derive(Clone, Copy)]
struct Ends {
    /// Whether the holder panics while both wait.
    panics: bool,
}

impl Visitor for Ends {
    type Output = Outcome;

    fn visit<L: Lock>(self, _: &'static Algorithm) -> Outcome {
        let lock = L::new(&USUAL);
        let (mut seat, seats) = (lock.seat(), [lock.seat(), lock.seat()]);
        let (lock, askers) = (&lock, [const { Asker::new() }; 2]);
        let waited = thread::scope(|scope| {
            let mut fates = Vec::new();
            let stay = || {
                for (asker, mut seat) in askers.iter().zip(seats) {
                    scope.spawn(move || {
                        asker.announce();
                        lock.hold(&mut seat, || asker.comes_in());
                    });
                    fates.push(asker.fate());
                }
                if self.panics {
                    resume_unwind(Box::new("inside"));
                }
            };
            let left = catch_unwind(AssertUnwindSafe(|| lock.hold(&mut seat, stay)));
            left.is_err() == self.panics && fates == [Fate::Waits; 2]
        });
        if !waited {
            return Err("not both waited, or the panic went astray".to_owned());
        }
        if askers.iter().all(Asker::came_in) { Ok(()) } else { Err("not both came in".to_owned()) }
    }
}

#[test]
fn a_thread_that_waited_and_ended_blocks_no_thread() {
    hold_all_to(sound(), Ends { panics: false });
}

#[test]
fn who_panics_inside_lets_the_others_in() {
    hold_all_to(sound(), Ends { panics: true });
}

/// Threads come, hold it, and end; one holds it all along between them.
#[derive(Clone, Copy)]
struct Seats;

/// How many threads come.
const THREADS: u32 = 20;

impl Visitor for Seats {
    type Output = Outcome;

    fn visit<L: Lock>(self, _: &'static Algorithm) -> Outcome {
        let lock = L::new(&Setup { seats: THREADS + 1, ..USUAL });
        let (mut seat, mut count) = (lock.seat(), 0);
        for _ in 0..THREADS {
            let lock = &lock;
            let theirs = thread::scope(|scope| {
                let come = move || {
                    let mut seat = lock.seat();
                    (0..3).map(|_| lock.hold(&mut seat, || 1)).sum::<u32>()
                };
                scope.spawn(come).join().unwrap_or_default()
            });
            count += theirs + lock.hold(&mut seat, || 1);
        }
        if count == 4 * THREADS { Ok(()) } else { Err(format!("held {count} times")) }
    }
}

#[test]
fn the_seats_of_threads_that_ended_are_no_hindrance() {
    hold_all_to(sound(), Seats);
}
