//! What only rows of queued signals can get wrong: a full queue, the pool of numbers, the mask.

use std::io::ErrorKind;
use std::process::{Command, Stdio};
use std::time::Duration;

use readiness::{Interest, Mechanism, Token};
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::{rows, started};
use readiness::contract::objects::{Kind, Object};
use readiness::contract::watcher::Watcher;
use readiness::contract::{alone, shared};

/// Pending signals that the child process may have.
const PENDING_MAX: u64 = 64;

const CHILD: &str = "READINESS_CONTRACT_CHILD";

fn signal_rows() -> impl Iterator<Item = &'static Mechanism> {
    rows().filter(|row| ["sigio", "signalfd"].contains(&row.name))
}

#[test]
fn a_full_queue_of_signals_loses_nothing() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["signals::with_a_queue_for_few_signals", "--exact", "--ignored", "--nocapture"])
        .env(CHILD, "1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = started(&mut command).wait_with_output().unwrap();
    let reported = String::from_utf8_lossy(&child.stdout);
    let errors = String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success(), "{reported}\n{errors}");
    assert!(reported.contains("1 passed"), "{reported}");
}

#[test]
#[ignore = "run by a_full_queue_of_signals_loses_nothing, in a process of its own"]
fn with_a_queue_for_few_signals() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let few = Rlimit { current: Some(PENDING_MAX), maximum: Some(PENDING_MAX) };
    setrlimit(Resource::Sigpending, few).unwrap();
    let objects: Vec<_> = (0..1_000).map(|_| Object::new(Kind::Socketpair)).collect();
    let all: Vec<u64> = (0..1_000).collect();
    for row in signal_rows() {
        let mut watcher = Watcher::open(row, objects.len());
        // It shares the thread, and so the one SIGIO that tells of the overflow.
        let mut neighbour = Watcher::open(row, 16);
        let far = Object::new(Kind::Pipe);
        neighbour.add(&far, 5, Interest::Readable);
        for &token in &all {
            watcher.add(&objects[token as usize], token, Interest::Readable);
        }
        for _ in 0..3 {
            for object in &objects {
                object.send(1);
            }
            far.send(1);
            // The signals that had room, without the others, are fewer than these.
            let ready = watcher.wait(Duration::ZERO);
            assert_eq!(ready.len(), objects.len(), "{}: no overflow", row.name);
            for object in &objects {
                assert_eq!(object.drain(), 1, "{}", row.name);
            }
            watcher.quiet("all was reported and drained");
            neighbour.single(5, "its signal was lost");
            assert_eq!(far.drain(), 1);
            neighbour.quiet("it was reported");
            // The queue has room again: reported by signal.
            objects[17].send(1);
            watcher.single(17, "after the overflow");
            objects[17].drain();
        }
        overflow_while_adding(&mut watcher, &objects);
        neighbour.remove(&far);
    }
}

/// An overflow that `add` comes upon, while it looks for signals of a number that is used again.
fn overflow_while_adding(watcher: &mut Watcher, objects: &[Object]) {
    watcher.remove(&objects[0]);
    for object in &objects[1..] {
        object.send(1);
    }
    watcher.add(&objects[0], 0, Interest::Readable);
    let expected: Vec<u64> = (1..objects.len() as u64).collect();
    watcher.gather_once(objects, &expected);
    for object in objects {
        watcher.remove(object);
    }
    watcher.quiet("none is watched");
}

#[test]
fn each_takes_a_number_and_gives_it_back() {
    let _guard = alone();
    for row in signal_rows() {
        for _ in 0..2 {
            let mut open = Vec::new();
            let refusal = loop {
                match (row.open)(1) {
                    Ok(mechanism) => open.push(mechanism),
                    Err(error) => break error,
                }
                assert!(open.len() <= 64, "{}: there are not as many signals", row.name);
            };
            assert!(open.len() > 10, "{}: only {} at a time", row.name, open.len());
            assert_eq!(refusal.kind(), ErrorKind::QuotaExceeded, "{}: {refusal}", row.name);
            assert!(refusal.to_string().contains("real-time signals"), "{}: {refusal}", row.name);
        }
    }
}

#[test]
fn two_on_one_thread_keep_their_events_apart() {
    let _guard = shared();
    for first_row in signal_rows() {
        for second_row in signal_rows() {
            let (first_object, second_object) =
                (Object::new(Kind::Pipe), Object::new(Kind::Socketpair));
            let mut first = Watcher::with(first_row, &first_object, 1, Interest::Readable);
            let mut second = Watcher::with(second_row, &second_object, 2, Interest::Readable);
            first_object.send(1);
            second_object.send(1);
            second.one_at_once(2, "the second's own");
            second.quiet("the other is the first's");
            first.one_at_once(1, "the first's own");
            drop(first);
            second_object.send(1);
            second.one_at_once(2, "the first is gone");
            second.remove(&second_object);
        }
    }
}

#[test]
fn a_file_is_watched_by_one_at_a_time() {
    let _guard = shared();
    for row in signal_rows() {
        let object = Object::new(Kind::Socketpair);
        let mut first = Watcher::with(row, &object, 1, Interest::Readable);
        let mut second = Watcher::open(row, 1);
        let refusal = second.inner.add(object.fd(), Token(2), Interest::Readable).unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::ResourceBusy, "{}: {refusal}", row.name);
        object.send(1);
        first.single(1, "the first one's");
        first.remove(&object);
        second.add(&object, 2, Interest::Readable);
        second.single(2, "data from before");
        second.remove(&object);
    }
}

#[test]
fn what_sends_no_signals_is_refused() {
    let _guard = shared();
    for row in signal_rows() {
        let object = Object::new(Kind::Eventfd);
        let mut watcher = Watcher::open(row, 1);
        let refusal = watcher.inner.add(object.fd(), Token(1), Interest::Readable).unwrap_err();
        assert_eq!(refusal.kind(), ErrorKind::Unsupported, "{}: {refusal}", row.name);
        object.send(1);
        watcher.quiet("it was refused");
        let unknown = watcher.inner.remove(object.fd()).unwrap_err();
        assert_eq!(unknown.kind(), ErrorKind::NotFound, "{}: {unknown}", row.name);
    }
}
