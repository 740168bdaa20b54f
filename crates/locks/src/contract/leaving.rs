//! A thread that goes away takes nothing with it: neither one that waited and ended, nor one that
//! panicked inside, nor one whose seat is left behind.

use super::watch::{Asker, Fate};
use super::{Outcome, USUAL};
use crate::{Lock, Setup};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

/// One holds, two wait; the first of them gets it and ends, and the second gets it after that. With `panics` the holder
/// panics while both wait.
pub(super) fn lets_others_in<L: Lock>(panics: bool) -> Outcome {
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
            if panics {
                resume_unwind(Box::new("inside"));
            }
        };
        let left = catch_unwind(AssertUnwindSafe(|| lock.hold(&mut seat, stay)));
        left.is_err() == panics && fates == [Fate::Waits; 2]
    });
    if !waited {
        return Err("not both waited, or the panic went astray".to_owned());
    }
    if askers.iter().all(Asker::came_in) { Ok(()) } else { Err("not both came in".to_owned()) }
}

/// How many threads come.
const THREADS: u32 = 20;

/// Threads come, hold it, and end; one holds it all along between them.
pub(super) fn seats_go_back<L: Lock>() -> Outcome {
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
