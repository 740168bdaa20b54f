//! First come, first served, where a row declares it: each of three joins the line when the one before
//! it is seen to wait in it.

use super::watch::{Asker, Fate};
use super::{Outcome, USUAL};
use crate::{Lock, Order, Setup};
use std::sync::Mutex;
use std::thread;

pub(super) fn serves_in_order<L: Lock>() -> Outcome {
    if L::ALGORITHM.order != Order::Fifo {
        return Ok(());
    }
    for spins in [1, Setup::SPINS] {
        serves::<L>(Setup { spins, ..USUAL })?;
    }
    Ok(())
}

fn serves<L: Lock>(setup: Setup) -> Outcome {
    let lock = L::new(&setup);
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
