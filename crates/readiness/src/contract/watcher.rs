//! A mechanism under test, whose every mishap names its row.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use crate::{Event, Interest, Mechanism, Readiness, Token, Trigger};

use super::objects::Object;

/// How long to wait for what has to come. Only a failing test ever waits as long.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// Long enough to find what comes in spite of all.
const A_MOMENT: Duration = Duration::from_millis(2);

pub struct Watcher {
    pub row: &'static Mechanism,
    pub inner: Box<dyn Readiness>,
}

impl Watcher {
    pub fn open(row: &'static Mechanism, capacity: usize) -> Self {
        let opened = (row.open)(capacity);
        let inner = opened.unwrap_or_else(|error| panic!("{}: open: {error}", row.name));
        Watcher { row, inner }
    }

    /// Opens with the object watched under `token`.
    pub fn with(row: &'static Mechanism, object: &Object, token: u64, interest: Interest) -> Self {
        let mut watcher = Watcher::open(row, 16);
        watcher.add(object, token, interest);
        watcher
    }

    fn check<T>(&self, what: &str, outcome: io::Result<T>) -> T {
        outcome.unwrap_or_else(|error| panic!("{}: {what}: {error}", self.row.name))
    }

    pub fn add(&mut self, object: &Object, token: u64, interest: Interest) {
        let outcome = self.inner.add(object.fd(), Token(token), interest);
        self.check("add", outcome);
    }

    pub fn modify(&mut self, object: &Object, token: u64, interest: Interest) {
        let outcome = self.inner.modify(object.fd(), Token(token), interest);
        self.check("modify", outcome);
    }

    pub fn remove(&mut self, object: &Object) {
        let outcome = self.inner.remove(object.fd());
        self.check("remove", outcome);
    }

    pub fn detach(&mut self, object: &Object) {
        let outcome = self.inner.detach(object.fd());
        self.check("detach", outcome);
    }

    /// Arms again what a oneshot row has reported; nothing to do for others.
    pub fn rearm(&mut self, object: &Object, token: u64, interest: Interest) {
        if self.row.trigger == Trigger::Oneshot {
            self.modify(object, token, interest);
        }
    }

    pub fn wait(&mut self, timeout: Duration) -> Vec<Event> {
        // What is in it before has to go.
        let relic = Event { token: Token(u64::MAX), readable: true, writable: true, hangup: true };
        let mut ready = vec![relic; 3];
        let outcome = self.inner.wait(&mut ready, Some(timeout));
        self.check("wait", outcome);
        assert!(!ready.contains(&relic), "{}: wait does not clear", self.row.name);
        ready
    }

    /// What comes next, which has to be something.
    pub fn next(&mut self, what: &str) -> Vec<Event> {
        let ready = self.wait(PATIENCE);
        assert!(!ready.is_empty(), "{}: {what}: lost", self.row.name);
        ready
    }

    /// What comes next, which has to be a single event, of `token`.
    pub fn single(&mut self, token: u64, what: &str) -> Event {
        let ready = self.next(what);
        assert_eq!(ready.len(), 1, "{}: {what}: {ready:?}", self.row.name);
        assert_eq!(ready[0].token, Token(token), "{}: {what}", self.row.name);
        ready[0]
    }

    /// What is there already, which has to be a single event, of `token`.
    pub fn one_at_once(&mut self, token: u64, what: &str) -> Event {
        let ready = self.wait(Duration::ZERO);
        assert_eq!(ready.len(), 1, "{}: {what}: {ready:?}", self.row.name);
        assert_eq!(ready[0].token, Token(token), "{}: {what}", self.row.name);
        ready[0]
    }

    /// Nothing may come.
    pub fn quiet(&mut self, what: &str) {
        for timeout in [Duration::ZERO, A_MOMENT] {
            let ready = self.wait(timeout);
            assert!(ready.is_empty(), "{}: {what}: {ready:?}", self.row.name);
        }
    }

    /// Takes events until there is one of each of `expected` (tokens that are places in `objects`),
    /// drains each object, arms it again, and returns how often each was reported.
    pub fn gather(&mut self, objects: &[Object], expected: &[u64]) -> BTreeMap<u64, u32> {
        let mut reported: BTreeMap<u64, u32> = BTreeMap::new();
        let mut missing: std::collections::BTreeSet<u64> = expected.iter().copied().collect();
        while !missing.is_empty() {
            let what = format!("{} of {}", missing.len(), expected.len());
            for event in self.next(&what) {
                let token = event.token.0;
                assert!(event.readable, "{}: {event:?}", self.row.name);
                *reported.entry(token).or_default() += 1;
                missing.remove(&token);
                objects[token as usize].drain();
                self.rearm(&objects[token as usize], token, Interest::Readable);
            }
        }
        reported
    }

    /// As [`Watcher::gather`], and each has to be reported once, and nothing else.
    pub fn gather_once(&mut self, objects: &[Object], expected: &[u64]) {
        let reported = self.gather(objects, expected);
        let name = self.row.name;
        let not_once: Vec<_> = reported.iter().filter(|(_, count)| **count != 1).take(5).collect();
        assert!(not_once.is_empty(), "{name}: reported more than once: {not_once:?}");
        assert_eq!(reported.len(), expected.len(), "{name}: reported what nothing caused");
        self.quiet("all was reported and drained");
    }
}
