//! Remove, add again, close, reuse of a number, hang-up, and wrong use.

use std::io::ErrorKind;
use std::os::fd::{AsFd, AsRawFd};

use crate::{Interest, Mechanism, Token};
use rustix::event::{PollFd, PollFlags, poll};

use super::objects::{Kind, Object};
use super::watcher::{PATIENCE, Watcher};
use super::{alone, shared};

pub fn a_removed_descriptor_is_silent(row: &'static Mechanism) {
    let _guard = shared();
    for kind in Kind::supported_by(row) {
        let object = Object::new(kind);
        let removed = Object::new(kind);
        let mut watcher = Watcher::open(row, 16);
        for look_first in [false, true] {
            watcher.add(&object, 1, Interest::Readable);
            watcher.add(&removed, 2, Interest::Readable);
            if look_first {
                watcher.quiet("nothing has been sent");
            }
            object.send(1);
            removed.send(1);
            watcher.remove(&object);
            watcher.single(2, "the one that stays");
            removed.drain();
            watcher.rearm(&removed, 2, Interest::Readable);
            object.send(1);
            watcher.quiet("sent after removal");
            object.drain();
            watcher.remove(&removed);
        }
        watcher.quiet("none is watched");
    }
}

pub fn a_descriptor_added_again_is_reported_under_its_new_token(row: &'static Mechanism) {
    let _guard = shared();
    for kind in Kind::supported_by(row) {
        let object = Object::new(kind);
        let mut watcher = Watcher::with(row, &object, 1, Interest::Readable);
        watcher.quiet("nothing has been sent");
        object.send(1);
        watcher.remove(&object);
        watcher.add(&object, 2, Interest::Readable);
        watcher.single(2, "data from before");
        object.drain();
        watcher.rearm(&object, 2, Interest::Readable);
        watcher.quiet("drained");
        for token in 3..10 {
            object.send(1);
            object.drain();
            watcher.remove(&object);
            watcher.add(&object, token, Interest::Readable);
            watcher.quiet("sent and drained before it was added");
        }
        object.send(1);
        watcher.single(9, "the last token");
        watcher.remove(&object);
    }
}

pub fn events_of_a_closed_descriptor_never_reach_the_next_of_its_number(row: &'static Mechanism) {
    let _guard = alone();
    for kind in Kind::supported_by(row) {
        let mut watcher = Watcher::open(row, 16);
        let mut reused = 0;
        for token in 0..20 {
            let old = Object::new(kind);
            let number = old.fd().as_raw_fd();
            watcher.add(&old, 100 + token, Interest::Readable);
            if token % 2 == 0 {
                watcher.quiet("nothing has been sent");
            }
            old.send(1);
            watcher.remove(&old);
            drop(old);
            let new = Object::new(kind);
            reused += u32::from(new.fd().as_raw_fd() == number);
            watcher.add(&new, 200 + token, Interest::Readable);
            watcher.quiet("nothing has been sent to the new one");
            new.send(1);
            watcher.single(200 + token, "the new one");
            watcher.remove(&new);
        }
        assert!(reused > 0, "{} {kind:?}: no number was given again", row.name);
    }
}

pub fn a_peer_that_hangs_up_makes_a_reader_readable(row: &'static Mechanism) {
    let _guard = shared();
    // A TCP connection is closed one way at a time; a row may tell only the whole.
    let half_deaf = row.limits.iter().any(|limit| limit.contains("stops sending"));
    for &kind in Kind::WITH_PEER {
        for (bytes_left, before_add) in [(0, false), (3, false), (0, true), (3, true)] {
            let name = row.name;
            let must_report = row.reports_hangup && !(kind == Kind::Tcp && half_deaf);
            let mut object = Object::new(kind);
            let mut watcher = Watcher::open(row, 16);
            if !before_add {
                watcher.add(&object, 6, Interest::Readable);
                watcher.quiet("nothing has happened");
            }
            if bytes_left > 0 {
                object.send(bytes_left);
            }
            object.hang_up();
            if before_add {
                watcher.add(&object, 6, Interest::Readable);
            }
            // Data and hang-up may be reported in two events.
            let (mut reported, mut got, mut waits) = (false, 0, 0);
            while !reported {
                waits += 1;
                assert!(waits < 10, "{name} {kind:?}: never reported as a hang-up");
                for event in watcher.next("a hang-up") {
                    assert!(event.readable, "{name} {kind:?}: {event:?}");
                    assert_eq!(event.token, Token(6), "{name} {kind:?}");
                    got += object.drain();
                    reported |= event.hangup || !must_report;
                    watcher.rearm(&object, 6, Interest::Readable);
                }
            }
            got += object.drain();
            assert_eq!(got, bytes_left, "{name} {kind:?}");
            watcher.remove(&object);
            watcher.quiet("removed");
        }
    }
}

