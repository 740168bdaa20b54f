//! Why a process can't be observed, each in one line that says how to fix it.

use std::io;
use std::time::Duration;

/// Why there is nothing to say about a process.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no process of this number.
    #[error("there is no process {0}")]
    Missing(u32),
    /// It ended before anything was seen of it.
    #[error("process {0} has ended")]
    Ended(u32),
    /// The number stands for something that can't be watched.
    #[error("{pid} can't be watched: {why}")]
    NotWatchable {
        /// What was asked for.
        pid: u32,
        /// What it is, and what to name instead where there is something.
        why: String,
    },
    /// The user may not look at it.
    #[error("{what}: {remedy}")]
    NotPermitted {
        /// What is not permitted.
        what: String,
        /// What fixes it.
        remedy: String,
    },
    /// The kernel's tracepoints can't be had.
    #[error("{why}: {remedy}")]
    NoTracepoints {
        /// What is in the way.
        why: String,
        /// What fixes it.
        remedy: String,
    },
    /// It made none of the calls that can be seen.
    #[error(transparent)]
    NoWaits(Box<NoWaits>),
    /// The system failed where it usually does not.
    #[error("{what}: {why}")]
    Io {
        /// What was tried.
        what: String,
        /// The answer of the system.
        why: io::Error,
    },
}

/// The remedy where the kernel permits something to root alone.
pub(crate) fn as_root() -> &'static str {
    if rustix::process::geteuid().is_root() {
        "outside of any container it may work"
    } else {
        "run as root (sudo)"
    }
}

impl Error {
    pub(crate) fn io(what: impl Into<String>, why: impl Into<io::Error>) -> Self {
        Error::Io { what: what.into(), why: why.into() }
    }
}

/// A process that made none of the calls that can be seen, and who may be meant instead.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct NoWaits {
    /// The process.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// For how long it was watched.
    pub looked: Duration,
    /// It has an io_uring, and may wait there.
    pub uring: bool,
    /// Its children, of which one may do the work.
    pub children: Vec<Child>,
}

/// A child of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// Its number.
    pub pid: u32,
    /// What it calls itself: its command line, or its name.
    pub name: String,
}

/// So many children are named.
const CHILDREN_NAMED: usize = 6;

impl NoWaits {
    fn sentence(&self) -> String {
        let NoWaits { pid, name, looked, .. } = self;
        let mut text = format!(
            "process {pid} ({name}) made no call of epoll, poll or select in {:.1} s",
            looked.as_secs_f64()
        );
        if self.uring {
            text += "; it has an io_uring, and what it waits for there can't be seen this way";
        }
        if !self.children.is_empty() {
            let named: Vec<String> = self
                .children
                .iter()
                .take(CHILDREN_NAMED)
                .map(|child| format!("{} ({})", child.pid, child.name))
                .collect();
            let more = self.children.len().saturating_sub(CHILDREN_NAMED);
            text += "; perhaps one of its children is meant: ";
            text += &named.join(", ");
            if more > 0 {
                text += &format!(" and {more} more")[..];
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_is_one_line() {
        let children = (10..18).map(|pid| Child { pid, name: "nginx: worker".into() }).collect();
        let looked = Duration::from_secs(5);
        let none = NoWaits { pid: 9, name: "nginx".into(), looked, uring: true, children };
        let text = Error::NoWaits(Box::new(none)).to_string();
        assert_eq!(
            text,
            "process 9 (nginx) made no call of epoll, poll or select in 5.0 s; it has an io_uring, \
             and what it waits for there can't be seen this way; perhaps one of its children is \
             meant: 10 (nginx: worker), 11 (nginx: worker), 12 (nginx: worker), \
             13 (nginx: worker), 14 (nginx: worker), 15 (nginx: worker) and 2 more"
        );
        assert_eq!(Error::Ended(3).to_string(), "process 3 has ended");
    }
}
