//! Readiness mechanisms, one file each, behind one trait: from select to io_uring.
#![deny(unsafe_op_in_unsafe_fn)]

mod mechanisms;

pub use mechanisms::TABLE;

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// What the caller wants to be told with an event: an index into a table of its own, usually.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u64);

/// What a descriptor is watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interest {
    /// Data, an end of file or a connection to accept.
    Readable,
    /// Room to write.
    Writable,
    /// Either.
    Both,
}

/// What happened to one descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The token it was added with.
    pub token: Token,
    /// A read would not block: data, end of file, hang-up or error.
    pub readable: bool,
    /// A write would not block: room, hang-up or error.
    pub writable: bool,
    /// The peer is gone, or the descriptor is in error.
    pub hangup: bool,
}

/// When a mechanism reports a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    /// At every wait for as long as it is ready.
    Level,
    /// Once for each arrival; the caller reads until the call would block.
    Edge,
    /// Once; then it is silent until [`Readiness::modify`] arms it again.
    Oneshot,
}

/// A readiness mechanism: exactly the system calls that a program would make, and no others.
pub trait Readiness: Send {
    /// Watches `fd`. What was ready before is reported too, whatever the trigger.
    fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()>;
    /// Changes what a watched `fd` is watched for; arms it again where the trigger is oneshot.
    fn modify(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()>;
    /// Stops watching `fd`. No event of it is reported from then on. Call it before closing `fd`.
    fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()>;
    /// Clears `ready`, waits until something is ready or the time is up, and fills it: with at
    /// least one event if there is any, with all of them where the mechanism can hand over several.
    /// `None` waits for ever, zero not at all.
    fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()>;
}

/// One row of the table: what `list`, help, docs and the contract test are made of.
pub struct Mechanism {
    /// The name on the command line: `epoll-level`.
    pub name: &'static str,
    /// The name in reports: as `name`, but `kqueue (libkqueue)` where it is an emulation.
    pub label: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// When it reports.
    pub trigger: Trigger,
    /// Whether events are queued as they happen and not looked at again when they are taken, so
    /// that one can outlive its cause (signals, completions).
    pub queued: bool,
    /// What it can't do, in one line each; empty when there is nothing to say.
    pub limits: &'static [&'static str],
    /// Whether it can be used here and now, or why not.
    pub available: fn() -> Result<(), Why>,
    /// Opens one for about `capacity` descriptors.
    pub open: fn(capacity: usize) -> io::Result<Box<dyn Readiness>>,
}

/// Why a mechanism can't be used here: `Solaris and illumos only`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why(pub String);
