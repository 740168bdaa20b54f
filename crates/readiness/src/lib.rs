//! Readiness mechanisms, one file each, behind one trait: from `select` to `io_uring`.
//!
//! A readiness mechanism tells a program which of many descriptors can be read or written without
//! blocking. Each row here makes exactly the system calls that a program written for that mechanism
//! would make, and no others, so that rows can be compared, and any of them can drive an event
//! loop. Every row exists on every target; where one can't work, it says why.
//!
//! # The rows
//!
//! | name | what it is | trigger | where |
//! | --- | --- | --- | --- |
//! | `select` | `select(2)`, sets grown past `FD_SETSIZE` where the kernel allows | level | everywhere |
//! | `poll` | `poll(2)` over a dense array | level | everywhere |
//! | `ppoll` | `ppoll(2)`, without a signal mask | level | Linux, BSD |
//! | `epoll-level` | `epoll(7)` | level | Linux |
//! | `epoll-edge` | `epoll(7)` with `EPOLLET` | edge | Linux |
//! | `epoll-oneshot` | `epoll(7)` with `EPOLLONESHOT` | oneshot | Linux |
//! | `aio-poll` | `io_submit(2)` with `IOCB_CMD_POLL` | oneshot | Linux 4.18 |
//! | `io_uring-oneshot` | `IORING_OP_POLL_ADD` | oneshot | Linux 5.1 |
//! | `io_uring-multishot` | `IORING_OP_POLL_ADD`, multishot | edge | Linux 5.13 |
//! | `sigio` | a queued real-time signal, `sigtimedwait(2)` | edge | Linux |
//! | `signalfd` | a queued real-time signal, `signalfd(2)` | edge | Linux |
//! | `kqueue` | `kevent(2)` | level | BSD, macOS; Linux through libkqueue |
//! | `devpoll` | `/dev/poll` | level | Solaris, illumos |
//! | `event-ports` | `port_getn(3C)` | oneshot | Solaris, illumos |
//! | `mio` | the crate `mio`, as its users use it | edge | everywhere |
//! | `polling` | the crate `polling`, as its users use it | oneshot | everywhere |
//!
//! # Examples
//!
//! What is there, and why the rest is not:
//!
//! ```
//! for row in readiness::TABLE {
//!     match (row.available)() {
//!         Ok(()) => println!("{:20} {} ({})", row.label, row.summary, row.trigger),
//!         Err(why) => println!("{:20} unavailable: {why}", row.label),
//!     }
//! }
//! ```
//!
//! Watch one end of a pair of sockets:
//!
//! ```
//! # #[cfg(target_os = "linux")] {
//! use std::io::Write;
//! use std::os::fd::AsFd;
//! use std::os::unix::net::UnixStream;
//! use std::time::Duration;
//!
//! use readiness::{Interest, Token, find};
//!
//! let row = find("epoll-level").expect("a row of the table");
//! let mut watcher = (row.open)(64)?;
//!
//! let (mut near, far) = UnixStream::pair()?;
//! watcher.add(far.as_fd(), Token(7), Interest::Readable)?;
//!
//! let mut ready = Vec::new();
//! watcher.wait(&mut ready, Some(Duration::ZERO))?;
//! assert!(ready.is_empty());
//!
//! near.write_all(b"!")?;
//! watcher.wait(&mut ready, None)?;
//! assert_eq!(ready[0].token, Token(7));
//! assert!(ready[0].readable && !ready[0].hangup);
//!
//! watcher.remove(far.as_fd())?; // before it is closed
//! # }
//! # std::io::Result::Ok(())
//! ```
//!
//! One loop for every trigger: read until the call would block, then arm again what is oneshot.
//!
//! ```
//! use std::io::{ErrorKind, Read, Write};
//! use std::os::fd::AsFd;
//! use std::os::unix::net::UnixStream;
//!
//! use readiness::{Interest, TABLE, Token, Trigger};
//!
//! for row in TABLE.iter().filter(|row| (row.available)().is_ok()) {
//!     let mut watcher = (row.open)(1)?;
//!     let (mut near, mut far) = UnixStream::pair()?;
//!     far.set_nonblocking(true)?;
//!     watcher.add(far.as_fd(), Token(0), Interest::Readable)?;
//!
//!     let (mut ready, mut got) = (Vec::new(), 0);
//!     for _ in 0..3 {
//!         near.write_all(b"ping")?;
//!         watcher.wait(&mut ready, None)?;
//!         let mut buffer = [0; 64];
//!         loop {
//!             match far.read(&mut buffer) {
//!                 Ok(n) => got += n,
//!                 Err(error) if error.kind() == ErrorKind::WouldBlock => break,
//!                 Err(error) => return Err(error),
//!             }
//!         }
//!         if row.trigger == Trigger::Oneshot {
//!             watcher.modify(far.as_fd(), Token(0), Interest::Readable)?;
//!         }
//!     }
//!     assert_eq!(got, 12, "{}", row.name);
//!     watcher.remove(far.as_fd())?;
//! }
//! # std::io::Result::Ok(())
//! ```
#![deny(unsafe_op_in_unsafe_fn)]