pub fn a_file_goes_away_when_it_is_removed_and_closed(row: &'static Mechanism) {
    let _guard = shared();
    for &kind in Kind::WITH_PEER {
        for look_first in [false, true] {
            let object = Object::new(kind);
            let mut watcher = Watcher::with(row, &object, 1, Interest::Readable);
            if look_first {
                watcher.quiet("nothing has been sent");
                // The request of before must not hold the file either.
                watcher.modify(&object, 2, Interest::Readable);
                watcher.quiet("still nothing");
            }
            watcher.remove(&object);
            let peer = object.close().expect("it has not hung up");
            let mut state = [PollFd::from_borrowed_fd(peer.as_fd(), PollFlags::IN)];
            let limit =
                rustix::event::Timespec { tv_sec: PATIENCE.as_secs().cast_signed(), tv_nsec: 0 };
            let reported = poll(&mut state, Some(&limit)).unwrap();
            assert_eq!(reported, 1, "{} {kind:?}: the peer sees no hang-up", row.name);
        }
    }
}

pub fn wrong_use_is_an_error_and_changes_nothing(row: &'static Mechanism) {
    let _guard = shared();
    let name = row.name;
    let object = Object::new(Kind::Socketpair);
    let stranger = Object::new(Kind::Socketpair);
    let mut watcher = Watcher::with(row, &object, 1, Interest::Readable);
    let kind = |outcome: std::io::Result<()>| outcome.map_err(|error| error.kind());

    let twice = watcher.inner.add(object.fd(), Token(2), Interest::Both);
    assert_eq!(kind(twice), Err(ErrorKind::AlreadyExists), "{name}");
    let unknown = watcher.inner.remove(stranger.fd());
    assert_eq!(kind(unknown), Err(ErrorKind::NotFound), "{name}");
    let unknown = watcher.inner.modify(stranger.fd(), Token(3), Interest::Readable);
    assert_eq!(kind(unknown), Err(ErrorKind::NotFound), "{name}");

    stranger.send(1);
    watcher.quiet("nothing has been sent to the one that is watched");
    object.send(1);
    let event = watcher.single(1, "the first add counts");
    assert!(event.readable && !event.writable, "{name}: {event:?}");

    watcher.remove(&object);
    let again = watcher.inner.remove(object.fd());
    assert_eq!(kind(again), Err(ErrorKind::NotFound), "{name}");
    let gone = watcher.inner.modify(object.fd(), Token(4), Interest::Readable);
    assert_eq!(kind(gone), Err(ErrorKind::NotFound), "{name}");
    watcher.quiet("none is watched");
}

pub fn one_that_is_dropped_leaves_its_descriptors_alone(row: &'static Mechanism) {
    let _guard = shared();
    let object = Object::new(Kind::Socketpair);
    let mut watcher = Watcher::with(row, &object, 1, Interest::Readable);
    watcher.quiet("nothing has been sent");
    object.send(1);
    drop(watcher);
    // A signal that still came, without a mask, would end the process here.
    object.send(1);
    assert_eq!(object.drain(), 2, "{}", row.name);
    let mut watcher = Watcher::with(row, &object, 2, Interest::Readable);
    watcher.quiet("drained");
    object.send(1);
    watcher.single(2, "the next one");
    watcher.remove(&object);
}
