//! epoll, asked several times without a time-out before the thread may sleep: it saves the wake-up, and costs CPU time.

use knee::readiness::{Event, Interest, Mechanism, Readiness, Token, Trigger, Why, find};
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// How often it asks before it sleeps.
const ASKED: u32 = 8;

/// Its row: what the command line, help and reports say.
pub static MECHANISM: Mechanism = Mechanism {
    name: "epoll-spin",
    label: "epoll-spin",
    summary: "epoll(7), level-triggered, asked 8 times before it sleeps",
    trigger: Trigger::Level,
    queued: false,
    reports_hangup: true,
    detaches: false,
    limits: &["spins on a CPU before it sleeps"],
    available: || find("epoll-level").map_or(Err(Why("no epoll".into())), |row| (row.available)()),
    open: |capacity| {
        let row = find("epoll-level").ok_or(io::ErrorKind::Unsupported)?;
        Ok(Box::new(Spin((row.open)(capacity)?)))
    },
};

struct Spin(Box<dyn Readiness>);

impl Readiness for Spin {
    fn add(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        self.0.add(fd, token, interest)
    }

    fn modify(&mut self, fd: BorrowedFd<'_>, token: Token, interest: Interest) -> io::Result<()> {
        self.0.modify(fd, token, interest)
    }

    fn remove(&mut self, fd: BorrowedFd<'_>) -> io::Result<()> {
        self.0.remove(fd)
    }

    fn wait(&mut self, ready: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
        for _ in 0..ASKED {
            self.0.wait(ready, Some(Duration::ZERO))?;
            if !ready.is_empty() {
                return Ok(());
            }
        }
        self.0.wait(ready, timeout)
    }
}
