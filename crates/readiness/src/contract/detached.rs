//! Files whose descriptors are closed here, and that are open elsewhere.

use std::io::ErrorKind;
use std::os::fd::AsRawFd;

use crate::{Interest, Mechanism, Trigger};

use super::objects::{Kind, Object};
use super::watcher::Watcher;
use super::{alone, shared};

/// Watches `object` under `token` and closes its descriptor; the file stays open under another number.
fn add_detached(watcher: &mut Watcher, object: &mut Object, token: u64) {
    watcher.add(object, token, Interest::Readable);
    watcher.detach(object);
    object.renumber(0);
}

pub fn what_is_closed_here_and_open_elsewhere_is_reported(row: &'static Mechanism) {
    let _guard = alone();
    if !row.detaches {
        return;
    }
    for kind in Kind::supported_by(row) {
        let (mut object, mut new) = (Object::new(kind), Object::new(kind));
        let number = object.fd().as_raw_fd();
        let mut watcher = Watcher::open(row, 16);
        add_detached(&mut watcher, &mut object, 1);
        watcher.quiet("nothing has been sent");

        new.renumber(number);
        assert_eq!(new.fd().as_raw_fd(), number, "{}: another has the number", row.name);
        watcher.add(&new, 2, Interest::Readable);
        watcher.quiet("nothing has been sent to either");
        for sent in 0..3 {
            object.send(1);
            if sent == 0 || row.trigger != Trigger::Oneshot {
                watcher.single(1, "the one that is closed here");
            }
            object.drain();
            new.send(1);
            watcher.single(2, "the one that took its number");
            new.drain();
            watcher.rearm(&new, 2, Interest::Readable);
            watcher.quiet("both are drained");
        }
        watcher.remove(&new);
    }
}

pub fn what_came_before_the_descriptor_was_closed_is_reported(row: &'static Mechanism) {
    let _guard = shared();
    if !row.detaches {
        return;
    }
    for kind in Kind::supported_by(row) {
        let mut object = Object::new(kind);
        let mut watcher = Watcher::open(row, 16);
        object.send(1);
        add_detached(&mut watcher, &mut object, 7);
        watcher.single(7, "sent before it was added");
    }
}

pub fn a_thousand_under_one_number_are_all_watched(row: &'static Mechanism) {
    let _guard = shared();
    if !row.detaches {
        return;
    }
    let mut watcher = Watcher::open(row, 16);
    let mut objects: Vec<Object> = Vec::new();
    for token in 0..1_000 {
        let mut object = Object::new(Kind::Pipe);
        add_detached(&mut watcher, &mut object, token);
        objects.push(object);
    }
    watcher.quiet("nothing has been sent");
    for token in [0, 1, 500, 998, 999] {
        objects[token as usize].send(1);
        watcher.single(token, "one of a thousand");
        objects[token as usize].drain();
    }
    watcher.quiet("all is drained");
}

pub fn rows_that_watch_descriptors_refuse(row: &'static Mechanism) {
    let _guard = shared();
    if row.detaches {
        return;
    }
    let object = Object::new(Kind::Socketpair);
    let mut watcher = Watcher::with(row, &object, 1, Interest::Readable);
    let refused = watcher.inner.detach(object.fd()).map_err(|error| error.kind());
    assert_eq!(refused, Err(ErrorKind::Unsupported), "{}", row.name);
    object.send(1);
    watcher.single(1, "it is watched as before");
    watcher.remove(&object);
}
