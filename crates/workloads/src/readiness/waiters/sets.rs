//! On what threads wait: one set, a set each, or the descriptor itself. A new way is one line in the table here.

use super::Game;
use super::events::{Events, Slot};
use crate::shared::shortage;
use engine::Failure;
use readiness::{Interest, Readiness, Token};
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::{Errno, retry_on_intr, write};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What threads wait on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sets {
    /// Nothing: they block in the read of the only descriptor, or in accept.
    None,
    /// One set of all.
    Shared,
    /// A set for each, with every descriptor in it.
    Each,
    /// A set for each by this mechanism, with its share of the descriptors.
    Sharded(&'static str),
    /// A set for each, with one set of all in it.
    Nested,
}

/// A way in which threads wait.
pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) summary: &'static str,
    pub(super) sets: Sets,
    /// What descriptors are watched for besides being readable.
    trigger: EventFlags,
}

/// Each with its row.
pub(super) const WAYS: &[Way] = &[
    Way {
        name: "blocking",
        summary: "threads block in read of one pipe, or in accept of one listener",
        sets: Sets::None,
        trigger: EventFlags::empty(),
    },
    Way {
        name: "epoll-level",
        summary: "one epoll set of all threads, level-triggered",
        sets: Sets::Shared,
        trigger: EventFlags::empty(),
    },
    Way {
        name: "epoll-edge",
        summary: "one epoll set of all threads, EPOLLET",
        sets: Sets::Shared,
        trigger: EventFlags::ET,
    },
    Way {
        name: "epoll-oneshot",
        summary: "one epoll set of all threads, EPOLLONESHOT: armed again by the thread that took the event",
        sets: Sets::Shared,
        trigger: EventFlags::ONESHOT,
    },
    Way {
        name: "epoll-each",
        summary: "an epoll set for each thread with every descriptor in it: each event wakes all",
        sets: Sets::Each,
        trigger: EventFlags::empty(),
    },
    Way {
        name: "epoll-exclusive",
        summary: "the same with EPOLLEXCLUSIVE: each event wakes one or more",
        sets: Sets::Each,
        trigger: EventFlags::EXCLUSIVE,
    },
    Way {
        name: "epoll-nested",
        summary: "an epoll set for each thread with one set of all in it",
        sets: Sets::Nested,
        trigger: EventFlags::empty(),
    },
    Way {
        name: "epoll-sharded",
        summary: "an epoll set for each thread with its share of the descriptors (listeners: SO_REUSEPORT)",
        sets: Sets::Sharded("epoll-level"),
        trigger: EventFlags::empty(),
    },
    Way {
        name: "io_uring-sharded",
        summary: "an io_uring for each thread that polls its share of the descriptors (multishot)",
        sets: Sets::Sharded("io_uring-multishot"),
        trigger: EventFlags::ET,
    },
];

/// The end of the cell is ready in every set from then on; it is no slot of a token.
const END: u64 = u64::MAX;

/// What all threads share.
pub(super) struct Shared<'a> {
    way: &'a Way,
    events: &'a Events,
    threads: usize,
    batch: usize,
    /// The one set, where there is one.
    set: Option<OwnedFd>,
    /// It becomes readable when threads are to end.
    end: OwnedFd,
}

