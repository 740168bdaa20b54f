//! Level, edge and oneshot, as each row declares itself.

use crate::{Interest, Mechanism, Trigger};

use super::objects::{Kind, Object};
use super::shared;
use super::watcher::Watcher;

pub fn level_repeats_until_it_is_drained(row: &'static Mechanism) {
    let _guard = shared();
    if row.trigger != Trigger::Level {
        return;
    }
    for kind in Kind::supported_by(row) {
        let object = Object::new(kind);
        let mut watcher = Watcher::with(row, &object, 2, Interest::Readable);
        object.send(2);
        for _ in 0..3 {
            assert!(watcher.single(2, "still there").readable, "{} {kind:?}", row.name);
        }
        object.drain();
        watcher.quiet("drained");
        watcher.remove(&object);
    }
}

pub fn edge_reports_an_arrival_once(row: &'static Mechanism) {
    let _guard = shared();
    if row.trigger != Trigger::Edge {
        return;
    }
    for kind in Kind::supported_by(row) {
        let object = Object::new(kind);
        let mut watcher = Watcher::with(row, &object, 2, Interest::Readable);
        for _ in 0..3 {
            object.send(2);
            assert!(watcher.single(2, "an arrival").readable, "{} {kind:?}", row.name);
            watcher.quiet("nothing new has come, though there is data");
        }
        assert_eq!(object.drain(), 6, "{} {kind:?}", row.name);
        watcher.quiet("drained");
        watcher.remove(&object);
    }
}

pub fn oneshot_is_silent_until_it_is_armed_again(row: &'static Mechanism) {
    let _guard = shared();
    if row.trigger != Trigger::Oneshot {
        return;
    }
    for kind in Kind::supported_by(row) {
        let object = Object::new(kind);
        let mut watcher = Watcher::with(row, &object, 2, Interest::Readable);
        object.send(1);
        watcher.single(2, "the first");
        watcher.quiet("reported, though there is data");
        object.send(1);
        watcher.quiet("reported, though more has come");
        watcher.modify(&object, 4, Interest::Readable);
        watcher.single(4, "armed again with data there");
        object.drain();
        watcher.modify(&object, 5, Interest::Readable);
        watcher.quiet("armed, but drained");
        object.send(1);
        assert!(watcher.single(5, "armed and sent").readable, "{} {kind:?}", row.name);
        watcher.remove(&object);
    }
}

pub fn modify_before_an_event_does_not_double_it(row: &'static Mechanism) {
    let _guard = shared();
    let object = Object::new(Kind::Socketpair);
    let mut watcher = Watcher::with(row, &object, 1, Interest::Readable);
    watcher.quiet("nothing has been sent");
    watcher.modify(&object, 2, Interest::Both);
    watcher.modify(&object, 3, Interest::Readable);
    watcher.quiet("still nothing");
    object.send(1);
    assert!(watcher.single(3, "the last token").readable, "{}", row.name);
    object.drain();
    watcher.quiet("reported once");
    watcher.remove(&object);
}

pub fn modify_reports_what_is_there_for_the_new_interest(row: &'static Mechanism) {
    let _guard = shared();
    let object = Object::new(Kind::Socketpair);
    object.fill();
    let mut watcher = Watcher::with(row, &object, 1, Interest::Writable);
    watcher.quiet("it is full");
    object.send(1);
    watcher.quiet("reading is of no interest");
    watcher.modify(&object, 2, Interest::Readable);
    let event = watcher.single(2, "there is data");
    assert!(event.readable && !event.writable, "{}: {event:?}", row.name);
    watcher.remove(&object);
}
