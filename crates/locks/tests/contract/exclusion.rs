//! Never two at once: certainly, with a holder that stays until the other is known to wait; and
//! likely, with two threads that count without an atomic operation.

use crate::watch::{Asker, Fate};
use crate::{Outcome, USUAL, check, hold_all_to, sound};
use locks::{Algorithm, Lock, Setup, TABLE, Visitor};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// One stays inside until the other has asked and is seen to wait.
#[derive(Clone, Copy)]
struct Waits(Setup);

impl Visitor for Waits {
    type Output = Outcome;

    fn visit<L: Lock>(self, _: &'static Algorithm) -> Outcome {
        let lock = L::new(&self.0);
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
}

#[test]
fn no_thread_enters_while_another_stays() {
    for spins in [0, 1, Setup::SPINS] {
        hold_all_to(sound(), Waits(Setup { spins, ..USUAL }));
    }
}

#[test]
fn the_control_is_caught() {
    for row in TABLE.iter().filter(|row| row.control) {
        let caught = check(row.name, Waits(USUAL)).expect_err("it lets two in");
        assert_eq!(caught, "two were inside at once");
    }
}

/// Two threads add to a number in two steps, which only a lock makes one.
#[derive(Clone, Copy)]
struct Counts;

/// How often each adds at the most.
const ADDS_MAX: u64 = 10_000;

/// How long it goes on at the most. Locks that serve in order do one hand-over each time slice where
/// others leave them a single CPU; so as many as there are then have to do.
const TIME_MAX: Duration = Duration::from_secs(1);

impl Visitor for Counts {
    type Output = Outcome;

    fn visit<L: Lock>(self, _: &'static Algorithm) -> Outcome {
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
}

#[test]
fn two_threads_count_without_a_loss() {
    hold_all_to(sound(), Counts);
}
