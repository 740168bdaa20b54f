//! Never two at once: certainly, with a holder that stays until the other is known to wait; and
//! likely, with two threads that count without an atomic operation.

use super::watch::{Asker, Fate};
use super::{Outcome, USUAL};
use crate::{Lock, Setup};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// One stays inside until the other has asked and is seen to wait.
pub(super) fn excludes<L: Lock>() -> Outcome {
    for spins in [0, 1, Setup::SPINS] {
        waits::<L>(Setup { spins, ..USUAL })?;
    }
    Ok(())
}

fn waits<L: Lock>(setup: Setup) -> Outcome {
    let lock = L::new(&setup);
    let (mut seat, mut second_seat) = (lock.seat(), lock.seat());
    let (lock, asker) = (&lock, &Asker::new());
    let fate = thread::scope(|scope| {
        lock.hold(&mut seat, || {
            scope.spawn(move || {
                asker.announce();
                lock.hold(&mut second_seat, || asker.comes_in());
            });
            asker.fate()
        })
    });
    match fate {
        Fate::CameIn => Err("two were inside at once".to_owned()),
        Fate::Waits if asker.came_in() => Ok(()),
        Fate::Waits => Err("the one that waited never came in".to_owned()),
    }
}

/// How often each adds at the most.
const ADDS_MAX: u64 = 10_000;

/// How long it goes on at the most. Locks that serve in order do one hand-over each time slice where
/// others leave them a single CPU; so as many as there are then have to do.
const TIME_MAX: Duration = Duration::from_secs(1);

/// Two threads add to a number in two steps, which only a lock makes one.
pub(super) fn counts<L: Lock>() -> Outcome {
    let lock = L::new(&USUAL);
    let (lock, number, begun) = (&lock, &AtomicU64::new(0), Instant::now());
    let added = thread::scope(|scope| {
        let threads = [lock.seat(), lock.seat()].map(|mut seat| {
            scope.spawn(move || {
                let mut added = 0;
                while added < ADDS_MAX && begun.elapsed() < TIME_MAX {
                    lock.hold(&mut seat, || {
                        let seen = number.load(Ordering::Relaxed);
                        number.store(seen + 1, Ordering::Relaxed);
                    });
                    added += 1;
                }
                added
            })
        });
        threads.map(|thread| thread.join().unwrap_or_default()).iter().sum::<u64>()
    });
    let counted = number.load(Ordering::Relaxed);
    if counted == added { Ok(()) } else { Err(format!("{counted} of {added} were counted")) }
}
