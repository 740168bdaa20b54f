//! What a lock is here, and what a row of the table tells of it.

use std::fmt;

/// A lock that threads take turns at. There is no data in it: what it guards is the caller's affair.
pub trait Lock: Sync + Sized + 'static {
    /// Its row of the table.
    const ALGORITHM: &'static Algorithm;

    /// What a thread brings along each time: its node in a queue, or nothing.
    type Seat: Send;

    /// A lock that is free.
    fn new(setup: &Setup) -> Self;

    /// A seat for one thread, for as long as the lock lives. It belongs to this lock and to no other.
    ///
    /// # Panics
    /// When more than [`Setup::seats`] are taken of a lock that has a node for each.
    fn seat(&self) -> Self::Seat;

    /// Waits for the lock, does `critical` while it is held, and releases it, also when `critical`
    /// panics. Whoever holds it must not ask for it again.
    fn hold<T>(&self, seat: &mut Self::Seat, critical: impl FnOnce() -> T) -> T;
}

/// What a lock is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// How many threads will have a seat at the most.
    pub seats: u32,
    /// How often a lock that spins before it blocks looks again before it does.
    pub spins: u32,
}

impl Setup {
    /// As often as the Xen lock of 2008 looked: 2^10 times.
    pub const SPINS: u32 = 1 << 10;
}

/// One row of the table.
#[derive(Debug)]
pub struct Algorithm {
    /// The name on the command line: `ticket`.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Who comes next.
    pub order: Order,
    /// What a thread does that waits.
    pub waiting: Waiting,
    /// Whether it doesn't lock: a control that every check has to catch.
    pub control: bool,
    /// Whether it is the C library's that the program is linked with.
    pub of_c_library: bool,
    /// What a user has to know; may be empty.
    pub limits: &'static [&'static str],
    /// Whether it can be used here, or why not.
    pub available: fn() -> Result<(), Why>,
}

impl Algorithm {
    /// What most locks have in common: each states only where it differs.
    pub const PLAIN: Algorithm = Algorithm {
        name: "",
        summary: "",
        order: Order::Any,
        waiting: Waiting::Spins,
        control: false,
        of_c_library: false,
        limits: &[],
        available: || Ok(()),
    };
}

/// Who gets a lock next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Who came first.
    Fifo,
    /// Whoever is there at the right moment.
    Any,
}

/// What a thread does that waits for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// It looks again and again.
    Spins,
    /// It looks [`Setup::spins`] times, and then sleeps in the kernel until it is woken.
    SpinsThenBlocks,
    /// It sleeps in the kernel, perhaps after a short look of its own choosing.
    Blocks,
}

/// Why an algorithm can't be used here, as the end of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Why(pub &'static str);

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// What is to be done with a lock whose type is only known by its name: see [`visit`](crate::visit).
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it with locks of type `L`. The code is made for each of them on its own, so that no call
    /// of a lock goes through a table.
    fn visit<L: Lock>(self) -> Self::Output;
}
