//! Where processes on several machines agree: all reach it, it has one clock, and it knows which of them still live.

use crate::Error;

/// What a process has posted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The number of the process, which no other has.
    pub sender: i64,
    /// Its rank.
    pub rank: u32,
    /// Whether it is still connected.
    pub is_present: bool,
    /// What it posted; empty where only the sender was asked for.
    pub body: String,
}

/// A process's connection to the meeting of its fleet. It is present as long as it has this.
pub trait Meeting: Send {
    /// The number of this process.
    fn sender(&self) -> i64;

    /// Posts something of a kind.
    ///
    /// # Errors
    /// Why it can't be written.
    fn post(&mut self, kind: &str, body: &str) -> Result<(), Error>;

    /// The last posting of this kind of each process of the fleet, by rank; with its body if that is asked for.
    ///
    /// # Errors
    /// Why it can't be read.
    fn postings(&mut self, kind: &str, with_body: bool) -> Result<Vec<Posting>, Error>;

    /// The clock of the meeting, in nanoseconds.
    ///
    /// # Errors
    /// Why it can't be read.
    fn clock_ns(&mut self) -> Result<i64, Error>;
}