mod bits;
#[cfg(feature = "contract")]
pub mod contract;
mod deadline;
mod elsewhere;
mod epoll;
#[cfg(target_os = "linux")]
mod home;
mod mechanisms;
mod pollset;
#[cfg(target_os = "linux")]
mod rtsig;
mod slots;
#[cfg(target_os = "linux")]
mod uring;

pub(crate) use elsewhere::elsewhere;
pub use mechanisms::TABLE;

use std::os::fd::BorrowedFd;
use std::sync::OnceLock;
use std::time::Duration;
use std::{fmt, io};

/// What an event returns to the caller: an index into a table of its own, usually. Any
/// value will do, also one that several descriptors share.
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

impl Interest {
    /// Whether reading is of interest.
    pub fn is_readable(self) -> bool {
        matches!(self, Interest::Readable | Interest::Both)
    }

    /// Whether writing is of interest.
    pub fn is_writable(self) -> bool {
        matches!(self, Interest::Writable | Interest::Both)
    }
}

/// What happened to one descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The token it was added with, or modified to.
    pub token: Token,
    /// A read would not block: data, end of file, hang-up or error.
    pub readable: bool,
    /// A write would not block: room, hang-up or error. A hang-up or an error may set it for a
    /// descriptor that is watched only for reading, and `readable` for one watched for writing.
    pub writable: bool,
    /// The peer is gone or has stopped sending, or the descriptor is in error. A watched reader
    /// gets `readable` with it, and what was sent before can still be read. Not set by rows whose
    /// [`Mechanism::tells_hangup`] is false.
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

impl fmt::Display for Trigger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Trigger::Level => "level",
            Trigger::Edge => "edge",
            Trigger::Oneshot => "oneshot",
        })
    }
}

/// A readiness mechanism: exactly the system calls that a program would make, and no others.
///
/// A descriptor is known by its number, as to the kernel: remove it before it is closed.
pub trait Readiness: Send {
    /// Watches `fd`. What was ready before is reported too, whatever the trigger.
    ///
    /// # Errors
    /// `AlreadyExists` if `fd` is watched; else what the kernel says.
    fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()>;

    /// Changes what a watched `fd` is watched for, and the token it is reported with; arms it again
    /// where the trigger is oneshot. What is ready by then is reported, whatever the trigger.
    ///
    /// # Errors
    /// `NotFound` if `fd` is not watched; else what the kernel says.
    fn modify(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()>;

    /// Stops watching `fd`. No event of it is reported from then on. Call it before closing `fd`.
    ///
    /// # Errors
    /// `NotFound` if `fd` is not watched; else what the kernel says.
    fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()>;

    /// Keeps watching the file of a watched `fd` that the caller closes next: while another
    /// descriptor, of any process, has the file open, its events are reported as before. From then
    /// on it can be neither modified nor removed, and the number may be added again. The file is
    /// watched until its last descriptor is closed; a mechanism that holds files itself (io_uring)
    /// watches it until the mechanism is closed.
    ///
    /// # Errors
    /// `Unsupported` by rows whose [`Mechanism::detaches`] is false; else what the kernel says.
    fn detach(&mut self, _fd: BorrowedFd<'_>) -> io::Result<()> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "watches descriptors, and knows no file whose descriptor is closed",
        ))
    }

    /// Clears `ready`, waits until something is ready or the time is up, and fills it: with at
    /// least one event if there is any, with all of them where the mechanism can hand over several.
    /// `None` waits for ever, zero not at all. A wait that a signal interrupts goes on with the
    /// time that is left.
    ///
    /// # Errors
    /// What the kernel says; `ready` is empty then.
    fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()>;

    /// How often its queue was full, so that it looked at every descriptor instead. What was
    /// measured meanwhile is that look, and not the mechanism. Always 0 where nothing is queued.
    fn recoveries(&self) -> u64 {
        0
    }
}

