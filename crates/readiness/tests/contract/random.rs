//! Ten thousand random operations a row against a plain model: no event is lost, spurious or told
//! twice.

use std::cell::Cell;
use std::io::ErrorKind;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use readiness::{Event, Interest, Mechanism, Token, Trigger};

use crate::model::Watch;
use crate::objects::{Kind, Object};
use crate::watcher::PATIENCE;
use crate::{rows, shared};

/// Things that are watched at a time.
const PLACES: usize = 8;

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
        let [kind, place, interest, bytes] = number.to_le_bytes();
        let at = usize::from(place) % PLACES;
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

#[test]
fn no_event_is_lost_spurious_or_doubled_over_ten_thousand_operations() {
    let _guard = shared();
    for row in rows() {
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
}

/// One thing, and what is known of it.
struct Place {
    object: Object,
    bytes: usize,
    full: bool,
    hung_up: bool,
    watch: Option<Watch>,
}

impl Place {
    fn new(kind: Kind) -> Self {
        Place { object: Object::new(kind), bytes: 0, full: false, hung_up: false, watch: None }
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
    watcher: Box<dyn readiness::Readiness>,
    places: Vec<Place>,
    next_token: u64,
}

type Outcome<T> = Result<T, TestCaseError>;

fn fail<T>(reason: String) -> Outcome<T> {
    Err(TestCaseError::fail(reason))
}

impl World {
    fn new(row: &'static Mechanism) -> Self {
        let kinds: Vec<_> = Kind::of(row).filter(|&kind| kind != Kind::Tcp).collect();
        let sockets = (0..PLACES / 2).map(|_| Place::new(Kind::Socketpair));
        let others = (0..PLACES / 2).map(|at| Place::new(kinds[1 + at % (kinds.len() - 1)]));
        World {
            row,
            watcher: (row.open)(PLACES).expect("opens"),
            places: sockets.chain(others).collect(),
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
        // The place can be told from the token, and an old token from a new one.
        Token(self.next_token * PLACES as u64 + at as u64)
    }

    fn add(&mut self, at: usize, interest: Interest) -> Outcome<bool> {
        let token = self.token(at);
        let place = &mut self.places[at];
        let interest = place.interest(interest);
        let added = self.watcher.add(place.object.fd(), token, interest);
        match (&place.watch, added) {
            (None, Ok(())) => {
                let (readable, writable) = (place.readable(), place.writable());
                place.watch = Some(Watch::new(self.row, token, interest, readable, writable));
            }
            (Some(_), Err(error)) if error.kind() == ErrorKind::AlreadyExists => {}
            (_, outcome) => return fail(format!("add: {outcome:?}")),
        }
        Ok(true)
    }

    fn modify(&mut self, at: usize, interest: Interest) -> Outcome<bool> {
        let token = self.token(at);
        let place = &mut self.places[at];
        let interest = place.interest(interest);
        let modified = self.watcher.modify(place.object.fd(), token, interest);
        match (&place.watch, modified) {
            (Some(_), Ok(())) => {
                let (readable, writable) = (place.readable(), place.writable());
                let before = place.watch.take();
                let mut watch = Watch::new(self.row, token, interest, readable, writable);
                if let Some(before) = before {
                    watch.inherit(&before);
                }
                place.watch = Some(watch);
            }
            (None, Err(error)) if error.kind() == ErrorKind::NotFound => {}
            (_, outcome) => return fail(format!("modify: {outcome:?}")),
        }
        Ok(true)
    }

    fn remove(&mut self, at: usize) -> Outcome<()> {
        let place = &mut self.places[at];
        match (place.watch.take(), self.watcher.remove(place.object.fd())) {
            (Some(_), Ok(())) => Ok(()),
            (None, Err(error)) if error.kind() == ErrorKind::NotFound => Ok(()),
            (_, outcome) => fail(format!("remove: {outcome:?}")),
        }
    }

    fn send(&mut self, at: usize, bytes: usize) -> bool {
        let place = &mut self.places[at];
        // Few enough for the smallest buffer.
        if place.hung_up || place.bytes > 1_000 {
            return false;
        }
        place.object.send(bytes);
        place.bytes += bytes;
        if let Some(watch) = &mut place.watch {
            watch.data_came();
        }
        true
    }

    fn drain(&mut self, at: usize) -> Outcome<bool> {
        let place = &mut self.places[at];
        let (expected, got) = (std::mem::take(&mut place.bytes), place.object.drain());
        if got != expected && !place.hung_up {
            return fail(format!("the test read {got} bytes instead of {expected}"));
        }
        Ok(expected > 0)
    }

    fn fill(&mut self, at: usize) -> bool {
        let place = &mut self.places[at];
        if place.object.kind != Kind::Socketpair || place.hung_up || place.full {
            return false;
        }
        place.object.fill();
        place.full = true;
        if let Some(watch) = &mut place.watch {
            watch.filled();
        }
        true
    }

    fn relieve(&mut self, at: usize) -> bool {
        let place = &mut self.places[at];
        if !place.full || place.hung_up {
            return false;
        }
        place.object.relieve();
        place.full = false;
        if let Some(watch) = &mut place.watch {
            watch.room_came();
        }
        true
    }

    fn hang_up(&mut self, at: usize) -> bool {
        let place = &mut self.places[at];
        if place.hung_up || place.object.kind.is_eventfd() {
            return false;
        }
        place.object.hang_up();
        place.hung_up = true;
        if let Some(watch) = &mut place.watch {
            watch.hung_up();
        }
        true
    }

    fn reopen(&mut self, at: usize) -> Outcome<()> {
        if self.places[at].watch.is_some() {
            self.remove(at)?;
        }
        let kind = self.places[at].object.kind;
        // Closed first, so that the number is given again.
        let spare = Place::new(kind);
        drop(std::mem::replace(&mut self.places[at], spare));
        self.places[at] = Place::new(kind);
        Ok(())
    }

    /// Takes all that is there, judges it, and sees that nothing is missing.
    fn wait(&mut self) -> Outcome<()> {
        loop {
            let told = self.take(Duration::ZERO)?;
            self.judge(&told)?;
            if self.row.trigger == Trigger::Level || told.is_empty() {
                break;
            }
        }
        // Some kernels finish in a thread of their own what others do at once; the row says so.
        let late = self.row.limits.iter().any(|limit| limit.contains("moments"));
        while let Some(at) = self.owing() {
            let told = if late { self.take(PATIENCE)? } else { Vec::new() };
            if told.is_empty() {
                let place = &self.places[at];
                return fail(format!("lost: place {at}, {:?}", place.watch));
            }
            self.judge(&told)?;
        }
        if !late {
            // An empty queue owes nothing more for what has come.
            self.places.iter_mut().filter_map(|place| place.watch.as_mut()).for_each(Watch::settle);
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

    fn judge(&mut self, told: &[Event]) -> Outcome<()> {
        for (nth, event) in told.iter().enumerate() {
            let at = (event.token.0 % PLACES as u64) as usize;
            let place = &mut self.places[at];
            let (readable, writable) = (place.readable(), place.writable());
            let Some(watch) = place.watch.as_mut().filter(|watch| watch.token == event.token)
            else {
                return fail(format!("told of one that is not watched: place {at}, {event:?}"));
            };
            if told[..nth].contains(event) && self.row.trigger == Trigger::Level {
                return fail(format!("told twice: place {at}, {event:?}"));
            }
            if event.hangup && !place.hung_up {
                return fail(format!("no hang-up: place {at}, {event:?}"));
            }
            if let Err(reason) = watch.judge(event, readable, writable, place.hung_up) {
                return fail(format!("{reason}: place {at}, {event:?}, {watch:?}"));
            }
        }
        if self.row.trigger == Trigger::Level {
            for place in &mut self.places {
                let (readable, writable) = (place.readable(), place.writable());
                if let Some(watch) = &mut place.watch {
                    watch.level_told(told, readable, writable);
                }
            }
        }
        Ok(())
    }

    /// A place with an event that has to come and has not.
    fn owing(&self) -> Option<usize> {
        self.places.iter().position(|place| {
            let owes = |watch: &Watch| watch.owes(place.readable(), place.writable());
            place.watch.as_ref().is_some_and(owes)
        })
    }

    fn end(mut self) -> Outcome<()> {
        self.wait()?;
        for at in 0..PLACES {
            if self.places[at].watch.is_some() {
                self.remove(at)?;
            }
        }
        match self.take(Duration::ZERO)?.as_slice() {
            [] => Ok(()),
            told => fail(format!("none is watched: {told:?}")),
        }
    }
}
