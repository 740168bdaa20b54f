//! A mechanism that is moved to another thread works there, or says that it can't.

use std::time::Duration;

use crate::{Interest, Mechanism};

use super::objects::{Kind, Object};
use super::shared;
use super::watcher::Watcher;

pub fn a_wait_on_another_thread_works_or_says_why_not(row: &'static Mechanism) {
    let _guard = shared();
    let object = Object::new(Kind::Socketpair);
    let mut watcher = Watcher::with(row, &object, 8, Interest::Readable);
    watcher.quiet("nothing has been sent");
    object.send(1);
    let elsewhere = std::thread::spawn(move || {
        let mut ready = Vec::new();
        let outcome = watcher.inner.wait(&mut ready, Some(Duration::ZERO));
        (outcome, ready)
    });
    let (outcome, ready) = elsewhere.join().expect("the thread panicked");
    let bound = row.limits.iter().any(|limit| limit.contains("the thread that opens it"));
    match outcome {
        Ok(()) => {
            assert!(!bound, "{} says that it is bound to its thread", row.name);
            assert_eq!(ready.len(), 1, "{}", row.name);
        }
        Err(error) => {
            assert!(bound, "{} does not say that it is bound to its thread", row.name);
            assert!(error.to_string().contains("thread"), "{}: {error}", row.name);
            assert!(ready.is_empty(), "{}", row.name);
        }
    }
    // It was dropped over there, watching: this thread has to survive that.
    object.send(1);
    assert_eq!(object.drain(), 2, "{}", row.name);
}