impl<'a> Shared<'a> {
    pub(super) fn open(
        way: &'a Way,
        events: &'a Events,
        game: &Game,
    ) -> Result<Shared<'a>, Failure> {
        let (threads, batch) = (game.threads, game.batch);
        let open = || -> io::Result<Shared<'a>> {
            let end = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
            let mut shared = Shared { way, events, threads, batch, set: None, end };
            if matches!(way.sets, Sets::Shared | Sets::Nested) {
                shared.set = Some(shared.set_of_all()?);
            }
            Ok(shared)
        };
        events.blocks(way.sets == Sets::None).and_then(|()| open()).map_err(setting_up)
    }

    fn set_of_all(&self) -> io::Result<OwnedFd> {
        let set = epoll::create(CreateFlags::CLOEXEC)?;
        for slot in 0..self.events.slots() {
            let interest = EventFlags::IN | self.way.trigger;
            epoll::add(&set, self.events.descriptor(slot), data(slot as u64), interest)?;
        }
        epoll::add(&set, &self.end, data(END), EventFlags::IN)?;
        Ok(set)
    }

    /// What thread `me` waits on.
    pub(super) fn waiter(&self, me: usize) -> Result<Waiter<'_>, Failure> {
        let buffer = || Vec::with_capacity(self.batch);
        let open = || -> io::Result<Waiter<'_>> {
            let kind = match self.way.sets {
                Sets::None => Kind::Blocking,
                Sets::Shared => Kind::Epoll { own: None, events: buffer() },
                Sets::Each => Kind::Epoll { own: Some(self.set_of_all()?), events: buffer() },
                Sets::Nested => {
                    let outer = epoll::create(CreateFlags::CLOEXEC)?;
                    epoll::add(&outer, self.common_set()?, data(0), EventFlags::IN)?;
                    Kind::Nested { outer, events: buffer() }
                }
                Sets::Sharded(mechanism) => {
                    let row = readiness::find(mechanism).ok_or(Errno::NOSYS)?;
                    let mut own = (row.open)(self.events.slots().div_ceil(self.threads) + 1)?;
                    for slot in (me..self.events.slots()).step_by(self.threads) {
                        let watched = self.events.descriptor(slot);
                        own.add(watched, Token(slot as u64), Interest::Readable)?;
                    }
                    own.add(self.end.as_fd(), Token(END), Interest::Readable)?;
                    Kind::Sharded { own, ready: Vec::new() }
                }
            };
            Ok(Waiter { shared: self, kind })
        };
        open().map_err(setting_up)
    }

    fn common_set(&self) -> io::Result<BorrowedFd<'_>> {
        Ok(self.set.as_ref().ok_or(Errno::BADF)?.as_fd())
    }

    /// Wakes all that wait for ever.
    pub(super) fn end(&self) {
        // A full counter is readable too.
        let _ = write(&self.end, &1_u64.to_ne_bytes());
    }
}

/// What one thread waits on.
pub(super) struct Waiter<'a> {
    shared: &'a Shared<'a>,
    kind: Kind,
}

enum Kind {
    Blocking,
    /// The set of all, unless it has its own.
    Epoll {
        own: Option<OwnedFd>,
        events: Vec<epoll::Event>,
    },
    Nested {
        outer: OwnedFd,
        events: Vec<epoll::Event>,
    },
    Sharded {
        own: Box<dyn Readiness>,
        ready: Vec<readiness::Event>,
    },
}

impl Waiter<'_> {
    /// Whether one that found a slot ready takes all that is there.
    pub(super) fn drains(&self) -> bool {
        self.shared.way.trigger.intersects(EventFlags::ET | EventFlags::ONESHOT)
    }

    /// Waits until something is ready, and fills `ready` with the slots. Whether it was the end.
    pub(super) fn wait(&mut self, ready: &mut Vec<Slot>) -> io::Result<bool> {
        ready.clear();
        let mut ends = false;
        let mut take = |token: u64| {
            if token == END {
                ends = true;
            } else {
                ready.push(token as Slot);
            }
        };
        match &mut self.kind {
            Kind::Blocking => take(0),
            Kind::Epoll { own, events } => {
                let set =
                    own.as_ref().map_or_else(|| self.shared.common_set(), |own| Ok(own.as_fd()))?;
                wait_on(set, events, None)?;
                events.drain(..).for_each(|event| take(event.data.u64()));
            }
            Kind::Nested { outer, events } => {
                wait_on(outer.as_fd(), events, None)?;
                events.clear();
                wait_on(self.shared.common_set()?, events, Some(&Timespec::default()))?;
                events.drain(..).for_each(|event| take(event.data.u64()));
            }
            Kind::Sharded { own, ready } => {
                own.wait(ready, None)?;
                ready.drain(..).for_each(|event| take(event.token.0));
            }
        }
        Ok(ends)
    }

    /// Has a slot reported again that was taken from.
    pub(super) fn rearm(&self, slot: Slot) -> io::Result<()> {
        if !self.shared.way.trigger.contains(EventFlags::ONESHOT) {
            return Ok(());
        }
        let interest = EventFlags::IN | self.shared.way.trigger;
        let watched = self.shared.events.descriptor(slot);
        Ok(epoll::modify(self.shared.common_set()?, watched, data(slot as u64), interest)?)
    }
}

fn data(token: u64) -> EventData {
    EventData::new_u64(token)
}

fn wait_on(
    set: BorrowedFd<'_>,
    events: &mut Vec<epoll::Event>,
    timeout: Option<&Timespec>,
) -> io::Result<()> {
    retry_on_intr(|| epoll::wait(set, spare_capacity(events), timeout))?;
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn setting_up(error: io::Error) -> Failure {
    shortage::failure("setting up what threads wait on", &error)
}
