//! `futex`: a wait that finds another value in each worker's own word, and returns.

use super::Operation;
use std::io::ErrorKind;
use std::sync::atomic::AtomicU32;
use sys::futex::wait;

pub(crate) const OPERATION: Operation = Operation {
    name: "futex-mismatch",
    group: "Waiting",
    summary: "futex wait on an own word that has another value",
    contends: "the buckets of waiting threads, if words share one",
    prepare: |_| {
        Ok(Box::new(|seat| {
            let word = AtomicU32::new(1);
            seat.repeat(|check| {
                let kind = wait(&word, 2).err().map(|error| error.kind());
                check.that(kind == Some(ErrorKind::WouldBlock), "the wait found its value")
            })
        }))
    },
    ..Operation::PLAIN
};