/// One row of the table: what `list`, help, docs and the contract test are made of.
#[derive(Debug)]
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
    /// Whether it sets [`Event::hangup`]; if not, a hang-up is just readable.
    pub reports_hangup: bool,
    /// Whether it goes on watching a file whose descriptor is closed here and that is open
    /// elsewhere: see [`Readiness::detach`].
    pub detaches: bool,
    /// What it can't do, in one line each; empty when there is nothing to say.
    pub limits: &'static [&'static str],
    /// Whether it can be used here and now, or why not.
    pub available: fn() -> Result<(), Why>,
    /// Opens one for about `capacity` descriptors: a hint for the size of buffers, not a limit.
    pub open: fn(capacity: usize) -> io::Result<Box<dyn Readiness>>,
}

/// Rows of a program's own.
static OWN: OnceLock<Vec<&'static Mechanism>> = OnceLock::new();

/// Adds rows of a program's own: at its start, before anything asks for them.
///
/// # Panics
/// If it comes too late, or twice.
pub fn add(rows: &[&'static Mechanism]) {
    assert!(OWN.set(rows.to_vec()).is_ok(), "rows are added once, before anything asks for them");
}

/// The rows that were [added](add), and those of the table whose names these leave free.
pub fn all() -> impl Iterator<Item = &'static Mechanism> {
    let own = OWN.get_or_init(Vec::new);
    let is_free = |row: &&&'static Mechanism| own.iter().all(|own| own.name != row.name);
    own.iter().chain(TABLE.iter().filter(is_free)).copied()
}

/// The row of this name.
///
/// ```
/// let row = readiness::find("poll").expect("a row of the table");
/// assert_eq!(row.trigger, readiness::Trigger::Level);
/// assert!(readiness::find("pole").is_none());
/// ```
pub fn find(name: &str) -> Option<&'static Mechanism> {
    all().find(|row| row.name == name)
}

/// Why a mechanism can't be used here: `Solaris and illumos only`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why(pub String);

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl std::error::Error for Why {}

impl From<Why> for io::Error {
    /// What `open` answers where the mechanism is unavailable: `Unsupported`, with the reason.
    fn from(why: Why) -> Self {
        io::Error::new(io::ErrorKind::Unsupported, why)
    }
}

/// The examples of the crate's page on the registry.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_in_the_overview_is_the_table() {
        let overview = include_str!("lib.rs").lines().filter_map(|line| {
            let (name, rest) = line.strip_prefix("//! | `")?.split_once("` | ")?;
            let trigger = rest.split(" | ").nth(1)?;
            Some((name, trigger.to_owned()))
        });
        let rows = TABLE.iter().map(|row| (row.name, row.trigger.to_string()));
        assert_eq!(overview.collect::<Vec<_>>(), rows.collect::<Vec<_>>());
    }

    #[test]
    fn a_row_that_is_unavailable_does_not_open() {
        for row in TABLE {
            let Err(why) = (row.available)() else { continue };
            assert!(!why.to_string().is_empty(), "{}", row.name);
            let refusal = (row.open)(1).err().unwrap_or_else(|| panic!("{} opened", row.name));
            assert!(!refusal.to_string().is_empty(), "{}", row.name);
        }
    }
}
