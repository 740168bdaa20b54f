//! Ten thousand random operations a row against a plain model: no event is lost, spurious or reported
//! twice.

use std::cell::Cell;
use std::io::ErrorKind;
use std::time::Duration;

use crate::{Event, Interest, Mechanism, Token, Trigger};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

use super::model::Watch;
use super::objects::{Kind, Object};
use super::shared;
use super::watcher::PATIENCE;

/// Things that are watched at a time.
const OBJECTS: usize = 8;

/// Operations of one sequence at most, and sequences.
const LENGTH_MAX: usize = 800;
const SEQUENCES: u32 = 40;

/// What a row has to stand at least, not counting those that come to nothing.
const OPERATIONS_MIN: u64 = 10_000;

#[derive(Clone, Copy, Debug)]
enum Operation {
    Add(usize, Interest),
    Modify(usize, Interest),
    Remove(usize),
    Send(usize, usize),
    Drain(usize),
    Fill(usize),
    Relieve(usize),
    HangUp(usize),
    Reopen(usize),
    Wait,
}

impl Operation {
    /// The operation that a random number stands for: one number is quicker to draw and to shrink
    /// than a tree of choices.
    fn drawn(number: u32) -> Self {
        let [kind, watched, interest, bytes] = number.to_le_bytes();
        let at = usize::from(watched) % OBJECTS;
        let interest = match interest % 5 {
            0..=2 => Interest::Readable,
            3 => Interest::Writable,
            _ => Interest::Both,
        };
        match kind % 40 {
            0..=4 => Operation::Add(at, interest),
            5..=9 => Operation::Modify(at, interest),
            10..=11 => Operation::Remove(at),
            12..=18 => Operation::Send(at, 1 + usize::from(bytes) % 50),
            19..=23 => Operation::Drain(at),
            24..=25 => Operation::Fill(at),
            26..=27 => Operation::Relieve(at),
            28 => Operation::HangUp(at),
            29..=30 => Operation::Reopen(at),
            _ => Operation::Wait,
        }
    }
}

pub fn no_event_is_lost_spurious_or_doubled_over_ten_thousand_operations(row: &'static Mechanism) {
    let _guard = shared();
    let config = Config {
        cases: SEQUENCES,
        failure_persistence: None,
        max_shrink_iters: 3_000,
        ..Config::default()
    };
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let done = Cell::new(0);
    let outcome = TestRunner::new_with_rng(config, random).run(
        &vec(any::<u32>().prop_map(Operation::drawn), 0..=LENGTH_MAX),
        |operations| {
            let mut world = World::new(row);
            for operation in operations {
                done.set(done.get() + u64::from(world.perform(operation)?));
            }
            world.end()
        },
    );
    if let Err(error) = outcome {
        panic!("{}: {error}", row.name);
    }
    assert!(done.get() >= OPERATIONS_MIN, "{}: only {} operations", row.name, done.get());
}

/// One thing, and what is known of it.
struct Watched {
    object: Object,
    bytes: usize,
    full: bool,
    hung_up: bool,
    watch: Option<Watch>,
}

impl Watched {
    fn new(kind: Kind) -> Self {
        Watched { object: Object::new(kind), bytes: 0, full: false, hung_up: false, watch: None }
    }

    fn readable(&self) -> bool {
        self.bytes > 0 || self.hung_up
    }

    fn writable(&self) -> bool {
        !self.full || self.hung_up
    }

    /// Only a socket is watched for writing.
    fn interest(&self, wanted: Interest) -> Interest {
        if self.object.kind == Kind::Socketpair { wanted } else { Interest::Readable }
    }
}

struct World {
    row: &'static Mechanism,
    watcher: Box<dyn crate::Readiness>,
    watched_objects: Vec<Watched>,
    next_token: u64,
}

type Outcome<T> = Result<T, TestCaseError>;

fn fail<T>(reason: String) -> Outcome<T> {
    Err(TestCaseError::fail(reason))
}

impl World {
    fn new(row: &'static Mechanism) -> Self {
        let kinds: Vec<_> = Kind::supported_by(row).filter(|&kind| kind != Kind::Tcp).collect();
        let sockets = (0..OBJECTS / 2).map(|_| Watched::new(Kind::Socketpair));
        let other_objects =
            (0..OBJECTS / 2).map(|at| Watched::new(kinds[1 + at % (kinds.len() - 1)]));
        World {
            row,
            watcher: (row.open)(OBJECTS).expect("opens"),
            watched_objects: sockets.chain(other_objects).collect(),
            next_token: 0,
        }
    }

