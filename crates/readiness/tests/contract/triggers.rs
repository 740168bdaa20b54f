//! Level, edge and oneshot, as each row declares itself.

use readiness::{Interest, Mechanism, Trigger};

use crate::objects::{Kind, Object};
use crate::watcher::Watcher;
use crate::{rows, shared};

fn rows_that_are(trigger: Trigger) -> impl Iterator<Item = &'static Mechanism> {
    rows().filter(move |row| row.trigger == trigger)
}

#[test]
fn level_repeats_until_it_is_drained() {
    let _guard = shared();
    for row in rows_that_are(Trigger::Level) {
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
}

#[test]
fn edge_reports_an_arrival_once() {
    let _guard = shared();
    for row in rows_that_are(Trigger::Edge) {
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
}

#[test]
fn oneshot_is_silent_until_it_is_armed_again() {
    let _guard = shared();
    for row in rows_that_are(Trigger::Oneshot) {
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
}

#[test]
fn modify_before_an_event_does_not_double_it() {
    let _guard = shared();
    for row in rows() {
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
}

#[test]
fn modify_reports_what_is_there_for_the_new_interest() {
    let _guard = shared();
    for row in rows() {
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
}
