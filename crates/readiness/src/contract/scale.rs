//! None, one, thousands, and queues that are too short for them.

use std::io::ErrorKind;
use std::time::Duration;

use crate::{Interest, Mechanism, Token};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::objects::{Kind, Object};
use super::watcher::Watcher;
use super::{alone, shared};

/// Descriptors that the rest of the test process needs.
const SPARE: u64 = 200;

/// Pairs of sockets, `wanted` of them or as many as the process may have.
fn pairs(wanted: usize) -> Vec<Object> {
    let limit = getrlimit(Resource::Nofile);
    let allowed = limit.maximum.unwrap_or(u64::MAX).min(wanted as u64 * 2 + SPARE);
    if limit.current.is_some_and(|current| current < allowed) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(allowed), ..limit }).unwrap();
    }
    let count = wanted.min((allowed.saturating_sub(SPARE) / 2) as usize);
    if count < wanted {
        eprintln!("{count} pairs instead of {wanted}: the process may have {allowed} descriptors");
    }
    (0..count).map(|_| Object::new(Kind::Socketpair)).collect()
}

fn send(objects: &[Object], tokens: &[u64]) {
    for &token in tokens {
        objects[token as usize].send(1);
    }
}

pub fn none_watched_is_none_reported(row: &'static Mechanism) {
    let _guard = shared();
    for capacity in [0, 1, 5_000] {
        let mut watcher = Watcher::open(row, capacity);
        watcher.quiet("none is watched");
        assert!(watcher.wait(Duration::from_millis(1)).is_empty(), "{}", row.name);
    }
}

/// Five thousand watched are reported exactly as often as they were sent to.
pub fn five_thousand_watched_are_reported_exactly_as_often_as_they_were_sent_to(
    row: &'static Mechanism,
) {
    let _guard = alone();
    let objects = pairs(5_000);
    let all: Vec<u64> = (0..objects.len() as u64).collect();
    let some: Vec<u64> = all.iter().copied().filter(|token| token % 7 == 3).collect();
    let (kept, removed): (Vec<u64>, Vec<u64>) = all.iter().partition(|&token| token % 2 == 0);
    let mut watcher = Watcher::open(row, objects.len());
    for &token in &all {
        watcher.add(&objects[token as usize], token, Interest::Readable);
    }
    watcher.quiet("nothing has been sent");
    for expected in [&some, &all] {
        send(&objects, expected);
        watcher.gather_once(&objects, expected);
    }
    // Events that wait to be taken, of which half must never come.
    send(&objects, &all);
    for &token in &removed {
        watcher.remove(&objects[token as usize]);
    }
    watcher.gather_once(&objects, &kept);
    for &token in &kept {
        watcher.remove(&objects[token as usize]);
    }
    send(&objects, &all);
    watcher.quiet("none is watched");
    for object in &objects {
        object.drain();
    }
}

pub fn a_queue_that_is_too_short_loses_nothing(row: &'static Mechanism) {
    let _guard = alone();
    let objects = pairs(2_000);
    let all: Vec<u64> = (0..objects.len() as u64).collect();
    let (before, after): (Vec<u64>, Vec<u64>) = all.iter().partition(|&token| token % 2 == 0);
    let mut watcher = Watcher::open(row, 16);
    send(&objects, &before);
    let taken = add_while_it_takes_them(row, &mut watcher, &objects);
    let indexed = |tokens: &[u64]| -> Vec<u64> {
        tokens.iter().copied().filter(|&token| (token as usize) < taken).collect()
    };
    send(&objects, &after);
    watcher.gather_once(&objects, &indexed(&all));
    for _ in 0..2 {
        send(&objects, &indexed(&all));
        watcher.gather_once(&objects, &indexed(&all));
    }
    for object in &objects[..taken] {
        watcher.remove(object);
    }
    watcher.quiet("none is watched");
    for object in &objects {
        object.drain();
    }
}

/// Adds all, or as many as a row takes whose limits name its capacity; returns how many.
fn add_while_it_takes_them(row: &Mechanism, watcher: &mut Watcher, objects: &[Object]) -> usize {
    for (position, object) in objects.iter().enumerate() {
        let added = watcher.inner.add(object.fd(), Token(position as u64), Interest::Readable);
        let Err(error) = added else { continue };
        let name = row.name;
        assert_eq!(error.kind(), ErrorKind::QuotaExceeded, "{name}: add {position}: {error}");
        assert!(error.to_string().contains("capacity"), "{name}: {error}");
        assert!(row.limits.iter().any(|limit| limit.contains("capacity")), "{name}");
        assert!(position >= 16, "{name}: took only {position}");
        return position;
    }
    objects.len()
}
