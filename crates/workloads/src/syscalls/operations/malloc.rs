//! `malloc` and `free` of the C library: no system call, but what lies above some.

use super::Operation;
use sys::heap::malloc_free;

/// So much is taken at once.
const BYTES: usize = 1_024;

pub(crate) const OPERATION: Operation = Operation {
    name: "malloc",
    group: "Memory",
    summary: "malloc and free of 1 KiB in the C library",
    contends: "the C library's arenas",
    shared_by_threads: "the heap",
    prepare: |_| {
        Ok(Box::new(|seat| {
            seat.repeat(|check| check.that(malloc_free(BYTES).is_ok(), "memory lost a byte"))
        }))
    },
};