    /// Returns whether there was something to do.
    fn perform(&mut self, operation: Operation) -> Outcome<bool> {
        match operation {
            Operation::Add(at, interest) => self.add(at, interest),
            Operation::Modify(at, interest) => self.modify(at, interest),
            Operation::Remove(at) => self.remove(at).map(|()| true),
            Operation::Send(at, bytes) => Ok(self.send(at, bytes)),
            Operation::Drain(at) => self.drain(at),
            Operation::Fill(at) => Ok(self.fill(at)),
            Operation::Relieve(at) => Ok(self.relieve(at)),
            Operation::HangUp(at) => Ok(self.hang_up(at)),
            Operation::Reopen(at) => self.reopen(at).map(|()| true),
            Operation::Wait => self.wait().map(|()| true),
        }
    }

    fn token(&mut self, at: usize) -> Token {
        self.next_token += 1;
        // The token holds the index, and an old token differs from a new one.
        Token(self.next_token * OBJECTS as u64 + at as u64)
    }

    fn add(&mut self, at: usize, interest: Interest) -> Outcome<bool> {
        let token = self.token(at);
        let watched = &mut self.watched_objects[at];
        let interest = watched.interest(interest);
        let added = self.watcher.add(watched.object.fd(), token, interest);
        match (&watched.watch, added) {
            (None, Ok(())) => {
                let (readable, writable) = (watched.readable(), watched.writable());
                watched.watch = Some(Watch::new(self.row, token, interest, readable, writable));
            }
            (Some(_), Err(error)) if error.kind() == ErrorKind::AlreadyExists => {}
            (_, outcome) => return fail(format!("add: {outcome:?}")),
        }
        Ok(true)
    }

    fn modify(&mut self, at: usize, interest: Interest) -> Outcome<bool> {
        let token = self.token(at);
        let watched = &mut self.watched_objects[at];
        let interest = watched.interest(interest);
        let modified = self.watcher.modify(watched.object.fd(), token, interest);
        match (&watched.watch, modified) {
            (Some(_), Ok(())) => {
                let (readable, writable) = (watched.readable(), watched.writable());
                let before = watched.watch.take();
                let mut watch = Watch::new(self.row, token, interest, readable, writable);
                if let Some(before) = before {
                    watch.inherit(&before);
                }
                watched.watch = Some(watch);
            }
            (None, Err(error)) if error.kind() == ErrorKind::NotFound => {}
            (_, outcome) => return fail(format!("modify: {outcome:?}")),
        }
        Ok(true)
    }

    fn remove(&mut self, at: usize) -> Outcome<()> {
        let watched = &mut self.watched_objects[at];
        match (watched.watch.take(), self.watcher.remove(watched.object.fd())) {
            (Some(_), Ok(())) => Ok(()),
            (None, Err(error)) if error.kind() == ErrorKind::NotFound => Ok(()),
            (_, outcome) => fail(format!("remove: {outcome:?}")),
        }
    }

    fn send(&mut self, at: usize, bytes: usize) -> bool {
        let watched = &mut self.watched_objects[at];
        // Few enough for the smallest buffer.
        if watched.hung_up || watched.bytes > 1_000 {
            return false;
        }
        watched.object.send(bytes);
        watched.bytes += bytes;
        if let Some(watch) = &mut watched.watch {
            watch.data_came();
        }
        true
    }

    fn drain(&mut self, at: usize) -> Outcome<bool> {
        let watched = &mut self.watched_objects[at];
        let (expected, got) = (std::mem::take(&mut watched.bytes), watched.object.drain());
        if got != expected && !watched.hung_up {
            return fail(format!("the test read {got} bytes instead of {expected}"));
        }
        Ok(expected > 0)
    }

    fn fill(&mut self, at: usize) -> bool {
        let watched = &mut self.watched_objects[at];
        if watched.object.kind != Kind::Socketpair || watched.hung_up || watched.full {
            return false;
        }
        watched.object.fill();
        watched.full = true;
        if let Some(watch) = &mut watched.watch {
            watch.filled();
        }
        true
    }

