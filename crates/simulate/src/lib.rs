//! A discrete-event model of locks on CPUs that are over-committed.
//!
//! Threads take turns at one lock, on a number of CPUs that may be smaller than theirs. What a lock
//! does is a row of [`TABLE`]; what the machine does (slices, switches, wake-ups, the way of a cache
//! line from one CPU to the next) is a [`Machine`]. Nothing in here knows that some locks collapse: a
//! thread that is preempted keeps what it has, be it the lock or its place in the queue, and the rest
//! follows.
//!
//! The model is pure: it reads no clock, starts no thread, and gives the same figures for the same
//! seed. Spinning costs it nothing, as only what changes something is an event.
//!
//! ```
//! use simulate::{Machine, Work, find, simulate};
//!
//! let machine = Machine { cpus: 2, ..Machine::default() };
//! let work = |threads| Work { threads, ..Work::default() };
//! let ticket = find("ticket").expect("a row of the table");
//! let few = simulate(&machine, &work(2), ticket)?;
//! let many = simulate(&machine, &work(8), ticket)?;
//! assert!(few.per_s() > 20.0 * many.per_s());
//! # Ok::<(), simulate::Wrong>(())
//! ```
#![forbid(unsafe_code)]

mod algorithms;
mod cpus;
mod events;
mod figures;
mod lock;
mod setup;
mod threads;
mod world;

pub use algorithms::{Algorithm, Blocking, Discipline, HandOver, LEFT_OUT, TABLE, find};
pub use figures::{Figures, Spread};
pub use setup::{Machine, Work, Wrong};
pub use world::{Moment, What};

/// What comes of `work` with a lock of this algorithm on this machine.
///
/// # Errors
/// [`Wrong`], where the machine or the work is none that can be modelled.
pub fn simulate(machine: &Machine, work: &Work, algorithm: &Algorithm) -> Result<Figures, Wrong> {
    watched(machine, work, algorithm, |_| ())
}

/// The same, and tells `watch` each time that a thread arrives at the lock, has it, and releases it.
///
/// # Errors
/// [`Wrong`], where the machine or the work is none that can be modelled.
pub fn watched(
    machine: &Machine,
    work: &Work,
    algorithm: &Algorithm,
    watch: impl FnMut(Moment),
) -> Result<Figures, Wrong> {
    machine.check()?;
    work.check()?;
    Ok(world::World::new(*machine, *work, *algorithm, watch).run())
}
