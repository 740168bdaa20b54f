//! Readable, writable, both, nothing, and what was there before.

use std::time::Duration;

use crate::{Interest, Mechanism};

use super::objects::{Kind, Object};
use super::shared;
use super::watcher::Watcher;

pub fn a_descriptor_with_data_is_readable(row: &'static Mechanism) {
    let _guard = shared();
    for kind in Kind::supported_by(row) {
        let object = Object::new(kind);
        let mut watcher = Watcher::with(row, &object, 7, Interest::Readable);
        watcher.quiet("nothing has been sent");
        object.send(1);
        let event = watcher.single(7, "one byte");
        assert!(event.readable, "{} {kind:?}: {event:?}", row.name);
        assert!(!event.writable && !event.hangup, "{} {kind:?}: {event:?}", row.name);
        assert_eq!(object.drain(), 1);
        watcher.remove(&object);
    }
}

pub fn what_is_ready_is_found_without_waiting(row: &'static Mechanism) {
    let _guard = shared();
    for kind in Kind::supported_by(row).filter(|&kind| kind != Kind::Tcp) {
        let object = Object::new(kind);
        let mut watcher = Watcher::with(row, &object, 7, Interest::Readable);
        // Until it has looked once, a mechanism may find it by looking.
        watcher.quiet("nothing has been sent");
        object.send(3);
        assert!(watcher.one_at_once(7, "three bytes").readable, "{} {kind:?}", row.name);
        watcher.remove(&object);
    }
}

pub fn a_descriptor_is_writable_until_its_buffer_is_full(row: &'static Mechanism) {
    let _guard = shared();
    for object in [Object::new(Kind::Socketpair), Object::pipe_to_write()] {
        let name = row.name;
        let mut watcher = Watcher::with(row, &object, 3, Interest::Writable);
        let event = watcher.single(3, "there is room");
        assert!(event.writable && !event.readable && !event.hangup, "{name}: {event:?}");
        assert!(object.fill() > 0);
        watcher.rearm(&object, 3, Interest::Writable);
        watcher.quiet("it is full");
        assert!(object.relieve() > 0);
        assert!(watcher.next("there is room again")[0].writable, "{name}");
        watcher.remove(&object);
    }
    let object = Object::new(Kind::Tcp);
    let mut watcher = Watcher::with(row, &object, 4, Interest::Writable);
    assert!(watcher.single(4, "a new connection").writable, "{}", row.name);
    watcher.remove(&object);
}

pub fn both_reports_either(row: &'static Mechanism) {
    let _guard = shared();
    for kind in [Kind::Socketpair, Kind::Tcp] {
        let name = row.name;
        let object = Object::new(kind);
        let mut watcher = Watcher::with(row, &object, 5, Interest::Both);
        let event = watcher.single(5, "there is room");
        assert!(event.writable && !event.readable, "{name} {kind:?}: {event:?}");
        object.send(1);
        watcher.rearm(&object, 5, Interest::Both);
        loop {
            let events = watcher.next("there is data");
            assert!(events.iter().all(|event| event.token.0 == 5), "{name}: {events:?}");
            if events.iter().any(|event| event.readable) {
                break;
            }
            // Room once more; the data is still to be reported.
            watcher.rearm(&object, 5, Interest::Both);
        }
        watcher.remove(&object);
    }
}

pub fn nothing_ready_is_nothing_reported(row: &'static Mechanism) {
    let _guard = shared();
    let object = Object::new(Kind::Socketpair);
    let mut watcher = Watcher::with(row, &object, 1, Interest::Readable);
    for timeout_us in [0, 1, 999, 3_000] {
        let ready = watcher.wait(Duration::from_micros(timeout_us));
        assert!(ready.is_empty(), "{} in {timeout_us} us: {ready:?}", row.name);
    }
    watcher.remove(&object);
}

pub fn data_from_before_add_is_reported(row: &'static Mechanism) {
    let _guard = shared();
    for kind in Kind::supported_by(row) {
        let object = Object::new(kind);
        object.send(1);
        let mut watcher = Watcher::with(row, &object, 9, Interest::Readable);
        assert!(watcher.single(9, "data from before").readable, "{} {kind:?}", row.name);
        assert_eq!(object.drain(), 1);
        watcher.rearm(&object, 9, Interest::Readable);
        watcher.quiet("it was drained");
        watcher.remove(&object);
    }
}