    fn relieve(&mut self, at: usize) -> bool {
        let watched = &mut self.watched_objects[at];
        if !watched.full || watched.hung_up {
            return false;
        }
        watched.object.relieve();
        watched.full = false;
        if let Some(watch) = &mut watched.watch {
            watch.set_writable();
        }
        true
    }

    fn hang_up(&mut self, at: usize) -> bool {
        let watched = &mut self.watched_objects[at];
        if watched.hung_up || watched.object.kind.is_eventfd() {
            return false;
        }
        watched.object.hang_up();
        watched.hung_up = true;
        if let Some(watch) = &mut watched.watch {
            watch.hung_up();
        }
        true
    }

    fn reopen(&mut self, at: usize) -> Outcome<()> {
        if self.watched_objects[at].watch.is_some() {
            self.remove(at)?;
        }
        let kind = self.watched_objects[at].object.kind;
        // Closed first, so that the number is given again.
        let spare = Watched::new(kind);
        drop(std::mem::replace(&mut self.watched_objects[at], spare));
        self.watched_objects[at] = Watched::new(kind);
        Ok(())
    }

    /// Takes all that is there, judges it, and sees that nothing is missing.
    fn wait(&mut self) -> Outcome<()> {
        loop {
            let reported = self.take(Duration::ZERO)?;
            self.judge(&reported)?;
            if self.row.trigger == Trigger::Level || reported.is_empty() {
                break;
            }
        }
        // Some kernels finish in a thread of their own what others do at once; the row says so.
        let late = self.row.limits.iter().any(|limit| limit.contains("moments"));
        while let Some(at) = self.owing() {
            let reported = if late { self.take(PATIENCE)? } else { Vec::new() };
            if reported.is_empty() {
                let watched = &self.watched_objects[at];
                return fail(format!("lost: place {at}, {:?}", watched.watch));
            }
            self.judge(&reported)?;
        }
        if !late {
            // An empty queue owes nothing more for what has come.
            self.watched_objects
                .iter_mut()
                .filter_map(|watched| watched.watch.as_mut())
                .for_each(Watch::settle);
        }
        Ok(())
    }

    fn take(&mut self, timeout: Duration) -> Outcome<Vec<Event>> {
        let mut ready = Vec::new();
        match self.watcher.wait(&mut ready, Some(timeout)) {
            Ok(()) => Ok(ready),
            Err(error) => fail(format!("wait: {error}")),
        }
    }

    fn judge(&mut self, reported: &[Event]) -> Outcome<()> {
        for (nth, event) in reported.iter().enumerate() {
            let at = (event.token.0 % OBJECTS as u64) as usize;
            let watched = &mut self.watched_objects[at];
            let (readable, writable) = (watched.readable(), watched.writable());
            let Some(watch) = watched.watch.as_mut().filter(|watch| watch.token == event.token)
            else {
                return fail(format!(
                    "an event of a descriptor that is not watched: index {at}, {event:?}"
                ));
            };
            if reported[..nth].contains(event) && self.row.trigger == Trigger::Level {
                return fail(format!("reported twice: index {at}, {event:?}"));
            }
            if event.hangup && !watched.hung_up {
                return fail(format!("no hang-up: place {at}, {event:?}"));
            }
            if let Err(reason) = watch.judge(event, readable, writable, watched.hung_up) {
                return fail(format!("{reason}: place {at}, {event:?}, {watch:?}"));
            }
        }
        if self.row.trigger == Trigger::Level {
            for watched in &mut self.watched_objects {
                let (readable, writable) = (watched.readable(), watched.writable());
                if let Some(watch) = &mut watched.watch {
                    watch.level_reported(reported, readable, writable);
                }
            }
        }
        Ok(())
    }

    /// A place with an event that has to come and has not.
    fn owing(&self) -> Option<usize> {
        self.watched_objects.iter().position(|watched| {
            let owes = |watch: &Watch| watch.owes(watched.readable(), watched.writable());
            watched.watch.as_ref().is_some_and(owes)
        })
    }

    fn end(mut self) -> Outcome<()> {
        self.wait()?;
        for at in 0..OBJECTS {
            if self.watched_objects[at].watch.is_some() {
                self.remove(at)?;
            }
        }
        match self.take(Duration::ZERO)?.as_slice() {
            [] => Ok(()),
            reported => fail(format!("none is watched: {reported:?}")),
        }
    }
}
