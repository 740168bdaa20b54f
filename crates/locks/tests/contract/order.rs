//! First come, first served, where a row declares it: each of three joins the line when the one before
//! it is seen to wait in it.

use crate::watch::{Asker, Fate};
use crate::{Outcome, USUAL, hold_all_to, sound};
use locks::{Algorithm, Lock, Order, Setup, Visitor};
use std::sync::Mutex;
use std::thread;

#[derive(Clone, Copy)]
struct Serves(Setup);

impl Visitor for Serves {
    type Output = Outcome;

    fn visit<L: Lock>(self, _: &'static Algorithm) -> Outcome {
        let lock = L::new(&self.0);
        let (mut seat, seats) = (lock.seat(), [lock.seat(), lock.seat(), lock.seat()]);
        let (lock, served) = (&lock, &Mutex::new(Vec::new()));
        let askers = [const { Asker::new() }; 3];
        let fates = thread::scope(|scope| {
            lock.hold(&mut seat, || {
                let line = askers.iter().zip(seats).enumerate();
                let fates: Vec<Fate> = line
                    .map(|(position, (asker, mut seat))| {
                        scope.spawn(move || {
                            asker.announce();
                            lock.hold(&mut seat, || {
                                asker.comes_in();
                                served.lock().unwrap().push(position);
                            });
                        });
                        asker.fate()
                    })
                    .collect();
                fates
            })
        });
        let served = served.lock().map_err(|error| error.to_string())?;
        if fates != [Fate::Waits; 3] {
            return Err(format!("not all waited: {fates:?}"));
        }
        if *served == [0, 1, 2] { Ok(()) } else { Err(format!("served in the order {served:?}")) }
    }
}

#[test]
fn who_came_first_is_served_first() {
    for spins in [1, Setup::SPINS] {
        hold_all_to(
            sound().filter(|row| row.order == Order::Fifo),
            Serves(Setup { spins, ..USUAL }),
        );
    }
}
