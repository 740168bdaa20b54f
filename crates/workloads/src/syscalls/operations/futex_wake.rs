//! `futex`: a wake on each worker's own word, on which no thread waits.

use super::Operation;
use std::sync::atomic::AtomicU32;
use sys::futex::wake;

pub(crate) const OPERATION: Operation = Operation {
    name: "futex-wake",
    group: "Waiting",
    summary: "futex wake on an own word without waiters",
    contends: "the buckets of waiting threads, if words share one",
    prepare: |_| {
        Ok(Box::new(|seat| {
            let word = AtomicU32::new(1);
            seat.repeat(|check| check.that(wake(&word, 1)? == 0, "somebody was woken"))
        }))
    },
    ..Operation::PLAIN
};
